<?php

declare(strict_types=1);

namespace Offbeat\Internal\Breaker;

/**
 * Keeps the state of a breaker between calls, and between requests.
 *
 * @internal
 */
interface Store
{
    public function read(): State;

    /**
     * Replaces the state, unless another process does so at the same time.
     *
     * @param \Closure(State): ?State $change returns the new state; null leaves the old one
     *
     * @return bool whether it was replaced
     */
    public function change(\Closure $change): bool;
}
