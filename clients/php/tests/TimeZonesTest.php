<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateTimeZone;
use Offbeat\CalendarCycle;
use Offbeat\CalendarUnit;
use Offbeat\CatchUpPolicy;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Internal\IdEncoder;
use Offbeat\MissedRunPolicy;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\SqlColumnType;
use Offbeat\SqlDialect;
use Offbeat\SqlParameterStyle;
use Offbeat\SqlTarget;
use Offbeat\Times;
use Offbeat\V1;
use PDO;

/** IDs with time zones of their own, against PHP's time zones. */
final class TimeZonesTest extends OffbeatTestCase
{
    private const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Auckland'];

    /** @dataProvider transports */
    public function testARunIsAtItsTimeAtHome(string $kind): void
    {
        $client = self::client($kind);
        $ids = range(0, 399);
        $zones = array_map(static fn (int $id): ?string => [null, ...self::ZONES][$id % 5], $ids);
        // Zones as names, as objects, and from a generator.
        $given = (static function () use ($zones): \Generator {
            foreach ($zones as $place => $zone) {
                yield 'same' => $zone !== null && $place % 2 === 0 ? new DateTimeZone($zone) : $zone;
            }
        })();
        $rows = $client->assignSlots(self::days(), $ids, fromTime: self::noon(), timeZones: $given, kind: 'mail');
        $plain = $client->assignSlots(self::days(), $ids, fromTime: self::noon(), kind: 'mail');
        self::assertSame([$plain->slotIndexes, $plain->cycleOffsetTicks], [$rows->slotIndexes, $rows->cycleOffsetTicks]);
        foreach ($rows as $index => $row) {
            $home = new DateTimeZone($zones[$index] ?? 'UTC');
            $local = $row->nextRun->startTime->setTimezone($home);
            self::assertSame(gmdate('H:i:s', Times::seconds($row->cycleOffset)), $local->format('H:i:s'), "$row->id");
            // A run key names the day and not the zone.
            self::assertStringEndsWith('/mail/' . intdiv(strtotime($local->format('Y-m-d') . 'T00:00:00Z'), 86_400) . "/0/$row->id", $row->nextRun->runKey);
            if ($index < 10) {
                $one = $client->assignSlot(self::days(), $row->id, fromTime: self::noon(), kind: 'mail', timeZone: $zones[$index]);
                self::assertEquals($one->nextRun(), $row->nextRun);
            }
        }
        $object = $client->assignSlot(self::days(), 1, fromTime: self::noon(), kind: 'mail', timeZone: new DateTimeZone($zones[1]));
        self::assertEquals($rows[1]->nextRun, $object->nextRun());
        self::assertNotEquals($plain[1]->nextRun, $object->nextRun());
    }

    public function testZonesGoAsADictionary(): void
    {
        $encoder = new IdEncoder(null);
        $ids = $encoder->take(['a', 'b', 'c', 'd']);
        $column = static function (array $zones) use ($encoder, $ids): V1\IdBatch {
            $message = new V1\IdBatch();
            $message->mergeFromString($encoder->column($ids, $zones));

            return $message;
        };
        $expected = (new V1\IdBatch())->setTexts($ids)->setTimeZones(['Asia/Kathmandu', 'UTC'])->setTimeZoneIndexes([0, -1, 1, 0]);
        self::assertEquals($expected->serializeToString(), $column(['Asia/Kathmandu', null, 'UTC', 'Asia/Kathmandu'])->serializeToString());
        $plain = (new V1\IdBatch())->setTexts($ids)->serializeToString();
        self::assertSame([$plain, $plain], [$column([])->serializeToString(), $column([null, null, null, null])->serializeToString()]);
    }

