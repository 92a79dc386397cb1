<?php

declare(strict_types=1);

namespace Offbeat;

/**
 * Schedules as bytes, each written once: without ext-protobuf that takes PHP longer than the sidecar
 * takes to answer, and a schedule does not change.
 *
 * @internal
 */
final class Encoded
{
    /** @var ?\WeakMap<Schedule|ScheduleVersion, string> */
    private static ?\WeakMap $schedules = null;

    /** The schedule of a question, which is its first field. */
    public static function schedule(Schedule|ScheduleVersion $schedule): string
    {
        self::$schedules ??= new \WeakMap();

        return self::$schedules[$schedule] ??= Wire::field(1, $schedule->toMessage()->serializeToString());
    }
}
