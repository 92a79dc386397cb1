<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\JsonAnswer;

/** Whether two jobs are kept apart. */
final class ComparedPair implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param int $firstJobIndex from 0
     * @param string $message why, in a sentence
     * @param ?DateInterval $firstToSecond the shortest time from a run of the first job to the next run of the second
     *     one, for one ID; null where that is not known
     * @param ?DateInterval $secondToFirst the shortest time from a run of the second job to the next run of the first
     *     one, for one ID; null where that is not known
     */
    public function __construct(
        public readonly int $firstJobIndex,
        public readonly int $secondJobIndex,
        public readonly Separation $separation,
        public readonly string $message,
        public readonly ?DateInterval $firstToSecond,
        public readonly ?DateInterval $secondToFirst,
    ) {
    }
}
