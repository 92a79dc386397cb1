<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** How to go over from one schedule to another. */
final class MigrationPlan implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param DateTimeImmutable $cutoverTime until then the old schedule runs, from then on the new one
     * @param MigrationPath $path what moves
     * @param string $advice a cheaper way to the same end, in a sentence; empty if there is none
     * @param ?DateInterval $maxGapBound an upper bound for the time from the last old run of any ID to its first new run;
     *     null with exclusions, which may skip any run
     * @param ?MigratedIds $ids the IDs that were asked about; null if none was
     * @param list<MigrationStep> $steps what to enqueue around the cutover, if a column was named
     * @param list<SqlIndex> $indexes what serves the steps: of the old schedule, and of the new one
     *     where that is another
     *
     * @internal
     */
    public function __construct(
        public readonly string $oldFingerprint,
        public readonly string $newFingerprint,
        public readonly DateTimeImmutable $cutoverTime,
        public readonly MigrationPath $path,
        public readonly string $advice,
        public readonly ?DateInterval $maxGapBound,
        public readonly ?MigratedIds $ids,
        public readonly array $steps,
        public readonly array $indexes,
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

        return count($parts) === 1 ? $first : new self(
            $first->oldFingerprint,
            $first->newFingerprint,
            $first->cutoverTime,
            $first->path,
            $first->advice,
            $first->maxGapBound,
            MigratedIds::joined(array_column($parts, 'ids')),
            $first->steps,
            $first->indexes,
        );
    }
}
