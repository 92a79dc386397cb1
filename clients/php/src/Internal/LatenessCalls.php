<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateInterval;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\ScheduleReference;
use Offbeat\Times;
use Offbeat\V1beta1;

/**
 * The client's reports of late runs.
 *
 * @internal
 */
trait LatenessCalls
{
    /**
     * Records how late runs start, in the sidecar's histogram. LatenessRecorder does this for jobs, and never makes
     * them fail.
     *
     * @param ScheduleReference|string $schedule its name, without the version, is the label in the histogram
     * @param array<DateInterval|int|float> $lateness from the scheduled to the actual start of each run, rounded to
     *     milliseconds. A run that started early counts as 0
     * @param ?string $kind the kind of job. Default: "default"
     *
     * @return bool whether the schedule and kind have a series of their own: after the first 100 pairs of these, others
     *     are counted together
     *
     * @throws OffbeatException
     */
    public function recordLateness(
        ScheduleReference|string $schedule,
        array $lateness,
        ?string $kind = null,
        int|float|null $timeout = null,
    ): bool {
        $request = (new V1beta1\RecordLatenessRequest())
            ->setScheduleName(Check::utf8('schedule_name', ScheduleReference::nameOf($schedule)))
            ->setKind(Check::utf8('kind', $kind ?? ''))
            ->setLatenessMillis(self::millis(array_values($lateness)));
        $bytes = $this->sendOnce('offbeat.v1beta1.LatenessService/RecordLateness', $request->serializeToString(), $timeout);

        return $this->read(static function () use ($bytes): bool {
            $response = new V1beta1\RecordLatenessResponse();
            $response->mergeFromString($bytes);

            return $response->getHasOwnSeries();
        });
    }

    /**
     * @param list<mixed> $spans
     *
     * @return list<int>
     */
    private static function millis(array $spans): array
    {
        $millis = [];
        foreach ($spans as $run => $span) {
            $field = "lateness_millis[$run]";
            $millis[] = $span instanceof DateInterval || is_int($span) || is_float($span)
                ? (int) round(Times::toMicros($field, $span) / 1_000)
                : throw InvalidArgument::refused($field, $span, 'must be a span: a DateInterval, or seconds');
        }

        return $millis;
    }

    abstract private function sendOnce(string $method, string $bytes, int|float|null $timeout): string;

    abstract private function read(\Closure $reader): mixed;
}
