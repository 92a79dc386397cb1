<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use Offbeat\Exception\InvalidArgument;

/**
 * IDs that go to the sidecar in one message, and the values that go with each of them.
 *
 * @internal
 */
final class Batch
{
    /**
     * @param int $first index of the first of these IDs in the call
     * @param non-empty-list<int|float|string|\GMP> $ids
     * @param array<string, list<int>> $along values for each ID, by the names of their fields
     * @param list<?string> $timeZones one for each ID, or none
     */
    public function __construct(
        private readonly IdEncoder $encoder,
        public readonly int $first,
        public readonly array $ids,
        private readonly array $along,
        private readonly array $timeZones = [],
    ) {
    }

    public function idsAreUuids(): bool
    {
        return $this->encoder->idsAreUuids();
    }

    /** @param array<string, int> $fields the numbers of the fields, including that of the IDs */
    public function bytes(array $fields): string
    {
        $bytes = Wire::field($fields['ids'], $this->encoder->column($this->ids, $this->timeZones));
        foreach ($this->along as $name => $values) {
            $bytes .= Wire::field($fields[$name], pack('P*', ...$values));
        }

        return $bytes;
    }

    /**
     * Whether the batch was refused because it has too many pieces or too many runs, which only the sidecar knows. A
     * batch with fewer IDs may succeed.
     */
    public function isTooLarge(InvalidArgument $refused): bool
    {
        return count($this->ids) > 1
            && $refused->reason === 'ERROR_REASON_OUT_OF_RANGE'
            && in_array($refused->field, ['ids', 'weights'], true);
    }

    /** @return array{self, self} */
    public function halves(): array
    {
        $middle = intdiv(count($this->ids), 2);
        $part = fn (int $offset, ?int $length): self => new self(
            $this->encoder,
            $this->first + $offset,
            array_slice($this->ids, $offset, $length),
            array_map(static fn (array $values): array => array_slice($values, $offset, $length), $this->along),
            array_slice($this->timeZones, $offset, $length),
        );

        return [$part(0, $middle), $part($middle, null)];
    }

    /** The same refusal, with the index that the ID has in the whole call. */
    public function located(InvalidArgument $refused): InvalidArgument
    {
        $place = self::place('\w+', $refused->field);
        $zone = self::place('ids\.time_zones', $refused->field);
        if ($zone !== null) { // an index into the dictionary, which callers do not see
            $name = IdEncoder::zoneNames($this->timeZones)[$zone] ?? '';
            $field = 'time_zones[' . $this->first + (int) array_search($name, $this->timeZones, true) . ']';
        } elseif ($place !== null && $this->first > 0) {
            $field = strstr($refused->field, '[', true) . '[' . $place + $this->first . ']';
        } else {
            return $refused;
        }

        return new InvalidArgument(
            "$field: $refused->value is refused: $refused->allowed",
            reason: $refused->reason,
            field: $field,
            value: $refused->value,
            allowed: $refused->allowed,
            details: $refused->details,
            previous: $refused,
        );
    }

    /** The index in a list that the path of a field names; null if the field is not in the list. */
    private static function place(string $list, string $field): ?int
    {
        return preg_match("/^$list\[(\d+)\]$/D", $field, $found) === 1 ? (int) $found[1] : null;
    }
}
