<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use DateTimeInterface;
use Google\Protobuf\Timestamp;

/**
 * An instant in the years 1 to 9999, exact to the nanosecond.
 *
 * @internal
 */
final class Moment
{
    /** The first millisecond, and the one after the last, since the Unix epoch. */
    public const MIN_MILLIS = -62_135_596_800_000;
    public const END_MILLIS = 253_402_300_800_000;
    public const RANGE = '0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z';

    /** @param int $nanos after the seconds, 0 to 999,999,999 */
    public function __construct(public readonly int $seconds, public readonly int $nanos)
    {
    }

    /** The instant of a millisecond; null outside of the years 1 to 9999. */
    public static function ofMillis(int $millis): ?self
    {
        if ($millis < self::MIN_MILLIS || $millis >= self::END_MILLIS) {
            return null;
        }
        $seconds = Whole::floor($millis, 1_000);

        return new self($seconds, ($millis - $seconds * 1_000) * 1_000_000);
    }

    public static function ofTime(DateTimeInterface $time): self
    {
        return new self($time->getTimestamp(), (int) $time->format('u') * 1_000);
    }

    public static function ofMessage(string $field, Timestamp $message): self
    {
        [$seconds, $nanos] = [(int) $message->getSeconds(), $message->getNanos()];
        if ($nanos < 0 || $nanos >= 1_000_000_000) {
            throw Refusal::of(Refusal::MALFORMED, "$field.nanos", $nanos, 'must be 0 to 999999999 ns');
        }
        if ($seconds < intdiv(self::MIN_MILLIS, 1_000) || $seconds >= intdiv(self::END_MILLIS, 1_000)) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, "{$seconds}s since the Unix epoch", 'must be ' . self::RANGE);
        }

        return new self($seconds, $nanos);
    }

    public function millisFloor(): int
    {
        return $this->seconds * 1_000 + intdiv($this->nanos, 1_000_000);
    }

    public function millisCeil(): int
    {
        return $this->millisFloor() + ($this->nanos % 1_000_000 > 0 ? 1 : 0);
    }

    /** The first whole millisecond at or after the instant plus a span or, with the sign -1, minus it. */
    public function millisCeilPlus(Span $span, int $sign = 1): int
    {
        $nanos = $this->nanos + $sign * $span->nanos;
        $carry = Whole::floor($nanos, 1_000_000_000);

        return (new self($this->seconds + $sign * $span->seconds + $carry, $nanos - $carry * 1_000_000_000))->millisCeil();
    }

    public function compare(self $other): int
    {
        return [$this->seconds, $this->nanos] <=> [$other->seconds, $other->nanos];
    }

    /** In RFC 3339. */
    public function text(): string
    {
        return gmdate('Y-m-d\TH:i:s', $this->seconds) . Span::fraction($this->nanos) . 'Z';
    }

    public function message(): Timestamp
    {
        return (new Timestamp())->setSeconds($this->seconds)->setNanos($this->nanos);
    }

    /** The instant of a millisecond as a message; null outside of the years 1 to 9999. */
    public static function messageOf(int $millis): ?Timestamp
    {
        return self::ofMillis($millis)?->message();
    }
}
