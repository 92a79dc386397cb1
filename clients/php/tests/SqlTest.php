<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\SqlColumnType;
use Offbeat\SqlDialect;
use Offbeat\SqlParameterStyle;
use Offbeat\SqlPredicate;
use Offbeat\SqlTarget;
use PDO;

/** Predicates, run by PDO over SQLite, which binds everything as text. */
final class SqlTest extends OffbeatTestCase
{
    private const TABLE = 'acc`ount"; --';

    private PDO $database;

    protected function setUp(): void
    {
        $this->database = new PDO('sqlite::memory:');
        $this->database->exec('CREATE TABLE `acc``ount"; --` (n INTEGER PRIMARY KEY, id, hash TEXT, fraction REAL)');
    }

    /** @return iterable<string, array{SqlParameterStyle}> */
    public static function styles(): iterable
    {
        foreach ([SqlParameterStyle::Literal, SqlParameterStyle::QuestionMark, SqlParameterStyle::Named] as $style) {
            yield $style->value => [$style];
        }
    }

    /** @dataProvider styles */
    public function testSlotsAreAPartitionThatTheServiceAgreesWith(SqlParameterStyle $style): void
    {
        mt_srand(2328);
        $ids = [0, -1, -256, 255, PHP_INT_MIN, PHP_INT_MAX];
        while (count($ids) < 2_000) {
            $ids[] = mt_rand() * mt_rand() - mt_rand();
        }
        $this->insert($ids);
        $twister = new Schedule(period: 86_400, slotCount: 48, placement: Placement::Twister);
        $this->assertSlots($twister, $this->column('id', SqlColumnType::Integer, $style), $ids);
        $hash = new Schedule(period: 86_400, slotCount: 96);
        $this->assertSlots($hash, $this->column('hash', SqlColumnType::HashDigits, $style), $ids);
    }

    /** @dataProvider styles */
    public function testWindowsHoldWhatRunsInThem(SqlParameterStyle $style): void
    {
        $fractions = array_map(static fn (int $n): float => $n / 1_999, range(0, 1_998));
        $this->insert($fractions);
        $schedule = new Schedule(period: 86_400, placement: Placement::Fraction);
        $column = $this->column('fraction', SqlColumnType::Fraction, $style);
        $start = self::noon();
        foreach ([60, 3_600, 13 * 3_600, 86_400] as $length) {
            $predicate = self::client()->windowPredicate($schedule, $column, startTime: $start, endTime: $start->modify("+$length seconds"));
            $rows = self::client()->assignSlots($schedule, $fractions, fromTime: $start);
            $expected = [];
            foreach ($rows->nextRunUnixMillis as $n => $millis) {
                if ($millis < ($start->getTimestamp() + $length) * 1_000) {
                    $expected[] = $n;
                }
            }
            self::assertNotSame([], $expected);
            self::assertSame($expected, $this->select($predicate), "$length s");
        }
    }

    /** @dataProvider styles */
    public function testAKindHasTheRowsOfItsOwn(SqlParameterStyle $style): void
    {
        $fractions = array_map(static fn (int $n): float => $n / 1_999, range(0, 1_998));
        $this->insert($fractions);
        $schedule = new Schedule(period: 86_400, slotCount: 24, placement: Placement::Fraction, kinds: ['import', 'export']);
        $column = $this->column('fraction', SqlColumnType::Fraction, $style);
        [$start, $end] = [self::noon(), self::noon()->modify('+5 hours')];
        $selected = [];
        foreach (['import', 'export'] as $kind) {
            $rows = self::client()->assignSlots($schedule, $fractions, fromTime: $start, kind: $kind);
            $expected = array_keys(array_filter($rows->nextRunUnixMillis, static fn (int $millis): bool => $millis < $end->getTimestamp() * 1_000));
            $predicate = self::client()->windowPredicate($schedule, $column, $start, $end, kind: $kind);
            self::assertSame($expected, $selected[$kind] = $this->select($predicate));
            $slots = self::client()->listSlots($schedule, $start, $end, $column, kind: $kind);
            self::assertSame([12, 13, 14, 15, 16], array_column($slots, 'slotIndex'));
            foreach ($slots as $slot) {
                self::assertSame(array_keys($rows->slotIndexes, $slot->slotIndex, true), $this->select($slot->predicate));
            }
        }
        self::assertSame([], array_intersect($selected['import'], $selected['export']));
        self::assertGreaterThan(400, count($selected['export']));
        foreach ([
            static fn () => self::client()->windowPredicate($schedule, $column, $start, $end),
            static fn () => self::client()->windowPredicate($schedule, $column, $start, $end, kind: 'mail'),
            static fn () => self::client()->windowPredicate($schedule, $column, $start, $end, kind: "\xff"),
            static fn () => self::client()->listSlots($schedule, $start, $end, $column),
            static fn () => self::client()->listSlots($schedule, $start, $end, $column, kind: 'mail'),
        ] as $ask) {
            self::assertSame('kind', self::thrown(InvalidArgument::class, $ask)->field);
        }
    }

