<?php

declare(strict_types=1);

namespace Offbeat\Slots;

use DateInterval;
use DateTimeInterface;
use Google\Protobuf\Internal\Message;
use Offbeat\Answer\Assignment;
use Offbeat\Answer\Description;
use Offbeat\Answer\Predicate;
use Offbeat\Answer\Reciprocals;
use Offbeat\Answer\Slot;
use Offbeat\Answers;
use Offbeat\Check;
use Offbeat\Encoded;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\IdEncoder;
use Offbeat\IdType;
use Offbeat\KindSpacing;
use Offbeat\Schedule;
use Offbeat\ScheduleVersion;
use Offbeat\Sql\SqlColumn;
use Offbeat\Times;
use Offbeat\V1;

/**
 * The client's questions about slots, and about one ID.
 *
 * @internal
 */
trait SlotCalls
{
    /**
     * What a schedule's defaults resolve to, its fingerprint, slot and expected load.
     *
     * @throws OffbeatException
     */
    public function describeSchedule(
        Schedule|ScheduleVersion $schedule,
        ?DateTimeInterface $atTime = null,
        ?int $population = null,
        int|float|null $timeout = null,
    ): Description {
        $request = (new V1\DescribeScheduleRequest())->setSchedule($schedule->toMessage());
        if ($atTime !== null) {
            $request->setAtTime(Times::toTimestamp($atTime));
        }
        if ($population !== null) {
            $request->setPopulation($population);
        }

        return Answers::description(
            $this->call('SlotService/DescribeSchedule', $request, new V1\DescribeScheduleResponse(), $timeout),
        );
    }

    /**
     * The slots that start in a window; by default in the period from now on. With a column,
     * each has the predicate that selects its rows.
     *
     * @return list<Slot>
     *
     * @throws OffbeatException
     */
    public function listSlots(
        Schedule|ScheduleVersion $schedule,
        ?DateTimeInterface $startTime = null,
        ?DateTimeInterface $endTime = null,
        ?SqlColumn $sqlColumn = null,
        int|float|null $timeout = null,
    ): array {
        $request = (new V1\ListSlotsRequest())->setSchedule($schedule->toMessage());
        if ($startTime !== null) {
            $request->setStartTime(Times::toTimestamp($startTime));
        }
        if ($endTime !== null) {
            $request->setEndTime(Times::toTimestamp($endTime));
        }
        if ($sqlColumn !== null) {
            $request->setSqlColumn($sqlColumn->toMessage());
        }
        $response = $this->call('SlotService/ListSlots', $request, new V1\ListSlotsResponse(), $timeout);
        $slot = static fn (V1\Slot $slot): Slot => Answers::slot($slot, $response->getSqlIndex());

        return array_map($slot, iterator_to_array($response->getSlots(), false));
    }

    /**
     * Which rows of a table run in a window of up to a period, by default from now on. Not under
     * Placement::Twister, whose offsets no database can compute.
     *
     * @throws OffbeatException
     */
    public function windowPredicate(
        Schedule|ScheduleVersion $schedule,
        SqlColumn $sqlColumn,
        DateTimeInterface $endTime,
        ?DateTimeInterface $startTime = null,
        int|float|null $timeout = null,
    ): Predicate {
        $request = (new V1\GetWindowPredicateRequest())
            ->setSchedule($schedule->toMessage())
            ->setSqlColumn($sqlColumn->toMessage())
            ->setEndTime(Times::toTimestamp($endTime));
        if ($startTime !== null) {
            $request->setStartTime(Times::toTimestamp($startTime));
        }
        $response = $this->call('SlotService/GetWindowPredicate', $request, new V1\GetWindowPredicateResponse(), $timeout);

        return Answers::predicate($response->getPredicate(), $response->getSqlIndex());
    }

