<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** One run of an ID, or of a piece of it. All answers have runs of this class. */
final class Run implements \JsonSerializable
{
    use JsonAnswer;

    /** Whether the run was missed, and so starts later than it should have. */
    public readonly bool $late;

    /**
     * @param string $runKey identifies the run: the same for every attempt to enqueue it. Empty for a fraction, which
     *     identifies no row
     * @param string $runId derived from the run key: 32 hexadecimal digits, which any queue takes as the ID of a job;
     *     empty if the run key is
     * @param ?DateTimeImmutable $nominalTime when the run would start without exclusions and without the policy for new
     *     IDs; null if that is the scheduled time, and in answers about batches, which do not have it
     * @param DateTimeImmutable $scheduledTime when the run should start: lateness is measured from it
     * @param DateTimeImmutable $startTime when to start it; for a missed run, later than that
     * @param int $cycleIndex its cycle, which a deferred run keeps
     * @param int $pieceIndex 0, except for weighted IDs
     * @param string $kind the kind of job that the call named; "default" if it named none
     */
    public function __construct(
        public readonly int|float|string|\GMP $id,
        public readonly string $runKey,
        public readonly string $runId,
        public readonly ?DateTimeImmutable $nominalTime,
        public readonly DateTimeImmutable $scheduledTime,
        public readonly DateTimeImmutable $startTime,
        public readonly int $cycleIndex,
        public readonly int $pieceIndex,
        public readonly string $kind,
    ) {
        $this->late = $startTime > $scheduledTime;
    }

    /** The ID of a run, from its key: the first half of the key's SHA-256. Empty if the key is. */
    public static function idOf(string $runKey): string
    {
        return $runKey === '' ? '' : substr(hash('sha256', $runKey), 0, 32);
    }
}
