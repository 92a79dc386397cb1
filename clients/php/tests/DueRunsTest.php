<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateTimeImmutable;
use Offbeat\CatchUpPolicy;
use Offbeat\DatedExclusion;
use Offbeat\DueRuns;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\InvalidArgument;
use Offbeat\ExclusionPolicy;
use Offbeat\IdType;
use Offbeat\MissedRunPolicy;
use Offbeat\Placement;
use Offbeat\Schedule;

/** Runs that are due, and runs that were missed. */
final class DueRunsTest extends OffbeatTestCase
{
    /** @dataProvider transports */
    public function testEachRunIsListedOnceWhateverTheRhythm(string $kind): void
    {
        mt_srand(9);
        $client = self::client($kind);
        $ids = array_map(static fn (int $number): string => "customer-$number", range(1, 60));
        [$now, $watermark, $end] = [self::noon(), self::noon(), self::noon()->modify('+3 days')];
        $listed = [];
        while ($now < $end) {
            // Some polls come from a machine whose clock is behind, others after a long pause.
            $now = $now->modify('+' . [1, 37, 900, 20_000][mt_rand(0, 3)] . ' seconds ' . mt_rand(0, 999_999) . ' microseconds');
            $asked = mt_rand(0, 4) === 0 ? $now->modify('-30 seconds') : $now;
            $due = $client->listDueRuns(
                self::eightHours(),
                $ids,
                watermark: $watermark,
                nowTime: $asked,
                catchUpPolicy: new CatchUpPolicy(MissedRunPolicy::RunAll, horizon: 30 * 86_400),
            );
            foreach ($due as $run) {
                self::assertLessThan($asked, $run->scheduledTime);
                self::assertArrayNotHasKey($run->runKey, $listed);
                $listed[$run->runKey] = $run->scheduledTime->getTimestamp();
            }
            self::assertGreaterThanOrEqual($watermark, $due->nextWatermarkTime);
            $watermark = $due->nextWatermarkTime;
        }
        $expected = [];
        foreach ($ids as $id) {
            foreach ($client->assignSlot(self::eightHours(), $id, fromTime: self::noon(), nextRunCount: 20)->nextRuns as $run) {
                if ($run->startTime < $watermark) {
                    $expected[$run->runKey] = $run->startTime->getTimestamp();
                }
            }
        }
        ksort($expected);
        ksort($listed);
        self::assertGreaterThan(500, count($expected));
        self::assertSame($expected, $listed);
    }

    public function testPoliciesSayWhatMissedRunsDo(): void
    {
        $down = self::noon();
        $now = $down->modify('+26 hours');
        $ask = static fn (?MissedRunPolicy $policy, mixed ...$more): DueRuns => self::client()->listDueRuns(
            self::eightHours(),
            range(1, 100),
            $down,
            nowTime: $now,
            catchUpPolicy: new CatchUpPolicy($policy, ...$more + ['horizon' => 2 * 86_400]),
        );
        $all = $ask(MissedRunPolicy::RunAll);
        self::assertSame(count($all), $all->lateRunCount + self::onTime($all, $now));
        self::assertSame(0, $all->droppedRunCount);
        self::assertGreaterThanOrEqual(300, count($all));
        $once = $ask(null);
        self::assertEquals($once, $ask(MissedRunPolicy::RunOnce));
        self::assertSame(range(0, 99), $once->idIndexes);
        self::assertSame(count($all) - 100, $once->droppedRunCount);
        $drop = $ask(MissedRunPolicy::Drop, onTimeTolerance: 60);
        $unsaid = self::thrown(InvalidArgument::class, static fn () => $ask(MissedRunPolicy::Drop));
        self::assertSame(['catch_up_policy.on_time_tolerance', 'ERROR_REASON_FIELD_MISSING'], [$unsaid->field, $unsaid->reason]);
        self::assertSame([self::onTime($all, $now), 0], [count($drop), $drop->lateRunCount]);
        $smeared = $ask(MissedRunPolicy::RunOnce, smearSpan: 3_600);
        // A late run that would start after the ID's next run is superseded.
        self::assertGreaterThan(0, $smeared->supersededRunCount);
        self::assertSame([100, 0], [count($smeared) + $smeared->supersededRunCount, $once->supersededRunCount]);
        foreach ($smeared as $index => $run) {
            self::assertEquals($once[$run->id - 1]->scheduledTime, $run->scheduledTime);
            self::assertGreaterThanOrEqual($run->scheduledTime, $run->startTime);
            self::assertSame($run->scheduledTime < $now->modify('-60 seconds'), $run->late);
            self::assertLessThan($now->modify('+1 hour'), $run->startTime);
            self::assertSame($run->runKey, $smeared->runKey($index));
            self::assertEquals($run, $smeared[$index]);
        }
        self::assertGreaterThan(80, count(array_unique($smeared->startUnixMillis)));
        self::assertEquals($smeared, $ask(MissedRunPolicy::RunOnce, smearSpan: 3_600));
        $late = $ask(MissedRunPolicy::RunAll, smearSpan: 3_600)[0];
        self::assertGreaterThan($late->scheduledTime, $late->startTime);
        self::assertSame([1, 2, 3], array_map(static fn (MissedRunPolicy $policy): int => $policy->toMessage(), MissedRunPolicy::cases()));
    }

