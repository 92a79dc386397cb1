<?php

declare(strict_types=1);

namespace Offbeat\Exception;

use Offbeat\Lanes\LaneRoute;
use Offbeat\Times;

/**
 * An attempt has reached its timeout: its lane now counts as one that timed out. AttemptDeadline::check() throws this
 * inside the job; no call throws it.
 */
final class AttemptTimedOut extends OffbeatException
{
    public function __construct(public readonly LaneRoute $route)
    {
        $seconds = Times::seconds($route->attemptTimeout);
        $then = $route->nextLaneName === null ? ', the last' : "; \"$route->nextLaneName\" is next";
        parent::__construct("attempt $route->attempt reached the timeout of $seconds s of lane \"$route->laneName\"$then");
    }
}
