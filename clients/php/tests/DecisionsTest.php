<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use Offbeat\AssignmentColumn;
use Offbeat\CalendarCycle;
use Offbeat\CalendarUnit;
use Offbeat\CycleWindow;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\InvalidArgument;
use Offbeat\ExclusionPolicy;
use Offbeat\IdType;
use Offbeat\KindSpacing;
use Offbeat\Placement;
use Offbeat\RecurringExclusion;
use Offbeat\Schedule;
use Offbeat\Times;
use Offbeat\TwisterProfile;

/** Decisions against what PHP itself computes. */
final class DecisionsTest extends OffbeatTestCase
{
    private const UUID = '0190d7a2-1111-7abc-8def-0123456789ab';

    public function testHashEqualsMd5(): void
    {
        $ids = array_map(static fn (int $number): string => "tenant $number ✓", range(1, 500));
        $schedule = new Schedule(period: 86_400, slotCount: 96, salt: 'é');
        foreach (self::client()->assignSlots($schedule, $ids, fromTime: self::noon()) as $row) {
            self::assertSame(self::scaled("é$row->id", 96), $row->slotIndex);
            self::assertSame(self::scaled("é$row->id", 86_400), Times::seconds($row->cycleOffset));
            self::assertSame(Times::seconds($row->cycleOffset) - $row->slotIndex * 900, Times::seconds($row->slotOffset));
        }
    }

    public function testTwisterEqualsThisVeryInterpreter(): void
    {
        $schedule = new Schedule(period: 8 * 3600, slotCount: 15, placement: Placement::Twister, profile: TwisterProfile::Php);
        $seeds = [0, -1, PHP_INT_MIN, PHP_INT_MAX];
        for ($i = 0; $i < 2_000; ++$i) {
            $seeds[] = random_int(PHP_INT_MIN, PHP_INT_MAX) >> [0, 30, 32, 56][$i % 4];
        }
        foreach (self::client()->assignSlots($schedule, $seeds, fromTime: self::noon()) as $row) {
            mt_srand($row->id & 0xffffffff);
            self::assertSame(mt_rand(0, 1_919), Times::seconds($row->slotOffset), (string) $row->id);
            self::assertSame(intdiv(($row->id & 255) * 15, 256), $row->slotIndex);
        }
    }

    public function testAScheduleIsAskedAboutAsItselfEachTime(): void
    {
        $client = self::client();
        $slots = [3, 96, 1_440];
        $schedules = array_map(static fn (int $slots) => new Schedule(period: 86_400, slotCount: $slots), $slots);
        for ($time = 0; $time < 3; ++$time) {
            foreach ($schedules as $which => $schedule) {
                $wanted = self::scaled('acme', $slots[$which]);
                self::assertSame($wanted, $client->assignSlot($schedule, 'acme')->slotIndex);
                self::assertSame([$wanted], $client->assignSlots($schedule, ['acme'])->slotIndexes);
            }
            // A cache by object ID must not survive its object, whose ID PHP reuses.
            $schedules[1] = new Schedule(period: 86_400, slotCount: $slots[1] = 4 << $time);
        }
    }

    /** @requires extension gmp */
    public function testBigIntegersAreGmpOrDecimals(): void
    {
        $client = self::client();
        $big = gmp_sub(gmp_pow(2, 128), 1);
        $decimal = gmp_strval($big);
        $rows = $client->assignSlots(self::eightHours(), [$big, gmp_neg($big), gmp_init(7), 8], fromTime: self::noon());
        $same = $client->assignSlots(
            self::eightHours(),
            [$decimal, "-$decimal", '7', '8'],
            fromTime: self::noon(),
            idType: IdType::Integer,
        );
        self::assertSame($same->cycleOffsetTicks, $rows->cycleOffsetTicks);
        self::assertStringEndsWith("/$decimal", $rows->runKey(0));
        self::assertSame($rows->runKey(2), $client->assignSlot(self::eightHours(), gmp_init(7), fromTime: self::noon())->nextRun()->runKey);
        self::assertSame($rows->runKey(0), $client->assignSlot(self::eightHours(), $big, fromTime: self::noon())->nextRun()->runKey);
        $huge = gmp_pow(2, 2_000);
        self::thrown(InvalidArgument::class, static fn () => $client->assignSlot(self::eightHours(), $huge));
    }

