<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\JsonAnswer;

/** Offsets of kinds of job that must not meet on the same user. */
final class Reciprocals implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param list<KindSlot> $kinds in order
     * @param int $gapSlotCount the smallest number of slots between two kinds of one user
     *     that must not meet
     * @param DateInterval $runBudget what queue wait and run time of a job must stay within;
     *     the delays that were given are taken off
     * @param DateInterval $independentRunBudget the same, for kinds with differing salts
     */
    public function __construct(
        public readonly array $kinds,
        public readonly int $gapSlotCount,
        public readonly DateInterval $gap,
        public readonly DateInterval $runBudget,
        public readonly DateInterval $independentRunBudget,
    ) {
    }
}