    public function testIdsMayHaveWatermarksOfTheirOwn(): void
    {
        $now = self::noon()->modify('+8 hours');
        $millis = self::noon()->getTimestamp() * 1_000;
        $ids = ['a', 'b', 'c', 'd'];
        $watermarks = [$millis, self::noon(), $now, self::noon()->modify('+8 hours 30 seconds')];
        $due = self::client()->listDueRuns(self::eightHours(), $ids, watermarks: $watermarks, nowTime: $now, catchUpPolicy: new CatchUpPolicy(onTimeTolerance: 28_800));
        self::assertSame([0, 1], $due->idIndexes);
        self::assertEquals($now, $due->nextWatermarkTime);
        // A run starts at a whole millisecond: a run just before the watermark was listed already.
        $run = $due[0]->scheduledTime;
        foreach ([['+0', 1], ['+1', 0], ['+999', 0], ['-999', 1]] as [$micros, $count]) {
            $again = self::client()->listDueRuns(
                self::eightHours(),
                ['a'],
                watermarks: [$run->modify("$micros microseconds")],
                nowTime: $now,
                catchUpPolicy: new CatchUpPolicy(onTimeTolerance: 28_800),
            );
            self::assertCount($count, $again, $micros);
        }
        $ahead = self::client()->listDueRuns(self::eightHours(), $ids, watermark: $now->modify('+30 seconds'), nowTime: $now);
        self::assertCount(0, $ahead);
        self::assertEquals($now->modify('+30 seconds'), $ahead->nextWatermarkTime);
    }

    /** @dataProvider transports */
    public function testAnyNumberOfIdsAndRuns(string $kind): void
    {
        $ids = range(1, 70_000);
        $runs = self::client($kind)->listDueRuns(
            self::eightHours(),
            $ids,
            watermark: self::noon(),
            nowTime: self::noon()->modify('+16 hours'), // two runs each
            catchUpPolicy: new CatchUpPolicy(MissedRunPolicy::RunAll, horizon: 86_400),
        );
        self::assertCount(140_000, $runs);
        self::assertSame([0, 0, 1, 1], array_slice($runs->idIndexes, 0, 4));
        self::assertSame([69_998, 69_999, 69_999], array_slice($runs->idIndexes, -3));
        self::assertSame([70_000, 70_000], [$runs[139_999]->id, $runs[139_998]->id]);
        self::assertStringEndsWith('/0/70000', $runs->runKey(139_999));
        self::assertGreaterThan(139_000, $runs->lateRunCount);
        self::assertSame(140_000, count(array_unique(array_map($runs->runKey(...), range(0, 139_999)))));
        $next = self::client($kind)->assignSlots(self::eightHours(), $ids, fromTime: $runs->nextWatermarkTime)->nextRunUnixMillis;
        self::assertSame(min($next), $runs->nextDueTime->getTimestamp() * 1_000);
        self::assertSame(self::noon()->modify('+16 hours')->format('c'), $runs->nextWatermarkTime->format('c'));
    }

    public function testRefusedIdsAreNamedOnceWhateverTheNumberOfPages(): void
    {
        $ids = [...array_fill(0, 100, '0190d7a2-1111-7abc-8def-0123456789ab'), 'oops'];
        $runs = self::client()->listDueRuns(
            new Schedule(60),
            $ids,
            watermark: self::noon(),
            nowTime: self::noon()->modify('+1 day'),
            catchUpPolicy: new CatchUpPolicy(MissedRunPolicy::RunAll, horizon: 86_400),
            idType: IdType::Uuid,
            returnErrors: true,
        );
        self::assertCount(144_000, $runs); // three pages
        self::assertSame([100], array_column($runs->errors, 'idIndex'));
        $cycles = array_slice($runs->cycleIndexes, 1_440, 1_440);
        self::assertSame(range($cycles[0], $cycles[0] + 1_439), $cycles);
    }

