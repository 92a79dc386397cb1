<?php

declare(strict_types=1);

namespace Offbeat;

/** Why one ID of a batch was refused; the index counts from the first of the call. */
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
