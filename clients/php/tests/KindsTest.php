<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use Offbeat\CalendarCycle;
use Offbeat\CalendarUnit;
use Offbeat\CatchUpPolicy;
use Offbeat\ComparedJob;
use Offbeat\Exception\InvalidArgument;
use Offbeat\FirstRunPolicy;
use Offbeat\Kind;
use Offbeat\KindSpacing;
use Offbeat\MissedRunPolicy;
use Offbeat\NewId;
use Offbeat\Run;
use Offbeat\Schedule;
use Offbeat\Separation;
use Offbeat\Times;

/** Kinds that a schedule declares never meet on one ID, even when they are late. */
final class KindsTest extends OffbeatTestCase
{
    private const HOUR = 3_600;

    /** @dataProvider transports */
    public function testKindsOfAnIdNeverMeet(string $kind): void
    {
        $client = self::client($kind);
        $schedule = self::eightSlots(kinds: ['import', new Kind('export'), 'report']);
        $described = $client->describeSchedule($schedule, atTime: self::noon());
        self::assertSame(8 * self::HOUR, Times::seconds($described->maxCycleDuration));
        self::assertSame(['import', 'export', 'report'], array_column($described->kinds, 'name'));
        self::assertSame([0, 2, 5], array_column($described->kinds, 'offsetSlotCount'));
        self::assertSame([2, 3, 3], array_column($described->kinds, 'gapSlotCount'));
        self::assertSame([2 * self::HOUR, 5 * self::HOUR], [Times::seconds($described->kinds[1]->offset), Times::seconds($described->kinds[2]->offset)]);
        self::assertSame(2 * self::HOUR, Times::seconds($described->kinds[0]->runBudget));
        self::assertSame([null, null], [$described->kinds[0]->runTime, $described->kinds[0]->worstCycleStartTime]);
        $ids = range(0, 300);
        $plain = $client->assignSlots(self::eightSlots(), $ids, fromTime: self::noon());
        foreach ($described->kinds as $place => $of) {
            $rows = $client->assignSlots($schedule, $ids, fromTime: self::noon(), kind: $of->name);
            foreach ($plain->cycleOffsetTicks as $index => $offset) {
                $expected = ($offset + Times::seconds($of->offset)) % (8 * self::HOUR);
                self::assertSame($expected, $rows->cycleOffsetTicks[$index]);
                self::assertSame(($plain->slotIndexes[$index] + $of->offsetSlotCount) % 8, $rows->slotIndexes[$index]);
            }
            $one = $client->assignSlot($schedule, 42, fromTime: self::noon(), kind: $of->name, nextRunCount: 2);
            self::assertEquals($one->nextRun(), $rows[42]->nextRun);
            self::assertStringContainsString("/$of->name/", $one->nextRun()->runKey);
            self::assertSame($of->name, $one->lastRun->kind);
            self::assertNotSame($one->nextRuns[0]->runId, $one->nextRuns[1]->runId);
        }
    }

    public function testARunHasOneShapeInAllAnswers(): void
    {
        $client = self::client();
        $next = $client->assignSlot(self::eightHours(), 'acme', fromTime: self::noon(), kind: 'sync')->nextRun();
        self::assertSame(['acme', 0, 'sync', null, false], [$next->id, $next->pieceIndex, $next->kind, $next->nominalTime, $next->late]);
        self::assertSame(substr(hash('sha256', $next->runKey), 0, 32), $next->runId);
        self::assertEquals($next->startTime, $next->scheduledTime);
        $rows = $client->assignSlots(self::eightHours(), ['acme'], fromTime: self::noon(), kind: 'sync');
        self::assertEquals($next, $rows[0]->nextRun);
        self::assertSame([$next->runKey, $next->runId], [$rows->runKey(0), $rows->runId(0)]);
        $until = $next->startTime->modify('+1 second');
        $due = $client->listDueRuns(self::eightHours(), ['acme'], self::noon(), nowTime: $until, kind: 'sync');
        self::assertEquals([$next], iterator_to_array($due));
        self::assertSame($next->runId, $due->runId(0));
        $plan = $client->planMigration(self::eightHours(), new Schedule(60), ['acme'], cutoverTime: $until, kind: 'sync');
        self::assertEquals($next, $plan->ids[0]->lastOldRun);
        $first = $client->assignSlot(new Schedule(60), 'acme', fromTime: $until, kind: 'sync')->nextRun();
        self::assertEquals($first, $plan->ids[0]->firstNewRun);
        $packed = $client->assignPacked(self::eightHours(), integers: pack('P', 7), fromTime: self::noon());
        $same = $client->assignSlot(self::eightHours(), 7, fromTime: self::noon())->nextRun();
        self::assertSame($same->runId, Run::idOf("$packed->runKeyPrefix/{$packed->cycleIndexes()[0]}/0/7"));
        self::assertSame('default', $same->kind);
        // A missed run starts later than it is scheduled for.
        $late = $client->listDueRuns(self::eightHours(), ['acme'], self::noon(), nowTime: $until->modify('+5 minutes'), kind: 'sync')[0];
        self::assertTrue($late->late);
        self::assertEquals([$next->runKey, $next->startTime], [$late->runKey, $late->scheduledTime]);
    }

