<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\CalendarCycle;
use Offbeat\CalendarUnit;
use Offbeat\CycleWindow;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\InvalidArgument;
use Offbeat\ExclusionPolicy;
use Offbeat\FirstRunPolicy;
use Offbeat\IdType;
use Offbeat\NewId;
use Offbeat\Placement;
use Offbeat\RecurringExclusion;
use Offbeat\Schedule;
use Offbeat\Times;

/** Weighted IDs and new IDs. */
final class WeightsTest extends OffbeatTestCase
{
    private const UUID = '0190d7a2-1111-7abc-8def-0123456789ab';

    /**
     * @requires extension gmp
     *
     * @dataProvider transports
     */
    public function testPiecesStandWhereTheirHashesDo(string $kind): void
    {
        $assigned = self::client($kind)->assignSlot(self::weighted(), 'jumbo', fromTime: self::noon(), weight: 71, nextRunCount: 2);
        self::assertSame(range(0, 7), array_column($assigned->pieces, 'pieceIndex')); // eight pieces: ⌈71 / 10⌉
        foreach ($assigned->pieces as $number => $piece) {
            $seconds = self::pieceSeconds('jumbo', $number, 28_800);
            self::assertSame($seconds, Times::seconds($piece->cycleOffset));
            self::assertSame(intdiv($seconds, 300), $piece->slotIndex);
            self::assertSame($seconds % 300, Times::seconds($piece->slotOffset));
            self::assertCount(2, $piece->nextRuns);
            self::assertNull($piece->firstRun);
            self::assertSame($seconds, $piece->nextRuns[0]->startTime->getTimestamp() % 28_800);
            self::assertStringEndsWith("/{$piece->nextRuns[0]->cycleIndex}/$number/jumbo", $piece->nextRuns[0]->runKey);
            self::assertSame(28_800, $piece->nextRuns[0]->startTime->getTimestamp() - $piece->lastRun->startTime->getTimestamp());
        }
        self::assertCount(1, self::client($kind)->assignSlot(self::weighted(), 'small', weight: 0)->pieces);
    }

    /** @dataProvider transports */
    public function testRowsOfABatchArePieces(string $kind): void
    {
        $client = self::client($kind);
        $ids = [self::UUID, strtoupper('0190d7a2-1111-7abc-8def-0123456789ac'), 'oops', self::UUID];
        $weights = new \ArrayIterator(['a' => 25, 'b' => 1, 'c' => 99, 'd' => 10]); // keys are ignored
        $rows = $client->assignSlots(
            self::weighted(),
            $ids,
            fromTime: self::noon(),
            kind: 'sync',
            idType: IdType::Uuid,
            weights: $weights,
            returnErrors: true,
        );
        self::assertSame([0, 0, 0, 1, 2, 3], $rows->idIndexes);
        self::assertSame([0, 1, 2, 0, 0, 0], $rows->pieceIndexes);
        self::assertSame(-1, $rows->slotIndexes[4]);
        self::assertSame([2, 'ids[2]'], [$rows->errors[0]->idIndex, $rows->errors[0]->field]);
        self::assertFalse(isset($rows[4]));
        self::assertStringStartsWith('ids[2]', self::thrown(\OutOfBoundsException::class, static fn () => $rows[4])->getMessage());
        self::assertSame([0, 1, 2, 3, 5], array_keys(iterator_to_array($rows->accepted())));
        foreach ($rows->accepted() as $row) {
            $one = $client->assignSlot(self::weighted(), $row->id, fromTime: self::noon(), kind: 'sync', idType: IdType::Uuid, weight: 25);
            $piece = $one->pieces[$row->pieceIndex];
            self::assertSame($piece->slotIndex, $row->slotIndex);
            self::assertEquals([$piece->slotOffset, $piece->cycleOffset], [$row->slotOffset, $row->cycleOffset]);
            self::assertEquals($piece->nextRuns[0]->startTime, $row->nextRun->startTime);
            self::assertSame($piece->nextRuns[0]->runKey, $row->nextRun->runKey);
        }
        $thrown = self::thrown(BadIds::class, static fn () => $client->assignSlots(self::weighted(), ['a', 'oops', self::UUID], idType: IdType::Uuid, weights: [1, 1, 25]));
        self::assertSame([-1, -1], array_slice($thrown->assignments->slotIndexes, 0, 2));
        self::assertCount(5, $thrown->assignments);
    }

    /** Exclusions can skip some pieces of an ID: each has a row of its own with -1. */
    public function testPiecesThatNeverRunAreRefusedOneByOne(): void
    {
        $days = new CalendarCycle(CalendarUnit::Day, 'UTC');
        $never = new RecurringExclusion($days, new CycleWindow('06:00', '24:00'), ExclusionPolicy::Skip);
        $schedule = new Schedule(slotCount: 96, calendar: $days, exclusions: [$never], weightQuantum: 1);
        $rows = self::client()->assignSlots($schedule, ['jumbo'], fromTime: self::noon(), weights: [8], returnErrors: true);
        self::assertSame(array_fill(0, 8, 0), $rows->idIndexes);
        self::assertSame(6, count($rows->errors));
        self::assertSame(6, count(array_keys($rows->slotIndexes, -1, true)));
        self::assertCount(2, iterator_to_array($rows->accepted()));
    }

