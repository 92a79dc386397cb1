<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Lanes\LanePlan;
use Offbeat\Lanes\LaneVerdict;
use Offbeat\Lanes\PendingJob;
use Offbeat\Lanes\RunTimes;
use Offbeat\Lanes\TimeoutAction;
use Offbeat\Times;
use Offbeat\V1beta1;

/** Lane plans, from run times in each form. */
final class LanePlanTest extends OffbeatTestCase
{
    /** Nine in ten jobs take a second, a few take an hour. */
    private static function heavy(): RunTimes
    {
        return RunTimes::histogram([[1, 900], [new DateInterval('PT1M'), 90], [3600.0, 10]]);
    }

    private static function plan(mixed ...$arguments): LanePlan
    {
        $arguments += ['runTimes' => self::heavy(), 'arrivalRate' => 0.05, 'workerCount' => 4, 'timeout' => 60];

        return self::client()->planLanes(...$arguments);
    }

    public function testAFewLongJobsWantLanes(): void
    {
        $plan = self::plan();
        self::assertSame(LaneVerdict::Lanes, $plan->verdict);
        self::assertSame(4, array_sum(array_column($plan->laneSet->lanes, 'workerCount')));
        self::assertTrue($plan->withLanes->stable && $plan->withoutLanes->stable);
        self::assertLessThan($plan->withoutLanes->meanSlowdown / 4, $plan->withLanes->meanSlowdown);
        self::assertGreaterThan(0, $plan->withLanes->wastedRatio);
        self::assertSame(0.0, $plan->withoutLanes->wastedRatio);
        $spans = ['meanWait', 'p95Wait', 'meanSojourn', 'p95Sojourn'];
        [$wait, , $sojourn, $longest] = array_map(static fn (string $span) => Times::seconds($plan->withoutLanes->$span), $spans);
        self::assertEqualsWithDelta($wait + Times::seconds($plan->meanRunTime), $sojourn, 2.0);
        self::assertGreaterThan($sojourn, $longest);
        self::assertEqualsWithDelta(0.05 * Times::seconds($plan->meanRunTime) / 4, $plan->utilization, 1e-6);
        self::assertEqualsWithDelta([0.04, 0.06], array_column($plan->sensitivities, 'arrivalRate'), 1e-9);
        [$fewer, $more] = $plan->sensitivities;
        self::assertGreaterThan($fewer->withoutLanes->meanSlowdown, $more->withoutLanes->meanSlowdown);
        self::assertGreaterThan($fewer->withLanes->meanSlowdown, $more->withLanes->meanSlowdown);
        self::assertGreaterThan(10, count($plan->cutoffs));
        $best = min(array_column($plan->cutoffs, 'meanSlowdown'));
        self::assertGreaterThanOrEqual(1.0, $best);
        self::assertSame([], array_diff(array_column($plan->cutoffs, 'expressWorkerCount'), [1, 2, 3]));
        $cutoffs = array_map(static fn ($cutoff) => Times::seconds($cutoff->cutoff), $plan->cutoffs);
        self::assertSame($cutoffs, array_unique($cutoffs));
        self::assertLessThan(1.0, Times::seconds($plan->slowdownFloor));
        self::assertGreaterThan(1, $plan->streamCount);
        self::assertGreaterThan(1_000, $plan->streamJobCount);
        self::assertSame([null], array_unique(array_column($plan->runTimeClasses, 'sampleCount')));

        // The planned lanes can be used as they are.
        self::assertSame('express', self::client()->routeJob($plan->laneSet)->laneName);
        $free = array_column($plan->laneSet->lanes, 'workerCount', 'name');
        self::assertCount(4, self::client()->dispatchJobs($plan->laneSet, $free, array_fill(0, 9, new PendingJob('a')))->dispatches);
    }

