<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\InvalidArgument;
use Offbeat\IdType;
use Offbeat\Internal\Transport\Transport;
use Offbeat\MigrationPath;
use Offbeat\Mode;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\SqlColumnType;
use Offbeat\SqlDialect;
use Offbeat\SqlTarget;
use Offbeat\Times;
use Offbeat\V1;
use PDO;

/** Migration of IDs to another schedule. */
final class MigrationTest extends OffbeatTestCase
{
    /** @dataProvider transports */
    public function testEachIdGoesOverOnce(string $kind): void
    {
        [$old, $new] = [self::eightHours(), new Schedule(period: 12 * 3600)];
        $ids = range(1, 500);
        $plan = self::client($kind)->planMigration($old, $new, cutoverTime: self::noon(), minGap: 6 * 3600, ids: $ids, kind: 'sync');
        self::assertEquals(self::noon(), $plan->cutoverTime);
        self::assertSame(MigrationPath::SameOrder, $plan->path);
        self::assertSame([[], []], [$plan->steps, $plan->indexes]);
        $before = self::client()->assignSlots($old, $ids, fromTime: self::noon()->modify('-8 hours'), kind: 'sync');
        $after = self::client()->assignSlots($new, $ids, fromTime: self::noon(), kind: 'sync');
        [$gaps, $moved, $leftOut] = [[], 0, 0];
        foreach ($plan->ids as $index => $id) {
            self::assertSame($ids[$index], $id->id);
            self::assertEquals($before[$index]->nextRun->startTime, $id->lastOldRun->startTime);
            self::assertSame($before->runKey($index), $id->lastOldRun->runKey);
            $first = $after[$index]->nextRun->startTime;
            $isLeftOut = $first->getTimestamp() - $id->lastOldRun->startTime->getTimestamp() < 6 * 3600;
            self::assertEquals($isLeftOut ? $first->modify('+12 hours') : $first, $id->firstNewRun->startTime);
            self::assertStringEndsWith("/sync/{$id->firstNewRun->cycleIndex}/0/$id->id", $id->firstNewRun->runKey);
            $gaps[] = $id->firstNewRun->startTime->getTimestamp() - $id->lastOldRun->startTime->getTimestamp();
            $moved += $id->firstNewRun->startTime == $id->lastOldRun->startTime->modify('+8 hours') ? 0 : 1;
            $leftOut += $isLeftOut ? 1 : 0;
        }
        self::assertGreaterThan(0, $leftOut);
        self::assertSame([$leftOut, $moved, $moved / 500.0], [$plan->ids->leftOutRunCount, $plan->ids->movedIdCount, $plan->ids->movedRatio]);
        self::assertSame([min($gaps), max($gaps)], [Times::seconds($plan->ids->observedMinGap), Times::seconds($plan->ids->observedMaxGap)]);
        self::assertGreaterThanOrEqual(max($gaps), Times::seconds($plan->maxGapBound));
    }

    public function testAnyNumberOfIdsGoesOverAtOneTime(): void
    {
        $ids = range(1, 70_000);
        $new = new Schedule(period: 6 * 3600);
        $plan = self::client()->planMigration(self::eightHours(), $new, ids: $ids);
        self::assertCount(70_000, $plan->ids);
        $cutover = $plan->cutoverTime->getTimestamp();
        self::assertSame(0, $cutover % 28_800);
        self::assertLessThan($cutover * 1_000, max($plan->ids->lastOldUnixMillis));
        self::assertGreaterThanOrEqual($cutover * 1_000, min($plan->ids->firstNewUnixMillis));
        $parts = array_map(
            static fn (array $part) => self::client()->planMigration(self::eightHours(), $new, $part, cutoverTime: $plan->cutoverTime)->ids,
            [array_slice($ids, 0, 60_000), array_slice($ids, 60_000)],
        );
        self::assertSame(array_merge($parts[0]->firstNewUnixMillis, $parts[1]->firstNewUnixMillis), $plan->ids->firstNewUnixMillis);
        self::assertSame($parts[0]->movedIdCount + $parts[1]->movedIdCount, $plan->ids->movedIdCount);
        $seconds = static fn (string $gap): array => array_map(static fn ($part) => Times::seconds($part->$gap), $parts);
        self::assertSame(min($seconds('observedMinGap')), Times::seconds($plan->ids->observedMinGap));
        self::assertSame(max($seconds('observedMaxGap')), Times::seconds($plan->ids->observedMaxGap));
        self::assertSame('70000', substr($plan->ids[69_999]->firstNewRun->runKey, -5));
    }

