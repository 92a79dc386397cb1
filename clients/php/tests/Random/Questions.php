<?php

declare(strict_types=1);

namespace Offbeat\Tests\Random;

use DateTimeImmutable;
use Offbeat\AssignmentColumn;
use Offbeat\Client;
use Offbeat\IdType;
use Offbeat\Lanes\Lane;
use Offbeat\Lanes\LanePrediction;
use Offbeat\Lanes\LaneSet;
use Offbeat\Lanes\TimeoutAction;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\SqlColumnType;
use Offbeat\SqlDialect;
use Offbeat\SqlParameterStyle;
use Offbeat\SqlTarget;
use Offbeat\Times;

/** Requests about a schedule that a client answers alone; some of them are invalid. */
final class Questions
{
    /** @return iterable<string, \Closure(Client): mixed> */
    public static function about(Schedule $schedule): iterable
    {
        $kind = self::kind($schedule);
        $from = Draw::instant();
        [$ids, $type] = self::ids($schedule);
        $columns = Draw::oneIn(3) ? Draw::some(AssignmentColumn::cases()) : [];
        $count = Draw::errs(5) ? Draw::pick([-1, 1_001]) : Draw::pick([null, 0, 1, 3, 3]);
        yield 'describe' => static fn (Client $client): mixed => $client->describeSchedule($schedule, $from);
        foreach (array_slice($ids, 0, 2) as $id) {
            yield "assign" => static fn (Client $client): mixed
                => $client->assignSlot($schedule, $id, $from, $count, $kind, $type);
        }
        yield 'batch' => static fn (Client $client): mixed
            => $client->assignSlots($schedule, $ids, $from, $kind, $type, columns: $columns, returnErrors: true);
        if ($type === null && is_int($ids[0])) {
            $packed = pack('P*', ...array_filter($ids, is_int(...)));
            yield 'packed' => static fn (Client $client): mixed
                => (array) $client->assignPacked($schedule, integers: $packed, fromTime: $from, kind: $kind, columns: $columns, returnErrors: true);
        }
        yield from DueQuestions::due($schedule, $ids, $type, $from, $kind);
        if (count($schedule->kinds) > 1) {
            yield 'late' => DueQuestions::late($schedule);
        } elseif ($schedule->kinds === []) {
            yield 'at once' => DueQuestions::atOnce($schedule, $ids[0], $type, $from);
        }
        yield from self::slots($schedule, $from, $kind);
        yield 'route' => self::route();
    }

    private static function slots(Schedule $schedule, DateTimeImmutable $start, ?string $kind): iterable
    {
        $names = Draw::errs(4) ? ['', str_repeat('n', 257), "a\0b"] : ['users', 'u', 'a"b', 'a`b', 'größe', '50%'];
        $name = static fn (): string => Draw::oneIn(5) ? Draw::pick($names) : 'users';
        $style = Draw::pick([null, ...SqlParameterStyle::cases()]);
        $dialect = Draw::pick(SqlDialect::cases());
        $isSqlite = $dialect === SqlDialect::Sqlite;
        $isNumbered = in_array($style, [SqlParameterStyle::Dollar, SqlParameterStyle::Named], true);
        $target = new SqlTarget(
            dialect: $dialect,
            table: $name(),
            column: $name(),
            columnType: Draw::pick($isSqlite && !Draw::errs(2) ? [SqlColumnType::HashDigits] : SqlColumnType::cases()),
            schema: Draw::oneIn(2) ? '' : $name(),
            tableAlias: Draw::oneIn(2) ? '' : $name(),
            parameterStyle: $style,
            firstParameterNumber: Draw::errs(4) ? Draw::pick([1, 0, 65_001]) : ($isNumbered ? Draw::pick([null, 1, 7, 65_000]) : null),
            timeZoneColumn: Draw::errs(8) ? 'zone' : '',
        );
        $period = is_numeric($schedule->period) ? $schedule->period : 3_600;
        $slots = max(1, $schedule->slotCount ?? 16);
        $length = (Draw::errs(5) ? Draw::pick([5_000, -1]) : Draw::pick([0, 0.001, 5, 40])) * max(0.001, $period) / $slots;
        $end = Times::shifted('x', $start, min($length, 9e11));
        yield 'slots' => static fn (Client $client): mixed
            => $client->listSlots($schedule, $start, $end, kind: $kind);
        if (($schedule->placement ?? Placement::Hash) !== Placement::Hash) {
            return; // only the sidecar makes predicates for other placements
        }
        yield 'predicates' => static fn (Client $client): mixed => $client->listSlots($schedule, $start, $end, $target, $kind);
        $behind = Times::shifted('x', $start, (Draw::errs(5) ? Draw::pick([1.5, -0.1]) : Draw::pick([0, 0.0005, 0.3, 0.9, 1])) * min(max(0.001, $period), 1e8));
        yield 'window' => static fn (Client $client): mixed => $client->windowPredicate($schedule, $target, $start, $behind, $kind);
    }

