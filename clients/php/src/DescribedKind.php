<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** A kind of a schedule: where it stands, and how long its jobs may take. */
final class DescribedKind implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param int $offsetSlotCount slots from kind 0 to this kind, for the same ID
     * @param DateInterval $offset the same as active time; in the shortest month, where months differ
     * @param int $gapSlotCount slots from this kind to the next one that it must not meet; without one, the
     *     slot count
     * @param DateInterval $runBudget what a job waits and runs must stay within it: the shortest time to the
     *     next kind's run, in the worst change of clocks or month from 2020 to 2037
     * @param ?DateTimeImmutable $worstCycleStartTime when the cycle starts that makes the budget shorter than
     *     the gap; null where none does
     * @param ?DateInterval $runTime how long a run takes at most, if the schedule says so
     */
    public function __construct(
        public readonly string $name,
        public readonly int $offsetSlotCount,
        public readonly DateInterval $offset,
        public readonly int $gapSlotCount,
        public readonly DateInterval $runBudget,
        public readonly ?DateTimeImmutable $worstCycleStartTime,
        public readonly ?DateInterval $runTime,
    ) {
    }
}
