<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Stages\AllocationRule;
use Offbeat\Stages\Stage;
use Offbeat\Stages\StageChoiceReason;
use Offbeat\Stages\StageWeighting;
use Offbeat\Stages\WorkerAllocation;
use Offbeat\Stages\WorkerMove;
use Offbeat\Times;

/** Stages: how many workers each gets, and where a free worker goes. */
final class StagesTest extends OffbeatTestCase
{
    public function testAllocationsAreThoseOfAnExhaustiveSearch(): void
    {
        $client = self::client();
        $cases = array_slice(self::vectors('stage_allocation.json')['cases'], 0, 100);
        self::assertContains(null, array_column($cases, 'minimum_score'), 'all stages are done');
        foreach ($cases as $case) {
            $stages = [];
            foreach ($case['workloads'] as $place => $workload) {
                $stages[] = new Stage("stage $place", $workload, 0.000001, done: in_array($place, $case['done'], true));
            }
            foreach (['minimum_score' => null, 'highest_averages' => AllocationRule::DHondt] as $name => $rule) {
                $counts = $client->allocateWorkers($stages, $case['workers'], $rule)?->workerCounts();
                $expected = $case[$name] === null ? null : array_combine(array_column($stages, 'name'), $case[$name]);
                self::assertSame($expected, $counts, json_encode($case));
            }
        }
        self::assertSame([7, 1], array_values($client->allocateWorkers(self::pipeline(), 8, AllocationRule::MinimumScore)->workerCounts()));
    }

    /** @dataProvider transports */
    public function testAnAllocationSaysWhy(string $transport): void
    {
        $stages = [
            new Stage('fetch', 100, new DateInterval('PT1S'), currentWorkerCount: 3),
            new Stage('parse', 20, currentWorkerCount: 5, busyWorkerCount: 1),
            new Stage('store', 10, runTimes: [0.5, 1, new DateInterval('PT3S')], maxWorkerCount: 1),
        ];
        $allocation = self::client($transport)->allocateWorkers($stages, 9, weighting: StageWeighting::Latency);
        self::assertSame(['fetch' => 5, 'parse' => 3, 'store' => 1], $allocation->workerCounts());
        [$fetch, $parse, $store] = $allocation->stages;
        self::assertSame([100_000_000, 25_000_000, 15_000_000], array_column($allocation->stages, 'workloadMicros'));
        self::assertSame([1, 2, 3], array_column($allocation->stages, 'weight'));
        self::assertSame([false, true, false], array_column($allocation->stages, 'runTimeEstimated'));
        self::assertSame([1, 1.25, 1.5], array_map(static fn ($stage) => Times::seconds($stage->meanRunTime), $allocation->stages));
        self::assertEqualsWithDelta(100e6 / 6, $fetch->score, 1e-6);
        self::assertEqualsWithDelta(100e6 / 6 / 7, $fetch->nextQuotient, 1e-6);
        self::assertEqualsWithDelta($fetch->score + $parse->score + $store->score, $allocation->score, 1e-3);
        self::assertGreaterThan($allocation->score, $allocation->currentScore);
        self::assertSame([['parse', 'fetch', 2], [null, 'store', 1]], self::moves($allocation));
        self::assertSame([0, false], [$allocation->unassignedWorkerCount, $allocation->improvementTooSmall]);
    }

    public function testNobodyMovesForLittle(): void
    {
        $client = self::client();
        $stages = [new Stage('a', 100, 1, currentWorkerCount: 1), new Stage('b', 100, 1, currentWorkerCount: 9)];
        self::assertSame(['a' => 5, 'b' => 5], $client->allocateWorkers($stages, 10)->workerCounts());
        self::assertSame(['a' => 3, 'b' => 7], $client->allocateWorkers($stages, 10, maxMoveCount: 2)->workerCounts());
        self::assertSame(['a' => 1, 'b' => 9], $client->allocateWorkers($stages, 10, maxMoveCount: 0)->workerCounts());
        $stays = $client->allocateWorkers($stages, 10, minImprovementPercent: 50);
        self::assertSame([true, ['a' => 1, 'b' => 9]], [$stays->improvementTooSmall, $stays->workerCounts()]);
        self::assertFalse($client->allocateWorkers($stages, 10, minImprovementPercent: 40)->improvementTooSmall);

        $full = $client->allocateWorkers([new Stage('a', 1, maxWorkerCount: 2, currentWorkerCount: 3)], 5);
        self::assertSame([3, ['a' => 2]], [$full->unassignedWorkerCount, $full->workerCounts()]);
        self::assertSame([['a', null, 1]], self::moves($full));
    }

