<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateTimeZone;
use Offbeat\AssignmentColumn;
use Offbeat\CalendarCycle;
use Offbeat\CalendarUnit;
use Offbeat\CycleWindow;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\InvalidArgument;
use Offbeat\ExclusionPolicy;
use Offbeat\PackedAssignments;
use Offbeat\Placement;
use Offbeat\RecurringExclusion;
use Offbeat\Schedule;
use Offbeat\TwisterProfile;

/** Packed batches, against what PHP itself computes and against batches of IDs. */
final class PackedTest extends OffbeatTestCase
{
    public function testTwistersOfIntegersEqualThisVeryInterpreter(): void
    {
        $schedule = new Schedule(period: 8 * 3600, slotCount: 15, placement: Placement::Twister, profile: TwisterProfile::Php);
        $ids = [0, -1, PHP_INT_MIN, PHP_INT_MAX];
        for ($i = 0; $i < 2_000; ++$i) {
            $ids[] = random_int(PHP_INT_MIN, PHP_INT_MAX) >> [0, 30, 32, 56][$i % 4];
        }
        $found = self::client()->assignPacked($schedule, integers: pack('P*', ...$ids), fromTime: self::noon());
        $offsets = array_map(static function (int $id): int {
            mt_srand($id & 0xffffffff);

            return mt_rand(0, 1_919);
        }, $ids);
        self::assertSame($offsets, $found->slotOffsetTicks());
        self::assertSame(array_map(static fn (int $id): int => intdiv(($id & 255) * 15, 256), $ids), $found->slotIndexes());
    }

    /** @dataProvider counts */
    public function testPackedIdsAndIdsAreAnsweredAlike(int $count): void
    {
        $schedule = new Schedule(period: 7 * 86_400, slotCount: 168);
        $bytes = random_bytes(16 * $count);
        $ids = array_map(
            static fn (string $hex): string => preg_replace('/(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', $hex),
            str_split(bin2hex($bytes), 32),
        );
        $found = self::client()->assignPacked($schedule, uuids: $bytes, fromTime: self::noon(), kind: 'sync');
        $same = self::client()->assignSlots($schedule, $ids, fromTime: self::noon(), kind: 'sync');
        self::assertCount($count, $found);
        self::assertSame($same->slotIndexes, $found->slotIndexes());
        self::assertSame($same->slotOffsetTicks, $found->slotOffsetTicks());
        self::assertSame($same->cycleOffsetTicks, $found->cycleOffsetTicks());
        self::assertSame($same->cycleIndexes, $found->cycleIndexes());
        self::assertSame($same->nextRunUnixMillis, $found->nextRunUnixMillis());
        self::assertSame([$same->fingerprint, $same->tickNanos], [$found->fingerprint, $found->tickNanos]);
        $last = $count - 1;
        self::assertSame($same->runKey($last), "$found->runKeyPrefix/{$found->cycleIndexes()[$last]}/0/{$ids[$last]}");
    }

    /** @return list<array{int}> */
    public static function counts(): array
    {
        return [[1], [256], [257], [65_537], [140_000]];
    }

    public function testColumnsThatNobodyWantsStayEmpty(): void
    {
        $bytes = pack('P*', ...range(1, 70_000));
        $columns = static fn (PackedAssignments $found): array => [
            'slot_indexes' => $found->slotIndexBytes,
            'slot_offset_ticks' => $found->slotOffsetTickBytes,
            'cycle_offset_ticks' => $found->cycleOffsetTickBytes,
            'cycle_indexes' => $found->cycleIndexBytes,
            'next_run_unix_millis' => $found->nextRunUnixMilliBytes,
            'last_run_unix_millis' => $found->lastRunUnixMilliBytes,
        ];
        $ask = static fn (array $wanted): PackedAssignments => self::client()
            ->assignPacked(self::eightHours(), integers: $bytes, fromTime: self::noon(), columns: $wanted);
        $cases = AssignmentColumn::cases();
        $every = $columns($ask($cases));
        self::assertSame(['last_run_unix_millis' => ''] + $every, ['last_run_unix_millis' => ''] + $columns($ask([])), 'last runs come if they are asked for');
        foreach ([...array_chunk($cases, 1), [$cases[0], $cases[4]], [$cases[5], $cases[1]]] as $wanted) {
            $found = $ask($wanted);
            self::assertCount(70_000, $found);
            $kept = array_fill_keys(array_column($wanted, 'value'), true);
            $expected = array_map(static fn (string $name): string => isset($kept[$name]) ? $every[$name] : '', array_keys($every));
            self::assertSame($expected, array_values($columns($found)));
        }
    }

    public function testNoIdsAreAnAnswer(): void
    {
        $nothing = self::client()->assignPacked(self::eightHours(), uuids: '');
        self::assertCount(0, $nothing);
        self::assertSame([], $nothing->slotIndexes());
        self::assertSame(self::client()->describeSchedule(self::eightHours())->fingerprint, $nothing->fingerprint);
    }

    public function testRefusedIdsStandInTheErrors(): void
    {
        $days = new CalendarCycle(CalendarUnit::Day, new DateTimeZone('Asia/Kolkata'));
        $never = new RecurringExclusion($days, new CycleWindow(12 * 3600, 18 * 3600), ExclusionPolicy::Skip);
        $schedule = new Schedule(slotCount: 24, calendar: $days, exclusions: [$never]);
        $bytes = pack('P*', ...range(0, 499));
        $bad = self::thrown(BadIds::class, static fn () => self::client()->assignPacked($schedule, integers: $bytes));
        $found = self::client()->assignPacked($schedule, integers: $bytes, returnErrors: true);
        $same = self::client()->assignSlots($schedule, range(0, 499), returnErrors: true);
        self::assertEquals($same->errors, $found->errors);
        self::assertEquals($bad->errors, $found->errors);
        self::assertGreaterThan(50, count($found->errors));
        self::assertSame($same->slotIndexes, $found->slotIndexes());
    }

    /**
     * @dataProvider wrong
     *
     * @param array<string, string> $given
     */
    public function testWhatIsNotPackedIsRefused(array $given): void
    {
        self::thrown(InvalidArgument::class, static fn () => self::client()->assignPacked(self::eightHours(), ...$given));
    }

    /** @return list<array{array<string, string>}> */
    public static function wrong(): array
    {
        return [[[]], [['uuids' => '', 'integers' => '']], [['uuids' => 'seventeen bytes !']], [['integers' => '123456789']]];
    }
}
