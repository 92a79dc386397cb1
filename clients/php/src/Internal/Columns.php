<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use Offbeat\AssignmentColumn;
use Offbeat\DecidedBy;
use Offbeat\DueRuns;
use Offbeat\IdAudit;
use Offbeat\IdError;
use Offbeat\MigratedIds;
use Offbeat\MigrationPlan;
use Offbeat\PackedAssignments;
use Offbeat\SlotAssignments;
use Offbeat\Times;
use Offbeat\V1;

/**
 * Reads answers in columns straight from their bytes. Without ext-protobuf, generated classes take microseconds for
 * each number, but unpack() takes a few nanoseconds. Generated classes read the other fields.
 *
 * @internal
 */
final class Columns
{
    // The field numbers of the columns in offbeat.v1.AssignSlotsResponse.assignments.
    private const ASSIGNMENTS = 2;
    private const SLOT_INDEXES = 2;
    private const SLOT_OFFSET_TICKS = 3;
    private const CYCLE_OFFSET_TICKS = 4;
    private const CYCLE_INDEXES = 5;
    private const NEXT_RUN_UNIX_MILLIS = 6;
    private const LAST_RUN_UNIX_MILLIS = 7;
    private const ID_INDEXES = 10;
    private const PIECE_INDEXES = 11;
    // In ListDueRunsResponse.runs.
    private const DUE_RUNS = 2;
    private const NEXT_PAGE_TOKEN = 9; // in ListDueRunsResponse
    private const DUE_ID_INDEXES = 1;
    private const DUE_PIECE_INDEXES = 2;
    private const DUE_CYCLE_INDEXES = 3;
    private const DUE_SCHEDULED_UNIX_MILLIS = 4;
    private const DUE_START_UNIX_MILLIS = 5;
    // In PlanMigrationResponse.ids.
    private const MIGRATED_IDS = 7;
    private const LAST_OLD_UNIX_MILLIS = 1;
    private const LAST_OLD_CYCLE_INDEXES = 2;
    private const FIRST_NEW_UNIX_MILLIS = 3;
    private const FIRST_NEW_CYCLE_INDEXES = 4;
    // In AuditIdsResponse.
    private const SLOT_LOADS = 3;

    /** What unpack() makes of -1 in 32 bits; no slot has this index. */
    private const UNSIGNED_MINUS_ONE = 0xffffffff;

    /**
     * @param list<int|float|string|\GMP> $ids
     * @param list<AssignmentColumn> $wanted
     *
     * @throws \Exception if the bytes are not an offbeat.v1.AssignSlotsResponse with these columns for the IDs
     */
    public static function assignments(
        string $bytes,
        array $ids,
        int $firstIdIndex,
        bool $idsAreUuids,
        array $wanted = AssignmentColumn::DEFAULT,
        DecidedBy $decidedBy = DecidedBy::Sidecar,
    ): SlotAssignments {
        [$taken, $rest] = Wire::taken($bytes, [self::ASSIGNMENTS]);
        $response = self::merged(new V1\AssignSlotsResponse(), $rest);
        [$columns, $rest] = Wire::taken($taken[self::ASSIGNMENTS], [
            self::SLOT_INDEXES, self::SLOT_OFFSET_TICKS, self::CYCLE_OFFSET_TICKS, self::CYCLE_INDEXES,
            self::NEXT_RUN_UNIX_MILLIS, self::LAST_RUN_UNIX_MILLIS, self::ID_INDEXES, self::PIECE_INDEXES,
        ]);
        $message = self::merged(new V1\SlotAssignments(), $rest);
        $idIndexes = self::places($columns[self::ID_INDEXES], count($ids));
        $size = $idIndexes === [] ? count($ids) : count($idIndexes);
        $column = static fn (AssignmentColumn $column, int $number): array => self::numbers(
            $number === self::SLOT_INDEXES ? 'V' : 'P',
            $columns[$number],
            in_array($column, $wanted, true) ? $size : 0,
        );
        $slotIndexes = $column(AssignmentColumn::SlotIndexes, self::SLOT_INDEXES);
        $errors = self::errors($message->getErrors(), $firstIdIndex);
        if ($errors !== []) {
            $slotIndexes = array_map(static fn (int $slot): int => $slot === self::UNSIGNED_MINUS_ONE ? -1 : $slot, $slotIndexes);
        }

        return new SlotAssignments(
            fingerprint: $response->getIdentity()->getFingerprint(),
            firstIdIndex: $firstIdIndex,
            ids: $ids,
            slotIndexes: $slotIndexes,
            slotOffsetTicks: $column(AssignmentColumn::SlotOffsetTicks, self::SLOT_OFFSET_TICKS),
            cycleOffsetTicks: $column(AssignmentColumn::CycleOffsetTicks, self::CYCLE_OFFSET_TICKS),
            cycleIndexes: $column(AssignmentColumn::CycleIndexes, self::CYCLE_INDEXES),
            nextRunUnixMillis: $column(AssignmentColumn::NextRunUnixMillis, self::NEXT_RUN_UNIX_MILLIS),
            lastRunUnixMillis: $column(AssignmentColumn::LastRunUnixMillis, self::LAST_RUN_UNIX_MILLIS),
            errors: $errors,
            tickNanos: self::nanos($message->getResolution()),
            runKeyPrefix: $message->getRunKeyPrefix(),
            idsAreUuids: $idsAreUuids,
            idIndexes: $idIndexes,
            pieceIndexes: self::numbers('V', $columns[self::PIECE_INDEXES], count($idIndexes)),
            decidedBy: $decidedBy,
        );
    }

