<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use Offbeat\Exception\AttemptTimedOut;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\Lanes\AttemptDeadline;
use Offbeat\Lanes\Lane;
use Offbeat\Lanes\LanePolicy;
use Offbeat\Lanes\LanePrediction;
use Offbeat\Lanes\LaneRoute;
use Offbeat\Lanes\LaneSet;
use Offbeat\Lanes\LaneState;
use Offbeat\Lanes\PendingJob;
use Offbeat\Lanes\PermanentFailure;
use Offbeat\Lanes\RouteReason;
use Offbeat\Lanes\TimeoutAction;
use Offbeat\Lanes\WorkerSplit;
use Offbeat\Times;

/** Lanes: where jobs run, who takes them, how workers are split, and how timeouts are enforced. */
final class LanesTest extends OffbeatTestCase
{
    private static function lanes(mixed ...$rule): LaneSet
    {
        $lanes = [new Lane('express', 2, 60), new Lane('medium', 1, new DateInterval('PT5M')), new Lane('slow', 3, 900.5)];

        return new LaneSet($lanes, ...$rule);
    }

    /** @dataProvider transports */
    public function testAJobGoesFromLaneToLaneUntilItHasFailed(string $transport): void
    {
        $client = self::client($transport);
        $route = $client->routeJob(self::lanes());
        self::assertSame(['express', 1, 'medium'], [$route->laneName, $route->attempt, $route->nextLaneName]);
        self::assertSame([60, RouteReason::Untried, false], [Times::seconds($route->attemptTimeout), $route->reason, $route->resumes]);

        $route = $client->routeJob(self::lanes(onTimeout: TimeoutAction::Suspend), [1 => 'medium', 0 => 'express']);
        self::assertSame(['slow', 3, null], [$route->laneName, $route->attempt, $route->nextLaneName]);
        self::assertSame([900.5, RouteReason::Demoted, true], [Times::seconds($route->attemptTimeout), $route->reason, $route->resumes]);

        $failure = $client->routeJob(self::lanes(), ['express', 'medium', 'slow']);
        self::assertInstanceOf(PermanentFailure::class, $failure);
        self::assertSame(['slow', 900.5], [$failure->lastLaneName, Times::seconds($failure->exceededTimeout)]);
        self::assertStringContainsString('slow', $failure->message);
        self::assertSame('slow', $client->routeJob(self::lanes(), workerLaneName: 'slow')->laneName);

        $endless = new LaneSet([new Lane('express', 1, 60), new Lane('slow', 1)]);
        self::assertNull($client->routeJob($endless, ['express'])->attemptTimeout);
    }

    public function testAPredictionCountsForTheFirstAttempt(): void
    {
        $client = self::client();
        $lane = static fn (LaneSet $lanes, LanePrediction $prediction): string => $client->routeJob($lanes, [], $prediction)->laneName;
        self::assertSame('express', $lane(self::lanes(), LanePrediction::slowProbability(1)));
        self::assertSame('medium', $lane(self::lanes(maxExpressSlowProbability: 0.5), LanePrediction::slowProbability(0.75)));
        self::assertSame('express', $lane(self::lanes(maxExpressSlowProbability: 0.5), LanePrediction::slowProbability(0.5)));
        self::assertSame('medium', $lane(self::lanes(maxExpressSlowProbability: 0), LanePrediction::slowProbability(0.01)));
        self::assertSame('express', $lane(self::lanes(), LanePrediction::runTime(60)));
        self::assertSame('medium', $lane(self::lanes(), LanePrediction::runTime(60.000001)));
        self::assertSame('slow', $lane(self::lanes(), LanePrediction::runTime(new DateInterval('P1D'))));
        $route = $client->routeJob(self::lanes(), prediction: LanePrediction::runTime(61));
        self::assertSame(RouteReason::PredictedSlow, $route->reason);
    }

