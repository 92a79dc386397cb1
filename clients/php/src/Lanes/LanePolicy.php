<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/** Which jobs a free worker takes. Slower lanes choose first. */
enum LanePolicy: string
{
    /**
     * The express lane takes untried jobs. Other lanes first take jobs that were demoted to them, then less demoted
     * ones, and untried jobs last. The default.
     */
    case ExpressFirst = 'express_first';

    /**
     * The slower lanes take jobs in their order, demoted or not, except that untried jobs with a slow probability come
     * after demoted ones. Faster lanes take what is left.
     */
    case SlowFirst = 'slow_first';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::ExpressFirst => V1\LanePolicy::LANE_POLICY_EXPRESS_FIRST,
            self::SlowFirst => V1\LanePolicy::LANE_POLICY_SLOW_FIRST,
        };
    }

    /** @internal Null if it is not set. */
    public static function fromMessage(int $number): ?self
    {
        return match ($number) {
            V1\LanePolicy::LANE_POLICY_UNSPECIFIED => null,
            V1\LanePolicy::LANE_POLICY_EXPRESS_FIRST => self::ExpressFirst,
            V1\LanePolicy::LANE_POLICY_SLOW_FIRST => self::SlowFirst,
        };
    }
}
