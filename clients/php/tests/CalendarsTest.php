<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use DateTimeImmutable;
use DateTimeZone;
use Offbeat\AuditFinding;
use Offbeat\CalendarCycle;
use Offbeat\CalendarUnit;
use Offbeat\CycleWindow;
use Offbeat\DatedExclusion;
use Offbeat\Exception\InvalidArgument;
use Offbeat\ExclusionPolicy;
use Offbeat\RecurringExclusion;
use Offbeat\Schedule;
use Offbeat\Times;

/** Calendar cycles, active windows and exclusions, against PHP's own time zones. */
final class CalendarsTest extends OffbeatTestCase
{
    /**
     * Zones with their clock changes of 2026: one by half an hour, one in the southern hemisphere.
     *
     * @return iterable<string, array{string, string, string}>
     */
    public static function zones(): iterable
    {
        yield 'Berlin' => ['Europe/Berlin', '2026-03-29', '2026-10-25'];
        yield 'New York' => ['America/New_York', '2026-03-08', '2026-11-01'];
        yield 'Lord Howe' => ['Australia/Lord_Howe', '2026-10-04', '2026-04-05'];
        yield 'Santiago' => ['America/Santiago', '2026-09-06', '2026-04-05'];
    }

    /** @dataProvider zones */
    public function testADailyRunKeepsItsWallClockTime(string $zone, string ...$changes): void
    {
        $schedule = new Schedule(slotCount: 96, calendar: new CalendarCycle(CalendarUnit::Day, new DateTimeZone($zone)));
        $ids = array_map(static fn (int $number): string => "customer-$number", range(1, 300));
        foreach ($changes as $day) {
            $local = new DateTimeZone($zone);
            $skipped = 0;
            foreach (['-1 day', '+0 days', '+1 day'] as $shift) {
                $date = gmdate('Y-m-d', strtotime("$day $shift UTC"));
                foreach (self::client()->assignSlots($schedule, $ids, fromTime: new DateTimeImmutable($date, $local)) as $row) {
                    $time = gmdate('H:i:s', Times::seconds($row->cycleOffset));
                    $expected = self::first("$date $time", $local);
                    self::assertSame($expected->format('c'), $row->nextRun->startTime->setTimezone($local)->format('c'), "$row->id at $time");
                    $skipped += $expected->format('H:i:s') === $time ? 0 : 1;
                }
            }
            self::assertLessThan(40, $skipped);
        }
        $described = self::client()->describeSchedule($schedule, atTime: new DateTimeImmutable("{$changes[0]} 12:00", new DateTimeZone($zone)));
        self::assertLessThan(86_400, $described->cycleEndTime->getTimestamp() - $described->cycleStartTime->getTimestamp());
    }

    /**
     * The instant of a wall-clock time. PHP also moves a skipped time forward by the length of the
     * gap, but of a time that occurs twice it takes the second.
     */
    private static function first(string $time, DateTimeZone $zone): DateTimeImmutable
    {
        $instant = new DateTimeImmutable($time, $zone);
        foreach ([3_600, 1_800] as $change) {
            $earlier = $instant->setTimestamp($instant->getTimestamp() - $change);
            if ($earlier->format('Y-m-d H:i:s') === $instant->format('Y-m-d H:i:s')) {
                return $earlier;
            }
        }

        return $instant;
    }

    public function testRunsStayInTheWindowsOfAWeek(): void
    {
        $nights = array_map(
            static fn (int $day): CycleWindow => new CycleWindow($day * 86_400 + 3_600, new DateInterval("P{$day}DT5H")),
            range(0, 4),
        );
        $week = new CalendarCycle(CalendarUnit::Week, 'Europe/Berlin');
        $schedule = new Schedule(slotCount: 80, calendar: $week, activeWindows: $nights);
        $slots = [];
        foreach (self::client()->assignSlots($schedule, range(1, 2_000), fromTime: self::noon()) as $row) {
            $local = $row->nextRun->startTime->setTimezone(new DateTimeZone('Europe/Berlin'));
            self::assertLessThanOrEqual(5, (int) $local->format('N'), $local->format('c'));
            self::assertMatchesRegularExpression('/^0[1-4]:/', $local->format('H:i'));
            $slots[$row->slotIndex] = true;
        }
        self::assertCount(80, $slots);
        $described = self::client()->describeSchedule($schedule, atTime: self::noon()); // a Sunday
        self::assertNull($described->slot);
        self::assertSame(5 * 4 * 3_600, Times::seconds($described->activeDuration));
        self::assertSame([0.0, 0.0], [$described->skippedRatio, $described->deferredRatio]);
        $listed = self::client()->listSlots($schedule, self::noon(), self::noon()->modify('+7 days'));
        self::assertCount(80, $listed);
    }

