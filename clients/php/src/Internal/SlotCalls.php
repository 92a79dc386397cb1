<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateTimeInterface;
use DateTimeZone;
use Google\Protobuf\Internal\Message;
use Offbeat\Assignment;
use Offbeat\DecidedBy;
use Offbeat\Description;
use Offbeat\Exception\OffbeatException;
use Offbeat\IdType;
use Offbeat\ListedSchedule;
use Offbeat\NewId;
use Offbeat\Schedule;
use Offbeat\ScheduleReference;
use Offbeat\Slot;
use Offbeat\SqlPredicate;
use Offbeat\SqlTarget;
use Offbeat\Times;
use Offbeat\V1;

/**
 * The client's calls about slots, and about one ID.
 *
 * @internal
 */
trait SlotCalls
{
    /**
     * Describes a schedule: its defaults, its fingerprint, its kinds, its slot at $atTime (default: now), and the load
     * to expect for a $population.
     *
     * @throws OffbeatException
     */
    public function describeSchedule(
        Schedule|ScheduleReference|string $schedule,
        ?DateTimeInterface $atTime = null,
        ?int $population = null,
        int|float|null $timeout = null,
    ): Description {
        $request = new V1\DescribeScheduleRequest();
        if ($atTime !== null) {
            $request->setAtTime(Times::toTimestamp($atTime));
        }
        if ($population !== null) {
            $request->setPopulation($population);
        }

        $opening = ScheduleEncoder::schedule($schedule);
        [$response, $by] = $this->ask('offbeat.v1.SlotService/DescribeSchedule', $request, new V1\DescribeScheduleResponse(), $timeout, $opening);

        return $this->read(static fn (): Description => Answers::description($response, $by));
    }

    /**
     * The schedules that the sidecar has loaded; with a $name, only its versions.
     *
     * @return list<ListedSchedule>
     *
     * @throws OffbeatException
     */
    public function listSchedules(?string $name = null, int|float|null $timeout = null): array
    {
        $request = (new V1\ListSchedulesRequest())->setName(Check::utf8('name', $name ?? ''));
        $listed = [];
        do {
            $response = $this->call('offbeat.v1.SlotService/ListSchedules', $request, new V1\ListSchedulesResponse(), $timeout);
            foreach ($response->getSchedules() as $schedule) {
                $listed[] = $this->read(static fn (): ListedSchedule => Answers::listedSchedule($schedule));
            }
            $request->setPageToken($response->getNextPageToken());
        } while ($request->getPageToken() !== '');

        return $listed;
    }

    /**
     * The slots that start in a window; by default as many as a cycle has, from now on. With a SqlTarget, each has the
     * predicate that selects its rows.
     *
     * @param ?string $kind the kind whose rows the predicates select, if the schedule declares kinds
     *
     * @return list<Slot>
     *
     * @throws OffbeatException
     */
    public function listSlots(
        Schedule|ScheduleReference|string $schedule,
        ?DateTimeInterface $startTime = null,
        ?DateTimeInterface $endTime = null,
        ?SqlTarget $sqlTarget = null,
        ?string $kind = null,
        int|float|null $timeout = null,
    ): array {
        $request = (new V1\ListSlotsRequest())
            ->setSchedule(ScheduleEncoder::message($schedule))
            ->setKind(Check::utf8('kind', $kind ?? ''));
        if ($startTime !== null) {
            $request->setStartTime(Times::toTimestamp($startTime));
        }
        if ($endTime !== null) {
            $request->setEndTime(Times::toTimestamp($endTime));
        }
        if ($sqlTarget !== null) {
            $request->setSqlTarget($sqlTarget->toMessage());
        }
        $response = $this->call('offbeat.v1.SlotService/ListSlots', $request, new V1\ListSlotsResponse(), $timeout);
        $slot = static fn (V1\Slot $slot): Slot => Answers::slot($slot, $response->getSqlIndex());

        return $this->read(static fn (): array => array_map($slot, iterator_to_array($response->getSlots(), false)));
    }