    /** @dataProvider transports */
    public function testOneIdIsAssignedAsInABatch(string $kind): void
    {
        $client = self::client($kind);
        $schedule = new Schedule(period: 28_800, resolution: 0.01, anchorTime: self::noon());
        foreach (['0190D7A2-1111-7abc-8def-0123456789ab', 42, -42, PHP_INT_MIN, 'acme', ''] as $id) {
            $one = $client->assignSlot($schedule, $id, fromTime: self::noon(), nextRunCount: 3, kind: 'sync');
            $row = $client->assignSlots($schedule, [$id], fromTime: self::noon(), kind: 'sync')[0];
            self::assertSame($one->slotIndex, $row->slotIndex);
            self::assertEquals([$one->slotOffset, $one->cycleOffset], [$row->slotOffset, $row->cycleOffset]);
            self::assertEquals($one->nextRun()->startTime, $row->nextRun->startTime);
            self::assertSame($one->nextRun()->runKey, $row->nextRun->runKey);
            self::assertSame("$one->fingerprint/sync/0/0/" . strtolower((string) $id), $row->nextRun->runKey);
            self::assertEquals(self::noon()->add($row->cycleOffset), $row->nextRun->startTime);
            self::assertSame([0, 1, 2], array_column($one->nextRuns, 'cycleIndex'));
            self::assertSame(-1, $one->lastRun->cycleIndex);
        }
    }

    public function testStringsAreWhatTheIdTypeSays(): void
    {
        $client = self::client();
        $bare = str_replace('-', '', self::UUID);
        $key = static fn (mixed $id, ?IdType $type = null): string => $client
            ->assignSlot(self::eightHours(), $id, fromTime: self::noon(), idType: $type)->nextRun()->runKey;
        $row = static fn (mixed $id, ?IdType $type = null): string => $client
            ->assignSlots(self::eightHours(), [$id], fromTime: self::noon(), idType: $type)->runKey(0);
        self::assertSame($key(self::UUID), $key($bare, IdType::Uuid));
        self::assertSame($key(self::UUID), $row($bare, IdType::Uuid));
        self::assertSame($key(self::UUID), $row(strtoupper(self::UUID)));
        self::assertNotSame($key(self::UUID), $key($bare));
        self::assertStringEndsWith("/$bare", $key($bare));
        self::assertSame($key(-7), $row('-7', IdType::Integer));
        $stringable = new class(self::UUID) implements \Stringable {
            public function __construct(private readonly string $text)
            {
            }

            public function __toString(): string
            {
                return $this->text;
            }
        };
        self::assertSame($key(self::UUID), $key($stringable));
        self::assertSame($key(self::UUID), $row($stringable));
        // As text, the same characters are hashed.
        self::assertSame($key(self::UUID), $key(self::UUID, IdType::Text));
        self::assertNotSame($key(strtoupper(self::UUID)), $key(strtoupper(self::UUID), IdType::Text));
    }

    public function testFractionsHavePlacesAndNoRunKey(): void
    {
        $schedule = new Schedule(period: 86_400, placement: Placement::Fraction);
        $rows = self::client()->assignSlots($schedule, [0.2, 0.45, 0.77, 0.84], fromTime: self::noon());
        self::assertSame([17_280, 38_880, 66_528, 72_576], $rows->cycleOffsetTicks);
        self::assertSame('', $rows->runKey(0));
        $one = self::client()->assignSlot($schedule, 0.45, fromTime: self::noon());
        self::assertSame([0.45, 38_880, ''], [$one->explanation->fraction, Times::seconds($one->cycleOffset), $one->nextRun()->runKey]);
    }