    /** @dataProvider transports */
    public function testFreeWorkersTakeJobs(string $transport): void
    {
        $jobs = [
            8 => new PendingJob('42'),
            4 => (new PendingJob('demoted'))->timedOutIn('express')->timedOutIn('medium'),
            6 => new PendingJob('failed', ['slow']),
            2 => new PendingJob('perhaps slow', prediction: LanePrediction::slowProbability(0.5)),
            0 => new PendingJob('fresh', prediction: LanePrediction::slowProbability(0.25)),
        ];
        $dispatch = self::client($transport)->dispatchJobs(self::lanes(), ['slow' => 2, 'express' => 1], $jobs);
        $dispatched = array_map(static fn ($dispatched) => [$dispatched->jobIndex, $dispatched->jobId, $dispatched->route->laneName, $dispatched->route->reason], $dispatch->dispatches);
        self::assertSame([
            [1, 'demoted', 'slow', RouteReason::Demoted],
            [0, '42', 'slow', RouteReason::IdleWorker],
            [4, 'fresh', 'express', RouteReason::Untried],
        ], $dispatched);
        self::assertSame([3, 900.5], [$dispatch->dispatches[0]->route->attempt, Times::seconds($dispatch->dispatches[0]->route->attemptTimeout)]);
        [$failed] = $dispatch->failures;
        self::assertSame([2, 'failed', 'slow'], [$failed->jobIndex, $failed->jobId, $failed->failure->lastLaneName]);
        self::assertCount(1, $dispatch->failures);
    }

    public function testThePolicySaysWhichJobASlowLaneTakesFirst(): void
    {
        $jobs = [new PendingJob('fresh'), new PendingJob('demoted', ['express', 'medium'])];
        foreach ([[null, 'demoted'], [LanePolicy::ExpressFirst, 'demoted'], [LanePolicy::SlowFirst, 'fresh']] as [$policy, $first]) {
            $dispatch = self::client()->dispatchJobs(self::lanes(policy: $policy), ['slow' => 1], $jobs);
            self::assertSame([$first], array_column($dispatch->dispatches, 'jobId'));
        }
    }

    public function testNobodyChangesLanesForLittle(): void
    {
        $client = self::client();
        $lanes = new LaneSet([new Lane('express', 9, 60), new Lane('slow', 1, 900)]);
        $states = [new LaneState('slow', 100, meanRunTime: 1), new LaneState('express', 100, meanRunTime: 1)];
        $workers = static fn (WorkerSplit $split): array => array_column($split->laneSet->lanes, 'workerCount', 'name');
        self::assertSame(['express' => 5, 'slow' => 5], $workers($client->splitWorkers($lanes, $states)));
        self::assertSame(['express' => 7, 'slow' => 3], $workers($client->splitWorkers($lanes, $states, maxMoveCount: 2)));
        self::assertSame(['express' => 9, 'slow' => 1], $workers($client->splitWorkers($lanes, $states, maxMoveCount: 0)));
        self::assertSame(['express' => 9, 'slow' => 1], $workers($client->splitWorkers($lanes, $states, minImprovementPercent: 50)));
        self::assertSame(['express' => 5, 'slow' => 5], $workers($client->splitWorkers($lanes, $states, minImprovementPercent: 40)));
    }

