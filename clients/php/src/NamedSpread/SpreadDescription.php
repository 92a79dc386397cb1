<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Spread\SpreadCertificate;

/** A named spread, and what it holds. */
final class SpreadDescription
{
    /**
     * @param NamedSpreadSpec $spec with every default filled in
     * @param int $epoch another number after each restart of the sidecar, and each time that the name is opened again
     * @param SpreadCertificate $certificate the order of first attempts so far
     */
    public function __construct(
        public readonly string $spreadName,
        public readonly NamedSpreadSpec $spec,
        public readonly SpreadState $state,
        public readonly int $epoch,
        public readonly SpreadCounts $counts,
        public readonly SpreadCertificate $certificate,
    ) {
    }
}