    public function testReciprocalSlotsAreSeenFromBothSides(): void
    {
        $client = self::client();
        $base = new Schedule(period: 28_800, slotCount: 8);
        $placed = $client->reciprocalSlots($base, kindCount: 3);
        self::assertSame([0, 2, 5], array_column($placed->kinds, 'idSlotIndex'));
        self::assertSame([0, 6, 3], array_column($placed->kinds, 'clockSlotIndex'));
        $stable = $client->reciprocalSlots($base, kindCount: 3, kindSpacing: KindSpacing::Stable);
        self::assertSame([0, 4, 2], array_column($stable->kinds, 'idSlotIndex'));
        $timed = $client->reciprocalSlots($base, runTimes: [new DateInterval('PT1H'), 7_200.0]);
        self::assertCount(2, $timed->kinds);
    }

    public function testDescriptionsAndLists(): void
    {
        $schedule = new Schedule(period: new DateInterval('PT8H'), slotCount: 4);
        $described = self::client()->describeSchedule($schedule, atTime: self::noon(), population: 1_000);
        self::assertSame(hash('sha256', $described->canonicalText), $described->fingerprint);
        self::assertSame([7_200, 250.0, 2], [Times::seconds($described->slotDuration), $described->slotLoad->mean, $described->slot->slotIndex]);
        self::assertNull($described->bucketShare);
        $slots = self::client()->listSlots($schedule, startTime: self::noon(), endTime: self::noon()->modify('+8 hours'));
        self::assertSame([2, 3, 0, 1], array_column($slots, 'slotIndex'));
        self::assertEquals($described->slot, $slots[0]);
        $twister = self::client()->describeSchedule(new Schedule(period: 28_800, slotCount: 15, placement: Placement::Twister));
        self::assertSame([17, 18], [$twister->bucketShare->minBucketCount, $twister->bucketShare->maxBucketCount]);
        self::assertEqualsWithDelta(18 / (256 / 15), $twister->bucketShare->fullestToMeanRatio, 1e-12);
    }

    /** @dataProvider transports */
    public function testLastRunsComeIfTheyAreAskedFor(string $kind): void
    {
        $client = self::client($kind);
        $ids = ['acme', 'globex', 'initech'];
        $plain = $client->assignSlots(self::eightHours(), $ids, fromTime: self::noon());
        self::assertSame([[], null], [$plain->lastRunUnixMillis, $plain[0]->lastRunTime]);
        $rows = $client->assignSlots(self::eightHours(), $ids, fromTime: self::noon(), columns: AssignmentColumn::cases());
        self::assertSame($plain->nextRunUnixMillis, $rows->nextRunUnixMillis);
        foreach ($rows as $index => $row) {
            self::assertEquals($client->assignSlot(self::eightHours(), $row->id, fromTime: self::noon())->lastRun->startTime, $row->lastRunTime);
            self::assertSame($rows->nextRunUnixMillis[$index] - 28_800_000, $rows->lastRunUnixMillis[$index]);
        }
        $many = range(1, 70_000); // two batches
        $last = $client->assignSlots(self::eightHours(), $many, fromTime: self::noon(), columns: [AssignmentColumn::LastRunUnixMillis]);
        $next = $client->assignSlots(self::eightHours(), $many, fromTime: self::noon()->modify('-8 hours'))->nextRunUnixMillis;
        self::assertSame($next, $last->lastRunUnixMillis);
        $days = new CalendarCycle(CalendarUnit::Day, 'UTC');
        $nothing = new RecurringExclusion($days, new CycleWindow('00:00', '23:00'), ExclusionPolicy::Skip);
        $skipped = new Schedule(calendar: $days, exclusions: [$nothing]);
        $bad = self::thrown(BadIds::class, static fn () => $client->assignSlots(
            $skipped,
            range(1, 50),
            fromTime: self::noon(),
            columns: AssignmentColumn::cases(),
        ));
        $refused = $bad->errors[0]->idIndex;
        self::assertSame([-1, -1], [$bad->assignments->slotIndexes[$refused], $bad->assignments->lastRunUnixMillis[$refused]]);
        self::assertNotNull($bad->assignments->accepted()->current()->lastRunTime);
    }

