<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateInterval;
use Google\Protobuf\Internal\Message;
use Offbeat\ComparedJob;
use Offbeat\Comparison;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\KindSpacing;
use Offbeat\Reciprocals;
use Offbeat\Schedule;
use Offbeat\ScheduleReference;
use Offbeat\Times;
use Offbeat\V1;

/**
 * The client's calls about jobs that must not meet.
 *
 * @internal
 */
trait KindCalls
{
    /**
     * Whether jobs that lock the same ID are kept apart by the schedules that they have today. The answer is Apart only
     * if that is certain.
     *
     * @param array<ComparedJob|Schedule|ScheduleReference|string> $jobs 2 to 32 jobs that lock the same ID: their
     *     schedules, or a ComparedJob with more details
     *
     * @throws OffbeatException
     */
    public function compareSchedules(array $jobs, int|float|null $timeout = null): Comparison
    {
        $messages = [];
        foreach (array_values($jobs) as $place => $job) {
            $messages[] = self::comparedJob($job)->toMessage("jobs[$place]");
        }
        $request = (new V1\CompareSchedulesRequest())->setJobs($messages);

        $response = $this->call('offbeat.v1.SlotService/CompareSchedules', $request, new V1\CompareSchedulesResponse(), $timeout);

        return $this->read(static fn (): Comparison => Answers::comparison($response));
    }

    /**
     * The slots in which kinds of job must run so that no two of them meet on the same ID. Give $kindCount or, in
     * $runTimes, how long a run of each kind takes. A schedule that declares kinds places them in the same way.
     *
     * @param list<DateInterval|int|float> $runTimes
     * @param array<array{int, int}> $kindConflicts which kinds must not meet, if others may, as pairs of their indexes,
     *     of at most eight kinds in all; with $kindCount only. Default: no two kinds may meet
     * @param DateInterval|int|float|null $pollingDelay how long a due job may wait until it is enqueued; subtracted
     *     from the run budgets
     * @param DateInterval|int|float|null $slotJobDelay how long the job that enqueues a slot may itself wait and run;
     *     subtracted from the run budgets
     *
     * @throws OffbeatException
     */
    public function reciprocalSlots(
        Schedule|ScheduleReference|string $schedule,
        int $slotIndex = 0,
        ?int $kindCount = null,
        array $runTimes = [],
        ?KindSpacing $kindSpacing = null,
        array $kindConflicts = [],
        DateInterval|int|float|null $pollingDelay = null,
        DateInterval|int|float|null $slotJobDelay = null,
        int|float|null $timeout = null,
    ): Reciprocals {
        $request = (new V1\GetReciprocalSlotsRequest())
            ->setSchedule(ScheduleEncoder::message($schedule))
            ->setSlotIndex(Check::int32('slot_index', $slotIndex));
        if ($kindCount !== null) {
            $request->setKindCount(Check::int32('kind_count', $kindCount));
        }
        if ($kindSpacing !== null) {
            $request->setKindSpacing($kindSpacing->toMessage());
        }
        $durations = [];
        foreach (array_values($runTimes) as $index => $runTime) {
            $durations[] = Times::toDuration("run_times[$index]", $runTime);
        }
        $request->setRunTimes($durations);
        $request->setKindConflicts(self::kindConflicts($kindConflicts));
        if ($pollingDelay !== null) {
            $request->setPollingDelay(Times::toDuration('polling_delay', $pollingDelay));
        }
        if ($slotJobDelay !== null) {
            $request->setSlotJobDelay(Times::toDuration('slot_job_delay', $slotJobDelay));
        }

        $response = $this->call('offbeat.v1.SlotService/GetReciprocalSlots', $request, new V1\GetReciprocalSlotsResponse(), $timeout);

        return $this->read(static fn (): Reciprocals => Answers::reciprocals($response));
    }

    private static function comparedJob(ComparedJob|Schedule|ScheduleReference|string $job): ComparedJob
    {
        return $job instanceof ComparedJob ? $job : new ComparedJob($job);
    }

    /**
     * @param array<mixed> $pairs
     *
     * @return list<V1\KindIndexConflict>
     */
    private static function kindConflicts(array $pairs): array
    {
        $conflicts = [];
        foreach (array_values($pairs) as $place => $pair) {
            $isPair = is_array($pair) && array_is_list($pair) && count($pair) === 2 && is_int($pair[0]) && is_int($pair[1]);
            if (!$isPair) {
                throw InvalidArgument::refused("kind_conflicts[$place]", $pair, 'must be a pair of kinds: [0, 1]');
            }
            $conflicts[] = (new V1\KindIndexConflict())
                ->setFirstKindIndex(Check::int32("kind_conflicts[$place].first_kind_index", $pair[0]))
                ->setSecondKindIndex(Check::int32("kind_conflicts[$place].second_kind_index", $pair[1]));
        }

        return $conflicts;
    }

    abstract private function call(string $method, Message $request, Message $response, int|float|null $timeout): Message;

    abstract private function read(\Closure $reader): mixed;
}
