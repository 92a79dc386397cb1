<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

/**
 * A kind of a schedule, and its place.
 *
 * @internal
 */
final class Kind
{
    /**
     * @param int $offset slots from kind 0 to this kind
     * @param int $gap slots from this kind to the next one; with a single kind, the slot count
     */
    public function __construct(
        public readonly string $name,
        public readonly ?Span $runTime,
        public readonly int $offset,
        public readonly int $gap,
    ) {
    }
}
