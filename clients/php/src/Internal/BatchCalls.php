<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use Google\Protobuf\FieldMask;
use Google\Protobuf\Internal\Message;
use Offbeat\AssignmentColumn;
use Offbeat\DecidedBy;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\IdAudit;
use Offbeat\IdType;
use Offbeat\PackedAssignments;
use Offbeat\Schedule;
use Offbeat\ScheduleReference;
use Offbeat\SlotAssignments;
use Offbeat\Times;
use Offbeat\V1;

/**
 * The client's calls about many IDs. Lists with a value for each ID, such as weights, may be any iterable: their keys
 * are ignored.
 *
 * @internal
 */
trait BatchCalls
{
    /**
     * Assigns any number of IDs of one type, in as few calls as possible.
     *
     * @param iterable<int|float|string|\Stringable|\GMP> $ids
     * @param ?iterable<int> $weights the size of each ID, in the unit of the schedule's weight quantum; the answer then
     *     has a row for each piece. Default: one piece for each ID
     * @param ?iterable<DateTimeZone|string|null> $timeZones with a calendar: the time zone that each ID lives in, whose
     *     wall clock its cycles follow; null for the zone of the schedule. Default: all IDs live in that zone
     * @param list<AssignmentColumn> $columns the columns to return. Others stay empty; rows need all except
     *     LastRunUnixMillis. Default: all except LastRunUnixMillis
     * @param bool $returnErrors whether to return the answer even if some IDs are refused, which are then in the errors
     *
     * @throws BadIds if some IDs are refused; it carries the answers of the others
     * @throws OffbeatException
     */
    public function assignSlots(
        Schedule|ScheduleReference|string $schedule,
        iterable $ids,
        ?DateTimeInterface $fromTime = null,
        ?string $kind = null,
        ?IdType $idType = null,
        ?iterable $weights = null,
        ?iterable $timeZones = null,
        array $columns = [],
        bool $returnErrors = false,
        int|float|null $timeout = null,
    ): SlotAssignments {
        $batches = new Batches($ids, $idType, ['weights' => $weights], $timeZones);
        $parts = iterator_to_array($this->assigned($schedule, $batches, $fromTime, $kind, $columns, $timeout), false);
        if ($parts === []) { // no IDs: the schedule is checked anyway
            $description = $this->describeSchedule($schedule, timeout: $timeout);

            return SlotAssignments::none($description->fingerprint, $description->decidedBy);
        }
        $assignments = SlotAssignments::joined($parts);
        if ($assignments->errors !== [] && !$returnErrors) {
            throw new BadIds($assignments->errors, $assignments);
        }

        return $assignments;
    }

