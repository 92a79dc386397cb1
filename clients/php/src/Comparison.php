<?php

declare(strict_types=1);

namespace Offbeat;

/** Whether jobs that lock the same ID are kept apart. */
final class Comparison
{
    /**
     * @param Separation $separation the worst of all pairs: Meet before Unknown before Apart
     * @param list<ComparedPair> $pairs one for each pair of jobs, in order: (0, 1), (0, 2), …, (1, 2), …
     */
    public function __construct(
        public readonly Separation $separation,
        public readonly array $pairs,
    ) {
    }
}
