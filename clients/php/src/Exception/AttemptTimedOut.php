<?php

declare(strict_types=1);

namespace Offbeat\Exception;

use Offbeat\Lanes\LaneRoute;
use Offbeat\Times;

/**
 * The time of a job's attempt is up: its lane now counts among the timed out ones. Thrown into
 * the job by AttemptDeadline::check(), never by a call.
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