    public function testZonesGoAlongWithAnyNumberOfIds(): void
    {
        $client = self::client();
        $ids = range(0, 69_999);
        $indexes = array_map(static fn (int $id): int => $id % 5 - 1, $ids);
        $zones = array_map(static fn (int $index): ?string => self::ZONES[$index] ?? null, $indexes);
        $rows = $client->assignSlots(self::days(), $ids, fromTime: self::noon(), timeZones: $zones);
        $plain = $client->assignSlots(self::days(), $ids, fromTime: self::noon());
        self::assertNotSame($plain->nextRunUnixMillis, $rows->nextRunUnixMillis);
        $packed = $client->assignPacked(
            self::days(),
            integers: pack('P*', ...$ids),
            fromTime: self::noon(),
            timeZones: [new DateTimeZone(self::ZONES[0]), ...array_slice(self::ZONES, 1)],
            timeZoneIndexes: pack('V*', ...$indexes),
        );
        self::assertSame($rows->nextRunUnixMillis, $packed->nextRunUnixMillis());
        $streamed = [];
        foreach ($client->streamSlotAssignments(self::days(), $ids, fromTime: self::noon(), timeZones: $zones) as $part) {
            array_push($streamed, ...$part->nextRunUnixMillis);
        }
        self::assertSame($rows->nextRunUnixMillis, $streamed);
        foreach ([0, 65_537, 69_999] as $index) {
            $one = $client->assignSlot(self::days(), $index, fromTime: self::noon(), timeZone: $zones[$index]);
            self::assertEquals($one->nextRun(), $rows[$index]->nextRun);
        }
        $due = $client->listDueRuns(
            self::days(),
            $ids,
            watermark: self::noon(),
            nowTime: self::noon()->modify('+1 day'),
            catchUpPolicy: new CatchUpPolicy(MissedRunPolicy::RunAll),
            timeZones: $zones,
        );
        self::assertCount(70_000, $due);
        self::assertSame($rows->nextRunUnixMillis, $due->scheduledUnixMillis);
    }

    public function testBatchesThatAreHalvedKeepTheirZones(): void
    {
        $weighted = new Schedule(calendar: new CalendarCycle(CalendarUnit::Day, 'UTC'), slotCount: 96, weightQuantum: 10);
        $ids = range(0, 1_999);
        $zones = array_map(static fn (int $id): ?string => [null, ...self::ZONES][$id % 5], $ids);
        $rows = self::client()->assignSlots($weighted, $ids, fromTime: self::noon(), weights: array_fill(0, 2_000, 960), timeZones: $zones);
        self::assertCount(2_000 * 96, $rows); // a message holds 65,536
        foreach ([0, 1, 1_003, 1_999] as $id) {
            $one = self::client()->assignSlot($weighted, $id, fromTime: self::noon(), weight: 960, timeZone: $zones[$id]);
            self::assertEquals($one->nextRun(), $rows[$id * 96]->nextRun);
        }
    }

    public function testAWindowSelectsRowsByTheirZones(): void
    {
        $schedule = new Schedule(calendar: new CalendarCycle(CalendarUnit::Day, 'UTC'), slotCount: 24, placement: Placement::Fraction);
        $database = new PDO('sqlite::memory:');
        $database->exec('CREATE TABLE account (n INTEGER PRIMARY KEY, fraction REAL, zone TEXT)');
        $insert = $database->prepare('INSERT INTO account VALUES (?, ?, ?)');
        [$fractions, $zones] = [[], []];
        for ($n = 0; $n < 1_000; ++$n) {
            [$fractions[$n], $zones[$n]] = [(float) $n / 1_009, self::ZONES[$n % 4]];
            $insert->bindValue(1, $n, PDO::PARAM_INT);
            $insert->bindValue(2, sprintf('%.17H', $fractions[$n]));
            $insert->bindValue(3, $zones[$n]);
            $insert->execute();
        }
        $column = new SqlTarget(
            SqlDialect::Sqlite,
            'account',
            'fraction',
            SqlColumnType::Fraction,
            parameterStyle: SqlParameterStyle::Named,
            timeZoneColumn: 'zone',
        );
        [$start, $end] = [self::noon(), self::noon()->modify('+3 hours')];
        $asked = array_slice(self::ZONES, 0, 3); // rows of the fourth zone are never selected
        $predicate = self::client()->windowPredicate($schedule, $column, $start, $end, timeZones: [new DateTimeZone($asked[0]), $asked[1], $asked[2]]);
        array_map($database->exec(...), $predicate->index->createStatements);
        $select = $database->prepare("SELECT n FROM account WHERE $predicate->sql ORDER BY n");
        $select->execute($predicate->parameters);
        $rows = self::client()->assignSlots($schedule, $fractions, fromTime: $start, timeZones: $zones);
        $expected = array_keys(array_filter(
            $rows->nextRunUnixMillis,
            static fn (int $millis, int $n): bool => $millis < $end->getTimestamp() * 1_000 && in_array($zones[$n], $asked, true),
            ARRAY_FILTER_USE_BOTH,
        ));
        self::assertGreaterThan(50, count($expected));
        self::assertSame($expected, array_map(intval(...), $select->fetchAll(PDO::FETCH_COLUMN)));
        $refused = self::thrown(InvalidArgument::class, static fn () => self::client()->windowPredicate($schedule, $column, $start, $end, timeZones: ['Mars/Olympus']));
        self::assertSame(['time_zones[0]', 'ERROR_REASON_UNKNOWN_TIME_ZONE'], [$refused->field, $refused->reason]);
        $refused = self::thrown(InvalidArgument::class, static fn () => self::client()->windowPredicate($schedule, $column, $start, $end, timeZones: ['UTC', 7]));
        self::assertSame('time_zones[1]', $refused->field);
        $named = new SqlTarget(SqlDialect::Sqlite, 'account', 'fraction', SqlColumnType::Fraction, timeZoneColumn: "\xff");
        $refused = self::thrown(InvalidArgument::class, static fn () => self::client()->windowPredicate($schedule, $named, $start, $end));
        self::assertSame('sql_target.time_zone_column', $refused->field);
    }

