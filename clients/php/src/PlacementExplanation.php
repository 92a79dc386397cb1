<?php

declare(strict_types=1);

namespace Offbeat;

/** Why an ID has its place: the value that its placement decided by. The values of other placements are null. */
final class PlacementExplanation
{
    /**
     * @param string $canonicalId the text that is hashed, and that ends the run keys
     * @param ?string $hash with Placement::Hash: 16 hexadecimal digits
     * @param ?int $bucket with Placement::Twister
     * @param ?float $fraction with Placement::Fraction
     */
    public function __construct(
        public readonly string $canonicalId,
        public readonly ?string $hash,
        public readonly ?int $bucket,
        public readonly ?float $fraction,
    ) {
    }
}