    public function testAnAuditLooksForRunsFromAnInstantOn(): void
    {
        [$start, $end] = [new DateTimeImmutable('2026-01-01T00:00:00Z'), new DateTimeImmutable('2029-01-01T00:00:00Z')];
        $years = new DatedExclusion($start, $end, ExclusionPolicy::Skip);
        $schedule = new Schedule(slotCount: 24, calendar: new CalendarCycle(CalendarUnit::Day, 'UTC'), exclusions: [$years]);
        $never = self::client()->auditIds($schedule, ['a', 'b'], fromTime: $start);
        self::assertSame([AuditFinding::NeverRun], array_column($never->warnings, 'finding'));
        $later = self::client()->auditIds($schedule, ['a', 'b'], fromTime: $end->modify('-1 day'));
        self::assertSame([], $later->warnings);
    }

    public function testExclusionsSkipOrDefer(): void
    {
        $days = new CalendarCycle(CalendarUnit::Day, 'UTC');
        $late = new CycleWindow('22:00', '23:00');
        $plain = new Schedule(slotCount: 24, calendar: $days);
        $with = static fn (ExclusionPolicy $policy): Schedule => new Schedule(
            slotCount: 24,
            calendar: $days,
            exclusions: [new RecurringExclusion($days, $late, $policy)],
        );
        $ids = range(1, 1_000);
        $from = new DateTimeImmutable('2026-03-01T00:00:00Z');
        $before = self::client()->assignSlots($plain, $ids, fromTime: $from);
        $deferred = self::client()->assignSlots($with(ExclusionPolicy::Defer), $ids, fromTime: $from);
        $skipped = self::client()->assignSlots($with(ExclusionPolicy::Skip), $ids, fromTime: $from, returnErrors: true);
        $shut = static fn (int $millis): bool => gmdate('H', intdiv($millis, 1_000)) === '22';
        $hit = array_keys(array_filter($before->nextRunUnixMillis, $shut));
        self::assertGreaterThan(20, count($hit));
        self::assertSame($hit, array_column($skipped->errors, 'idIndex'));
        self::assertSame(['ERROR_REASON_NO_RUN'], array_values(array_unique(array_column($skipped->errors, 'reason'))));
        $planned = self::client()->planMigration($with(ExclusionPolicy::Skip), $plain, ids: $ids, cutoverTime: $from, returnErrors: true);
        self::assertSame($hit, array_column($planned->ids->errors, 'idIndex'));
        self::assertSame(['ERROR_REASON_NO_RUN'], array_values(array_unique(array_column($planned->ids->errors, 'reason'))));
        self::assertNull($planned->maxGapBound);
        $warning = self::client()->auditIds($with(ExclusionPolicy::Skip), $ids)->warnings[0];
        self::assertSame(AuditFinding::NeverRun, $warning->finding);
        self::assertStringStartsWith(count($hit) . ' of 1000 IDs', $warning->message);
        self::assertSame([], array_filter($deferred->nextRunUnixMillis, $shut));
        foreach ($before->nextRunUnixMillis as $index => $millis) {
            if (!in_array($index, $hit, true)) {
                self::assertSame($millis, $deferred->nextRunUnixMillis[$index]);
                self::assertSame($millis, $skipped->nextRunUnixMillis[$index]);
            }
        }
        $one = self::client()->assignSlot($with(ExclusionPolicy::Defer), $ids[$hit[0]], fromTime: $from);
        self::assertSame(gmdate('H:i:s', intdiv($before->nextRunUnixMillis[$hit[0]], 1_000)), $one->nextRun()->nominalTime->format('H:i:s'));
        self::assertGreaterThan($one->nextRun()->nominalTime, $one->nextRun()->startTime);
        self::assertNull(self::client()->assignSlot($plain, 1, fromTime: $from)->nextRun()->nominalTime);
        $none = self::client()->assignSlot($with(ExclusionPolicy::Skip), $ids[$hit[0]], fromTime: $from);
        self::assertSame([null, []], [$none->lastRun, $none->nextRuns]);
        self::thrown(\OutOfBoundsException::class, static fn () => $none->nextRun());
        $described = self::client()->describeSchedule($with(ExclusionPolicy::Skip), atTime: $from);
        self::assertEqualsWithDelta(1 / 24, $described->skippedRatio, 1e-6);
        self::assertSame(0.0, $described->deferredRatio);
    }