    /**
     * Assigns packed IDs. Bytes go in and columns come out, without a PHP value for each ID.
     *
     * @param ?string $uuids UUIDs, 16 bytes each, end to end
     * @param ?string $integers instead of $uuids: 64-bit integers, as `pack('P*', ...$ids)` makes them
     * @param array<DateTimeZone|string> $timeZones with a calendar: the time zones that IDs live in, each once
     * @param ?string $timeZoneIndexes the index in $timeZones for each ID, as `pack('V*', ...$indexes)` makes them; -1
     *     for the zone of the schedule
     * @param list<AssignmentColumn> $columns the columns to return: fewer take less time. Default: all except
     *     LastRunUnixMillis
     * @param bool $returnErrors as in assignSlots()
     *
     * @throws OffbeatException
     */
    public function assignPacked(
        Schedule|ScheduleReference|string $schedule,
        ?string $uuids = null,
        ?string $integers = null,
        ?DateTimeInterface $fromTime = null,
        ?string $kind = null,
        array $timeZones = [],
        ?string $timeZoneIndexes = null,
        array $columns = [],
        bool $returnErrors = false,
        int|float|null $timeout = null,
    ): PackedAssignments {
        if (($uuids === null) === ($integers === null)) {
            throw InvalidArgument::refused('uuids', $uuids, 'must be given, or integers in their place');
        }
        // The name and the number of the field of IdBatch, and the bytes of an ID.
        [$name, $number, $size] = $uuids === null ? ['integers', 3, 8] : ['uuids', 1, 16];
        $bytes = $uuids ?? $integers;
        if (strlen($bytes) % $size !== 0) {
            throw InvalidArgument::refused($name, strlen($bytes) . ' bytes', "must be $size bytes for each ID");
        }
        $idCount = intdiv(strlen($bytes), $size);
        if ($timeZoneIndexes !== null && strlen($timeZoneIndexes) !== IdEncoder::INDEX_BYTES * $idCount) {
            $shown = strlen($timeZoneIndexes) . ' bytes';
            throw InvalidArgument::refused('time_zone_indexes', $shown, 'must be 4 bytes for each ID', 'ERROR_REASON_CONTRADICTORY');
        }
        $zoneNames = Check::timeZones($timeZones);
        if ($bytes === '') { // no IDs: the schedule is checked anyway
            $description = $this->describeSchedule($schedule, timeout: $timeout);

            return new PackedAssignments($description->fingerprint, '', '', '', '', '', '', [], 1_000_000_000, '', $description->decidedBy);
        }
        $opening = self::assigning($fromTime ?? $this->now(), $kind, $columns);
        $columns = $columns === [] ? AssignmentColumn::DEFAULT : $columns;
        $opening = ScheduleEncoder::schedule($schedule) . $opening->serializeToString();
        $parts = [];
        $step = $size * IdEncoder::BATCH_IDS;
        for ($start = 0; $start < strlen($bytes); $start += $step) {
            $part = strlen($bytes) <= $step ? $bytes : substr($bytes, $start, $step);
            $head = Wire::head($number, strlen($part));
            $first = intdiv($start, $size);
            $count = intdiv(strlen($part), $size);
            $indexes = substr($timeZoneIndexes ?? '', IdEncoder::INDEX_BYTES * $first, IdEncoder::INDEX_BYTES * $count);
            $zones = $zoneNames === [] && $indexes === '' ? '' : IdEncoder::zones($zoneNames, $indexes);
            // In one expression: another copy of a batch would take as long as some thousand decisions.
            $question = $opening . Wire::head(2, strlen($head) + strlen($part) + strlen($zones)) . $head . $part . $zones;
            [$answer, $by] = $this->askBatch('offbeat.v1.SlotService/AssignSlots', $question, $first + $count, $timeout);
            $parts[] = $this->read(static fn (): PackedAssignments => Columns::packed($answer, $count, $first, $columns, $by));
        }
        $assignments = PackedAssignments::joined($parts);
        if ($assignments->errors !== [] && !$returnErrors) {
            throw new BadIds($assignments->errors, $assignments);
        }

        return $assignments;
    }

    /**
     * Assigns IDs as they come: a generator of answers, batch by batch, which holds one batch at a time. Refused IDs
     * are in the errors of their batch.
     *
     * @param iterable<int|float|string|\Stringable|\GMP> $ids
     * @param ?iterable<int> $weights as in assignSlots()
     * @param ?iterable<DateTimeZone|string|null> $timeZones as in assignSlots()
     * @param list<AssignmentColumn> $columns as in assignSlots()
     *
     * @return \Generator<int, SlotAssignments>
     *
     * @throws OffbeatException
     */
    public function streamSlotAssignments(
        Schedule|ScheduleReference|string $schedule,
        iterable $ids,
        ?DateTimeInterface $fromTime = null,
        ?string $kind = null,
        ?IdType $idType = null,
        ?iterable $weights = null,
        ?iterable $timeZones = null,
        array $columns = [],
        int|float|null $timeout = null,
    ): \Generator {
        $batches = new Batches($ids, $idType, ['weights' => $weights], $timeZones, size: 8_192);

        return $this->assigned($schedule, $batches, $fromTime, $kind, $columns, $timeout);
    }