    /**
     * @param list<AssignmentColumn> $wanted
     *
     * @throws \Exception if the bytes are not an offbeat.v1.AssignSlotsResponse with these columns for $size IDs
     */
    public static function packed(string $bytes, int $size, int $firstIdIndex, array $wanted, DecidedBy $decidedBy): PackedAssignments
    {
        [$taken, $rest] = Wire::taken($bytes, [self::ASSIGNMENTS]);
        $response = self::merged(new V1\AssignSlotsResponse(), $rest);
        [$columns, $rest] = Wire::taken($taken[self::ASSIGNMENTS], [
            self::SLOT_INDEXES, self::SLOT_OFFSET_TICKS, self::CYCLE_OFFSET_TICKS, self::CYCLE_INDEXES,
            self::NEXT_RUN_UNIX_MILLIS, self::LAST_RUN_UNIX_MILLIS,
        ]);
        $message = self::merged(new V1\SlotAssignments(), $rest);
        foreach (AssignmentColumn::cases() as $place => $column) { // in the order of their field numbers
            $rows = in_array($column, $wanted, true) ? $size : 0;
            $number = self::SLOT_INDEXES + $place;
            if (strlen($columns[$number]) !== $rows * ($number === self::SLOT_INDEXES ? 4 : 8)) {
                throw new \UnexpectedValueException('a column that is not as long as the IDs');
            }
        }

        return new PackedAssignments(
            $response->getIdentity()->getFingerprint(),
            $columns[self::SLOT_INDEXES],
            $columns[self::SLOT_OFFSET_TICKS],
            $columns[self::CYCLE_OFFSET_TICKS],
            $columns[self::CYCLE_INDEXES],
            $columns[self::NEXT_RUN_UNIX_MILLIS],
            $columns[self::LAST_RUN_UNIX_MILLIS],
            self::errors($message->getErrors(), $firstIdIndex),
            self::nanos($message->getResolution()),
            $message->getRunKeyPrefix(),
            $decidedBy,
        );
    }

    /**
     * @param string $bytes one page, or all pages end to end, which make one message: columns continue from page to
     *     page, and only the last page has a watermark and counts
     * @param list<int|float|string|\GMP> $ids
     *
     * @throws \Exception if the bytes are not an offbeat.v1.ListDueRunsResponse
     */
    public static function dueRuns(
        string $bytes,
        array $ids,
        int $firstIdIndex,
        bool $idsAreUuids,
        DecidedBy $decidedBy = DecidedBy::Sidecar,
    ): DueRuns {
        [$taken, $rest] = Wire::taken($bytes, [self::DUE_RUNS]);
        $response = self::merged(new V1\ListDueRunsResponse(), $rest);
        [$columns, $rest] = Wire::taken($taken[self::DUE_RUNS], [
            self::DUE_ID_INDEXES, self::DUE_PIECE_INDEXES, self::DUE_CYCLE_INDEXES,
            self::DUE_SCHEDULED_UNIX_MILLIS, self::DUE_START_UNIX_MILLIS,
        ]);
        $message = self::merged(new V1\DueRuns(), $rest);
        $idIndexes = self::places($columns[self::DUE_ID_INDEXES], count($ids));
        $size = count($idIndexes);
        $errors = self::errors($message->getErrors(), $firstIdIndex);

        return new DueRuns(
            fingerprint: $response->getIdentity()->getFingerprint(),
            ids: $ids,
            idIndexes: $idIndexes,
            pieceIndexes: self::numbers('V', $columns[self::DUE_PIECE_INDEXES], $size),
            cycleIndexes: self::numbers('P', $columns[self::DUE_CYCLE_INDEXES], $size),
            scheduledUnixMillis: self::numbers('P', $columns[self::DUE_SCHEDULED_UNIX_MILLIS], $size),
            startUnixMillis: self::numbers('P', $columns[self::DUE_START_UNIX_MILLIS], $size),
            nextWatermarkTime: Times::fromTimestamp($response->getNextWatermarkTime()),
            lateRunCount: (int) $response->getLateRunCount(),
            droppedRunCount: (int) $response->getDroppedRunCount(),
            supersededRunCount: (int) $response->getSupersededRunCount(),
            skippedRunCount: (int) $response->getSkippedRunCount(),
            nextDueTime: Times::fromOptionalTimestamp($response->getNextDueTime()),
            errors: array_values(array_column($errors, null, 'idIndex')), // each page repeats all errors
            runKeyPrefix: $message->getRunKeyPrefix(),
            idsAreUuids: $idsAreUuids,
            decidedBy: $decidedBy,
        );
    }

