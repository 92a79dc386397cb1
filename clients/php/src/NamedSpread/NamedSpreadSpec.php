<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Spread\SpreadOrder;

/** How a named spread works. */
final class NamedSpreadSpec implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param SpreadOrder $order of first attempts
     * @param DateInterval $leaseDuration how long a lease lasts
     * @param SpreadLimits $limits as they are now: NamedSpread::update() changes them
     */
    public function __construct(
        public readonly SpreadOrder $order,
        public readonly DateInterval $leaseDuration,
        public readonly SpreadLimits $limits,
    ) {
    }
}
