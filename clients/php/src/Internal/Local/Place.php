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
     * @param string $hash with PLACEMENT_HASH only: 16 hexadecimal digits
     * @param ?int $bucket with PLACEMENT_TWISTER only
     */
    public function __construct(
        public readonly int $offset,
        public readonly string $hash = '',
        public readonly ?int $bucket = null,
    ) {
    }
}
