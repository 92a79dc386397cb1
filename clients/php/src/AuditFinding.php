<?php

declare(strict_types=1);

namespace Offbeat;

/** Problems that an audit finds in a sample of IDs. */
enum AuditFinding: string
{
    /**
     * With Placement::Twister, more than one in ten UUIDs are of version 1 or 6. Nearly all of these fall into a few
     * slots.
     */
    case TimeBasedUuids = 'time_based_uuids';

    /**
     * With Placement::Twister, 20 or more integers all have the same remainder by a divisor of the bucket count, such
     * as only even or only odd ones.
     */
    case SparseIntegers = 'sparse_integers';

    /** The slots differ by more than chance explains. */
    case Uneven = 'uneven';

    /** Some IDs occur more than once. */
    case Duplicates = 'duplicates';

    /**
     * A piece of one ID weighs more than a slot holds on average, and a smaller weight quantum would cut the ID into
     * more pieces.
     */
    case HeavyId = 'heavy_id';

    /** IDs, or pieces of weighted IDs, that exclusions skip in 1,000 consecutive cycles. */
    case NeverRun = 'never_run';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\AuditFinding::AUDIT_FINDING_TIME_BASED_UUIDS => self::TimeBasedUuids,
            V1\AuditFinding::AUDIT_FINDING_SPARSE_INTEGERS => self::SparseIntegers,
            V1\AuditFinding::AUDIT_FINDING_UNEVEN => self::Uneven,
            V1\AuditFinding::AUDIT_FINDING_DUPLICATES => self::Duplicates,
            V1\AuditFinding::AUDIT_FINDING_HEAVY_ID => self::HeavyId,
            V1\AuditFinding::AUDIT_FINDING_NEVER_RUN => self::NeverRun,
        };
    }
}
