<?php

declare(strict_types=1);

namespace Offbeat;

use Offbeat\Internal\Columnar;
use Offbeat\Internal\JsonAnswer;

/**
 * The assignments of a batch: rows, and the columns that the rows are made from. There is one row for each ID or, with
 * weights, for each piece of an ID. Columns that were not requested are empty.
 *
 * A refused ID has -1 in all columns, and an entry in the errors. Reading its row throws OutOfBoundsException;
 * accepted() skips it.
 *
 * @implements \ArrayAccess<int, Row>
 * @implements \IteratorAggregate<int, Row>
 */
final class SlotAssignments implements \ArrayAccess, \Countable, \IteratorAggregate, \JsonSerializable
{
    use Columnar;
    use JsonAnswer;

    private const NO_RUN = -1;

    /**
     * @param int $firstIdIndex index in the call of the first ID of this batch
     * @param list<int|float|string|\GMP> $ids
     * @param list<int> $slotIndexes
     * @param list<int> $slotOffsetTicks
     * @param list<int> $cycleOffsetTicks
     * @param list<int> $cycleIndexes
     * @param list<int> $nextRunUnixMillis
     * @param list<int> $lastRunUnixMillis -1 if exclusions skip the previous 1,000 cycles
     * @param int $tickNanos length of a tick, the unit of the offsets
     * @param list<IdError> $errors the refused IDs, by rising index
     * @param list<int> $idIndexes with weights only: index in `ids` of the ID of each row
     * @param list<int> $pieceIndexes with weights only: index of the piece of each row in its ID, from 0
     *
     * @internal
     */
    public function __construct(
        public readonly string $fingerprint,
        public readonly int $firstIdIndex,
        array $ids,
        public readonly array $slotIndexes,
        public readonly array $slotOffsetTicks,
        public readonly array $cycleOffsetTicks,
        public readonly array $cycleIndexes,
        public readonly array $nextRunUnixMillis,
        public readonly array $lastRunUnixMillis,
        public readonly array $errors,
        public readonly int $tickNanos,
        private readonly string $runKeyPrefix,
        bool $idsAreUuids,
        public readonly array $idIndexes = [],
        public readonly array $pieceIndexes = [],
        public readonly DecidedBy $decidedBy = DecidedBy::Sidecar,
    ) {
        $this->ids = $ids;
        $this->idsAreUuids = $idsAreUuids;
    }

    /**
     * Joins the answers to the batches of one call.
     *
     * @param non-empty-list<self> $parts
     *
     * @internal
     */
    public static function joined(array $parts): self
    {
        $first = $parts[0];

        return count($parts) === 1 ? $first : new self(
            $first->fingerprint,
            $first->firstIdIndex,
            self::all($parts, 'ids'),
            self::all($parts, 'slotIndexes'),
            self::all($parts, 'slotOffsetTicks'),
            self::all($parts, 'cycleOffsetTicks'),
            self::all($parts, 'cycleIndexes'),
            self::all($parts, 'nextRunUnixMillis'),
            self::all($parts, 'lastRunUnixMillis'),
            self::all($parts, 'errors'),
            $first->tickNanos,
            $first->runKeyPrefix,
            $first->idsAreUuids,
            self::allPlaces($parts, 'idIndexes'),
            self::all($parts, 'pieceIndexes'),
            DecidedBy::ofAll(array_column($parts, 'decidedBy')),
        );
    }

    /** @internal The answer if there are no IDs. */
    public static function none(string $fingerprint, DecidedBy $decidedBy): self
    {
        return new self($fingerprint, 0, [], [], [], [], [], [], [], [], 1_000_000_000, '', false, decidedBy: $decidedBy);
    }

    public function count(): int
    {
        return count($this->idIndexes === [] ? $this->ids : $this->idIndexes);
    }

    /** @return \Generator<int, Row> */
    public function getIterator(): \Generator
    {
        for ($index = 0, $count = count($this); $index < $count; ++$index) {
            yield $index => $this->offsetGet($index);
        }
    }

    /**
     * The rows of the IDs that were not refused: a generator that makes them on demand.
     *
     * @return \Generator<int, Row>
     */
    public function accepted(): \Generator
    {
        for ($index = 0, $count = count($this); $index < $count; ++$index) {
            if ($this->of('slotIndexes', $index) >= 0) {
                yield $index => $this->offsetGet($index);
            }
        }
    }

    /**
     * The key of a row's next run, the same for every attempt to enqueue it. Empty for a fraction, which identifies no
     * row.
     */
    public function runKey(int $index): string
    {
        $this->check($index);

        return $this->key(
            $this->runKeyPrefix,
            $this->of('cycleIndexes', $index),
            $this->pieceIndexes[$index] ?? 0,
            $this->ids[$this->idIndexes[$index] ?? $index],
        );
    }

    /** The run ID of a row's next run: see Run::idOf(). Empty for a fraction. */
    public function runId(int $index): string
    {
        return Run::idOf($this->runKey($index));
    }

    public function offsetExists(mixed $offset): bool
    {
        return is_int($offset) && $offset >= 0 && $offset < count($this) && $this->of('slotIndexes', $offset) >= 0;
    }

    public function offsetGet(mixed $offset): Row
    {
        $this->check($offset);
        $id = $this->ids[$this->idIndexes[$offset] ?? $offset];
        $piece = $this->pieceIndexes[$offset] ?? 0;
        $millis = $this->of('nextRunUnixMillis', $offset);
        $lastMillis = $this->lastRunUnixMillis[$offset] ?? self::NO_RUN;

        return new Row(
            id: $id,
            pieceIndex: $piece,
            slotIndex: $this->slotIndexes[$offset],
            slotOffset: $this->span($this->of('slotOffsetTicks', $offset)),
            cycleOffset: $this->span($this->of('cycleOffsetTicks', $offset)),
            nextRun: $this->run($this->runKeyPrefix, $id, $this->of('cycleIndexes', $offset), $piece, $millis, $millis),
            lastRunTime: $lastMillis === self::NO_RUN ? null : self::instant($lastMillis),
        );
    }

    private function check(int $index): void
    {
        if ($index < 0 || $index >= count($this)) {
            throw new \OutOfBoundsException("there is no row $index");
        }
        if ($this->of('slotIndexes', $index) < 0) {
            $id = $this->firstIdIndex + ($this->idIndexes[$index] ?? $index);
            throw new \OutOfBoundsException("ids[$id] was refused: see errors");
        }
    }

    /** The value of a column in an existing row. */
    private function of(string $column, int $index): int
    {
        return $this->$column[$index] ?? throw new \LogicException("rows need the column $column, which was not asked for");
    }

    private function span(int $ticks): \DateInterval
    {
        // Whole seconds, and the nanoseconds of the rest.
        $ticksPerSecond = intdiv(1_000_000_000, $this->tickNanos);

        return Times::interval(intdiv($ticks, $ticksPerSecond), $ticks % $ticksPerSecond * $this->tickNanos);
    }
}