    /** The first batch fixes the cutover time if none was given, and has the SQL. */
    public function testLaterBatchesGoOverWithTheFirst(): void
    {
        $sent = [];
        $transport = new class(self::transport('curl', Sidecar::shared()->address), $sent) implements Transport {
            public function __construct(private readonly Transport $transport, private array &$sent)
            {
            }

            public function call(string $method, string $bytes, float $timeout): string
            {
                $this->sent[] = new V1\PlanMigrationRequest();
                end($this->sent)->mergeFromString($bytes);

                return $this->transport->call($method, $bytes, $timeout);
            }

            public function close(): void
            {
                $this->transport->close();
            }
        };
        $client = (new \ReflectionClass(Client::class))->newInstanceWithoutConstructor();
        \Closure::bind(function () use ($transport): void {
            [$this->transport, $this->timeout, $this->mode] = [$transport, 10.0, Mode::Remote];
        }, $client, Client::class)();
        $column = new SqlTarget(SqlDialect::Sqlite, 'account', 'hash', SqlColumnType::HashDigits);
        $plan = $client->planMigration(self::eightHours(), new Schedule(3600), ids: range(1, 65_537), sqlTarget: $column);
        self::assertSame([false, true], array_map(static fn ($request): bool => $request->hasCutoverTime(), $sent));
        self::assertSame([true, false], array_map(static fn ($request): bool => $request->hasSqlTarget(), $sent));
        self::assertEquals($plan->cutoverTime, Times::fromTimestamp($sent[1]->getCutoverTime()));
        self::assertNotSame([], $plan->steps);
        self::assertSame($plan->indexes[0]->name, $plan->steps[0]->predicate->index->name);
    }

    public function testWithoutIdsItSaysWhatHoldsForAll(): void
    {
        $finer = new Schedule(period: 28_800, slotCount: 400);
        $plan = self::client()->planMigration(new Schedule(28_800, slotCount: 200), $finer, cutoverTime: self::noon());
        self::assertSame([MigrationPath::SameTimes, null], [$plan->path, $plan->ids]);
        self::assertSame(28_800, Times::seconds($plan->maxGapBound));
        self::assertNotSame($plan->oldFingerprint, $plan->newFingerprint);
        $ids = self::client()->planMigration(new Schedule(28_800, slotCount: 200), $finer, ids: range(1, 10))->ids;
        self::assertSame([0, 0.0], [$ids->movedIdCount, $ids->movedRatio]);
        $same = self::client()->planMigration($finer, $finer, cutoverTime: self::noon());
        self::assertSame([MigrationPath::Unchanged, $same->oldFingerprint], [$same->path, $same->newFingerprint]);
        $other = self::client()->planMigration($finer, new Schedule(28_800, slotCount: 400, salt: 'new'), cutoverTime: self::noon());
        self::assertSame(MigrationPath::NewPlaces, $other->path);
        self::assertNotSame('', $other->advice);
    }