    public function testPiecesAndNewIdsHaveRunsToo(): void
    {
        $client = self::client();
        $weighted = new Schedule(28_800, slotCount: 96, weightQuantum: 10);
        $piece = $client->assignSlot($weighted, 'jumbo', fromTime: self::noon(), weight: 25, kind: 'sync')->pieces[2];
        self::assertSame([2, 2, 'jumbo', 'sync'], [$piece->pieceIndex, $piece->nextRuns[0]->pieceIndex, $piece->lastRun->id, $piece->lastRun->kind]);
        $rows = $client->assignSlots($weighted, ['jumbo'], fromTime: self::noon(), weights: [25], kind: 'sync');
        self::assertEquals($piece->nextRuns[0], $rows[2]->nextRun);
    }

    public function testRunTimesAndSpacingSayWhereKindsStand(): void
    {
        $client = self::client();
        $stand = static fn (mixed ...$more): array => array_column($client->describeSchedule(self::eightSlots(...$more))->kinds, 'offsetSlotCount');
        $kinds = ['a', 'b', 'c'];
        self::assertSame([0, 4, 2], $stand(kinds: $kinds, kindSpacing: KindSpacing::Stable));
        self::assertSame([0, 4], $stand(kinds: ['a', 'b'], kindSpacing: KindSpacing::Stable));
        self::assertSame([0, 4, 0], $stand(kinds: $kinds, kindConflicts: ['x' => ['a', 'b'], 'y' => ['b', 'c']]));
        // Slots of five minutes: the kinds need ten and two of them, and share the rest evenly.
        $timed = $client->describeSchedule(new Schedule(28_800, slotCount: 96, kinds: [new Kind('a', 3_000), new Kind('b', new DateInterval('PT10M'))]));
        self::assertSame([3_000, 600], array_map(static fn ($kind) => Times::seconds($kind->runTime), $timed->kinds));
        self::assertSame([10 + 42, 2 + 42], array_column($timed->kinds, 'gapSlotCount'));
        self::assertSame(52 * 300, Times::seconds($timed->kinds[0]->runBudget));
        $named = $client->describeSchedule(self::eightSlots(kinds: ['a', 'b'], catchUpSpan: 1_800));
        self::assertStringContainsString('catch_up_span=1800s', $named->canonicalText);
        $berlin = new Schedule(calendar: new CalendarCycle(CalendarUnit::Day, 'Europe/Berlin'), slotCount: 24, kinds: ['a', 'b']);
        $changed = $client->describeSchedule($berlin);
        self::assertSame(86_400, Times::seconds($changed->maxCycleDuration));
        self::assertSame(11 * self::HOUR, Times::seconds($changed->kinds[0]->runBudget)); // the clocks go forward
        self::assertSame('03', $changed->kinds[0]->worstCycleStartTime->format('m'));
        self::assertMatchesRegularExpression('/^20\d\d[a-z]$/D', $changed->timeZoneDatabase);
        self::assertSame('', $named->timeZoneDatabase);
    }

    public function testLateKindsKeepApartWheneverTheyArePolled(): void
    {
        $schedule = self::eightSlots(kinds: ['import', 'export'], catchUpSpan: self::HOUR);
        $ids = range(1, 500);
        $starts = [];
        foreach (['import' => '+20 hours', 'export' => '+20 hours 7 minutes'] as $kind => $later) {
            $due = self::client()->listDueRuns(
                $schedule,
                $ids,
                watermark: self::noon(),
                nowTime: self::noon()->modify($later),
                catchUpPolicy: new CatchUpPolicy(MissedRunPolicy::RunOnce),
                kind: $kind,
            );
            foreach ($due as $run) {
                self::assertSame($kind, $run->kind);
                if ($run->late) {
                    $starts[$run->id][$kind] = (float) $run->startTime->format('U.u');
                }
            }
            self::assertGreaterThan(300, $due->lateRunCount);
        }
        $both = array_filter($starts, static fn (array $of): bool => count($of) === 2);
        self::assertGreaterThan(200, count($both));
        foreach ($both as $id => ['import' => $import, 'export' => $export]) {
            // Half a turn of one hour, less a millisecond.
            self::assertGreaterThanOrEqual(1_799.999, abs($import - $export), "$id");
        }
    }

