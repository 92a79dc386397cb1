<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** A plan for moving IDs from one schedule to another. */
final class MigrationPlan implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param DateTimeImmutable $cutoverTime the old schedule runs IDs before this, the new one from this on
     * @param MigrationPath $path what moves
     * @param string $advice a cheaper way to the same end, in a sentence; empty if there is none
     * @param ?DateInterval $maxGapBound an upper bound for the time from the last old run of any ID to its first new run;
     *     null with exclusions, which may skip any run
     * @param ?MigratedIds $ids the IDs of the call; null if it had none
     * @param list<MigrationStep> $steps what to enqueue around the cutover, if the call had a SqlTarget
     * @param list<SqlIndex> $indexes the indexes that serve the steps: that of the old schedule, and that of the new
     *     one if it is another
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
