<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use Offbeat\Schedule;
use Offbeat\ScheduleReference;
use Offbeat\V1;

/**
 * Schedules as bytes. Each is encoded once: without ext-protobuf, that takes PHP longer than the sidecar takes to
 * answer, and schedules do not change.
 *
 * @internal
 */
final class ScheduleEncoder
{
    /** @var ?\WeakMap<Schedule|ScheduleReference, string> */
    private static ?\WeakMap $schedules = null;

    /** The schedule of a request, as its first field. */
    public static function schedule(Schedule|ScheduleReference|string $schedule): string
    {
        if (is_string($schedule)) {
            return Wire::field(1, self::message($schedule)->serializeToString()); // short, and so not remembered
        }
        self::$schedules ??= new \WeakMap();

        return self::$schedules[$schedule] ??= Wire::field(1, self::message($schedule)->serializeToString());
    }

    /** The schedule as a message. */
    public static function message(Schedule|ScheduleReference|string $schedule, string $field = 'schedule'): V1\Schedule
    {
        return (is_string($schedule) ? ScheduleReference::parse($schedule, $field) : $schedule)->toMessage($field);
    }
}