    public function testANewIdOfAKindRunsInTheFirstFreeTurn(): void
    {
        $schedule = self::eightSlots(kinds: ['import', 'export'], catchUpSpan: self::HOUR);
        $ask = static fn ($from, ?NewId $newId = null) => self::client()
            ->assignSlot($schedule, 'acme', fromTime: $from, kind: 'export', newId: $newId);
        $came = $ask(self::noon())->nextRun()->startTime->modify('+1 second'); // too late for this cycle
        $first = static fn (NewId $newId) => $ask($came, $newId)->firstRun;
        $run = $first(new NewId($came, FirstRunPolicy::NowSmeared));
        self::assertSame(['export', false], [$run->kind, $run->late]);
        self::assertGreaterThanOrEqual($came, $run->startTime);
        self::assertLessThan($came->modify('+2 hours'), $run->startTime);
        $refused = self::thrown(InvalidArgument::class, static fn () => $first(new NewId($came, FirstRunPolicy::NowSmeared, smearSpan: 60)));
        self::assertSame('new_id.smear_span', $refused->field);
    }

    public function testANewIdMayComeByAClockThatIsFast(): void
    {
        $ask = static fn (string $came, mixed ...$more) => self::client()->assignSlot(
            self::eightHours(),
            'acme',
            fromTime: self::noon(),
            newId: new NewId(...['createTime' => self::noon()->modify($came)] + $more),
        )->firstRun;
        self::assertNotNull($ask('+50 seconds'));
        self::assertNotNull($ask('+5 minutes', maxClockSkew: 600));
        foreach ([['+90 seconds', null], ['+5 minutes', 299], ['+1 second', new DateInterval('PT0S')]] as [$came, $skew]) {
            $refused = self::thrown(InvalidArgument::class, static fn () => $ask($came, maxClockSkew: $skew), $came);
            self::assertSame('new_id.create_time', $refused->field);
        }
        $refused = self::thrown(InvalidArgument::class, static fn () => $ask('+0 seconds', maxClockSkew: new DateInterval('P1M')));
        self::assertSame('new_id.max_clock_skew', $refused->field);
    }

    /** @dataProvider transports */
    public function testSchedulesOfTodayAreCompared(string $transport): void
    {
        $client = self::client($transport);
        $kinds = self::eightSlots(kinds: [new Kind('import', 3_000), new Kind('export', 3_000)]);
        $apart = $client->compareSchedules([new ComparedJob($kinds, 'import'), new ComparedJob($kinds, 'export')]);
        self::assertSame(Separation::Apart, $apart->separation);
        [$pair] = $apart->pairs;
        self::assertSame([0, 1, Separation::Apart], [$pair->firstJobIndex, $pair->secondJobIndex, $pair->separation]);
        self::assertSame([4 * self::HOUR, 4 * self::HOUR], [Times::seconds($pair->firstToSecond), Times::seconds($pair->secondToFirst)]);
        self::assertNotSame('', $pair->message);
        // A job of four hours overlaps the other schedule's next job, one of two hours does not.
        $other = new Schedule(28_800, slotCount: 8, anchorTime: self::noon()->modify('+3 hours'));
        $base = new Schedule(28_800, slotCount: 8, anchorTime: self::noon());
        foreach ([[4 * self::HOUR, Separation::Meet], [new DateInterval('PT2H'), Separation::Apart]] as [$runTime, $expected]) {
            $found = $client->compareSchedules(['a' => new ComparedJob($base, runTime: $runTime), 'b' => $other]);
            self::assertSame($expected, $found->separation);
        }
        $three = $client->compareSchedules([self::eightSlots(), self::eightSlots(salt: 'other'), self::eightSlots()]);
        self::assertSame([[0, 1], [0, 2], [1, 2]], array_map(static fn ($pair): array => [$pair->firstJobIndex, $pair->secondJobIndex], $three->pairs));
        self::assertSame([Separation::Unknown, Separation::Meet, Separation::Unknown], array_column($three->pairs, 'separation'));
        self::assertSame([Separation::Meet, null], [$three->separation, $three->pairs[0]->firstToSecond]);
    }

