<?php

declare(strict_types=1);

namespace Offbeat;

/** Problems of a sample of IDs. */
enum AuditFinding: string
{
    /** UUIDs of version 1 or 6 under Placement::Twister, which fall into a few slots. */
    case TimeBasedUuids = 'time_based_uuids';

    /** Integers with a common divisor under Placement::Twister. */
    case SparseIntegers = 'sparse_integers';

    /** The slots differ by more than chance explains. */
    case Uneven = 'uneven';

    /** IDs that come more than once. */
    case Duplicates = 'duplicates';

    /** One ID alone makes a slot far heavier than the mean. */
    case HeavyId = 'heavy_id';

    /** IDs that exclusions skip in 1,000 cycles one after another. */
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