    public function testItSaysHowSureItIsAndWhoWaits(): void
    {
        $runTimes = RunTimes::samples(array_merge(array_fill(0, 90, 0.5), array_fill(0, 10, 20)));
        $plan = self::plan(runTimes: $runTimes, arrivalRate: 1.2);
        self::assertSame(LaneVerdict::Lanes, $plan->verdict);
        foreach ([$plan->slowdownRatio, $plan->sojournRatio] as $ratio) {
            self::assertTrue(0 < $ratio->low && $ratio->low < $ratio->estimate && $ratio->estimate < $ratio->high && $ratio->high < 1);
        }
        [$express, $slow] = $plan->runTimeClasses;
        self::assertEquals([$plan->laneSet->lanes[0]->attemptTimeout, null], [$express->maxRunTime, $slow->maxRunTime]);
        self::assertEqualsWithDelta(0.55, Times::seconds($express->maxRunTime), 0.05);
        self::assertEqualsWithDelta([0.9, 0.1], [$express->jobRatio, $slow->jobRatio], 1e-9);
        self::assertSame([90, 10], [$express->sampleCount, $slow->sampleCount]);
        self::assertLessThan(Times::seconds($express->meanWaitWithoutLanes), Times::seconds($express->meanWaitWithLanes));
        self::assertLessThan(Times::seconds($express->meanSojournWithoutLanes), Times::seconds($express->meanSojournWithLanes));
        self::assertGreaterThan(Times::seconds($slow->meanSojournWithoutLanes), Times::seconds($slow->meanSojournWithLanes));
        foreach ([$plan->withLanes, $plan->withoutLanes] as $performance) {
            $slowdown = $performance->meanSlowdownRange;
            self::assertTrue($slowdown->low <= $performance->meanSlowdown && $performance->meanSlowdown <= $slowdown->high);
            $sojourn = $performance->meanSojournRange;
            [$low, $mean, $high] = array_map(Times::seconds(...), [$sojourn->low, $performance->meanSojourn, $sojourn->high]);
            self::assertTrue($low <= $mean && $mean <= $high);
        }
        self::assertTrue($plan->cutoffs[0]->stable && $plan->cutoffs[0]->stableWithMoreArrivals);
        self::assertContains(false, array_column($plan->cutoffs, 'stable'));
        foreach ($plan->cutoffs as $cutoff) {
            self::assertSame([$cutoff->stable, $cutoff->stable], [$cutoff->meanSlowdown >= 1, $cutoff->meanSojourn !== null]);
        }
        self::assertCount(1, preg_grep('/take longer/', $plan->messages));
        $json = json_decode(json_encode($plan))->runTimeClasses[0];
        self::assertSame(Times::seconds($express->meanWaitWithLanes), $json->meanWaitWithLanes);

        $even = self::plan(runTimes: RunTimes::samples(array_fill(0, 8, 1)), arrivalRate: 1.2);
        self::assertSame([LaneVerdict::NoLanes, null, null], [$even->verdict, $even->slowdownRatio, $even->sojournRatio]);
        self::assertSame([0, 1], [count($even->runTimeClasses), count($even->messages)]);
    }

    public function testEachVerdictHasItsCase(): void
    {
        $constants = (new \ReflectionClass(V1beta1\LaneVerdict::class))->getConstants(\ReflectionClassConstant::IS_PUBLIC);
        $numbers = array_diff($constants, [V1beta1\LaneVerdict::LANE_VERDICT_UNSPECIFIED]);
        self::assertSame(LaneVerdict::cases(), array_map(LaneVerdict::fromMessage(...), array_values($numbers)));
    }

    public function testEachFormOfRunTimesIsTold(): void
    {
        $samples = array_merge(array_fill(0, 900, 1), array_fill(0, 90, 60.0), array_fill(0, 10, new DateInterval('PT1H')));
        $plan = self::plan(runTimes: RunTimes::samples(new \ArrayIterator($samples)), maxLaneCount: 2);
        self::assertSame([LaneVerdict::Lanes, 42.3], [$plan->verdict, Times::seconds($plan->meanRunTime)]);
        self::assertCount(2, $plan->laneSet->lanes);

        $plan = self::plan(runTimes: RunTimes::percentiles(p90: new DateInterval('PT20S'), p50: 10), arrivalRate: 0.1);
        self::assertSame(LaneVerdict::NoLanes, $plan->verdict);
        self::assertEqualsWithDelta(10 * exp((log(2) / 1.2815516) ** 2 / 2), Times::seconds($plan->meanRunTime), 0.01);
        $plan = self::plan(runTimes: RunTimes::percentiles(p90: 20, mean: 12), arrivalRate: 0.1);
        self::assertEqualsWithDelta(12, Times::seconds($plan->meanRunTime), 0.001);
    }

