<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use Offbeat\Times;

/**
 * Assignments of a batch: rows, and the columns they come from.
 *
 * A refused ID holds -1 in all columns and stands in the errors; its row throws
 * OutOfBoundsException, and accepted() passes over it.
 *
 * @implements \ArrayAccess<int, Row>
 * @implements \IteratorAggregate<int, Row>
 */
final class SlotAssignments implements \ArrayAccess, \Countable, \IteratorAggregate
{
    /**
     * @param int $firstIdIndex the first ID of this batch, counted from the first of the call
     * @param list<int|float|string|\GMP> $ids
     * @param list<int> $slotIndexes
     * @param list<int> $slotOffsetTicks
     * @param list<int> $cycleOffsetTicks
     * @param list<int> $cycleIndexes
     * @param list<int> $nextRunUnixMillis
     * @param int $tickNanos length of a tick, the unit of the offsets
     * @param list<IdError> $errors the refused IDs, by index, rising
     *
     * @internal
     */
    public function __construct(
        public readonly string $fingerprint,
        public readonly int $firstIdIndex,
        public readonly array $ids,
        public readonly array $slotIndexes,
        public readonly array $slotOffsetTicks,
        public readonly array $cycleOffsetTicks,
        public readonly array $cycleIndexes,
        public readonly array $nextRunUnixMillis,
        public readonly array $errors,
        public readonly int $tickNanos,
        private readonly string $runKeyPrefix,
        private readonly bool $idsAreUuids,
    ) {
    }

    /**
     * The answers of one call, batch by batch, as one.
     *
     * @param non-empty-list<self> $parts
     *
     * @internal
     */
    public static function joined(array $parts): self
    {
        $first = $parts[0];
        $all = static fn (string $column): array => array_merge(...array_column($parts, $column));

        return count($parts) === 1 ? $first : new self(
            $first->fingerprint,
            $first->firstIdIndex,
            $all('ids'),
            $all('slotIndexes'),
            $all('slotOffsetTicks'),
            $all('cycleOffsetTicks'),
            $all('cycleIndexes'),
            $all('nextRunUnixMillis'),
            $all('errors'),
            $first->tickNanos,
            $first->runKeyPrefix,
            $first->idsAreUuids,
        );
    }

    /** @internal The answer to no IDs. */
    public static function none(string $fingerprint): self
    {
        return new self($fingerprint, 0, [], [], [], [], [], [], [], 1_000_000_000, '', false);
    }

    public function count(): int
    {
        return count($this->slotIndexes);
    }

    /** @return \Generator<int, Row> */
    public function getIterator(): \Generator
    {
        foreach ($this->slotIndexes as $index => $_) {
            yield $index => $this->offsetGet($index);
        }
    }

    /**
     * The rows of the IDs that were not refused; lazily.
     *
     * @return \Generator<int, Row>
     */
    public function accepted(): \Generator
    {
        foreach ($this->slotIndexes as $index => $slot) {
            if ($slot >= 0) {
                yield $index => $this->offsetGet($index);
            }
        }
    }

    /**
     * Equal for two attempts to enqueue a row's next run; empty for a fraction, which is
     * no identity.
     */
    public function runKey(int $index): string
    {
        $this->check($index);
        $id = $this->ids[$index];
        if (is_float($id)) {
            return '';
        }
        $canonical = $this->idsAreUuids ? self::uuid((string) $id) : (string) $id;

        return "$this->runKeyPrefix/{$this->cycleIndexes[$index]}/0/$canonical";
    }

    public function offsetExists(mixed $offset): bool
    {
        return ($this->slotIndexes[$offset] ?? -1) >= 0;
    }

    public function offsetGet(mixed $offset): Row
    {
        $this->check($offset);
        $millis = $this->nextRunUnixMillis[$offset];
        $seconds = intdiv($millis - (($millis % 1_000) + 1_000) % 1_000, 1_000);

        return new Row(
            id: $this->ids[$offset],
            slotIndex: $this->slotIndexes[$offset],
            slotOffset: $this->span($this->slotOffsetTicks[$offset]),
            cycleOffset: $this->span($this->cycleOffsetTicks[$offset]),
            cycleIndex: $this->cycleIndexes[$offset],
            nextRunTime: Times::instant($seconds, ($millis - $seconds * 1_000) * 1_000),
            runKey: $this->runKey($offset),
        );
    }

    public function offsetSet(mixed $offset, mixed $value): never
    {
        throw new \LogicException('assignments are read only');
    }

    public function offsetUnset(mixed $offset): never
    {
        throw new \LogicException('assignments are read only');
    }

    private function check(int $index): void
    {
        if (!isset($this->slotIndexes[$index])) {
            throw new \OutOfBoundsException("there is no row $index");
        }
        if ($this->slotIndexes[$index] < 0) {
            throw new \OutOfBoundsException('ids[' . $this->firstIdIndex + $index . '] was refused: see errors');
        }
    }

    private function span(int $ticks): \DateInterval
    {
        // In two steps, since the nanoseconds of ten years are more than 63 bits hold.
        $ticksPerSecond = intdiv(1_000_000_000, $this->tickNanos);

        return Times::interval(intdiv($ticks, $ticksPerSecond), $ticks % $ticksPerSecond * $this->tickNanos);
    }

    /** The canonical text of a UUID. */
    private static function uuid(string $id): string
    {
        return preg_replace('/^(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', strtolower(str_replace('-', '', $id)));
    }
}
