<?php

declare(strict_types=1);

namespace Offbeat;

/**
 * A schedule by name, from the file that the sidecar was started with (--schedules); NotFound
 * where it has none of this name and version.
 *
 *     new Offbeat\ScheduleVersion('nightly', 2)
 *
 * A version never changes its meaning, and the newest is not the default: callers would change
 * over at different times.
 */
final class ScheduleVersion
{
    public function __construct(public readonly string $name, public readonly int $version)
    {
    }

    /** @internal */
    public function toMessage(string $field = 'schedule'): V1\Schedule
    {
        $version = (new V1\ScheduleVersion())
            ->setName(Check::utf8("$field.version.name", $this->name))
            ->setVersion(Check::int32("$field.version.version", $this->version));

        return (new V1\Schedule())->setVersion($version);
    }
}
