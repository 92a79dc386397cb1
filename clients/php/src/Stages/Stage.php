<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use DateInterval;
use Offbeat\Check;
use Offbeat\Times;
use Offbeat\V1;

/** A stage of a pipeline, as it is now. The sidecar checks the values. */
final class Stage
{
    public readonly DateInterval|int|float|null $meanServiceTime;
    /** @var list<DateInterval|int|float> */
    public readonly array $serviceTimes;

    /**
     * @param string $name another for each stage of the call
     * @param int $backlogCount jobs that wait; those that run do not count
     * @param DateInterval|int|float|null $meanServiceTime how long a job takes on average, in
     *     seconds. Default: the mean of the stages that were measured
     * @param array<DateInterval|int|float> $serviceTimes instead: how long some jobs took
     * @param bool $done whether no more work will come: it gets no workers but those that are busy
     * @param ?int $maximumWorkerCount Default: as many as there are
     * @param int $currentWorkerCount how many workers it has, busy ones included
     * @param int $busyWorkerCount how many of those are in the middle of a job, and so stay
     */
    public function __construct(
        public readonly string $name,
        public readonly int $backlogCount = 0,
        DateInterval|int|float|null $meanServiceTime = null,
        array $serviceTimes = [],
        public readonly bool $done = false,
        public readonly int $minimumWorkerCount = 0,
        public readonly ?int $maximumWorkerCount = null,
        public readonly int $currentWorkerCount = 0,
        public readonly int $busyWorkerCount = 0,
    ) {
        $this->meanServiceTime = Times::copy($meanServiceTime);
        $this->serviceTimes = array_map(Times::copy(...), array_values($serviceTimes));
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
            ->setMinimumWorkerCount(Check::int32("$path.minimum_worker_count", $this->minimumWorkerCount))
            ->setCurrentWorkerCount(Check::int32("$path.current_worker_count", $this->currentWorkerCount))
            ->setBusyWorkerCount(Check::int32("$path.busy_worker_count", $this->busyWorkerCount));
        if ($this->meanServiceTime !== null) {
            $message->setMeanServiceTime(Times::toDuration("$path.mean_service_time", $this->meanServiceTime));
        }
        if ($this->maximumWorkerCount !== null) {
            $message->setMaximumWorkerCount(Check::int32("$path.maximum_worker_count", $this->maximumWorkerCount));
        }
        $times = [];
        foreach ($this->serviceTimes as $place => $time) {
            $times[] = Times::toDuration("$path.service_times[$place]", $time);
        }

        return $message->setServiceTimes($times);
    }
}