    public function testStarvedStagesHaveAPrice(): void
    {
        $client = self::client();
        $stages = [new Stage('a', 100, 1), new Stage('b', 1, 1)];
        $starving = $client->allocateWorkers($stages, 2);
        self::assertSame(['a' => 2, 'b' => 0], $starving->workerCounts());
        [$starved] = $starving->starvedStages;
        self::assertSame(['b', 1], [$starved->stageName, $starved->backlogCount]);
        // The second worker of a saves 100/(2·3) s, the first one of b saves 1/2 s.
        self::assertEqualsWithDelta(100e6 / 6 - 1e6 / 2, $starved->cost, 0.01);
        self::assertSame($starved->cost, $starving->starvationPreventionCost);
        $fair = $client->allocateWorkers($stages, 2, preventStarvation: true);
        self::assertSame(['a' => 1, 'b' => 1], $fair->workerCounts());
        self::assertSame([[], 0.0], [$fair->starvedStages, $fair->starvationPreventionCost]);
        $kept = $client->allocateWorkers([new Stage('a', 100, 1, minWorkerCount: 2), $stages[1]], 2);
        self::assertSame([null], array_column($kept->starvedStages, 'cost'));
    }

    /** @dataProvider transports */
    public function testArrivalsSayWhenABacklogIsDone(string $transport): void
    {
        $allocation = self::client($transport)->allocateWorkers([
            new Stage('a', 90, 1, arrivalCount: 120, arrivalPeriod: new DateInterval('PT1M')),
            new Stage('b', 7, 0.25),
            new Stage('c', 0, 1, arrivalCount: 1),
        ], 6, preventStarvation: true);
        self::assertSame(['a' => 5, 'b' => 1, 'c' => 0], $allocation->workerCounts());
        self::assertSame([3, 1, 2], array_column($allocation->stages, 'minStableWorkerCount'));
        self::assertSame(6, $allocation->minStableWorkerCount);
        self::assertSame([false, false, true], array_map(static fn ($stage) => $stage->grows(), $allocation->stages));
        // 90 jobs of 1 s with three spare workers; 7 jobs of 0.25 s with half a spare worker.
        [$a, $b, $c] = $allocation->stages;
        self::assertSame([30, 3.5], array_map(Times::seconds(...), [$a->drainTime, $b->drainTime]));
        self::assertNull($c->drainTime);
    }

    public function testAWorkerGoesWhereItIsWorthMost(): void
    {
        $client = self::client();
        $stages = [new Stage('a', 100, 1, currentWorkerCount: 1), new Stage('b', 10, 1, currentWorkerCount: 1)];
        $next = $client->chooseStage($stages, 'b');
        self::assertSame(['a', true, StageChoiceReason::WorthMost], [$next->stageName, $next->changesStage, $next->reason]);
        self::assertEqualsWithDelta(100e6 / 6, $next->quotient, 1e-6);
        self::assertEqualsWithDelta(10e6 / 2, $next->currentQuotient, 1e-6);

        $stays = $client->chooseStage($stages, 'b', minGainPercent: 1_000);
        self::assertSame(['b', false, StageChoiceReason::GainTooSmall], [$stays->stageName, $stays->changesStage, $stays->reason]);
        $fresh = $client->chooseStage($stages, null, AllocationRule::DHondt);
        self::assertSame(['a', true, 0.0], [$fresh->stageName, $fresh->changesStage, $fresh->currentQuotient]);
        self::assertEqualsWithDelta(100e6 / 2, $fresh->quotient, 1e-6);

        $behind = [new Stage('a', 15, 1), new Stage('b', 10, 1)];
        self::assertSame('a', $client->chooseStage($behind, null)->stageName);
        self::assertSame('b', $client->chooseStage($behind, null, weighting: StageWeighting::Latency)->stageName);

        $needed = $client->chooseStage([...$stages, new Stage('c', minWorkerCount: 1)], 'a');
        self::assertSame(['c', StageChoiceReason::BelowMinimum], [$needed->stageName, $needed->reason]);
        $last = [new Stage('a', 99, 1, currentWorkerCount: 1), new Stage('b', 1, 1, currentWorkerCount: 1)];
        self::assertSame('a', $client->chooseStage($last, 'b')->stageName);
        self::assertSame('b', $client->chooseStage($last, 'b', preventStarvation: true)->stageName);
        $full = $client->chooseStage([new Stage('a', 9, maxWorkerCount: 0), new Stage('b', done: true)], null);
        self::assertSame([null, false, StageChoiceReason::AllFull], [$full->stageName, $full->changesStage, $full->reason]);
    }

