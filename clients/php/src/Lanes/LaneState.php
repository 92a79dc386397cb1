<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\Check;
use Offbeat\Times;
use Offbeat\V1;

/** The state of a lane. */
final class LaneState
{
    public readonly DateInterval|int|float|null $meanRunTime;
    public readonly DateInterval|int|float|null $longestWait;

    /**
     * @param string $laneName the lane
     * @param int $backlogCount the jobs that wait for this lane: a job waits for the fastest lane that may run it
     * @param DateInterval|int|float|null $meanRunTime how long an attempt takes in this lane on average, in seconds.
     *     Default: derived from $longestWait; without it, the lane's timeout; without a timeout, ten times the timeout
     *     of the lane before
     * @param DateInterval|int|float|null $longestWait how long the job that has waited longest has waited, in seconds.
     *     With a backlog and no $meanRunTime, the workload is this times the lane's workers
     * @param int $busyWorkerCount workers that are running a job, and therefore stay
     */
    public function __construct(
        public readonly string $laneName,
        public readonly int $backlogCount = 0,
        DateInterval|int|float|null $meanRunTime = null,
        DateInterval|int|float|null $longestWait = null,
        public readonly int $busyWorkerCount = 0,
    ) {
        $this->meanRunTime = Times::copy($meanRunTime);
        $this->longestWait = Times::copy($longestWait);
    }

    /** @internal */
    public function toMessage(string $path): V1\LaneState
    {
        $message = (new V1\LaneState())
            ->setLaneName(Check::utf8("$path.lane_name", $this->laneName))
            ->setBacklogCount($this->backlogCount)
            ->setBusyWorkerCount(Check::int32("$path.busy_worker_count", $this->busyWorkerCount));
        if ($this->meanRunTime !== null) {
            $message->setMeanRunTime(Times::toDuration("$path.mean_run_time", $this->meanRunTime));
        }
        if ($this->longestWait !== null) {
            $message->setLongestWait(Times::toDuration("$path.longest_wait", $this->longestWait));
        }

        return $message;
    }
}
