<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateTimeImmutable;
use Offbeat\Run;
use Offbeat\Times;

/**
 * The common part of answers about batches of IDs, which are read as rows and cannot be changed.
 *
 * @internal
 */
trait Columnar
{
    /** @var list<int|float|string|\GMP> the IDs, in the order in which they were given */
    public readonly array $ids;
    private readonly bool $idsAreUuids;

    public function offsetSet(mixed $offset, mixed $value): never
    {
        throw new \LogicException('answers are read only');
    }

    public function offsetUnset(mixed $offset): never
    {
        throw new \LogicException('answers are read only');
    }

    /** The run of an ID in a cycle. */
    private function run(
        string $prefix,
        int|float|string|\GMP $id,
        int $cycleIndex,
        int $pieceIndex,
        int $scheduledUnixMillis,
        int $startUnixMillis,
    ): Run {
        $runKey = $this->key($prefix, $cycleIndex, $pieceIndex, $id);

        return new Run(
            id: $id,
            runKey: $runKey,
            runId: Run::idOf($runKey),
            nominalTime: null, // columns do not have it
            scheduledTime: self::instant($scheduledUnixMillis),
            startTime: self::instant($startUnixMillis),
            cycleIndex: $cycleIndex,
            pieceIndex: $pieceIndex,
            kind: substr($prefix, (int) strrpos($prefix, '/') + 1),
        );
    }

    /** A run key; empty for a fraction, which identifies no row. */
    private function key(string $prefix, int $cycleIndex, int $pieceIndex, int|float|string|\GMP $id): string
    {
        if (is_float($id)) {
            return '';
        }
        $canonical = $this->idsAreUuids ? self::uuid((string) $id) : (string) $id;

        return "$prefix/$cycleIndex/$pieceIndex/$canonical";
    }

    private static function instant(int $unixMillis): DateTimeImmutable
    {
        $seconds = intdiv($unixMillis - (($unixMillis % 1_000) + 1_000) % 1_000, 1_000);

        return Times::instant($seconds, ($unixMillis - $seconds * 1_000) * 1_000);
    }

    /** The canonical text of a UUID. */
    private static function uuid(string $id): string
    {
        return preg_replace('/^(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', strtolower(str_replace('-', '', $id)));
    }

    /**
     * A column, joined over all parts of an answer.
     *
     * @param non-empty-list<self> $parts
     *
     * @return list<mixed>
     */
    private static function all(array $parts, string $column): array
    {
        return array_merge(...array_column($parts, $column));
    }

    /**
     * A column of indexes in `ids`, joined over all parts of an answer: counted from the first ID of the first part.
     *
     * @param non-empty-list<self> $parts
     *
     * @return list<int>
     */
    private static function allPlaces(array $parts, string $column): array
    {
        $places = [];
        $before = 0;
        foreach ($parts as $part) {
            $places[] = array_map(static fn (int $place): int => $place + $before, $part->$column);
            $before += count($part->ids);
        }

        return array_merge(...$places);
    }
}