    public function testASplitCanBeHandedOn(): void
    {
        $client = self::client();
        $lanes = self::lanes(policy: LanePolicy::SlowFirst, onTimeout: TimeoutAction::Suspend, maxExpressSlowProbability: 0.25);
        // States are matched by name, not by order; in a lane without a state, no job waits.
        $states = [new LaneState('slow', 2, longestWait: new DateInterval('PT30S'), busyWorkerCount: 2), new LaneState('express', 10, meanRunTime: 1)];
        $split = $client->splitWorkers($lanes, $states);
        self::assertSame(['express' => 10_000_000, 'medium' => 0, 'slow' => 90_000_000], array_column($split->workloads, 'workloadMicros', 'laneName'));
        self::assertSame([1, 0, 5], array_column($split->laneSet->lanes, 'workerCount'));
        self::assertSame(['express', 'medium', 'slow'], array_column($split->laneSet->lanes, 'name'));
        self::assertSame([60, 300, 900.5], array_map(static fn (Lane $lane) => Times::seconds($lane->attemptTimeout), $split->laneSet->lanes));
        $rule = static fn (LaneSet $set): array => [$set->policy, $set->onTimeout, $set->maxExpressSlowProbability];
        self::assertSame($rule($lanes), $rule($split->laneSet));

        $more = $client->splitWorkers($split->laneSet, $states, workerCount: 60)->laneSet;
        self::assertSame(60, array_sum(array_column($more->lanes, 'workerCount')));
        self::assertSame('slow', $client->routeJob($split->laneSet, ['express'])->laneName, 'the lane without workers is passed over');
        self::assertCount(5, $client->dispatchJobs($split->laneSet, ['slow' => 5], array_fill(0, 9, new PendingJob('a')))->dispatches);

        $plain = new LaneSet([new Lane('express', 1, 1), new Lane('slow', 1)]);
        $split = $client->splitWorkers($plain, []);
        self::assertSame([null, null, null], $rule($split->laneSet));
        self::assertNull($split->laneSet->lanes[1]->attemptTimeout);
    }

