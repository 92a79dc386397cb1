<?php

declare(strict_types=1);

namespace Offbeat;

/** How evenly a sample of IDs fills the slots. */
final class IdAudit
{
    /**
     * @param int $idCount IDs that have a place
     * @param list<float> $slotLoads what each slot holds: IDs, or with weights the weight of their pieces
     * @param ?ExpectedLoad $expectedLoad what chance would put into the fullest slot, for as many IDs without
     *     weights; null where none has a place
     * @param float $chiSquare of the IDs, by their first pieces, against an even distribution
     * @param ?float $pValue how likely as uneven a distribution is by chance: below 0.001 something is
     *     wrong with the IDs; null with fewer than five IDs a slot
     * @param list<AuditWarning> $warnings what is wrong, worst first
     * @param list<IdError> $errors the refused IDs, by index, rising
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
