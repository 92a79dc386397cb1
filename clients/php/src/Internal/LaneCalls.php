<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateInterval;
use Google\Protobuf\Internal\Message;
use Offbeat\Exception\OffbeatException;
use Offbeat\Lanes\DispatchedJobs;
use Offbeat\Lanes\LanePlan;
use Offbeat\Lanes\LanePrediction;
use Offbeat\Lanes\LaneRoute;
use Offbeat\Lanes\LaneSet;
use Offbeat\Lanes\LaneState;
use Offbeat\Lanes\PendingJob;
use Offbeat\Lanes\PermanentFailure;
use Offbeat\Lanes\RunTimes;
use Offbeat\Lanes\TimeoutAction;
use Offbeat\Lanes\WorkerSplit;
use Offbeat\Times;
use Offbeat\V1;
use Offbeat\V1beta1;

/**
 * The client's calls about lanes.
 *
 * @internal
 */
trait LaneCalls
{
    /**
     * Routes the next attempt of a job: its lane, how long it may run, and what follows a timeout; or a
     * PermanentFailure if the job has exceeded the timeout of the last lane.
     *
     * @param array<string> $timedOutLaneNames the lanes whose timeout the job has exceeded, in any order. An attempt
     *     that failed for another reason does not count
     * @param ?LanePrediction $prediction used for the first attempt
     * @param ?string $workerLaneName the lane of the free worker that has taken the job from a queue: the route is in
     *     that lane, unless the job must start in a slower one
     *
     * @throws OffbeatException
     */
    public function routeJob(
        LaneSet $laneSet,
        array $timedOutLaneNames = [],
        ?LanePrediction $prediction = null,
        ?string $workerLaneName = null,
        int|float|null $timeout = null,
    ): LaneRoute|PermanentFailure {
        $request = (new V1\RouteJobRequest())
            ->setLaneSet($laneSet->toMessage())
            ->setTimedOutLaneNames(PendingJob::lanes('timed_out_lane_names', array_values($timedOutLaneNames)));
        if ($prediction !== null) {
            $request->setPrediction($prediction->toMessage('prediction'));
        }
        if ($workerLaneName !== null) {
            $request->setWorkerLaneName(Check::utf8('worker_lane_name', $workerLaneName));
        }
        $response = $this->call('offbeat.v1.LaneService/RouteJob', $request, new V1\RouteJobResponse(), $timeout);

        return $this->read(static fn (): LaneRoute|PermanentFailure => match ($response->getOutcome()) {
            'route' => LaneRoute::fromMessage($response->getRoute()),
            'permanent_failure' => PermanentFailure::fromMessage($response->getPermanentFailure()),
        });
    }

    /**
     * Dispatches waiting jobs to free workers. The other jobs continue to wait.
     *
     * @param array<int|string, int> $freeWorkers how many workers of a lane are free, by its name; a lane that is
     *     not named has none
     * @param array<PendingJob> $jobs in their order
     *
     * @throws OffbeatException
     */
    public function dispatchJobs(
        LaneSet $laneSet,
        array $freeWorkers,
        array $jobs,
        int|float|null $timeout = null,
    ): DispatchedJobs {
        $jobs = array_values($jobs);
        $workers = [];
        foreach ($freeWorkers as $laneName => $count) { // PHP converts a name of digits to an integer
            $field = 'free_workers[' . count($workers) . ']';
            $workers[] = (new V1\FreeWorkers())
                ->setLaneName(Check::utf8("$field.lane_name", (string) $laneName))
                ->setWorkerCount(Check::int32("$field.worker_count", $count));
        }
        $job = static fn (PendingJob $job, int $place): V1\PendingJob => $job->toMessage("jobs[$place]");
        $request = (new V1\DispatchJobsRequest())
            ->setLaneSet($laneSet->toMessage())
            ->setFreeWorkers($workers)
            ->setJobs(array_map($job, $jobs, array_keys($jobs)));
        $response = $this->call('offbeat.v1.LaneService/DispatchJobs', $request, new V1\DispatchJobsResponse(), $timeout);

        return $this->read(static fn (): DispatchedJobs => DispatchedJobs::fromMessage($response));
    }

    /**
     * Splits the workers among the lanes by the work that waits in each.
     *
     * @param LaneSet $laneSet with the workers that the lanes have now
     * @param array<LaneState> $states each lane at most once; a lane without a state has no backlog and no busy worker
     * @param ?int $workerCount workers in all. Default: as many as the lanes have
     * @param ?int $maxMoveCount hysteresis: at most this many workers move, besides those that a new $workerCount
     *     forces to. Default: no bound
     * @param int $minImprovementPercent hysteresis: workers move only if the score falls by at least this percentage;
     *     forced moves always happen
     *
     * @throws OffbeatException
     */
    public function splitWorkers(
        LaneSet $laneSet,
        array $states,
        ?int $workerCount = null,
        ?int $maxMoveCount = null,
        int $minImprovementPercent = 0,
        int|float|null $timeout = null,
    ): WorkerSplit {
        $states = array_values($states);
        $state = static fn (LaneState $state, int $place): V1\LaneState => $state->toMessage("states[$place]");
        $request = (new V1\SplitWorkersRequest())
            ->setLaneSet($laneSet->toMessage())
            ->setStates(array_map($state, $states, array_keys($states)))
            ->setMinImprovementPercent(Check::int32('min_improvement_percent', $minImprovementPercent));
        if ($workerCount !== null) {
            $request->setWorkerCount(Check::int32('worker_count', $workerCount));
        }
        if ($maxMoveCount !== null) {
            $request->setMaxMoveCount(Check::int32('max_move_count', $maxMoveCount));
        }
        $response = $this->call('offbeat.v1.LaneService/SplitWorkers', $request, new V1\SplitWorkersResponse(), $timeout);

        return $this->read(static fn (): WorkerSplit => WorkerSplit::fromMessage($response));
    }

    /**
     * Plans lanes from observed run times, or says that there should be none. The simulation takes some time.
     *
     * @param float $arrivalRate jobs that arrive per second
     * @param int $workerCount workers in all
     * @param DateInterval|int|float|null $toleratedWait how long people accept waiting until their job starts: no
     *     express timeout is longer than this. Default: no bound
     * @param DateInterval|int|float|null $slowdownFloor lower bound on the run time that is used to compute slowdown.
     *     Default: the 10th percentile of the run times
     * @param ?TimeoutAction $onTimeout TimeoutAction::Abort by default
     * @param ?int $maxLaneCount 2 or 3 (the default)
     * @param int $seed the seed of the simulation: the same request with the same seed has the same answer
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
        $request = (new V1beta1\PlanLanesRequest())
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
        $response = $this->call('offbeat.v1beta1.LanePlanningService/PlanLanes', $request, new V1beta1\PlanLanesResponse(), $timeout);

        return $this->read(static fn (): LanePlan => LanePlan::fromMessage($response));
    }

    abstract private function call(string $method, Message $request, Message $response, int|float|null $timeout): Message;

    abstract private function read(\Closure $reader): mixed;
}
