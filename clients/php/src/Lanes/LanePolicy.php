<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/** Which jobs a free worker takes. Slow lanes choose first. */
enum LanePolicy: string
{
    /**
     * A lane takes the jobs that were demoted to it before all others, then fresher ones; the
     * express lane takes untried jobs. The default.
     */
    case ExpressFirst = 'express_first';

    /** The slow lanes take jobs in their order, demoted or not; faster ones take what those leave over. */
    case SlowFirst = 'slow_first';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::ExpressFirst => V1\LanePolicy::LANE_POLICY_EXPRESS_FIRST,
            self::SlowFirst => V1\LanePolicy::LANE_POLICY_SLOW_FIRST,
        };
    }

    /** @internal Null where nothing was said. */
    public static function fromMessage(int $number): ?self
    {
        return match ($number) {
            V1\LanePolicy::LANE_POLICY_UNSPECIFIED => null,
            V1\LanePolicy::LANE_POLICY_EXPRESS_FIRST => self::ExpressFirst,
            V1\LanePolicy::LANE_POLICY_SLOW_FIRST => self::SlowFirst,
        };
    }
}
