<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use DateInterval;
use Offbeat\Internal\Check;
use Offbeat\Times;
use Offbeat\V1;

/** The current state of a stage of a pipeline. The sidecar checks the values. */
final class Stage
{
    public readonly DateInterval|int|float|null $meanRunTime;
    /** @var list<DateInterval|int|float> */
    public readonly array $runTimes;
    public readonly DateInterval|int|float|null $arrivalPeriod;

    /**
     * @param string $name unique among the stages of a call
     * @param int $backlogCount jobs that wait; those that run do not count
     * @param DateInterval|int|float|null $meanRunTime how long a job takes on average, in seconds. Default: the mean of
     *     the stages that have one; if none has, 1 s
     * @param array<DateInterval|int|float> $runTimes instead of $meanRunTime: how long some jobs took
     * @param bool $done whether no more work will come: the stage then keeps its busy workers, and gets no others
     * @param ?int $maxWorkerCount Default: no limit
     * @param int $currentWorkerCount how many workers it has, busy ones included
     * @param int $busyWorkerCount how many of those are running a job, and therefore stay
     * @param ?int $arrivalCount how many jobs arrive in each $arrivalPeriod, on average. It determines when the backlog
     *     is done and how many workers keep up, but not how many workers the stage gets. Default: as many as arrive at
     *     the stage before; none at the first stage
     * @param DateInterval|int|float|null $arrivalPeriod in seconds. Default: 1 s
     */
    public function __construct(
        public readonly string $name,
        public readonly int $backlogCount = 0,
        DateInterval|int|float|null $meanRunTime = null,
        array $runTimes = [],
        public readonly bool $done = false,
        public readonly int $minWorkerCount = 0,
        public readonly ?int $maxWorkerCount = null,
        public readonly int $currentWorkerCount = 0,
        public readonly int $busyWorkerCount = 0,
        public readonly ?int $arrivalCount = null,
        DateInterval|int|float|null $arrivalPeriod = null,
    ) {
        $this->meanRunTime = Times::copy($meanRunTime);
        $this->runTimes = array_map(Times::copy(...), array_values($runTimes));
        $this->arrivalPeriod = Times::copy($arrivalPeriod);
    }

    /**
     * @internal
     *
     * @param array<self> $stages
     *
     * @return list<V1\Stage>
     */
    public static function toMessages(array $stages): array
    {
        $message = static fn (self $stage, int $place): V1\Stage => $stage->toMessage("stages[$place]");

        return array_map($message, array_values($stages), array_keys(array_values($stages)));
    }

    private function toMessage(string $path): V1\Stage
    {
        $message = (new V1\Stage())
            ->setName(Check::utf8("$path.name", $this->name))
            ->setBacklogCount($this->backlogCount)
            ->setDone($this->done)
            ->setMinWorkerCount(Check::int32("$path.min_worker_count", $this->minWorkerCount))
            ->setCurrentWorkerCount(Check::int32("$path.current_worker_count", $this->currentWorkerCount))
            ->setBusyWorkerCount(Check::int32("$path.busy_worker_count", $this->busyWorkerCount));
        if ($this->meanRunTime !== null) {
            $message->setMeanRunTime(Times::toDuration("$path.mean_run_time", $this->meanRunTime));
        }
        if ($this->maxWorkerCount !== null) {
            $message->setMaxWorkerCount(Check::int32("$path.max_worker_count", $this->maxWorkerCount));
        }
        if ($this->arrivalCount !== null) {
            $message->setArrivalCount($this->arrivalCount);
        }
        if ($this->arrivalPeriod !== null) {
            $message->setArrivalPeriod(Times::toDuration("$path.arrival_period", $this->arrivalPeriod));
        }
        $times = [];
        foreach ($this->runTimes as $place => $time) {
            $times[] = Times::toDuration("$path.run_times[$place]", $time);
        }

        return $message->setRunTimes($times);
    }
}
