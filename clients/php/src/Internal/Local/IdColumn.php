<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NeedsSidecar;
use Offbeat\Internal\Wire;
use Offbeat\V1;

/**
 * A batch of IDs from the bytes of an offbeat.v1.IdBatch, and the errors of those that are refused.
 *
 * @internal
 */
final class IdColumn
{
    private const MAX_IDS = 65_536;
    private const DETAILED_ERRORS = 1_000;
    private const UUID_BYTES = 16;
    private const NAMES = [1 => 'packed_uuids', 'uuids', 'integers', 'decimals', 'texts', 'fractions'];
    private const TIME_ZONES = 7;
    private const TIME_ZONE_INDEXES = 8;

    /** @var list<V1\IdError> */
    private array $errors = [];

    /** @param list<int|float|string> $values as in the field */
    private function __construct(private readonly int $number, public readonly array $values)
    {
    }

    public static function ofBytes(string $bytes): self
    {
        $fields = Wire::fields($bytes);
        if (isset($fields[self::TIME_ZONES]) || isset($fields[self::TIME_ZONE_INDEXES])) {
            throw new NeedsSidecar('time zones need a sidecar: clients decide elapsed periods alone');
        }
        $filled = array_filter(array_intersect_key($fields, self::NAMES), static fn (array $values): bool => $values !== ['']);
        // An empty text is an ID.
        foreach ([2, 4, 5] as $texts) {
            $filled += array_intersect_key($fields, [$texts => true]);
        }
        ksort($filled);
        if (count($filled) > 1) {
            $names = implode(' and ', array_intersect_key(self::NAMES, $filled));
            throw Refusal::of(Refusal::CONTRADICTORY, 'ids', $names, 'must be IDs of one type: send one batch for each');
        }
        $number = array_key_first($filled);
        if ($number === null) {
            throw Refusal::of(Refusal::MISSING, 'ids', 'nothing', 'must be 1 to 65536 IDs in one of its fields');
        }
        $column = new self($number, self::read($number, $filled[$number]));
        if ($column->count() > self::MAX_IDS) {
            $allowed = 'must be 1 to 65536 IDs: split the batch, or use StreamSlotAssignments';
            throw Refusal::of(Refusal::OUT_OF_RANGE, $column->path(), $column->count() . ' IDs', $allowed);
        }

        return $column;
    }

    public function count(): int
    {
        return count($this->values);
    }

    /** The ID in a row; null if it is refused: the errors then have an entry. */
    public function id(int $row): ?Id
    {
        $field = "{$this->path()}[$row]";
        $value = $this->values[$row];
        try {
            return match ($this->number) {
                1 => Id::uuidBytes($field, $value),
                2 => Id::uuid($field, $value),
                3 => Id::integer($value),
                4 => Id::decimal($field, $value),
                5 => Id::text($field, $value),
                6 => Id::fraction($field, $value),
            };
        } catch (InvalidArgument $refused) {
            $this->refuse($row, $refused);

            return null;
        }
    }

    /** The place of an ID; null if it is refused: the errors then have an entry. */
    public function place(Placing $placing, int $row, Id $id): ?Place
    {
        try {
            return $placing->place($id, "{$this->path()}[$row]");
        } catch (InvalidArgument $refused) {
            $this->refuse($row, $refused);

            return null;
        }
    }

    /** @return list<V1\IdError> by rising index; only the first 1,000 have details */
    public function errors(): array
    {
        return $this->errors;
    }

    private function refuse(int $row, InvalidArgument $refused): void
    {
        $error = (new V1\IdError())->setIdIndex($row)->setReason(V1\ErrorReason::value($refused->reason));
        if (count($this->errors) < self::DETAILED_ERRORS) {
            $error->setField($refused->field)->setValue($refused->value)->setAllowed($refused->allowed);
        }
        $this->errors[] = $error;
    }

    /** The path of the column. */
    private function path(): string
    {
        return 'ids.' . self::NAMES[$this->number];
    }

    /**
     * @param list<int|string> $values
     *
     * @return list<int|float|string>
     */
    private static function read(int $number, array $values): array
    {
        $packed = static fn (string $format): array
            => array_values(unpack("$format*", implode('', array_map(self::bytes(...), $values))));

        return match ($number) {
            1 => self::uuids(implode('', $values)),
            3 => $packed('P'),
            6 => $packed('e'),
            default => $values,
        };
    }

    /** The bytes of packed numbers, or of a number that is not packed. */
    private static function bytes(int|string $value): string
    {
        return is_int($value) ? pack('P', $value) : $value;
    }

    /** @return list<string> */
    private static function uuids(string $bytes): array
    {
        if (strlen($bytes) % self::UUID_BYTES !== 0) {
            $allowed = 'must be a multiple of 16 bytes, UUIDs end to end';
            throw Refusal::of(Refusal::MALFORMED, 'ids.packed_uuids', strlen($bytes) . ' bytes', $allowed);
        }

        return str_split($bytes, self::UUID_BYTES);
    }
}
