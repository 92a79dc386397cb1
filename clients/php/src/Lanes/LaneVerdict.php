<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1beta1;

/** Lanes, or no lanes. */
enum LaneVerdict: string
{
    /** Lanes make it better. */
    case Lanes = 'lanes';

    /** Lanes make it no better, or worse: use one queue for all workers. */
    case NoLanes = 'no_lanes';

    /**
     * Not known: the simulated streams of jobs differ too much, because a few long jobs decide. Lanes
     * may help much, or not at all.
     */
    case Undecided = 'undecided';

    /**
     * Lanes by type make it better, and lanes with timeouts are not clearly better still. Only if the types
     * of jobs were given.
     */
    case LanesByType = 'lanes_by_type';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1beta1\LaneVerdict::LANE_VERDICT_LANES => self::Lanes,
            V1beta1\LaneVerdict::LANE_VERDICT_NO_LANES => self::NoLanes,
            V1beta1\LaneVerdict::LANE_VERDICT_UNDECIDED => self::Undecided,
            V1beta1\LaneVerdict::LANE_VERDICT_LANES_BY_TYPE => self::LanesByType,
        };
    }
}