    /**
     * The rows of a table that run in a window of up to the longest cycle, as a predicate. Not for Placement::Twister,
     * because no database computes its offsets.
     *
     * @param ?DateTimeInterface $startTime null for now
     * @param ?string $kind the kind whose runs count, if the schedule declares kinds
     * @param array<DateTimeZone|string> $timeZones with a calendar and a timeZoneColumn: the time zones that rows live
     *     in, each once. Rows of other zones, or of none, are not selected. Default: all rows live in the zone of the
     *     schedule
     *
     * @throws OffbeatException
     */
    public function windowPredicate(
        Schedule|ScheduleReference|string $schedule,
        SqlTarget $sqlTarget,
        ?DateTimeInterface $startTime,
        DateTimeInterface $endTime,
        ?string $kind = null,
        array $timeZones = [],
        int|float|null $timeout = null,
    ): SqlPredicate {
        $request = (new V1\GetWindowPredicateRequest())
            ->setSchedule(ScheduleEncoder::message($schedule))
            ->setSqlTarget($sqlTarget->toMessage())
            ->setEndTime(Times::toTimestamp($endTime))
            ->setKind(Check::utf8('kind', $kind ?? ''))
            ->setTimeZones(Check::timeZones($timeZones));
        if ($startTime !== null) {
            $request->setStartTime(Times::toTimestamp($startTime));
        }
        $response = $this->call('offbeat.v1.SlotService/GetWindowPredicate', $request, new V1\GetWindowPredicateResponse(), $timeout);

        return $this->read(static fn (): SqlPredicate => Answers::predicate($response->getPredicate(), $response->getSqlIndex()));
    }

    /**
     * Assigns one ID. For more than a few IDs, assignSlots() is far faster.
     *
     * @param ?DateTimeInterface $fromTime runs at or after this are next runs. Default: now
     * @param ?int $nextRunCount how many next runs to return. Default: 1
     * @param ?string $kind the kind of job, which is part of the run keys. If the schedule declares kinds, it must be
     *     one of them, and decides slot and time; otherwise it is a label that moves nothing. Default, as a label:
     *     "default"
     * @param ?IdType $idType what a string stands for. Default: a UUID if it is one with hyphens, otherwise text
     * @param ?int $weight the size of the ID, in the unit of the schedule's weight quantum: a larger ID has more
     *     pieces. Default: one piece
     * @param ?NewId $newId for a new ID, to get its first run
     * @param DateTimeZone|string|null $timeZone with a calendar: the time zone that the ID lives in, whose wall clock
     *     its cycles follow. Default: the zone of the schedule
     *
     * @throws OffbeatException
     */
    public function assignSlot(
        Schedule|ScheduleReference|string $schedule,
        int|float|string|\Stringable|\GMP $id,
        ?DateTimeInterface $fromTime = null,
        ?int $nextRunCount = null,
        ?string $kind = null,
        ?IdType $idType = null,
        ?int $weight = null,
        ?NewId $newId = null,
        DateTimeZone|string|null $timeZone = null,
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
        if ($newId !== null) {
            $request->setNewId($newId->toMessage());
        }
        if ($timeZone !== null) {
            $request->setTimeZone(Check::timeZone('time_zone', $timeZone));
        }

        $opening = ScheduleEncoder::schedule($schedule);
        [$response, $by] = $this->ask('offbeat.v1.SlotService/AssignSlot', $request, new V1\AssignSlotResponse(), $timeout, $opening);
        $given = $id instanceof \Stringable ? (string) $id : $id;

        return $this->read(static fn (): Assignment => Answers::assignment($given, $kind, $response, $by));
    }

    /** @return array{Message, DecidedBy} */
    abstract private function ask(string $method, Message $request, Message $response, int|float|null $timeout, string $opening = ''): array;

    abstract private function call(string $method, Message $request, Message $response, int|float|null $timeout): Message;

    abstract private function read(\Closure $reader): mixed;
}