    public function testRunsAheadOfNowAreListedToo(): void
    {
        $ids = range(1, 200);
        $ask = static fn (mixed ...$more): DueRuns => self::client()->listDueRuns(self::eightHours(), $ids, ...$more + ['nowTime' => self::noon()]);
        $due = $ask(watermark: self::noon()->modify('-5 minutes'), lookAhead: new \DateInterval('PT1H'));
        self::assertEquals(self::noon()->modify('+1 hour'), $due->nextWatermarkTime);
        [$early, $late] = [0, 0];
        foreach ($due as $run) {
            $early += $run->startTime > self::noon() ? 1 : 0;
            $late += $run->late ? 1 : 0;
            self::assertSame($run->scheduledTime < self::noon()->modify('-60 seconds'), $run->late);
        }
        self::assertGreaterThan(10, $early);
        self::assertSame($due->lateRunCount, $late);
        // Runs that were listed ahead are not listed again.
        self::assertCount(0, $ask(watermark: $due->nextWatermarkTime, lookAhead: 3_600));
        self::assertCount(0, $ask(watermark: $due->nextWatermarkTime->modify('+50 seconds'), lookAhead: 3_600));
        $refused = self::thrown(InvalidArgument::class, static fn () => $ask(watermark: $due->nextWatermarkTime->modify('+70 seconds'), lookAhead: 3_600));
        self::assertSame('watermark_time', $refused->field);
        self::assertGreaterThanOrEqual($due->nextWatermarkTime, $due->nextDueTime);
        self::assertCount(0, $ask(watermark: $due->nextWatermarkTime, nowTime: $due->nextDueTime));
        self::assertGreaterThan(0, count($ask(watermark: $due->nextWatermarkTime, nowTime: $due->nextDueTime->modify('+1 millisecond'))));
        $none = self::client()->listDueRuns(self::eightHours(), [], self::noon(), nowTime: self::noon(), lookAhead: 90.5);
        self::assertEquals(self::noon()->modify('+90 seconds 500 milliseconds'), $none->nextWatermarkTime);
        self::assertNull($none->nextDueTime);
    }

    public function testEveryRunIsCounted(): void
    {
        $ids = range(1, 300);
        $ask = static fn (Schedule $schedule, mixed ...$more): DueRuns => self::client()->listDueRuns(
            $schedule,
            $ids,
            self::noon(),
            ...['nowTime' => self::noon()->modify('+22 hours')] + $more,
        );
        $all = static fn (DueRuns $due): int => count($due) + $due->droppedRunCount + $due->supersededRunCount + $due->skippedRunCount;
        $scheduled = count($ask(self::eightHours(), catchUpPolicy: new CatchUpPolicy(MissedRunPolicy::RunAll, horizon: 86_400)));
        $once = $ask(self::eightHours());
        self::assertSame([0, 0, $scheduled], [$once->supersededRunCount, $once->skippedRunCount, $all($once)]);
        $gap = $ask(self::eightHours(), catchUpPolicy: new CatchUpPolicy(minGap: new \DateInterval('PT2H')));
        self::assertGreaterThan(40, $gap->supersededRunCount);
        self::assertSame($scheduled, $all($gap));
        foreach ($gap as $run) {
            $next = self::client()->assignSlot(self::eightHours(), $run->id, fromTime: self::noon()->modify('+22 hours'))->nextRun();
            self::assertGreaterThanOrEqual($run->late ? 7_200 : 0, $next->startTime->getTimestamp() - $run->startTime->getTimestamp());
            if ($run->id > 30) {
                break; // every other call takes one page
            }
        }
        $pause = new DatedExclusion(self::noon(), self::noon()->modify('+4 hours'), ExclusionPolicy::Skip);
        $skipping = $ask(new Schedule(8 * 3600, exclusions: [$pause]));
        self::assertGreaterThan(100, $skipping->skippedRunCount);
        self::assertSame($scheduled, $all($skipping));
    }

    public function testPiecesAreDueOneByOne(): void
    {
        $schedule = new Schedule(period: 28_800, slotCount: 96, weightQuantum: 10);
        $now = self::noon()->modify('+8 hours');
        $due = self::client()->listDueRuns($schedule, ['jumbo', 'small'], watermark: self::noon(), nowTime: $now, weights: [40, 1], catchUpPolicy: new CatchUpPolicy(onTimeTolerance: 28_800));
        self::assertSame([[0, 0, 0, 0, 1], [0, 1, 2, 3, 0]], [$due->idIndexes, $due->pieceIndexes]);
        $assigned = self::client()->assignSlot($schedule, 'jumbo', fromTime: self::noon(), weight: 40);
        self::assertSame($assigned->nextRun()->runKey, $due->runKey(0));
        self::assertSame($assigned->pieces[3]->nextRuns[0]->runKey, $due->runKey(3));
        self::assertEquals($assigned->pieces[3]->nextRuns[0]->startTime, $due[3]->scheduledTime);
    }