    /** The steps run on a table: each row runs by the old schedule, and then as planned. */
    public function testStepsOfSqlAreThePlan(): void
    {
        $database = new PDO('sqlite::memory:');
        $database->exec('CREATE TABLE account (id INTEGER PRIMARY KEY, fraction REAL)');
        $fractions = array_map(static fn (int $number): float => $number / 997, range(0, 996));
        $insert = $database->prepare('INSERT INTO account VALUES (?, ?)');
        foreach ($fractions as $index => $fraction) {
            $insert->bindValue(1, $index, PDO::PARAM_INT);
            $insert->bindValue(2, sprintf('%.17H', $fraction));
            $insert->execute();
        }
        $schedule = static fn (int $hours): Schedule => new Schedule($hours * 3600, slotCount: 24, placement: Placement::Fraction);
        $column = new SqlTarget(SqlDialect::Sqlite, 'account', 'fraction', SqlColumnType::Fraction);
        $plan = self::client()->planMigration($schedule(8), $schedule(12), cutoverTime: self::noon(), minGap: 3600, ids: $fractions, sqlTarget: $column);
        foreach ($plan->indexes as $index) {
            array_map($database->exec(...), $index->createStatements);
        }
        $runs = [];
        foreach ($plan->steps as $step) {
            self::assertSame($step->byNewSchedule, $step->startTime >= $plan->cutoverTime);
            $select = $database->prepare("SELECT id FROM account WHERE {$step->predicate->sql}");
            $select->execute($step->predicate->parameters);
            foreach ($select->fetchAll(PDO::FETCH_COLUMN) as $id) {
                $runs[$id][$step->byNewSchedule ? 'new' : 'old'][] = [$step->startTime, $step->endTime];
            }
        }
        self::assertCount(997, $runs);
        foreach ($plan->ids as $index => $id) {
            [$start, $end] = $runs[$index]['new'][0];
            self::assertTrue($start <= $id->firstNewRun->startTime && $id->firstNewRun->startTime < $end, "$index");
            foreach ($runs[$index]['old'] ?? [] as [$start]) {
                self::assertLessThanOrEqual($id->lastOldRun->startTime, $start);
            }
        }
    }

    public function testRefusedIdsStandInTheErrors(): void
    {
        $ids = ['oops', '0190d7a2-1111-7abc-8def-0123456789ab'];
        $thrown = self::thrown(BadIds::class, static fn () => self::client()
            ->planMigration(self::eightHours(), new Schedule(3600), ids: $ids, idType: IdType::Uuid));
        $migrated = $thrown->answer->ids;
        self::assertSame([0], array_column($thrown->errors, 'idIndex'));
        self::assertSame([-1, false, true], [$migrated->lastOldUnixMillis[0], isset($migrated[0]), isset($migrated[1])]);
        self::assertSame([1], array_keys(iterator_to_array($migrated->accepted())));
        self::assertStringContainsString('ids[0]', self::thrown(\OutOfBoundsException::class, static fn () => $migrated[0])->getMessage());
        self::thrown(\OutOfBoundsException::class, static fn () => $migrated[2]);
        $all = self::client()->planMigration(self::eightHours(), new Schedule(3600), ids: ['oops'], idType: IdType::Uuid, returnErrors: true);
        self::assertSame([0.0, 1], [(float) $all->ids->movedRatio, count($all->ids->errors)]);
        foreach ([
            ['old_schedule.spec.slot_count', new Schedule(60, slotCount: 7), self::eightHours(), []],
            ['new_schedule.spec.salt', self::eightHours(), new Schedule(60, salt: "\xff"), []],
            ['min_gap', self::eightHours(), self::eightHours(), ['minGap' => new \DateInterval('P1M')]],
        ] as [$field, $old, $new, $more]) {
            $refused = self::thrown(InvalidArgument::class, static fn () => self::client()->planMigration($old, $new, ...$more), $field);
            self::assertSame($field, $refused->field);
        }
    }

    public function testEveryCaseHasAValueOfItsMessage(): void
    {
        self::assertSame(MigrationPath::cases(), array_map(MigrationPath::fromMessage(...), range(1, count(MigrationPath::cases()))));
    }
}