    public function testTypesOfJobsAreCompared(): void
    {
        $types = ['report' => new \ArrayIterator(array_fill(0, 20, 60)), 'mail' => array_fill(0, 980, 0.2)];
        $plan = self::plan(runTimes: RunTimes::samplesByType($types), arrivalRate: 2);
        $found = $plan->lanesByType;
        self::assertSame([LaneVerdict::LanesByType, ['report']], [$plan->verdict, $found->slowTypeNames]);
        self::assertSame(4, $found->expressWorkerCount + $found->slowWorkerCount);
        self::assertSame([0.0, true], [$found->performance->wastedRatio, $found->stableWithMoreArrivals]);
        self::assertLessThan($plan->withoutLanes->meanSlowdown / 2, $found->performance->meanSlowdown);
        self::assertTrue($found->slowdownRatio->low <= $found->slowdownRatio->estimate && $found->slowdownRatio->high < 0.5);
        self::assertTrue($found->sojournRatio->low > 0 && $found->slowdownRatioToTimeouts->low > 0);
        self::assertGreaterThan($found->sojournRatioToTimeouts->low, $found->sojournRatioToTimeouts->high);
        self::assertGreaterThanOrEqual(1, $plan->sensitivities[1]->byType->meanSlowdown);
        [$report, $mail] = $plan->jobTypes;
        self::assertSame(['report', 20, 0.02, 1.0], [$report->name, $report->sampleCount, $report->jobRatio, $report->timeoutRatio]);
        self::assertEqualsWithDelta(1_200 / 1_396, $report->workRatio, 1e-9);
        foreach (['meanRunTime', 'p50RunTime', 'p99RunTime', 'maxRunTime'] as $time) {
            self::assertSame(60, Times::seconds($report->$time));
        }
        self::assertSame(['mail', 0.0], [$mail->name, $mail->timeoutRatio]);
        $sojourn = Times::seconds($mail->meanSojournWithoutLanes);
        self::assertLessThan($sojourn, Times::seconds($mail->meanSojournByType));
        self::assertLessThan($sojourn, Times::seconds($mail->meanSojournWithLanes));
        foreach ($plan->cutoffs as $cutoff) {
            self::assertSame($cutoff->stable, $cutoff->meanSlowdownRange !== null);
        }
        self::assertSame(0.2, json_decode(json_encode($plan))->jobTypes[1]->maxRunTime);

        $untyped = self::plan();
        self::assertSame([null, [], null], [$untyped->lanesByType, $untyped->jobTypes, $untyped->sensitivities[0]->byType]);
    }

    public function testEveryQuestionCounts(): void
    {
        $plan = self::plan(toleratedWait: 0.5, slowdownFloor: new DateInterval('PT2S'), onTimeout: TimeoutAction::Suspend, maxLaneCount: 2);
        self::assertLessThanOrEqual(0.5, Times::seconds($plan->laneSet->lanes[0]->attemptTimeout));
        self::assertSame(2, Times::seconds($plan->slowdownFloor));
        self::assertSame(TimeoutAction::Suspend, $plan->laneSet->onTimeout);
        self::assertSame(0.0, $plan->withLanes->wastedRatio);
        $again = self::plan(seed: -1);
        self::assertEquals($again, self::plan(seed: -1));
        self::assertNotEquals($again->withoutLanes, self::plan(seed: 1)->withoutLanes);
    }

    public function testWhatIsRefusedIsNamed(): void
    {
        foreach ([
            'samples.run_time_micros[1]' => ['runTimes' => RunTimes::samples([1, 0])],
            'samples_by_type.types' => ['runTimes' => RunTimes::samplesByType([])],
            'samples_by_type.types[0].name' => ['runTimes' => RunTimes::samplesByType(['' => [1]])],
            'samples_by_type.types[1].run_time_micros[1]' => ['runTimes' => RunTimes::samplesByType(['b' => [1, 0], 'a' => [1]])],
            'histogram.buckets[1].upper_bound' => ['runTimes' => RunTimes::histogram([[60, 1], [1, 1]])],
            'histogram.buckets[0].job_count' => ['runTimes' => RunTimes::histogram([[60, -1]])],
            'percentiles.p90' => ['runTimes' => RunTimes::percentiles(2, 1)],
            'arrival_rate' => ['arrivalRate' => 0],
            'worker_count' => ['workerCount' => 0],
            'tolerated_wait' => ['toleratedWait' => 0],
            'slowdown_floor' => ['slowdownFloor' => -1],
            'max_lane_count' => ['maxLaneCount' => 4],
        ] as $field => $wrong) {
            self::assertSame($field, self::thrown(InvalidArgument::class, static fn () => self::plan(...$wrong), $field)->field);
        }
        $alone = self::thrown(InvalidArgument::class, static fn () => self::plan(runTimes: RunTimes::percentiles(p50: 2)));
        self::assertSame(['percentiles.p90', 'ERROR_REASON_FIELD_MISSING'], [$alone->field, $alone->reason]);
        foreach ([
            'samples.run_time_micros[1]' => static fn () => RunTimes::samples([1, new DateInterval('P1Y')]),
            'samples.run_time_micros[0]' => static fn () => RunTimes::samples([PHP_INT_MAX]),
            'histogram.buckets[1].upper_bound' => static fn () => RunTimes::histogram([[1, 1], [NAN, 1]]),
            'percentiles.p50' => static fn () => RunTimes::percentiles(p90: 1, p50: INF),
            'percentiles.mean' => static fn () => RunTimes::percentiles(p90: 1, mean: INF),
        ] as $field => $ask) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask, $field)->field);
        }
    }
}