    public function testWeightsChangeNothingForOthers(): void
    {
        $ids = range(1, 500);
        $without = self::client()->assignSlots(self::weighted(), $ids, fromTime: self::noon());
        $weights = array_map(static fn (int $id): int => $id % 40, $ids);
        $with = self::client()->assignSlots(self::weighted(), $ids, fromTime: self::noon(), weights: $weights);
        self::assertSame([[], []], [$without->idIndexes, $without->pieceIndexes]);
        self::assertGreaterThan(1_000, count($with));
        foreach ($with as $index => $row) {
            if ($row->pieceIndex === 0) {
                self::assertEquals($without[$with->idIndexes[$index]], $row);
            }
        }
    }

    /** Only the sidecar knows the number of pieces, so the client halves batches that it refuses. */
    public function testAnyNumberOfPieces(): void
    {
        $ids = range(1, 70_000);
        $weights = array_map(static fn (int $id): int => $id % 1_000 === 0 ? 960 : 11, $ids);
        $rows = self::client()->assignSlots(self::weighted(), $ids, fromTime: self::noon(), weights: $weights, returnErrors: true);
        self::assertCount(70 * 96 + 69_930 * 2, $rows);
        self::assertSame($ids, $rows->ids);
        self::assertSame([0, 0, 1, 1], array_slice($rows->idIndexes, 0, 4));
        self::assertSame(array_fill(0, 96, 69_999), array_slice($rows->idIndexes, -96));
        self::assertSame(range(0, 95), array_slice($rows->pieceIndexes, -96));
        self::assertStringEndsWith('/95/70000', $rows->runKey(count($rows) - 1));
        $streamed = self::client()->streamSlotAssignments(self::weighted(), $ids, fromTime: self::noon(), weights: $weights);
        $millis = [];
        foreach ($streamed as $part) {
            self::assertSame($ids[$part->firstIdIndex], $part[0]->id);
            array_push($millis, ...$part->nextRunUnixMillis);
        }
        self::assertSame($rows->nextRunUnixMillis, $millis);
    }

    public function testWeightsThatCannotBe(): void
    {
        $client = self::client();
        $many = array_fill(0, 65_537, 1);
        foreach ([
            ['weights', static fn () => $client->assignSlots(self::weighted(), ['a', 'b'], weights: [1])],
            ['weights', static fn () => $client->assignSlots(self::weighted(), ['a', 'b'], weights: [])],
            ['weights', static fn () => $client->assignSlots(self::weighted(), ['a', 'b'], weights: [1, 2, 3])],
            ['weights[1]', static fn () => $client->assignSlots(self::weighted(), ['a', 'b'], weights: [1, 2.5])],
            ['weights[1]', static fn () => $client->assignSlots(self::weighted(), ['a', 'b'], weights: [1, -1])],
            ['weights[65536]', static fn () => $client->assignSlots(self::weighted(), $many, weights: [...array_fill(0, 65_536, 1), -1])],
            ['weight', static fn () => $client->assignSlot(self::weighted(), 'a', weight: -1)],
            ['weight', static fn () => $client->assignSlot(self::eightHours(), 'a', weight: 1)],
            ['schedule.spec.weight_quantum', static fn () => $client->describeSchedule(new Schedule(60, weightQuantum: 0))],
        ] as [$field, $ask]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask, $field)->field);
        }
    }

    public function testFractionsHavePieces(): void
    {
        $schedule = new Schedule(period: 86_400, placement: Placement::Fraction, weightQuantum: 1);
        $rows = self::client()->assignSlots($schedule, [0.2], fromTime: self::noon(), weights: [2]);
        self::assertSame([17_280, 17_280 + 43_200], $rows->cycleOffsetTicks);
        self::assertSame(['', ''], [$rows->runKey(0), $rows->runKey(1)]);
    }

    public function testNewIdsRunSoonOrInTheNextCycle(): void
    {
        $client = self::client();
        $assigned = $client->assignSlot(self::eightHours(), 'acme', fromTime: self::noon());
        self::assertNull($assigned->firstRun);
        $created = $assigned->lastRun->startTime->modify('+1 second'); // its time has just passed
        $first = static fn (NewId $newId) => $client
            ->assignSlot(self::eightHours(), 'acme', fromTime: $created, newId: $newId)->firstRun;
        self::assertEquals($assigned->nextRun(), $first(new NewId($created)));
        $smeared = $first(new NewId($created, FirstRunPolicy::NowSmeared, smearSpan: 600));
        self::assertGreaterThanOrEqual($created, $smeared->startTime);
        self::assertLessThan($created->modify('+600 seconds'), $smeared->startTime);
        self::assertEquals($assigned->lastRun->startTime, $smeared->nominalTime);
        self::assertSame($assigned->lastRun->runKey, $smeared->runKey);
        $thrown = self::thrown(InvalidArgument::class, static fn () => $first(new NewId($created, FirstRunPolicy::NowSmeared)));
        self::assertSame('new_id.smear_span', $thrown->field);
        self::assertSame([1, 2], array_map(static fn (FirstRunPolicy $policy): int => $policy->toMessage(), FirstRunPolicy::cases()));
    }

    private static function weighted(): Schedule
    {
        return new Schedule(period: 28_800, slotCount: 96, weightQuantum: 10);
    }

    /** (h + reversed bits of j)·T / 2^64, for the first 8 bytes h of an MD5. */
    private static function pieceSeconds(string $id, int $piece, int $period): int
    {
        $hash = gmp_add(gmp_init(substr(md5($id), 0, 16), 16), gmp_init(strrev(sprintf('%064b', $piece)), 2));

        return gmp_intval(gmp_div_q(gmp_mul(gmp_mod($hash, gmp_pow(2, 64)), $period), gmp_pow(2, 64)));
    }
}
