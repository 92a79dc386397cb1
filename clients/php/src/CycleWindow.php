<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Exception\InvalidArgument;

/**
 * A part of a cycle: the half-open span between two offsets from the start of the cycle. With a calendar, offsets are
 * by the wall clock.
 *
 *     new CycleWindow('01:00', '05:00')                                // of a day
 *     new CycleWindow(new DateInterval('P1D'), new DateInterval('P5D')) // Tuesday to Friday of a week
 */
final class CycleWindow
{
    private const TIME_OF_DAY = '/^([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?$/D';

    public readonly DateInterval|int|float $startOffset;
    public readonly DateInterval|int|float $endOffset;

    /**
     * @param DateInterval|int|float|string $startOffset an interval of fixed length, a number of seconds, or a time of
     *     the cycle's first day, such as 01:00 or 01:00:30
     * @param DateInterval|int|float|string $endOffset the same; the day ends at 24:00
     */
    public function __construct(DateInterval|int|float|string $startOffset, DateInterval|int|float|string $endOffset)
    {
        $this->startOffset = self::offset('start_offset', $startOffset);
        $this->endOffset = self::offset('end_offset', $endOffset);
    }

    /** @internal */
    public function toMessage(string $field): V1\CycleWindow
    {
        return (new V1\CycleWindow())
            ->setStartOffset(Times::toDuration("$field.start_offset", $this->startOffset))
            ->setEndOffset(Times::toDuration("$field.end_offset", $this->endOffset));
    }

    private static function offset(string $field, DateInterval|int|float|string $offset): DateInterval|int|float
    {
        if (!is_string($offset)) {
            return Times::copy($offset);
        }
        $isTime = preg_match(self::TIME_OF_DAY, $offset, $found) === 1;
        $seconds = $isTime ? $found[1] * 3_600 + $found[2] * 60 + ($found[3] ?? 0) : 0;
        if (!$isTime || $seconds > 86_400) {
            throw InvalidArgument::refused($field, $offset, 'must be a time of day: 00:00 to 24:00, with or without seconds');
        }

        return $seconds;
    }
}