    /**
     * One ID: for more than a few, assignSlots() is far quicker.
     *
     * @param ?DateTimeInterface $fromTime runs at or after this are next. Default: now
     * @param ?int $nextRunCount how many next runs to name. Default: 1
     * @param ?string $kind names the kind of job: part of the run keys, it changes neither slot nor time
     * @param ?IdType $idType what a string stands for. Default: a hyphenated UUID, else text
     * @param ?int $weight how large it is, in the unit of the schedule's weight quantum: an ID that is
     *     larger than that has further pieces. Default: one piece
     * @param ?Newcomer $newcomer that it is new, to be told its first run
     *
     * @throws OffbeatException
     */
    public function assignSlot(
        Schedule|ScheduleVersion $schedule,
        int|float|string|\Stringable|\GMP $id,
        ?DateTimeInterface $fromTime = null,
        ?int $nextRunCount = null,
        ?string $kind = null,
        ?IdType $idType = null,
        ?int $weight = null,
        ?Newcomer $newcomer = null,
        int|float|null $timeout = null,
    ): Assignment {
        $request = (new V1\AssignSlotRequest())->setId((new IdEncoder($idType))->one($id));
        if ($fromTime !== null) {
            $request->setFromTime(Times::toTimestamp($fromTime));
        }
        if ($nextRunCount !== null) {
            $request->setNextRunCount(Check::int32('next_run_count', $nextRunCount));
        }
        $request->setKind(Check::utf8('kind', $kind ?? ''));
        if ($weight !== null) {
            $request->setWeight($weight);
        }
        if ($newcomer !== null) {
            $request->setNewcomer($newcomer->toMessage());
        }

        $question = Encoded::schedule($schedule) . $request->serializeToString();

        return Answers::assignment(
            $id instanceof \Stringable ? (string) $id : $id,
            $this->call('SlotService/AssignSlot', $question, new V1\AssignSlotResponse(), $timeout),
        );
    }

    /**
     * At which slots kinds of job must run so that no two meet on the same user. Give
     * $kindCount, or how long a run of each kind takes in $runTimes. A schedule for each kind
     * is $schedule->shifted($kind->offset).
     *
     * @param list<DateInterval|int|float> $runTimes
     * @param array<array{int, int}> $conflicts which kinds must not meet, where others may, as pairs of
     *     eight kinds in all; with $kindCount. Default: no two may
     * @param array<Schedule|ScheduleVersion> $kindSchedules the schedules that the kinds have today, in
     *     order, to be compared: refused unless a slot of one is a slot of all
     * @param DateInterval|int|float|null $pollingDelay how long a due job may wait for whoever enqueues
     *     it; the run budgets are shorter by it
     * @param DateInterval|int|float|null $slotJobDelay how long the job that enqueues a slot may itself
     *     wait and run; the same
     *
     * @throws OffbeatException
     */
    public function reciprocalSlots(
        Schedule|ScheduleVersion $schedule,
        int $slotIndex = 0,
        ?int $kindCount = null,
        array $runTimes = [],
        ?KindSpacing $spacing = null,
        array $conflicts = [],
        array $kindSchedules = [],
        DateInterval|int|float|null $pollingDelay = null,
        DateInterval|int|float|null $slotJobDelay = null,
        int|float|null $timeout = null,
    ): Reciprocals {
        $request = (new V1\GetReciprocalSlotsRequest())
            ->setSchedule($schedule->toMessage())
            ->setSlotIndex(Check::int32('slot_index', $slotIndex));
        if ($kindCount !== null) {
            $request->setKindCount(Check::int32('kind_count', $kindCount));
        }
        if ($spacing !== null) {
            $request->setSpacing($spacing->toMessage());
        }
        $durations = [];
        foreach (array_values($runTimes) as $index => $runTime) {
            $durations[] = Times::toDuration("run_times[$index]", $runTime);
        }
        $request->setRunTimes($durations);
        $request->setConflicts(self::conflicts($conflicts));
        $schedules = array_values($kindSchedules);
        $schedule = static fn (Schedule|ScheduleVersion $schedule, int $kind): V1\Schedule => $schedule
            ->toMessage("kind_schedules[$kind]");
        $request->setKindSchedules(array_map($schedule, $schedules, array_keys($schedules)));
        if ($pollingDelay !== null) {
            $request->setPollingDelay(Times::toDuration('polling_delay', $pollingDelay));
        }
        if ($slotJobDelay !== null) {
            $request->setSlotJobDelay(Times::toDuration('slot_job_delay', $slotJobDelay));
        }

        return Answers::reciprocals(
            $this->call('SlotService/GetReciprocalSlots', $request, new V1\GetReciprocalSlotsResponse(), $timeout),
        );
    }

    /**
     * @param array<mixed> $pairs
     *
     * @return list<V1\KindConflict>
     */
    private static function conflicts(array $pairs): array
    {
        $conflicts = [];
        foreach (array_values($pairs) as $place => $pair) {
            $isPair = is_array($pair) && array_is_list($pair) && count($pair) === 2 && is_int($pair[0]) && is_int($pair[1]);
            if (!$isPair) {
                throw InvalidArgument::refused("conflicts[$place]", $pair, 'must be a pair of kinds: [0, 1]');
            }
            $conflicts[] = (new V1\KindConflict())
                ->setFirstKindIndex(Check::int32("conflicts[$place].first_kind_index", $pair[0]))
                ->setSecondKindIndex(Check::int32("conflicts[$place].second_kind_index", $pair[1]));
        }

        return $conflicts;
    }

    abstract private function call(string $method, Message|string $request, Message $response, int|float|null $timeout): Message;
}
