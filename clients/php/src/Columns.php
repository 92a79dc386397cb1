<?php

declare(strict_types=1);

namespace Offbeat;

use Offbeat\Answer\IdError;
use Offbeat\Answer\SlotAssignments;

/**
 * The columns of an offbeat.v1.AssignSlotsResponse, straight from its bytes: its generated
 * class takes microseconds for each ID where ext-protobuf is not loaded, unpack() a few
 * nanoseconds.
 *
 * @internal
 */
final class Columns
{
    /**
     * @param list<int|float|string|\GMP> $ids
     *
     * @throws \Exception if the bytes are no such answer
     */
    public static function read(string $bytes, array $ids, int $firstIdIndex, bool $idsAreUuids): SlotAssignments
    {
        $response = Wire::fields($bytes);
        $identity = new V1\ScheduleIdentity();
        $identity->mergeFromString($response[1][0] ?? '');
        $columns = Wire::fields($response[2][0] ?? '');
        $resolution = Wire::fields($columns[1][0] ?? '');
        $size = count($ids);
        $slotIndexes = self::numbers('V', $columns[2] ?? [], $size);
        $errors = array_map(
            static fn (string $error): IdError => self::idError($error, $firstIdIndex),
            $columns[8] ?? [],
        );
        foreach ($errors as $error) {
            $slotIndexes[$error->idIndex - $firstIdIndex] = -1; // which has no sign yet
        }

        return new SlotAssignments(
            fingerprint: $identity->getFingerprint(),
            firstIdIndex: $firstIdIndex,
            ids: $ids,
            slotIndexes: $slotIndexes,
            slotOffsetTicks: self::numbers('P', $columns[3] ?? [], $size),
            cycleOffsetTicks: self::numbers('P', $columns[4] ?? [], $size),
            cycleIndexes: self::numbers('P', $columns[5] ?? [], $size),
            nextRunUnixMillis: self::numbers('P', $columns[6] ?? [], $size),
            errors: $errors,
            tickNanos: ($resolution[1][0] ?? 0) * 1_000_000_000 + ($resolution[2][0] ?? 0),
            runKeyPrefix: $columns[7][0] ?? '',
            idsAreUuids: $idsAreUuids,
        );
    }

    /**
     * @param list<string> $parts packed numbers; a column may come in parts
     *
     * @return list<int>
     */
    private static function numbers(string $format, array $parts, int $size): array
    {
        $numbers = array_values(unpack("$format*", implode('', $parts)));
        if (count($numbers) !== $size) {
            throw new \UnexpectedValueException('a column that is not as long as the IDs');
        }

        return $numbers;
    }

    private static function idError(string $bytes, int $firstIdIndex): IdError
    {
        $message = new V1\IdError();
        $message->mergeFromString($bytes);
        $index = $firstIdIndex + (int) $message->getIdIndex();

        return new IdError(
            idIndex: $index,
            reason: V1\ErrorReason::name($message->getReason()),
            field: "ids[$index]",
            value: $message->getValue(),
            allowed: $message->getAllowed(),
        );
    }
}