    public function testWhatIsRefusedIsNamed(): void
    {
        $client = self::client();
        $states = static fn (mixed ...$wrong): array => [new LaneState('express'), new LaneState('medium'), new LaneState(...$wrong + ['laneName' => 'slow'])];
        $slow = LanePrediction::slowProbability(2);
        foreach ([
            'lane_set.lanes[1].name' => static fn () => $client->routeJob(new LaneSet([new Lane('a', 1, 1), new Lane('', 1)])),
            'lane_set.lanes[1].worker_count' => static fn () => $client->routeJob(new LaneSet([new Lane('a', 1, 1), new Lane('b', -1)])),
            'lane_set.lanes[0].attempt_timeout' => static fn () => $client->routeJob(new LaneSet([new Lane('a', 1), new Lane('b', 1)])),
            'lane_set.max_express_slow_probability' => static fn () => $client->routeJob(self::lanes(maxExpressSlowProbability: 1.5)),
            'timed_out_lane_names[1]' => static fn () => $client->routeJob(self::lanes(), ['slow', 'other']),
            'worker_lane_name' => static fn () => $client->routeJob(self::lanes(), workerLaneName: 'other'),
            'prediction.slow_probability' => static fn () => $client->routeJob(self::lanes(), [], $slow),
            'prediction.run_time' => static fn () => $client->routeJob(self::lanes(), [], LanePrediction::runTime(-1)),
            'free_workers[1].worker_count' => static fn () => $client->dispatchJobs(self::lanes(), ['express' => 1, 'medium' => 2], []),
            'free_workers[0].lane_name' => static fn () => $client->dispatchJobs(self::lanes(), [0, 0, 0], []),
            'jobs[1].id' => static fn () => $client->dispatchJobs(self::lanes(), [], [new PendingJob('a'), new PendingJob(str_repeat('x', 257))]),
            'jobs[0].timed_out_lane_names[0]' => static fn () => $client->dispatchJobs(self::lanes(), [], [new PendingJob('a', ['other'])]),
            'jobs[0].prediction.slow_probability' => static fn () => $client->dispatchJobs(self::lanes(), [], [new PendingJob('a', [], $slow)]),
            'states[2].lane_name' => static fn () => $client->splitWorkers(self::lanes(), $states(laneName: 'express')),
            'states[2].backlog_count' => static fn () => $client->splitWorkers(self::lanes(), $states(backlogCount: -1)),
            'states[2].mean_run_time' => static fn () => $client->splitWorkers(self::lanes(), $states(meanRunTime: -1)),
            'states[2].longest_wait' => static fn () => $client->splitWorkers(self::lanes(), $states(longestWait: -1)),
            'states[2].busy_worker_count' => static fn () => $client->splitWorkers(self::lanes(), $states(busyWorkerCount: 4)),
            'worker_count' => static fn () => $client->splitWorkers(self::lanes(), $states(), workerCount: 1),
            'max_move_count' => static fn () => $client->splitWorkers(self::lanes(), $states(), maxMoveCount: -1),
            'min_improvement_percent' => static fn () => $client->splitWorkers(self::lanes(), $states(), minImprovementPercent: 101),
        ] as $field => $ask) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask, $field)->field);
        }
    }

    public function testWhatNoMessageHoldsIsRefusedBeforeItIsSent(): void
    {
        $client = self::client();
        $set = static fn (Lane $lane): LaneSet => new LaneSet([$lane, new Lane('slow', 1)]);
        foreach ([
            'lane_set.lanes[0].name' => static fn () => $client->routeJob($set(new Lane("\xff", 1, 1))),
            'lane_set.lanes[0].worker_count' => static fn () => $client->routeJob($set(new Lane('a', 2 ** 32 + 1, 1))),
            'lane_set.lanes[0].attempt_timeout' => static fn () => $client->routeJob($set(new Lane('a', 1, NAN))),
            'timed_out_lane_names[1]' => static fn () => $client->routeJob(self::lanes(), ['slow', "\xff"]),
            'jobs[0].id' => static fn () => $client->dispatchJobs(self::lanes(), [], [new PendingJob("\xff")]),
            'free_workers[0].lane_name' => static fn () => $client->dispatchJobs(self::lanes(), ["\xff" => 1], []),
            'free_workers[1].worker_count' => static fn () => $client->dispatchJobs(self::lanes(), ['slow' => 1, 'express' => 2 ** 32], []),
            'states[0].lane_name' => static fn () => $client->splitWorkers(self::lanes(), [new LaneState("\xff")]),
        ] as $field => $ask) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask, $field)->field);
        }
        self::thrown(\TypeError::class, static fn () => $client->routeJob(new LaneSet(['express', 'slow'])));
    }

    public function testALaneKeepsItsTimeout(): void
    {
        $timeout = new DateInterval('PT1S');
        $lane = new Lane('express', 1, $timeout);
        $timeout->s = 9;
        self::assertSame(1, $lane->attemptTimeout->s);
    }

    public function testADeadlineIsOverWhenTheAttemptsTimeIsUp(): void
    {
        $route = self::client()->routeJob(new LaneSet([new Lane('express', 1, 0.2), new Lane('slow', 1)]));
        $began = hrtime(true);
        $deadline = $route->deadline();
        $deadline->check();
        self::assertFalse($deadline->expired());
        self::assertEqualsWithDelta(0.1, $deadline->remaining(), 0.1);
        $thrown = self::thrown(AttemptTimedOut::class, static function () use ($deadline): void {
            for ($i = 0; $i < 2_000; ++$i) {
                $deadline->check();
                usleep(1_000);
            }
        });
        self::assertLessThan(2.0, (hrtime(true) - $began) / 1e9);
        self::assertGreaterThanOrEqual(0.2, (hrtime(true) - $began) / 1e9);
        self::assertSame([true, 0.0], [$deadline->expired(), $deadline->remaining()]);
        self::assertInstanceOf(OffbeatException::class, $thrown);
        self::assertSame($route, $thrown->route);
        self::assertSame('attempt 1 reached the timeout of 0.2 s of lane "express"; "slow" is next', $thrown->getMessage());
    }

    public function testALaneWithoutATimeoutLetsAJobRun(): void
    {
        $deadline = (new LaneRoute('slow', 1, null, null, RouteReason::Untried, false))->deadline();
        $deadline->check();
        self::assertSame([false, null], [$deadline->expired(), $deadline->remaining()]);
        $last = new LaneRoute('slow', 2, new DateInterval('PT0S'), null, RouteReason::Demoted, false);
        $thrown = self::thrown(AttemptTimedOut::class, (new AttemptDeadline($last))->check(...));
        self::assertStringEndsWith('of lane "slow", the last', $thrown->getMessage());
    }
}
