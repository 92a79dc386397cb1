<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** One run of an ID, or of a piece of it: the same in all answers. */
final class Run implements \JsonSerializable
{
    use JsonAnswer;

    /** Whether it was missed, and so starts later than it is scheduled for. */
    public readonly bool $late;

    /**
     * @param string $runKey equal for two attempts to enqueue it, and empty for a fraction, which is no identity
     * @param string $runId the same as 32 hexadecimal digits, which any queue takes as the ID of a job; empty
     *     where the run key is
     * @param ?DateTimeImmutable $nominalTime when it would start without an exclusion, or without a new
     *     ID's policy; null where that is the scheduled time, and in answers about batches, which do not say it
     * @param DateTimeImmutable $scheduledTime when it should start: what lateness is measured from
     * @param DateTimeImmutable $startTime when to start it
     * @param int $cycleIndex its cycle, which a deferred run keeps
     * @param int $pieceIndex 0, except for weighted IDs
     * @param string $kind the kind of job that was asked about
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

    /** The run ID that goes with a run key: the first half of its SHA-256. */
    public static function idOf(string $runKey): string
    {
        return $runKey === '' ? '' : substr(hash('sha256', $runKey), 0, 32);
    }
}
