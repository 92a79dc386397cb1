<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\V1;

/** The reason that a pull leased no job. */
enum EmptyReason: string
{
    /**
     * No job is ready: there is none, or all are leased, wait for a delay, or wait until leases of an earlier epoch
     * have ended.
     */
    case NoReadyJob = 'no_ready_job';

    /** The consumer holds as many jobs as it may: it must settle some. */
    case ConsumerAtLimit = 'consumer_at_limit';

    /** All consumers together hold as many jobs as the sidecar leases at once. */
    case LeasesAtLimit = 'leases_at_limit';

    /** The spread is closed and holds no job: pulling again does not help. */
    case SpreadClosed = 'spread_closed';

    /** @internal Null if jobs were leased. */
    public static function fromMessage(int $number): ?self
    {
        return match ($number) {
            V1\EmptyReason::EMPTY_REASON_UNSPECIFIED => null,
            V1\EmptyReason::EMPTY_REASON_NO_READY_JOB => self::NoReadyJob,
            V1\EmptyReason::EMPTY_REASON_CONSUMER_AT_LIMIT => self::ConsumerAtLimit,
            V1\EmptyReason::EMPTY_REASON_LEASES_AT_LIMIT => self::LeasesAtLimit,
            V1\EmptyReason::EMPTY_REASON_SPREAD_CLOSED => self::SpreadClosed,
        };
    }
}
