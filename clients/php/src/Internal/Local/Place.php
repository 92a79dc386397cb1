<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

/**
 * The place of an ID in each cycle of a schedule.
 *
 * @internal
 */
final class Place
{
    /**
     * @param int $offset ticks from the start of the cycle
     * @param string $hash hexadecimal digits, of PLACEMENT_HASH
     * @param ?int $bucket of PLACEMENT_TWISTER
     */
    public function __construct(
        public readonly int $offset,
        public readonly string $hash = '',
        public readonly ?int $bucket = null,
    ) {
    }
}