    public function testWhatCannotBeComparedIsRefused(): void
    {
        $kinds = self::eightSlots(kinds: ['import', 'export']);
        foreach ([
            ['jobs', [self::eightSlots()]],
            ['jobs[1].kind', [new ComparedJob($kinds, 'import'), $kinds]],
            ['jobs[0].kind', [new ComparedJob($kinds, "\xff"), $kinds]],
            ['jobs[1].run_time', [self::eightSlots(), new ComparedJob(self::eightSlots(), runTime: new DateInterval('P1M'))]],
            ['jobs[1].run_time', [self::eightSlots(), new ComparedJob(self::eightSlots(), runTime: -1)]],
            ['jobs[1].schedule.spec.salt', [self::eightSlots(), self::eightSlots(salt: "\xff")]],
            ['jobs[1].schedule', [self::eightSlots(), 'nightly']],
        ] as [$field, $jobs]) {
            $refused = self::thrown(InvalidArgument::class, static fn () => self::client()->compareSchedules($jobs), $field);
            self::assertSame($field, $refused->field);
        }
        self::thrown(\TypeError::class, static fn () => self::client()->compareSchedules([1, 2]));
        self::assertSame(Separation::cases(), array_map(Separation::fromMessage(...), [1, 2, 3]));
    }

    public function testWhatCannotBeIsRefused(): void
    {
        $kinds = self::eightSlots(kinds: ['import', 'export']);
        $month = new DateInterval('P1M');
        $client = self::client();
        $ask = static fn (mixed ...$more): \Closure => static fn () => $client->describeSchedule(self::eightSlots(...$more));
        foreach ([
            ['kind', static fn () => $client->assignSlot($kinds, 'acme')],
            ['kind', static fn () => $client->assignSlot($kinds, 'acme', kind: 'mail')],
            ['kind', static fn () => $client->assignSlots($kinds, ['acme'], kind: 'mail')],
            ['kind', static fn () => $client->assignPacked($kinds, integers: pack('P', 1))],
            ['kind', static fn () => $client->listDueRuns($kinds, ['acme'], self::noon(), nowTime: self::noon())],
            ['kind', static fn () => $client->listSlots($kinds, kind: "\xff")],
            ['catch_up_policy.smear_span', static fn () => $client->listDueRuns($kinds, ['acme'], self::noon(), nowTime: self::noon(), kind: 'import', catchUpPolicy: new CatchUpPolicy(smearSpan: 60))],
            ['schedule.spec.kinds[1].name', $ask(kinds: ['import', "\xff"])],
            ['schedule.spec.kinds[1].name', $ask(kinds: ['import', 'two words'])],
            ['schedule.spec.kinds[1].name', $ask(kinds: ['import', 'import'])],
            ['schedule.spec.kinds[0].run_time', $ask(kinds: [new Kind('import', $month)])],
            ['schedule.spec.kinds[1].run_time', $ask(kinds: [new Kind('import', 60), 'export'])],
            ['schedule.spec.kind_spacing', $ask(kindSpacing: KindSpacing::Stable)],
            ['schedule.spec.kind_conflicts[0].second_kind', $ask(kinds: ['a', 'b'], kindConflicts: [['a', 'c']])],
            ['schedule.spec.kind_conflicts[0].first_kind', $ask(kinds: ['a', 'b'], kindConflicts: [["\xff", 'b']])],
            ['schedule.spec.kind_conflicts[0]', static fn () => self::eightSlots(kinds: ['a', 'b'], kindConflicts: [['a']])],
            ['schedule.spec.kind_conflicts[1]', static fn () => self::eightSlots(kinds: ['a', 'b'], kindConflicts: [['a', 'b'], [0, 1]])],
            ['schedule.spec.catch_up_span', $ask(kinds: ['a', 'b'], catchUpSpan: $month)],
            ['schedule.spec.catch_up_span', $ask(kinds: ['a', 'b'], catchUpSpan: 8 * self::HOUR)],
            ['schedule.spec.catch_up_span', $ask(catchUpSpan: 60)],
        ] as [$field, $refused]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $refused, $field)->field);
        }
        self::assertStringContainsString('import, export', self::thrown(InvalidArgument::class, static fn () => $client->assignSlot($kinds, 1))->allowed);
        self::thrown(\TypeError::class, static fn () => self::eightSlots(kinds: [1]));
    }

    private static function eightSlots(mixed ...$more): Schedule
    {
        return new Schedule(...['period' => 28_800, 'slotCount' => 8] + $more);
    }
}