    public function testADatedExclusionHoldsOnce(): void
    {
        $day = new DateTimeImmutable('2026-12-24T00:00:00', new DateTimeZone('Europe/Berlin'));
        $plain = new Schedule(slotCount: 24, calendar: new CalendarCycle(CalendarUnit::Day, 'Europe/Berlin'));
        $schedule = new Schedule(
            slotCount: 24,
            calendar: new CalendarCycle(CalendarUnit::Day, 'Europe/Berlin'),
            exclusions: [new DatedExclusion($day, $day->modify('+3 days'), ExclusionPolicy::Skip)],
        );
        $from = $day->modify('-2 days');
        $runs = self::client()->assignSlot($schedule, 'acme', fromTime: $from, nextRunCount: 4)->nextRuns;
        $all = self::client()->assignSlot($plain, 'acme', fromTime: $from, nextRunCount: 7)->nextRuns;
        $times = static fn (array $runs): array => array_map(static fn ($run): array => [$run->cycleIndex, $run->startTime->format('c')], $runs);
        self::assertSame($times([$all[0], $all[1], $all[5], $all[6]]), $times($runs));
    }

    public function testWindowsTakeTimesOfDay(): void
    {
        foreach ([
            ['01:00', 3_600],
            ['1:00', 3_600],
            ['00:00', 0],
            ['23:59:59', 86_399],
            ['24:00', 86_400],
            [90, 90],
            [0.5, 0.5],
        ] as [$given, $seconds]) {
            self::assertSame($seconds, (new CycleWindow($given, 90_000))->startOffset);
            self::assertSame($seconds, (new CycleWindow(0, $given))->endOffset);
        }
        foreach (['', '5', '25:00', '24:01', '12:60', '12:00:60', " 12:00", "12:00\n", '-1:00', 'noon'] as $bad) {
            $thrown = self::thrown(InvalidArgument::class, static fn () => new CycleWindow('00:00', $bad), $bad);
            self::assertSame('end_offset', $thrown->field);
        }
        $start = new DateInterval('PT1H');
        $window = new CycleWindow($start, 7_200);
        $start->h = 23; // the caller may change its own object
        self::assertSame(1, $window->startOffset->h);
    }

    public function testWhatCannotBeIsRefusedByItsPath(): void
    {
        $day = new CalendarCycle(CalendarUnit::Day, 'UTC');
        $month = new DateInterval('P1M');
        $ask = static fn (Schedule $schedule): \Closure => static fn () => self::client()->describeSchedule($schedule);
        foreach ([
            ['schedule.spec.calendar', static fn () => new Schedule(period: 60, calendar: $day)],
            ['schedule.spec.period', $ask(new Schedule(slotCount: 4))],
            ['schedule.spec.calendar.time_zone', $ask(new Schedule(calendar: new CalendarCycle(CalendarUnit::Day, 'Mars/Olympus')))],
            ['schedule.spec.calendar.time_zone', $ask(new Schedule(calendar: new CalendarCycle(CalendarUnit::Day, "\xff")))],
            ['schedule.spec.active_windows[1].end_offset', $ask(new Schedule(86_400, activeWindows: [new CycleWindow(0, 60), new CycleWindow(90, $month)]))],
            ['schedule.spec.exclusions[0].recurring.window.start_offset', $ask(new Schedule(86_400, exclusions: [
                new RecurringExclusion($day, new CycleWindow($month, 60)),
            ]))],
            ['schedule.spec.exclusions[0].recurring.calendar.time_zone', $ask(new Schedule(86_400, exclusions: [
                new RecurringExclusion(new CalendarCycle(CalendarUnit::Day, "\xff"), new CycleWindow(0, 60)),
            ]))],
        ] as [$field, $refused]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $refused, $field)->field);
        }
        $thrown = self::thrown(InvalidArgument::class, $ask(new Schedule(calendar: new CalendarCycle(CalendarUnit::Day, 'Mars/Olympus'))));
        self::assertSame('ERROR_REASON_UNKNOWN_TIME_ZONE', $thrown->reason);
        self::thrown(\TypeError::class, static fn () => new Schedule(60, activeWindows: [[0, 30]]));
        self::thrown(\TypeError::class, static fn () => new Schedule(60, exclusions: [new CycleWindow(0, 30)]));
    }

    public function testEveryCaseHasAValueOfItsMessage(): void
    {
        self::assertSame([1, 2, 3], array_map(static fn (CalendarUnit $unit): int => $unit->toMessage(), CalendarUnit::cases()));
        self::assertSame([2, 1], array_map(static fn (ExclusionPolicy $policy): int => $policy->toMessage(), ExclusionPolicy::cases()));
    }
}
