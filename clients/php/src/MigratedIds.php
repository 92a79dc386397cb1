<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\Columnar;
use Offbeat\Internal\JsonAnswer;

/**
 * Migrated IDs: rows, and the columns that the rows are made from.
 *
 * A refused ID has -1 in all columns, and an entry in the errors. Reading its row throws OutOfBoundsException;
 * accepted() skips it.
 *
 * @implements \ArrayAccess<int, MigratedId>
 * @implements \IteratorAggregate<int, MigratedId>
 */
final class MigratedIds implements \ArrayAccess, \Countable, \IteratorAggregate, \JsonSerializable
{
    use Columnar;
    use JsonAnswer;

    /** The moved IDs as a share of the IDs that were not refused: 0 to 1. */
    public readonly float $movedRatio;
    /** @var array<int, true> by index: -1 in the columns does not show it, because a run may start at -1 ms */
    private readonly array $refused;

    /**
     * @param list<int|float|string|\GMP> $ids
     * @param list<int> $lastOldUnixMillis
     * @param list<int> $lastOldCycleIndexes
     * @param list<int> $firstNewUnixMillis
     * @param list<int> $firstNewCycleIndexes
     * @param int $movedIdCount IDs whose first new run is not when the old schedule would have run them next
     * @param ?DateInterval $observedMinGap the shortest time from the last old to the first new run of an ID; null if
     *     every ID was refused
     * @param ?DateInterval $observedMaxGap the longest such time
     * @param int $leftOutRunCount new runs that came too soon after an old one
     * @param list<IdError> $errors the refused IDs, by rising index
     *
     * @internal
     */
    public function __construct(
        array $ids,
        public readonly array $lastOldUnixMillis,
        public readonly array $lastOldCycleIndexes,
        public readonly array $firstNewUnixMillis,
        public readonly array $firstNewCycleIndexes,
        public readonly int $movedIdCount,
        public readonly ?DateInterval $observedMinGap,
        public readonly ?DateInterval $observedMaxGap,
        public readonly int $leftOutRunCount,
        public readonly array $errors,
        private readonly string $oldRunKeyPrefix,
        private readonly string $newRunKeyPrefix,
        bool $idsAreUuids,
    ) {
        $this->ids = $ids;
        $this->idsAreUuids = $idsAreUuids;
        $this->refused = array_fill_keys(array_column($errors, 'idIndex'), true);
        $this->movedRatio = $movedIdCount / max(1, count($ids) - count($errors));
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
        $minGaps = self::bySeconds(array_column($parts, 'observedMinGap'));
        $maxGaps = self::bySeconds(array_column($parts, 'observedMaxGap'));

        return new self(
            self::all($parts, 'ids'),
            self::all($parts, 'lastOldUnixMillis'),
            self::all($parts, 'lastOldCycleIndexes'),
            self::all($parts, 'firstNewUnixMillis'),
            self::all($parts, 'firstNewCycleIndexes'),
            array_sum(array_column($parts, 'movedIdCount')),
            $minGaps[0] ?? null,
            end($maxGaps) ?: null,
            array_sum(array_column($parts, 'leftOutRunCount')),
            self::all($parts, 'errors'),
            $first->oldRunKeyPrefix,
            $first->newRunKeyPrefix,
            $first->idsAreUuids,
        );
    }

    public function count(): int
    {
        return count($this->ids);
    }

    /** @return \Generator<int, MigratedId> */
    public function getIterator(): \Generator
    {
        foreach ($this->ids as $index => $_) {
            yield $index => $this->offsetGet($index);
        }
    }

    /**
     * The rows of the IDs that were not refused: a generator that makes them on demand.
     *
     * @return \Generator<int, MigratedId>
     */
    public function accepted(): \Generator
    {
        foreach ($this->ids as $index => $_) {
            if (!isset($this->refused[$index])) {
                yield $index => $this->offsetGet($index);
            }
        }
    }

    public function offsetExists(mixed $offset): bool
    {
        return isset($this->ids[$offset]) && !isset($this->refused[$offset]);
    }

    public function offsetGet(mixed $offset): MigratedId
    {
        if (!isset($this->ids[$offset])) {
            throw new \OutOfBoundsException("there is no row $offset");
        }
        if (isset($this->refused[$offset])) {
            throw new \OutOfBoundsException("ids[$offset] was refused: see errors");
        }
        $id = $this->ids[$offset];
        [$oldCycle, $oldMillis] = [$this->lastOldCycleIndexes[$offset], $this->lastOldUnixMillis[$offset]];
        [$newCycle, $newMillis] = [$this->firstNewCycleIndexes[$offset], $this->firstNewUnixMillis[$offset]];

        return new MigratedId(
            id: $id,
            lastOldRun: $this->run($this->oldRunKeyPrefix, $id, $oldCycle, 0, $oldMillis, $oldMillis),
            firstNewRun: $this->run($this->newRunKeyPrefix, $id, $newCycle, 0, $newMillis, $newMillis),
        );
    }

    /**
     * @param array<?DateInterval> $spans
     *
     * @return list<DateInterval>
     */
    private static function bySeconds(array $spans): array
    {
        $spans = array_values(array_filter($spans));
        usort($spans, static fn (DateInterval $one, DateInterval $other): int => Times::seconds($one) <=> Times::seconds($other));

        return $spans;
    }
}
