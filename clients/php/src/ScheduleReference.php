<?php

declare(strict_types=1);

namespace Offbeat;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Internal\Check;

/**
 * A schedule by name, from the file that the sidecar has loaded (--schedules). Calls throw NotFound if the file does
 * not have this name and version.
 *
 *     new Offbeat\ScheduleReference('nightly', 2)
 *
 * Every method that takes a schedule also takes the text 'nightly/2'.
 *
 * A version never changes its meaning. The newest version is not the default: callers would change over at different
 * times.
 */
final class ScheduleReference
{
    private const TEXT = '#^([A-Za-z0-9._-]{1,64})/(0|[1-9]\d{0,8})$#D';

    public function __construct(public readonly string $name, public readonly int $version)
    {
    }

    /**
     * Parses a text such as 'nightly/2'.
     *
     * @throws InvalidArgument for any other text
     */
    public static function parse(string $text, string $field = 'schedule'): self
    {
        if (preg_match(self::TEXT, $text, $found) !== 1) {
            throw InvalidArgument::refused($field, $text, "as text must be a name and a version: 'nightly/2'");
        }

        return new self($found[1], (int) $found[2]);
    }

    /** @internal The name in a reference, or in the text of one; any other text is itself a name. */
    public static function nameOf(self|string $schedule): string
    {
        return match (true) {
            !is_string($schedule) => $schedule->name,
            preg_match(self::TEXT, $schedule) === 1 => self::parse($schedule)->name,
            default => $schedule,
        };
    }

    /** @internal */
    public function toMessage(string $field = 'schedule'): V1\Schedule
    {
        $reference = (new V1\ScheduleReference())
            ->setName(Check::utf8("$field.reference.name", $this->name))
            ->setVersion(Check::int32("$field.reference.version", $this->version));

        return (new V1\Schedule())->setReference($reference);
    }
}
