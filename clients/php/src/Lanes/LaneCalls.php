<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Google\Protobuf\Internal\Message;
use Offbeat\Check;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\Times;
use Offbeat\V1;

/**
 * The client's questions about lanes.
 *
 * @internal
 */
trait LaneCalls
{
    /**
     * In which lane a job's next attempt runs, for how long, and what follows a timeout; or that
     * it has failed for good.
     *
     * @param array<string> $timedOutLanes the lanes in which the job reached the timeout, in any
     *     order. An attempt that failed otherwise is tried again in the same lane
     * @param ?LanePrediction $prediction counts for the first attempt
     * @param ?string $workerLane the lane of the free worker that has taken the job from a queue: the
     *     route is there, unless the job begins in a slower lane
     *
     * @throws OffbeatException
     */
    public function routeJob(
        LaneSet $laneSet,
        array $timedOutLanes = [],
        ?LanePrediction $prediction = null,
        ?string $workerLane = null,
        int|float|null $timeout = null,
    ): LaneRoute|PermanentFailure {
        $request = (new V1\RouteJobRequest())
            ->setLaneSet($laneSet->toMessage())
            ->setTimedOutLanes(PendingJob::lanes('timed_out_lanes', array_values($timedOutLanes)));
        if ($prediction !== null) {
            $request->setPrediction($prediction->toMessage('prediction'));
        }
        if ($workerLane !== null) {
            $request->setWorkerLane(Check::utf8('worker_lane', $workerLane));
        }
        $response = $this->call('LaneService/RouteJob', $request, new V1\RouteJobResponse(), $timeout);

        return $this->read(static fn (): LaneRoute|PermanentFailure => match ($response->getOutcome()) {
            'route' => LaneRoute::fromMessage($response->getRoute()),
            'permanent_failure' => PermanentFailure::fromMessage($response->getPermanentFailure()),
        });
    }

    /**
     * Places pending jobs on free workers. Jobs that are not placed go on waiting.
     *
     * @param list<int> $freeWorkerCounts free workers of each lane, in the order of the lanes
     * @param array<PendingJob> $jobs in their order
     *
     * @throws OffbeatException
     */
    public function dispatchJobs(
        LaneSet $laneSet,
        array $freeWorkerCounts,
        array $jobs,
        int|float|null $timeout = null,
    ): DispatchedJobs {
        if (!array_is_list($freeWorkerCounts)) { // keys would be lost, and with them whose counts they are
            throw InvalidArgument::refused('free_worker_counts', $freeWorkerCounts, 'must be a list, in the order of the lanes');
        }
        $jobs = array_values($jobs);
        $count = static fn (int $count, int $place): int => Check::int32("free_worker_counts[$place]", $count);
        $job = static fn (PendingJob $job, int $place): V1\PendingJob => $job->toMessage("jobs[$place]");
        $request = (new V1\DispatchJobsRequest())
            ->setLaneSet($laneSet->toMessage())
            ->setFreeWorkerCounts(array_map($count, $freeWorkerCounts, array_keys($freeWorkerCounts)))
            ->setJobs(array_map($job, $jobs, array_keys($jobs)));
        $response = $this->call('LaneService/DispatchJobs', $request, new V1\DispatchJobsResponse(), $timeout);

        return $this->read(static fn (): DispatchedJobs => DispatchedJobs::fromMessage($response));
    }

    /**
     * Splits the workers between the lanes anew, by what waits in each.
     *
     * @param LaneSet $laneSet with the workers that the lanes have now
     * @param array<LaneState> $states one for each lane, in their order
     * @param ?int $workerCount how many workers there are. Default: as many as the lanes have
     *
     * @throws OffbeatException
     */
    public function splitWorkers(
        LaneSet $laneSet,
        array $states,
        ?int $workerCount = null,
        int|float|null $timeout = null,
    ): WorkerSplit {
        $states = array_values($states);
        $state = static fn (LaneState $state, int $place): V1\LaneState => $state->toMessage("states[$place]");
        $request = (new V1\SplitWorkersRequest())
            ->setLaneSet($laneSet->toMessage())
            ->setStates(array_map($state, $states, array_keys($states)));
        if ($workerCount !== null) {
            $request->setWorkerCount(Check::int32('worker_count', $workerCount));
        }
        $response = $this->call('LaneService/SplitWorkers', $request, new V1\SplitWorkersResponse(), $timeout);

        return $this->read(static fn (): WorkerSplit => WorkerSplit::fromMessage($response));
    }

    /**
     * Plans lanes from observed run times, or says that there should be none. It simulates, which
     * takes its time.
     *
     * @param float $arrivalRate jobs that arrive, per second
     * @param int $workerCount workers in all
     * @param DateInterval|int|float|null $toleratedWait how long people tolerate to wait before their
     *     job starts: no express timeout will be longer. Default: no bound
     * @param DateInterval|int|float|null $slowdownFloor run times below it count as this when slowdown
     *     is reckoned. Default: the 10th percentile of the run times
     * @param ?TimeoutAction $onTimeout TimeoutAction::Abort by default
     * @param ?int $maxLaneCount 2 or 3 (the default)
     * @param int $seed of the simulation: the same question with the same seed has the same answer
     *
     * @throws OffbeatException
     */
    public function planLanes(
        RunTimes $runTimes,
        float $arrivalRate,
        int $workerCount,
        DateInterval|int|float|null $toleratedWait = null,
        DateInterval|int|float|null $slowdownFloor = null,
        ?TimeoutAction $onTimeout = null,
        ?int $maxLaneCount = null,
        int $seed = 0,
        int|float|null $timeout = null,
    ): LanePlan {
        $request = (new V1\PlanLanesRequest())
            ->setArrivalRate($arrivalRate)
            ->setWorkerCount(Check::int32('worker_count', $workerCount))
            ->setOnTimeout($onTimeout?->toMessage() ?? V1\TimeoutAction::TIMEOUT_ACTION_UNSPECIFIED)
            ->setSeed($seed);
        $runTimes->addTo($request);
        if ($toleratedWait !== null) {
            $request->setToleratedWait(Times::toDuration('tolerated_wait', $toleratedWait));
        }
        if ($slowdownFloor !== null) {
            $request->setSlowdownFloor(Times::toDuration('slowdown_floor', $slowdownFloor));
        }
        if ($maxLaneCount !== null) {
            $request->setMaxLaneCount(Check::int32('max_lane_count', $maxLaneCount));
        }
        $response = $this->call('LaneService/PlanLanes', $request, new V1\PlanLanesResponse(), $timeout);

        return $this->read(static fn (): LanePlan => LanePlan::fromMessage($response));
    }

    abstract private function call(string $method, Message $request, Message $response, int|float|null $timeout): Message;

    abstract private function read(\Closure $reader): mixed;
}