    private static function route(): \Closure
    {
        $lane = static fn (string $name, int $place): Lane => new Lane(
            $name,
            Draw::errs(8) ? -1 : Draw::pick([$name === 'middle' ? 0 : 1, 1, 3]),
            Draw::errs(8) || ($name === 'last' && Draw::oneIn(2)) ? null : 10 ** $place,
        );
        $names = Draw::errs(5) ? Draw::some(['express', 'middle', 'slow', 'slow']) : ['express', 'middle', 'slow "2"', 'slow', 'last'];
        $names = array_slice($names, 0, Draw::number(2, 5));
        $lanes = array_map($lane, $names, array_keys($names));
        $set = new LaneSet($lanes, onTimeout: Draw::pick([null, ...TimeoutAction::cases()]), maxExpressSlowProbability: Draw::errs(6) ? 1.5 : Draw::pick([null, 0.5, 1]));
        $timedOut = Draw::oneIn(2) ? [] : Draw::some(Draw::errs(3) ? ['express', 'none'] : array_slice($names, 0, 3));
        $prediction = Draw::errs(5)
            ? Draw::pick([LanePrediction::slowProbability(7), LanePrediction::runTime(-1)])
            : Draw::pick([null, LanePrediction::slowProbability(0.7), LanePrediction::runTime(50)]);
        $worker = Draw::errs(5) ? 'none' : Draw::pick([null, null, end($names)]);

        return static fn (Client $client): mixed => $client->routeJob($set, $timedOut, $prediction, $worker);
    }

    private static function kind(Schedule $schedule): ?string
    {
        $names = array_column($schedule->kinds, 'name');

        return Draw::errs(6) ? Draw::pick([null, 'default', 'import', 'two words', '✓']) : ($names === [] ? Draw::pick([null, 'sync']) : Draw::pick($names));
    }

    /** @return array{non-empty-list<mixed>, ?IdType} of one type; some of them invalid */
    private static function ids(Schedule $schedule): array
    {
        $isFraction = $schedule->placement === Placement::Fraction;
        $types = $isFraction && !Draw::errs(6)
            ? ['fraction']
            : ['uuid', 'bare', 'integer', 'decimal', ...($schedule->placement === Placement::Twister && !Draw::errs(4) ? [] : ['text'])];
        $type = Draw::errs(10) ? 'fraction' : Draw::pick($types);
        $digits = static fn (): string => bin2hex(Draw::bytes(16));
        $wrong = Draw::errs(3) ? static fn (): string => Draw::pick(['', '007', '+1', '-', str_repeat('9', 40), '340282366920938463463374607431768211456', "a\"b\n", str_repeat('x', 1_025)]) : null;
        $id = static fn (): mixed => match (true) {
            $wrong !== null && in_array($type, ['bare', 'decimal', 'text'], true) && Draw::oneIn(3) => $wrong(),
            $type === 'uuid' => preg_replace('/^(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', Draw::oneIn(2) ? $digits() : strtoupper($digits())),
            $type === 'bare' => $digits(),
            $type === 'integer' => Draw::pick([0, 1, -1, 256, -300, 2 ** 32, PHP_INT_MAX, PHP_INT_MIN, Draw::number(-10 ** 9, 10 ** 9)]),
            $type === 'decimal' => Draw::pick(['0', '-1', '340282366920938463463374607431768211455', '-340282366920938463463374607431768211455', gmp_strval(gmp_init(Draw::pick(['', '-']) . $digits(), 16))]),
            $type === 'fraction' => Draw::oneIn(8) ? Draw::pick([0.0, -0.0, 5e-324, 0.9999999999999999, 1.0, -0.5, 1e20, 1e-7, NAN]) : mt_rand() / 2 ** 31,
            default => Draw::text(),
        };
        $ids = array_map($id, range(1, Draw::number(2, 12)));

        return [$ids, match ($type) {
            'bare' => IdType::Uuid,
            'decimal' => IdType::Integer,
            'text' => IdType::Text,
            default => null,
        }];
    }
}