    public function testWhatCannotBeIsRefusedByItsPlace(): void
    {
        $client = self::client();
        $ids = range(1, 65_540);
        $zones = array_fill(0, 65_540, 'UTC');
        $ask = static fn (array $zones, int $count = 2): \Closure => static fn () => $client->assignSlots(self::days(), range(1, $count), timeZones: $zones);
        foreach ([
            ['time_zones', $ask(['UTC'])],
            ['time_zones', $ask(['UTC', 'UTC', 'UTC'])],
            ['time_zones', $ask([])],
            ['time_zones[1]', $ask(['UTC', 1])],
            ['time_zones[1]', $ask(['UTC', "\xff"])],
            ['time_zones[2]', $ask(['UTC', null, 'Mars/Olympus', 'UTC', 'Mars/Olympus'], 5)],
            ['time_zones[0]', static fn () => $client->assignSlots(self::eightHours(), [1], timeZones: ['UTC'])],
            ['time_zones[65538]', static fn () => $client->assignSlots(self::days(), $ids, timeZones: array_replace($zones, [65_538 => 'Mars/Olympus']))],
            ['time_zones[1]', static fn () => $client->listDueRuns(self::days(), ['a', 'b'], self::noon(), timeZones: [null, 'Mars/Olympus'])],
            ['time_zone', static fn () => $client->assignSlot(self::days(), 1, timeZone: 'Mars/Olympus')],
            ['time_zone', static fn () => $client->assignSlot(self::days(), 1, timeZone: "\xff")],
            ['time_zone', static fn () => $client->assignSlot(self::eightHours(), 1, timeZone: 'UTC')],
            ['time_zone_indexes', static fn () => $client->assignPacked(self::days(), integers: pack('P', 1), timeZones: ['UTC'], timeZoneIndexes: pack('V*', 0, 0))],
            ['ids.time_zone_indexes', static fn () => $client->assignPacked(self::days(), integers: pack('P', 1), timeZones: ['UTC'])],
            ['ids.time_zone_indexes[1]', static fn () => $client->assignPacked(self::days(), integers: pack('P*', 1, 2), timeZones: ['UTC'], timeZoneIndexes: pack('V*', 0, 1))],
            ['time_zones[0]', static fn () => $client->assignPacked(self::days(), integers: pack('P', 1), timeZones: [null], timeZoneIndexes: pack('V', 0))],
        ] as [$field, $refused]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $refused, $field)->field);
        }
        $unknown = self::thrown(InvalidArgument::class, $ask(['UTC', 'Mars/Olympus']));
        self::assertSame(['ERROR_REASON_UNKNOWN_TIME_ZONE', 'time_zones[1]'], [$unknown->reason, $unknown->field]);
        self::assertStringStartsWith('time_zones[1]', $unknown->getMessage());
    }

    private static function days(int $slotCount = 96): Schedule
    {
        return new Schedule(calendar: new CalendarCycle(CalendarUnit::Day, 'UTC'), slotCount: $slotCount);
    }
}
