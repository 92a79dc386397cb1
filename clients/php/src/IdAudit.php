<?php

declare(strict_types=1);

namespace Offbeat;

/** How evenly a sample of IDs fills the slots. */
final class IdAudit
{
    /**
     * @param int $idCount IDs that were not refused
     * @param list<float> $slotLoads the load of each slot: its IDs or, with weights, the weight of their pieces
     * @param ?ExpectedLoad $expectedLoad the load of as many IDs, without weights, that are placed at random; null if
     *     every ID was refused
     * @param float $chiSquare Pearson's chi-square of the IDs, by their first pieces, against an even distribution
     * @param ?float $pValue the probability that chance makes a distribution as uneven: below 0.001, something is wrong
     *     with the IDs; null with fewer than five IDs a slot
     * @param list<AuditWarning> $warnings what is wrong, worst first
     * @param list<IdError> $errors the refused IDs, by rising index
     */
    public function __construct(
        public readonly string $fingerprint,
        public readonly int $idCount,
        public readonly array $slotLoads,
        public readonly int $fullestSlotIndex,
        public readonly float $fullestLoad,
        public readonly float $fullestToMeanRatio,
        public readonly ?ExpectedLoad $expectedLoad,
        public readonly int $emptySlotCount,
        public readonly float $chiSquare,
        public readonly ?float $pValue,
        public readonly array $warnings,
        public readonly array $errors,
    ) {
    }
}
