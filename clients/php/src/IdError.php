<?php

declare(strict_types=1);

namespace Offbeat;

/**
 * Why one ID of a batch was refused. $idIndex counts from the first ID of the call. Beyond 1,000 refused IDs in a
 * batch, $value and $allowed are empty.
 */
final class IdError
{
    public function __construct(
        public readonly int $idIndex,
        public readonly string $reason,
        public readonly string $field,
        public readonly string $value,
        public readonly string $allowed,
    ) {
    }
}