    public function testColumnsThatNobodyAskedForAreEmptyAndRowsNeedThem(): void
    {
        $slots = self::client()->assignSlots(self::eightHours(), ['a', 'b'], fromTime: self::noon(), columns: [AssignmentColumn::SlotIndexes]);
        $all = self::client()->assignSlots(self::eightHours(), ['a', 'b'], fromTime: self::noon());
        self::assertSame([$all->slotIndexes, [], []], [$slots->slotIndexes, $slots->cycleIndexes, $slots->nextRunUnixMillis]);
        self::assertCount(2, $slots);
        foreach ([static fn () => $slots[0], static fn () => $slots->runKey(0), static fn () => iterator_to_array($slots)] as $ask) {
            self::assertStringContainsString('was not asked for', self::thrown(\LogicException::class, $ask)->getMessage());
        }
        self::thrown(\OutOfBoundsException::class, static fn () => $slots[2]);
        $streamed = self::client()->streamSlotAssignments(self::eightHours(), ['a'], fromTime: self::noon(), columns: [AssignmentColumn::CycleIndexes]);
        self::assertSame([[], [$all->cycleIndexes[0]]], [$streamed->current()->slotIndexes, $streamed->current()->cycleIndexes]);
    }

    public function testAnyNumberOfIdsOfAnyLength(): void
    {
        $ids = [];
        for ($number = 0; $number < 70_000; ++$number) {
            $ids[] = $number . str_repeat('x', $number % 900);
        }
        $rows = self::client()->assignSlots(self::eightHours(), $ids, fromTime: self::noon());
        self::assertSame($ids, $rows->ids);
        self::assertCount(70_000, $rows);
        foreach ([0, 65_535, 65_536, 69_999] as $index) {
            self::assertSame(self::scaled($ids[$index], 28_800), $rows->cycleOffsetTicks[$index]);
        }
    }

    public function testStreamsAreLazy(): void
    {
        $made = 0;
        $ids = (static function () use (&$made): \Generator {
            for (;;) {
                yield ++$made;
            }
        })();
        $answers = self::client()->streamSlotAssignments(self::eightHours(), $ids, fromTime: self::noon());
        self::assertSame(0, $made);
        $first = $answers->current();
        $answers->next();
        $second = $answers->current();
        self::assertLessThan(100_000, $made);
        self::assertSame([1, 8_193], [$first->ids[0], $second->ids[0]]);
        self::assertSame(8_192, $second->firstIdIndex);
    }

    public function testAnswersAreReadOnlyAndCountable(): void
    {
        $rows = self::client()->assignSlots(self::eightHours(), ['a', 'b'], fromTime: new \DateTime('1955-11-12T22:04:00.25Z'));
        self::assertCount(2, $rows);
        self::assertTrue(isset($rows[1]));
        self::assertFalse(isset($rows[2]));
        self::assertSame('b', $rows[1]->id);
        self::assertSame(['a', 'b'], array_column(iterator_to_array($rows), 'id'));
        self::assertLessThan(0, $rows[0]->nextRun->startTime->getTimestamp());
        self::thrown(\OutOfBoundsException::class, static fn () => $rows[2]);
        self::thrown(\LogicException::class, static function () use ($rows): void {
            $rows[0] = null;
        });
        self::thrown(\LogicException::class, static function () use ($rows): void {
            unset($rows[0]);
        });
        self::assertCount(0, self::client()->assignSlots(self::eightHours(), []));
    }

    /** libcurl 7.88 waits for a timer if an answer does not fit into its buffer. */
    public function testMiddlingBatchesDoNotStall(): void
    {
        $client = self::client();
        $took = [];
        for ($i = 0; $i < 40; ++$i) {
            $started = microtime(true);
            $client->assignSlots(self::eightHours(), range(1, 7_000), fromTime: self::noon());
            $took[] = microtime(true) - $started;
        }
        sort($took);
        self::assertLessThan(0.1, $took[10]);
    }

    /** h·n / 2^64, for the first 8 bytes h of an MD5: in halves, as PHP has no unsigned integers. */
    private static function scaled(string $text, int $size): int
    {
        ['high' => $high, 'low' => $low] = unpack('Nhigh/Nlow', md5($text, true));

        return ($high * $size + ($low * $size >> 32)) >> 32;
    }
}