    public function testColumnsThatCannotBe(): void
    {
        $schedule = new Schedule(period: 86_400);
        $refused = self::thrown(InvalidArgument::class, fn () => self::client()->listSlots(
            $schedule,
            sqlTarget: $this->column('id', SqlColumnType::Text, SqlParameterStyle::Literal),
        ));
        self::assertSame('sql_target.column_type', $refused->field);
        $refused = self::thrown(InvalidArgument::class, fn () => self::client()->listSlots(
            $schedule,
            sqlTarget: new SqlTarget(SqlDialect::Sqlite, self::TABLE, "\xff", SqlColumnType::HashDigits),
        ));
        self::assertSame('sql_target.column', $refused->field);
    }

    public function testEveryCaseHasAValueOfItsMessage(): void
    {
        foreach ([SqlDialect::cases(), SqlColumnType::cases(), SqlParameterStyle::cases()] as $cases) {
            $numbers = array_map(static fn (\UnitEnum $case): int => $case->toMessage(), $cases);
            self::assertSame(range(1, count($cases)), $numbers);
        }
    }

    private function column(string $name, SqlColumnType $type, SqlParameterStyle $style): SqlTarget
    {
        return new SqlTarget(SqlDialect::Sqlite, self::TABLE, $name, $type, tableAlias: 't', parameterStyle: $style);
    }

    /** @param list<int|float> $ids */
    private function insert(array $ids): void
    {
        $insert = $this->database->prepare('INSERT INTO `acc``ount"; --` VALUES (?, ?, ?, ?)');
        foreach ($ids as $n => $id) {
            $insert->bindValue(1, $n, PDO::PARAM_INT);
            $insert->bindValue(2, $id, PDO::PARAM_INT);
            $insert->bindValue(3, substr(md5((string) $id), 0, 16));
            $insert->bindValue(4, sprintf('%.17H', $id)); // SQLite converts it to a double
            $insert->execute();
        }
    }

    /** @param list<int> $ids */
    private function assertSlots(Schedule $schedule, SqlTarget $column, array $ids): void
    {
        $found = [];
        foreach (self::client()->listSlots($schedule, startTime: self::noon(), sqlTarget: $column) as $slot) {
            array_map($this->database->exec(...), $slot->predicate->index->createStatements);
            foreach ($this->select($slot->predicate) as $n) {
                self::assertArrayNotHasKey($n, $found);
                $found[$n] = $slot->slotIndex;
            }
        }
        ksort($found);
        self::assertSame(self::client()->assignSlots($schedule, $ids)->slotIndexes, $found);
    }

    /** @return list<int> */
    private function select(SqlPredicate $predicate): array
    {
        $select = $this->database->prepare("SELECT n FROM `acc``ount\"; --` t WHERE $predicate->sql ORDER BY n");
        $select->execute($predicate->parameters);

        return array_map(intval(...), $select->fetchAll(PDO::FETCH_COLUMN));
    }
}
