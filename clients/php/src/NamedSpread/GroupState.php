<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\V1;

/** How safe a group is. */
enum GroupState: string
{
    /**
     * Never submitted, discarded before its commit, lost with a restart, or settled so long ago that it was forgotten.
     */
    case Unknown = 'unknown';

    /** Its commit has not arrived. */
    case Partial = 'partial';

    /** It is in the memory of the sidecar, and lost with it; or in a store that has not written it to disk yet. */
    case Received = 'received';

    /** Each of its jobs was acknowledged, or is a dead letter. */
    case Settled = 'settled';

    /** It is in the store, which has written it to disk, as have as many of its replicas as may take over. */
    case Stored = 'stored';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\GroupState::GROUP_STATE_UNKNOWN => self::Unknown,
            V1\GroupState::GROUP_STATE_PARTIAL => self::Partial,
            V1\GroupState::GROUP_STATE_RECEIVED => self::Received,
            V1\GroupState::GROUP_STATE_STORED => self::Stored,
            V1\GroupState::GROUP_STATE_SETTLED => self::Settled,
        };
    }
}
