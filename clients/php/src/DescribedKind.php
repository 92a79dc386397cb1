<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** A kind of a schedule: when it runs, and how long its jobs may take. */
final class DescribedKind implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param int $offsetSlotCount slots from kind 0 to this kind, for the same ID
     * @param DateInterval $offset the same as a span of active time; in the shortest month, where months differ
     * @param int $gapSlotCount slots from this kind to the next one that it must not meet, around the cycle; the slot
     *     count if there is no such kind
     * @param DateInterval $runBudget the shortest time from a run of this kind to the next run of a kind that it must
     *     not meet, in the worst change of the clocks or month from 2020 to 2037. A job must wait and run within it
     * @param ?DateTimeImmutable $worstCycleStartTime start of the cycle whose change of the clocks, or month, makes the
     *     budget shorter than the gap; null if none does
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