    /**
     * Checks how evenly a sample of up to 65,536 IDs fills the slots, and what is wrong if it does not. Refused IDs are
     * in the errors.
     *
     * @param iterable<int|float|string|\Stringable|\GMP> $ids all IDs, or some drawn at random, rather than the oldest
     * @param ?DateTimeInterface $fromTime the audit warns of IDs that have no run from this time on because of
     *     exclusions. Default: now
     * @param ?string $kind the kind whose slots and runs count. Must be given if the schedule declares kinds
     * @param ?iterable<int> $weights as in assignSlots(); loads are then weights
     *
     * @throws OffbeatException
     */
    public function auditIds(
        Schedule|ScheduleReference|string $schedule,
        iterable $ids,
        ?DateTimeInterface $fromTime = null,
        ?string $kind = null,
        ?IdType $idType = null,
        ?iterable $weights = null,
        int|float|null $timeout = null,
    ): IdAudit {
        $request = (new V1\AuditIdsRequest())
            ->setSchedule(ScheduleEncoder::message($schedule))
            ->setKind(Check::utf8('kind', $kind ?? ''));
        if ($fromTime !== null) {
            $request->setFromTime(Times::toTimestamp($fromTime));
        }
        $request = $request->serializeToString();
        foreach (new Batches($ids, $idType, ['weights' => $weights]) as $batch) {
            if ($batch->first > 0) { // audits of several batches cannot be joined
                $allowed = 'must be a sample that fits into one message: up to ' . IdEncoder::BATCH_IDS . ' IDs';
                throw InvalidArgument::refused('ids', 'more', $allowed, 'ERROR_REASON_OUT_OF_RANGE');
            }
            $request .= $batch->bytes(['ids' => 2, 'weights' => 3]);
        }
        $bytes = $this->send('offbeat.v1.SlotService/AuditIds', $request, $timeout);

        return $this->read(static fn (): IdAudit => Columns::audit($bytes));
    }

    /**
     * @param list<AssignmentColumn> $columns
     *
     * @return \Generator<int, SlotAssignments>
     */
    private function assigned(
        Schedule|ScheduleReference|string $schedule,
        Batches $batches,
        ?DateTimeInterface $fromTime,
        ?string $kind,
        array $columns,
        int|float|null $timeout,
    ): \Generator {
        $request = self::assigning($fromTime ?? $this->now(), $kind, $columns);
        $opening = ScheduleEncoder::schedule($schedule);
        $fields = ['ids' => 2, 'weights' => 5]; // of the request
        $wanted = $columns === [] ? AssignmentColumn::DEFAULT : $columns;
        $reader = static fn (string $bytes, array $ids, int $first, bool $idsAreUuids, DecidedBy $by): SlotAssignments
            => Columns::assignments($bytes, $ids, $first, $idsAreUuids, $wanted, $by);

        return $this->answers('AssignSlots', $request, $fields, $batches, $reader, $timeout, $opening);
    }

    /**
     * A request without its schedule and its IDs.
     *
     * @param list<AssignmentColumn> $columns
     */
    private static function assigning(DateTimeInterface $fromTime, ?string $kind, array $columns): V1\AssignSlotsRequest
    {
        $request = (new V1\AssignSlotsRequest())
            // Now was taken once, so that all batches of a call use the same instant.
            ->setFromTime(Times::toTimestamp($fromTime))
            ->setKind(Check::utf8('kind', $kind ?? ''));
        if ($columns !== []) {
            $path = static fn (AssignmentColumn $column): string => $column->value;
            $request->setReadMask(new FieldMask(['paths' => array_values(array_map($path, $columns))]));
        }

        return $request;
    }

    /**
     * @template T
     *
     * @param string $method a method of SlotService
     * @param Message $request all of it except the IDs; changes to it apply from the next batch on
     * @param array<string, int> $fields the numbers of the fields with a value for each ID
     * @param \Closure(string, list<mixed>, int, bool, DecidedBy): T $reader
     * @param string $opening fields that are not in $request, as bytes
     *
     * @return \Generator<int, T>
     */
    private function answers(
        string $method,
        Message $request,
        array $fields,
        Batches $batches,
        \Closure $reader,
        int|float|null $timeout,
        string $opening = '',
    ): \Generator {
        $ask = fn (Batch $batch): array => $this->askBatch(
            "offbeat.v1.SlotService/$method",
            $opening . $request->serializeToString() . $batch->bytes($fields),
            $batch->first + count($batch->ids),
            $timeout,
        );
        foreach ($batches->answered($ask) as [$batch, [$bytes, $by]]) {
            yield $this->read(static fn () => $reader($bytes, $batch->ids, $batch->first, $batch->idsAreUuids(), $by));
        }
    }

    /** @return array{string, DecidedBy} */
    abstract private function askBatch(string $method, string $bytes, int $idCount, int|float|null $timeout): array;

    abstract private function now(): DateTimeImmutable;

    abstract private function send(string $method, string $bytes, int|float|null $timeout): string;

    abstract private function read(\Closure $reader): mixed;
}