    public function testRefusedIdsHaveNoRows(): void
    {
        $ids = ['0190d7a2-1111-7abc-8def-0123456789ab', 'oops'];
        $ask = static fn (bool $returnErrors): DueRuns => self::client()->listDueRuns(
            self::eightHours(),
            $ids,
            watermark: self::noon(),
            nowTime: self::noon()->modify('+8 hours'),
            idType: IdType::Uuid,
            returnErrors: $returnErrors,
        );
        $thrown = self::thrown(BadIds::class, static fn () => $ask(false));
        self::assertSame(['ids[1]', 1], [$thrown->field, $thrown->errors[0]->idIndex]);
        self::assertNull($thrown->assignments);
        self::assertEquals($thrown->answer, $ask(true));
        self::assertSame([0], $thrown->answer->idIndexes);
        self::thrown(\OutOfBoundsException::class, static fn () => $thrown->answer[1]);
        self::thrown(\LogicException::class, static function () use ($thrown): void {
            $thrown->answer[0] = null;
        });
        $fraction = self::client()->listDueRuns(
            new Schedule(28_800, placement: Placement::Fraction),
            [0.5],
            watermark: self::noon(),
            nowTime: self::noon()->modify('+7 hours'),
        );
        self::assertSame(['', '', ''], [$fraction[0]->runKey, $fraction[0]->runId, $fraction->runId(0)]);
    }

    public function testNobodyIsDueWhereNobodyIs(): void
    {
        $ahead = self::noon()->modify('+1 hour');
        $none = self::client()->listDueRuns(self::eightHours(), [], watermark: $ahead, nowTime: self::noon());
        self::assertCount(0, $none);
        self::assertEquals($ahead, $none->nextWatermarkTime);
        self::assertEquals(self::noon(), self::client()->listDueRuns(self::eightHours(), [], watermark: self::noon()->modify('-1 day'), nowTime: self::noon())->nextWatermarkTime);
        self::thrown(InvalidArgument::class, static fn () => self::client()->listDueRuns(new Schedule(60, slotCount: 7), [], watermark: $ahead));
        $started = new DateTimeImmutable();
        $now = self::client()->listDueRuns(self::eightHours(), ['a'], watermark: $started->modify('-1 hour'))->nextWatermarkTime;
        self::assertLessThan(10, abs($now->getTimestamp() - $started->getTimestamp()));
    }

    public function testWhatCannotBeIsRefused(): void
    {
        $client = self::client();
        $month = new \DateInterval('P1M');
        $ask = static fn (mixed ...$more): \Closure => static fn () => $client->listDueRuns(self::eightHours(), ['a', 'b'], ...$more);
        $catchUp = static fn (mixed ...$policy): \Closure => $ask(watermark: self::noon(), catchUpPolicy: new CatchUpPolicy(...$policy));
        foreach ([
            ['watermark_time', $ask()],
            ['watermark_time', $ask(watermark: self::noon(), watermarks: [1, 2])],
            ['watermark_time', $ask(watermark: self::noon()->modify('+1 day'), nowTime: self::noon())],
            ['watermark_unix_millis', $ask(watermarks: [1])],
            ['watermark_unix_millis[1]', $ask(watermarks: [1, 1.5])],
            ['weights', $ask(watermark: self::noon(), weights: [1])],
            ['catch_up_policy.on_time_tolerance', $catchUp(onTimeTolerance: $month)],
            ['catch_up_policy.horizon', $catchUp(horizon: $month)],
            ['catch_up_policy.smear_span', $catchUp(smearSpan: -1)],
            ['max_clock_skew', $ask(watermark: self::noon(), maxClockSkew: $month)],
            ['kind', $ask(watermark: self::noon(), kind: "\xff")],
            ['look_ahead', $ask(watermark: self::noon(), lookAhead: $month)],
            ['look_ahead', $ask(watermark: self::noon(), lookAhead: 8 * 3600 + 1)],
            ['catch_up_policy.min_gap', $catchUp(minGap: $month)],
            ['catch_up_policy.min_gap', $catchUp(minGap: -1)],
        ] as [$field, $refused]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $refused, $field)->field);
        }
    }

    private static function onTime(DueRuns $runs, DateTimeImmutable $now): int
    {
        $since = ($now->getTimestamp() - 60) * 1_000;

        return count(array_filter($runs->scheduledUnixMillis, static fn (int $millis): bool => $millis >= $since));
    }
}
