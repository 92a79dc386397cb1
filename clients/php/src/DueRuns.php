<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeImmutable;
use Offbeat\Internal\Columnar;
use Offbeat\Internal\JsonAnswer;

/**
 * The runs that are due: rows, and the columns that the rows are made from, in the order of the IDs, their pieces and
 * their cycles. A refused ID has no rows, and an entry in the errors.
 *
 * @implements \ArrayAccess<int, Run>
 * @implements \IteratorAggregate<int, Run>
 */
final class DueRuns implements \ArrayAccess, \Countable, \IteratorAggregate, \JsonSerializable
{
    use Columnar;
    use JsonAnswer;

    /**
     * @param list<int|float|string|\GMP> $ids
     * @param list<int> $idIndexes index in `ids` of the ID of each row
     * @param list<int> $pieceIndexes
     * @param list<int> $cycleIndexes
     * @param list<int> $scheduledUnixMillis
     * @param list<int> $startUnixMillis
     * @param DateTimeImmutable $nextWatermarkTime the watermark of the next call: keep it with the jobs. The next
     *     watermark of an ID with one of its own is the later of that one and this
     * @param int $lateRunCount missed runs that run now
     * @param int $droppedRunCount missed runs that do not run because of the policy or the horizon, or because nothing
     *     may start
     * @param int $supersededRunCount missed runs that do not run because the next run of the ID would come first, at
     *     the same time, or within minGap
     * @param int $skippedRunCount runs since the watermark that exclusions skip, or whose day the clock skips
     * @param ?DateTimeImmutable $nextDueTime when the next run of these IDs that is not listed here is due; null if
     *     exclusions skip all runs for 64 cycles
     * @param list<IdError> $errors the refused IDs, by rising index
     *
     * @internal
     */
    public function __construct(
        public readonly string $fingerprint,
        array $ids,
        public readonly array $idIndexes,
        public readonly array $pieceIndexes,
        public readonly array $cycleIndexes,
        public readonly array $scheduledUnixMillis,
        public readonly array $startUnixMillis,
        public readonly DateTimeImmutable $nextWatermarkTime,
        public readonly int $lateRunCount,
        public readonly int $droppedRunCount,
        public readonly int $supersededRunCount,
        public readonly int $skippedRunCount,
        public readonly ?DateTimeImmutable $nextDueTime,
        public readonly array $errors,
        private readonly string $runKeyPrefix,
        bool $idsAreUuids,
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
        $dueTimes = array_filter(array_column($parts, 'nextDueTime'));

        return count($parts) === 1 ? $first : new self(
            $first->fingerprint,
            self::all($parts, 'ids'),
            self::allPlaces($parts, 'idIndexes'),
            self::all($parts, 'pieceIndexes'),
            self::all($parts, 'cycleIndexes'),
            self::all($parts, 'scheduledUnixMillis'),
            self::all($parts, 'startUnixMillis'),
            $first->nextWatermarkTime,
            array_sum(array_column($parts, 'lateRunCount')),
            array_sum(array_column($parts, 'droppedRunCount')),
            array_sum(array_column($parts, 'supersededRunCount')),
            array_sum(array_column($parts, 'skippedRunCount')),
            $dueTimes === [] ? null : min($dueTimes),
            self::all($parts, 'errors'),
            $first->runKeyPrefix,
            $first->idsAreUuids,
            DecidedBy::ofAll(array_column($parts, 'decidedBy')),
        );
    }

    /** @internal The answer if there are no IDs. */
    public static function none(string $fingerprint, DateTimeImmutable $nextWatermarkTime, DecidedBy $decidedBy): self
    {
        return new self($fingerprint, [], [], [], [], [], [], $nextWatermarkTime, 0, 0, 0, 0, null, [], '', false, $decidedBy);
    }

    public function count(): int
    {
        return count($this->cycleIndexes);
    }

    /** @return \Generator<int, Run> */
    public function getIterator(): \Generator
    {
        foreach ($this->cycleIndexes as $index => $_) {
            yield $index => $this->offsetGet($index);
        }
    }

    /**
     * The key of a row's run, the same for every attempt to enqueue it. Empty for a fraction, which identifies no row.
     */
    public function runKey(int $index): string
    {
        $this->check($index);

        return $this->key(
            $this->runKeyPrefix,
            $this->cycleIndexes[$index],
            $this->pieceIndexes[$index],
            $this->ids[$this->idIndexes[$index]],
        );
    }

    /** The run ID of a row's run: see Run::idOf(). Empty for a fraction. */
    public function runId(int $index): string
    {
        return Run::idOf($this->runKey($index));
    }

    public function offsetExists(mixed $offset): bool
    {
        return isset($this->cycleIndexes[$offset]);
    }

    public function offsetGet(mixed $offset): Run
    {
        $this->check($offset);

        return $this->run(
            $this->runKeyPrefix,
            $this->ids[$this->idIndexes[$offset]],
            $this->cycleIndexes[$offset],
            $this->pieceIndexes[$offset],
            $this->scheduledUnixMillis[$offset],
            $this->startUnixMillis[$offset],
        );
    }

    private function check(int $index): void
    {
        if (!isset($this->cycleIndexes[$index])) {
            throw new \OutOfBoundsException("there is no row $index");
        }
    }
}