    public function testWhenAllStagesAreDoneThereIsNothingToShareOut(): void
    {
        $done = [new Stage('a', done: true, currentWorkerCount: 1), new Stage('b', 5, 1, done: true)];
        self::assertNull(self::client()->allocateWorkers($done, 8));
        self::assertNull(self::client()->chooseStage($done, 'a'));
    }

    public function testWhatIsRefusedIsNamed(): void
    {
        $client = self::client();
        foreach ([
            'stages[1].name' => ['name' => ''],
            'stages[1].backlog_count' => ['backlogCount' => -1],
            'stages[1].mean_run_time' => ['meanRunTime' => -1],
            'stages[1].run_times' => ['runTimes' => [1, -1]],
            'stages[1].min_worker_count' => ['minWorkerCount' => -1],
            'stages[1].max_worker_count' => ['maxWorkerCount' => -1],
            'stages[1].current_worker_count' => ['currentWorkerCount' => 1_000_000_001],
            'stages[1].busy_worker_count' => ['busyWorkerCount' => 1],
            'stages[1].arrival_count' => ['arrivalCount' => -1],
            'stages[1].arrival_period' => ['arrivalPeriod' => 1],
        ] as $field => $wrong) {
            // Keys have gaps, as after array_filter().
            $stages = [3 => new Stage('a', 1, 1), 7 => new Stage(...$wrong + ['name' => 'b'])];
            foreach (['allocateWorkers' => 8, 'chooseStage' => null] as $method => $argument) {
                $thrown = self::thrown(InvalidArgument::class, static fn () => $client->$method($stages, $argument), $field);
                self::assertStringStartsWith($field, $thrown->field);
            }
        }
        foreach ([
            'worker_count' => static fn () => $client->allocateWorkers(self::pipeline(), -1),
            'max_move_count' => static fn () => $client->allocateWorkers(self::pipeline(), 1, maxMoveCount: -1),
            'min_improvement_percent' => static fn () => $client->allocateWorkers(self::pipeline(), 1, minImprovementPercent: 101),
            'min_gain_percent' => static fn () => $client->chooseStage(self::pipeline(), minGainPercent: -1),
            'current_stage_name' => static fn () => $client->chooseStage(self::pipeline(), 'elsewhere'),
            'stages' => static fn () => $client->chooseStage([], null),
        ] as $field => $ask) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask, $field)->field);
        }
    }

    public function testWhatNoMessageHoldsIsRefusedBeforeItIsSent(): void
    {
        $client = self::client();
        foreach ([
            'stages[0].name' => static fn () => $client->chooseStage([new Stage("\xff")], null),
            'stages[0].mean_run_time' => static fn () => $client->chooseStage([new Stage('a', 1, new DateInterval('P1M'))], null),
            'stages[0].min_worker_count' => static fn () => $client->chooseStage([new Stage('a', minWorkerCount: 2 ** 32)], null),
            'stages[1].name' => static fn () => $client->chooseStage([3 => new Stage('a'), 7 => new Stage("\xff")]),
            'worker_count' => static fn () => $client->allocateWorkers(self::pipeline(), 2 ** 32 + 1),
            'current_stage_name' => static fn () => $client->chooseStage(self::pipeline(), "\xff"),
        ] as $field => $ask) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask, $field)->field);
        }
        self::thrown(\TypeError::class, static fn () => $client->allocateWorkers(['a'], 1));
    }

    public function testAStageKeepsItsTimes(): void
    {
        $time = new DateInterval('PT1S');
        $stage = new Stage('a', 1, $time, [$time]);
        $time->s = 9;
        self::assertSame([1, 1], [$stage->meanRunTime->s, $stage->runTimes[0]->s]);
    }

    private static function moves(WorkerAllocation $allocation): array
    {
        $move = static fn (WorkerMove $move): array => [$move->fromStageName, $move->toStageName, $move->workerCount];

        return array_map($move, $allocation->moves);
    }

    /** @return list<Stage> */
    private static function pipeline(): array
    {
        return [new Stage('fetch', 100, 1), new Stage('parse', 10, 1)];
    }
}
