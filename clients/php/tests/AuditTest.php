<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\AuditFinding;
use Offbeat\Exception\InvalidArgument;
use Offbeat\IdType;
use Offbeat\Placement;
use Offbeat\Schedule;

/** How evenly IDs fill the slots. */
final class AuditTest extends OffbeatTestCase
{
    /** @dataProvider transports */
    public function testSlotsAreCounted(string $kind): void
    {
        $client = self::client($kind);
        $schedule = new Schedule(period: 28_800, slotCount: 50);
        $ids = array_map(static fn (int $number): string => "customer-$number", range(1, 5_000));
        $counts = array_count_values($client->assignSlots($schedule, $ids)->slotIndexes) + array_fill(0, 50, 0);
        ksort($counts);
        $audit = $client->auditIds($schedule, [...$ids]);
        self::assertSame(array_map(floatval(...), $counts), $audit->slotLoads);
        self::assertSame([5_000, 0, [], []], [$audit->idCount, $audit->emptySlotCount, $audit->warnings, $audit->errors]);
        self::assertSame((float) max($counts), $audit->fullestLoad);
        self::assertSame(array_search(max($counts), $counts, true), $audit->fullestSlotIndex);
        self::assertEqualsWithDelta(max($counts) / 100, $audit->fullestToMeanRatio, 1e-9);
        $chiSquare = array_sum(array_map(static fn (int $count): float => ($count - 100) ** 2 / 100, $counts));
        self::assertEqualsWithDelta($chiSquare, $audit->chiSquare, 1e-6);
        self::assertGreaterThan(0.001, $audit->pValue);
        self::assertGreaterThanOrEqual($audit->expectedLoad->fullestMedian, $audit->expectedLoad->fullestP99);
    }

    public function testWhatIsWrongIsSaid(): void
    {
        $client = self::client();
        $twister = new Schedule(period: 28_800, slotCount: 128, placement: Placement::Twister);
        $ids = array_map(static fn (int $time): string => sprintf('%08x-1dd2-11ef-9a8b-0242ac120002', $time), range(1, 1_000));
        $audit = $client->auditIds($twister, $ids);
        self::assertSame(127, $audit->emptySlotCount);
        self::assertContains(AuditFinding::TimeBasedUuids, array_column($audit->warnings, 'finding'));
        self::assertNotSame('', $audit->warnings[0]->message);
        self::assertNull($client->auditIds($twister, range(1, 100))->pValue);
        $weighted = new Schedule(period: 28_800, slotCount: 10, weightQuantum: 10);
        $heavy = $client->auditIds($weighted, ['a', 'b', 'a'], weights: [25, 5, 5]);
        self::assertSame(35.0, round(array_sum($heavy->slotLoads), 6));
        self::assertContains(AuditFinding::Duplicates, array_column($heavy->warnings, 'finding'));
        $bad = $client->auditIds(self::eightHours(), ['oops', $ids[0]], idType: IdType::Uuid);
        self::assertSame([1, 0], [$bad->idCount, $bad->errors[0]->idIndex]);
        foreach ([
            ['ids', static fn () => $client->auditIds(self::eightHours(), range(1, 65_537))],
            ['ids', static fn () => $client->auditIds(self::eightHours(), [])],
            ['weights', static fn () => $client->auditIds($weighted, ['a'], weights: [1, 2])],
        ] as [$field, $ask]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask)->field);
        }
    }

    public function testTheSlotsAreThoseOfAKind(): void
    {
        $schedule = new Schedule(period: 28_800, slotCount: 8, kinds: ['import', 'export']);
        $import = self::client()->auditIds($schedule, range(1, 1_000), kind: 'import')->slotLoads;
        $export = self::client()->auditIds($schedule, range(1, 1_000), kind: 'export')->slotLoads;
        self::assertSame($import, [...array_slice($export, 4), ...array_slice($export, 0, 4)], 'they stand half a cycle apart');
        foreach ([null, 'report', "\xff"] as $kind) {
            $ask = static fn () => self::client()->auditIds($schedule, [1], kind: $kind);
            self::assertSame('kind', self::thrown(InvalidArgument::class, $ask)->field);
        }
    }

    public function testEveryCaseHasAValueOfItsMessage(): void
    {
        self::assertSame(AuditFinding::cases(), array_map(AuditFinding::fromMessage(...), range(1, count(AuditFinding::cases()))));
    }
}
