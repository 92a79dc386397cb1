<?php

declare(strict_types=1);

namespace Offbeat;

/** The explanation of a place: the deciding value of its placement; null for the others. */
final class PlacementExplanation
{
    /**
     * @param string $canonicalId the text that is hashed, and ends the run keys
     * @param ?string $hash Placement::Hash: 16 hexadecimal digits
     * @param ?int $bucket Placement::Twister
     * @param ?float $fraction Placement::Fraction
     */
    public function __construct(
        public readonly string $canonicalId,
        public readonly ?string $hash,
        public readonly ?int $bucket,
        public readonly ?float $fraction,
    ) {
    }
}