    /**
     * The token of the next page; empty on the last one.
     *
     * @throws \Exception if the bytes are not a message
     */
    public static function nextPageToken(string $page): string
    {
        return Wire::taken($page, [self::NEXT_PAGE_TOKEN])[0][self::NEXT_PAGE_TOKEN];
    }

    /**
     * @param list<int|float|string|\GMP> $ids
     *
     * @throws \Exception if the bytes are not an offbeat.v1.PlanMigrationResponse
     */
    public static function migration(string $bytes, array $ids, int $firstIdIndex, bool $idsAreUuids): MigrationPlan
    {
        [$taken, $rest] = Wire::taken($bytes, [self::MIGRATED_IDS]);
        $response = self::merged(new V1\PlanMigrationResponse(), $rest);
        $migrated = $ids === []
            ? null
            : self::migratedIds($taken[self::MIGRATED_IDS], $ids, $firstIdIndex, $idsAreUuids);

        return Answers::migration($response, $migrated);
    }

    /** @throws \Exception if the bytes are not an offbeat.v1.AuditIdsResponse */
    public static function audit(string $bytes): IdAudit
    {
        [$taken, $rest] = Wire::taken($bytes, [self::SLOT_LOADS]);
        $response = self::merged(new V1\AuditIdsResponse(), $rest);
        $loads = array_values(unpack('e*', $taken[self::SLOT_LOADS]));

        return Answers::audit($response, $loads, self::errors($response->getErrors(), 0));
    }

    /** @param list<int|float|string|\GMP> $ids */
    private static function migratedIds(string $bytes, array $ids, int $firstIdIndex, bool $idsAreUuids): MigratedIds
    {
        [$columns, $rest] = Wire::taken($bytes, [
            self::LAST_OLD_UNIX_MILLIS, self::LAST_OLD_CYCLE_INDEXES,
            self::FIRST_NEW_UNIX_MILLIS, self::FIRST_NEW_CYCLE_INDEXES,
        ]);
        $message = self::merged(new V1\MigratedIds(), $rest);
        $size = count($ids);

        return new MigratedIds(
            ids: $ids,
            lastOldUnixMillis: self::numbers('P', $columns[self::LAST_OLD_UNIX_MILLIS], $size),
            lastOldCycleIndexes: self::numbers('P', $columns[self::LAST_OLD_CYCLE_INDEXES], $size),
            firstNewUnixMillis: self::numbers('P', $columns[self::FIRST_NEW_UNIX_MILLIS], $size),
            firstNewCycleIndexes: self::numbers('P', $columns[self::FIRST_NEW_CYCLE_INDEXES], $size),
            movedIdCount: (int) $message->getMovedIdCount(),
            observedMinGap: Times::fromOptional($message->getObservedMinGap()),
            observedMaxGap: Times::fromOptional($message->getObservedMaxGap()),
            leftOutRunCount: (int) $message->getLeftOutRunCount(),
            errors: self::errors($message->getErrors(), $firstIdIndex),
            oldRunKeyPrefix: $message->getOldRunKeyPrefix(),
            newRunKeyPrefix: $message->getNewRunKeyPrefix(),
            idsAreUuids: $idsAreUuids,
        );
    }

    /**
     * @template T of \Google\Protobuf\Internal\Message
     *
     * @param T $message
     *
     * @return T
     */
    private static function merged(object $message, string $bytes): object
    {
        $message->mergeFromString($bytes);

        return $message;
    }

    /** @return list<int> the numbers of a packed column */
    private static function numbers(string $format, string $bytes, int $size): array
    {
        $numbers = array_values(unpack("$format*", $bytes));
        if (count($numbers) !== $size) {
            throw new \UnexpectedValueException('a column that is not as long as the others');
        }

        return $numbers;
    }

    /** @return list<int> the index of the ID of each row */
    private static function places(string $bytes, int $idCount): array
    {
        $places = array_values(unpack('V*', $bytes));
        if ($places !== [] && max($places) >= $idCount) {
            throw new \UnexpectedValueException('a row of an ID that was not asked about');
        }

        return $places;
    }

    private static function nanos(?\Google\Protobuf\Duration $span): int
    {
        return (int) $span?->getSeconds() * 1_000_000_000 + (int) $span?->getNanos();
    }

    /**
     * @param iterable<V1\IdError> $messages
     *
     * @return list<IdError>
     */
    private static function errors(iterable $messages, int $firstIdIndex): array
    {
        $errors = [];
        foreach ($messages as $message) {
            $index = $firstIdIndex + (int) $message->getIdIndex();
            $errors[] = new IdError(
                idIndex: $index,
                reason: V1\ErrorReason::name($message->getReason()),
                field: "ids[$index]",
                value: $message->getValue(),
                allowed: $message->getAllowed(),
            );
        }

        return $errors;
    }
}
