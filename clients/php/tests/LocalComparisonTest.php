<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateTimeImmutable;
use Offbeat\AssignmentColumn;
use Offbeat\CatchUpPolicy;
use Offbeat\Client;
use Offbeat\DecidedBy;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\NeedsSidecar;
use Offbeat\Exception\OffbeatException;
use Offbeat\IdType;
use Offbeat\Kind;
use Offbeat\KindSpacing;
use Offbeat\Lanes\Lane;
use Offbeat\Lanes\LanePrediction;
use Offbeat\Lanes\LaneSet;
use Offbeat\Lanes\TimeoutAction;
use Offbeat\MissedRunPolicy;
use Offbeat\Mode;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\SqlColumnType;
use Offbeat\SqlDialect;
use Offbeat\SqlParameterStyle;
use Offbeat\SqlTarget;
use Offbeat\Times;
use Offbeat\TwisterProfile;

/**
 * Random questions, answered by the client alone and by a sidecar: every field of the answers is equal, and of the
 * refusals too. Another set of them each day; OFFBEAT_SALT repeats one.
 */
final class LocalComparisonTest extends OffbeatTestCase
{
    private const SCHEDULES = 2_000;
    private const LETTERS = ['', 'a', 'é', '✓', '%', '$1', "it's", '\\', '?', ':x', ' ', "\u{200b}", "\n"];

    private static Client $local;
    private static Client $remote;
    /** Whether what is drawn may be wrong. */
    private static bool $mayErr = false;
    private static int $answers = 0;
    private static int $refusals = 0;

    public static function setUpBeforeClass(): void
    {
        self::$local = new Client(mode: Mode::Local);
        self::$remote = new Client(Sidecar::shared()->address, mode: Mode::Remote);
    }

    public function testLocalAndRemoteAnswersAreEqual(): void
    {
        $salt = getenv('OFFBEAT_SALT') ?: gmdate('Y-m-d');
        fwrite(STDERR, "comparison of local and remote answers: OFFBEAT_SALT=$salt\n");
        mt_srand(crc32($salt));
        $methods = [];
        for ($number = 0; $number < self::SCHEDULES; ++$number) {
            self::$mayErr = self::oneIn(3);
            foreach (self::questions(self::schedule()) as $method => $ask) {
                $methods[$method] = ($methods[$method] ?? 0) + self::compare($ask, "OFFBEAT_SALT=$salt: schedule $number, $method");
            }
        }
        self::assertGreaterThan(5 * self::SCHEDULES, self::$answers);
        self::assertGreaterThan(self::SCHEDULES, self::$refusals);
        self::assertGreaterThan(self::SCHEDULES / 30, min($methods), json_encode($methods));
    }

    /** PHP's own generator is that of the application. */
    public function testTheGlobalGeneratorIsNotTouched(): void
    {
        $twister = new Schedule(period: 86_400, placement: Placement::Twister, profile: TwisterProfile::Php);
        mt_srand(7);
        $expected = [mt_rand(), mt_rand()];
        mt_srand(7);
        $given = [mt_rand()];
        self::$local->assignSlots($twister, range(1, 100));
        $given[] = mt_rand();
        self::assertSame($expected, $given);
    }

    /** @return iterable<string, \Closure(Client): mixed> */
    private static function questions(Schedule $schedule): iterable
    {
        $kind = self::kind($schedule);
        $from = self::instant();
        [$ids, $type] = self::ids($schedule);
        $columns = self::oneIn(3) ? self::some(AssignmentColumn::cases()) : [];
        $count = self::errs(5) ? self::pick([-1, 1_001]) : self::pick([null, 0, 1, 3, 3]);
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
                => (array) $client->assignPacked($schedule, integers: $packed, fromTime: $from, kind: $kind, columns: $columns);
        }
        yield from self::dueRuns($schedule, $ids, $type, $from, $kind);
        if (count($schedule->kinds) > 1) {
            yield 'late' => self::late($schedule);
        } elseif ($schedule->kinds === []) {
            yield 'at once' => self::atOnce($schedule, $ids[0], $type, $from);
        }
        yield from self::slots($schedule, $from, $kind);
        yield 'route' => self::route();
    }

    private static function dueRuns(Schedule $schedule, array $ids, ?IdType $type, DateTimeImmutable $now, ?string $kind): iterable
    {
        $period = is_numeric($schedule->period) ? $schedule->period : 3_600;
        $span = static fn (array $others = []): mixed => self::errs(6)
            ? self::pick([$period * 1.5, -1, 60])
            : self::pick([null, 0, $period, $period / 2, min(0.001, $period), min(0.0005, $period), ...$others]);
        $policy = self::oneIn(4) ? null : new CatchUpPolicy(
            missedRunPolicy: $policy = self::pick([null, MissedRunPolicy::Drop, MissedRunPolicy::RunOnce, MissedRunPolicy::RunOnce]),
            onTimeTolerance: $policy === MissedRunPolicy::Drop && !self::errs(4) ? 0.001 : self::pick([null, $schedule->kinds === [] ? $span() : 0.002]),
            horizon: self::errs(5) ? self::pick([0, 400_000_000]) : self::pick([null, min(30 * $period, 3e8)]),
            smearSpan: self::oneIn(2) || ($schedule->kinds !== [] && !self::errs(3)) ? null : $span(),
            minGap: self::oneIn(2) ? null : $span(),
        );
        $lookAhead = self::oneIn(2) ? null : $span();
        $skew = self::oneIn(2) ? null : $span();
        $since = static fn (): DateTimeImmutable => Times::shifted('x', $now, -(self::errs(8) ? self::pick([-0.9, -3]) : self::pick([0, 1, 0.5, 3, 20])) * min($period, 1e8));
        try {
            $watermark = $since();
            $watermarks = self::oneIn(3) ? array_map(static fn (): int => (int) $since()->format('Uv'), $ids) : null;
        } catch (\Throwable) {
            return; // before the year 1
        }
        $both = self::errs(6);
        yield 'due' => static fn (Client $client): mixed => $client->listDueRuns(
            $schedule,
            $ids,
            $watermarks === null || $both ? $watermark : null,
            $watermarks,
            $now,
            $policy,
            $lookAhead,
            $skew,
            $kind,
            $type,
            returnErrors: true,
        );
    }

    /** Many IDs that have missed their runs, near those of other kinds. */
    private static function late(Schedule $schedule): \Closure
    {
        $ids = range(1, 25);
        $now = Times::shifted('x', new DateTimeImmutable('2026-03-01T00:00:00Z'), self::number(0, 10 ** 9) / 1_000);
        $watermark = Times::shifted('x', $now, -1.5 * min((float) $schedule->period, 1e8));
        $kind = self::pick($schedule->kinds)->name;
        $policy = new CatchUpPolicy(onTimeTolerance: 0);
        $isFraction = $schedule->placement === Placement::Fraction;
        $ids = $isFraction ? array_map(static fn (int $id): float => $id / 26, $ids) : $ids;

        return static fn (Client $client): mixed => $client->listDueRuns($schedule, $ids, $watermark, null, $now, $policy, kind: $kind);
    }

    /** An ID that has missed a run, at the instant of the next one. */
    private static function atOnce(Schedule $schedule, mixed $id, ?IdType $type, DateTimeImmutable $from): \Closure
    {
        $policy = new CatchUpPolicy(onTimeTolerance: 0, minGap: self::pick([null, 0.001]));
        $since = -1.2 * min((float) $schedule->period, 1e8);

        return static function (Client $client) use ($schedule, $id, $type, $from, $policy, $since): mixed {
            $now = $client->assignSlot($schedule, $id, $from, idType: $type)->nextRun()->startTime;

            return $client->listDueRuns($schedule, [$id], Times::shifted('x', $now, $since), null, $now, $policy, idType: $type, returnErrors: true);
        };
    }

    private static function slots(Schedule $schedule, DateTimeImmutable $start, ?string $kind): iterable
    {
        $names = self::errs(4) ? ['', str_repeat('n', 257), "a\0b"] : ['users', 'u', 'a"b', 'a`b', 'größe', '50%'];
        $name = static fn (): string => self::oneIn(5) ? self::pick($names) : 'users';
        $style = self::pick([null, ...SqlParameterStyle::cases()]);
        $dialect = self::pick(SqlDialect::cases());
        $isSqlite = $dialect === SqlDialect::Sqlite;
        $isNumbered = in_array($style, [SqlParameterStyle::Dollar, SqlParameterStyle::Named], true);
        $target = new SqlTarget(
            dialect: $dialect,
            table: $name(),
            column: $name(),
            columnType: self::pick($isSqlite && !self::errs(2) ? [SqlColumnType::HashDigits] : SqlColumnType::cases()),
            schema: self::oneIn(2) ? '' : $name(),
            tableAlias: self::oneIn(2) ? '' : $name(),
            parameterStyle: $style,
            firstParameterNumber: self::errs(4) ? self::pick([1, 0, 65_001]) : ($isNumbered ? self::pick([null, 1, 7, 65_000]) : null),
            timeZoneColumn: self::errs(8) ? 'zone' : '',
        );
        $period = is_numeric($schedule->period) ? $schedule->period : 3_600;
        $slots = max(1, $schedule->slotCount ?? 16);
        $length = (self::errs(5) ? self::pick([5_000, -1]) : self::pick([0, 0.001, 5, 40])) * max(0.001, $period) / $slots;
        $end = Times::shifted('x', $start, min($length, 9e11));
        yield 'slots' => static fn (Client $client): mixed
            => $client->listSlots($schedule, $start, $end, kind: $kind);
        if (($schedule->placement ?? Placement::Hash) !== Placement::Hash) {
            return; // predicates of others are the sidecar's
        }
        yield 'predicates' => static fn (Client $client): mixed => $client->listSlots($schedule, $start, $end, $target, $kind);
        $behind = Times::shifted('x', $start, (self::errs(5) ? self::pick([1.5, -0.1]) : self::pick([0, 0.0005, 0.3, 0.9, 1])) * min(max(0.001, $period), 1e8));
        yield 'window' => static fn (Client $client): mixed => $client->windowPredicate($schedule, $target, $start, $behind, $kind);
    }

    private static function route(): \Closure
    {
        $lane = static fn (string $name, int $place): Lane => new Lane(
            $name,
            self::errs(8) ? -1 : self::pick([$name === 'middle' ? 0 : 1, 1, 3]),
            self::errs(8) || ($name === 'last' && self::oneIn(2)) ? null : 10 ** $place,
        );
        $names = self::errs(5) ? self::some(['express', 'middle', 'slow', 'slow']) : ['express', 'middle', 'slow "2"', 'slow', 'last'];
        $names = array_slice($names, 0, self::number(2, 5));
        $lanes = array_map($lane, $names, array_keys($names));
        $set = new LaneSet($lanes, onTimeout: self::pick([null, ...TimeoutAction::cases()]), maxExpressSlowProbability: self::errs(6) ? 1.5 : self::pick([null, 0.5, 1]));
        $timedOut = self::oneIn(2) ? [] : self::some(self::errs(3) ? ['express', 'none'] : array_slice($names, 0, 3));
        $prediction = self::errs(5)
            ? self::pick([LanePrediction::slowProbability(7), LanePrediction::runTime(-1)])
            : self::pick([null, LanePrediction::slowProbability(0.7), LanePrediction::runTime(50)]);
        $worker = self::errs(5) ? 'none' : self::pick([null, null, end($names)]);

        return static fn (Client $client): mixed => $client->routeJob($set, $timedOut, $prediction, $worker);
    }

    private static function schedule(): Schedule
    {
        $tick = self::errs(8) ? self::pick([0.3, 2, 0, 0.0001]) : self::pick([null, null, 1, 0.5, 0.25, 0.001, 0.04]);
        $period = self::pick([60, 3_600, 28_800, 86_400, 604_800, 86_400 * 3_660, self::number(1, 100_000)]);
        $period = $tick === null || self::oneIn(2) ? $period : self::pick([3, 7, 250]) * $tick;
        $period = self::errs(8) ? self::pick([0, -5, 86_400 * 3_660 + 1, 0.0001, null]) : $period;
        $placement = self::pick([null, Placement::Hash, Placement::Hash, Placement::Twister, Placement::Fraction]);
        $isHash = $placement === null || $placement === Placement::Hash;
        $isTwister = $placement === Placement::Twister;
        $kinds = self::oneIn(2) ? self::kinds($period) : [];
        $hasRunTimes = ($kinds[0] ?? null)?->runTime !== null;
        $salt = self::errs(8) ? str_repeat('s', 257) : ($isHash || self::errs(8) ? self::pick(['', self::text()]) : '');

        return new Schedule(
            period: $period,
            slotCount: self::slotCount($period, $tick, $isTwister),
            placement: $placement,
            salt: $salt,
            profile: $isTwister ? TwisterProfile::Php : (self::errs(10) ? TwisterProfile::Ruby : null),
            bucketCount: self::errs(10) ? self::pick([256, 512]) : ($isTwister ? self::pick([null, 65_536]) : null),
            resolution: $tick,
            anchorTime: self::errs(3) ? self::instant() : self::pick([null, new DateTimeImmutable('2026-01-05T00:00:00Z')]),
            kinds: $kinds,
            kindSpacing: $kinds === [] || $hasRunTimes ? (self::errs(8) ? KindSpacing::Stable : null) : self::pick([null, ...KindSpacing::cases()]),
            catchUpSpan: self::catchUpSpan($period, count($kinds)),
        );
    }

    private static function slotCount(mixed $period, mixed $tick, bool $isTwister): ?int
    {
        if (self::errs(8)) {
            return self::pick([0, -1, 7, 97, 1_048_577, 65_537, 524_288]);
        }
        $ticks = is_numeric($period) ? (int) round($period / (($tick ?? 1) ?: 1)) : 0;
        $divides = static fn (int $count): bool => $ticks % $count === 0;

        return $period == (int) $period && self::oneIn(3) ? null : self::pick(array_filter(range(1, $isTwister ? 256 : 2_000), $divides));
    }

    private static function catchUpSpan(mixed $period, int $kinds): int|float|null
    {
        return match (true) {
            $kinds === 0 => self::errs(10) ? 5 : null,
            self::errs(6) => self::pick([$period, 0, -1]),
            default => self::oneIn(3) ? $period / self::pick([2, 3, 4]) / $kinds : null,
        };
    }

    private static function kinds(mixed $period): array
    {
        $names = array_slice(['import', 'export', 'mail', 'a.b', 'x-y_z'], 0, self::number(1, self::oneIn(3) ? 5 : 2));
        $names = self::errs(8) ? [...$names, self::pick(['import', '', 'two words', str_repeat('k', 65)])] : $names;
        $longest = self::errs(4) ? 1.5 : 1 / count($names) / 4;
        $runTime = static fn (): mixed => self::errs(20) ? self::pick([null, -1]) : self::pick([0, 0.001, (float) $period * $longest, (float) $period * $longest / 3]);
        $hasRunTimes = !self::oneIn(3);

        return array_map(static fn (string $name): Kind => new Kind($name, $hasRunTimes ? $runTime() : null), $names);
    }

    private static function kind(Schedule $schedule): ?string
    {
        $names = array_column($schedule->kinds, 'name');

        return self::errs(6) ? self::pick([null, 'default', 'import', 'two words', '✓']) : ($names === [] ? self::pick([null, 'sync']) : self::pick($names));
    }

    /** @return array{non-empty-list<mixed>, ?IdType} of one type; some of them wrong */
    private static function ids(Schedule $schedule): array
    {
        $isFraction = $schedule->placement === Placement::Fraction;
        $types = $isFraction && !self::errs(6)
            ? ['fraction']
            : ['uuid', 'bare', 'integer', 'decimal', ...($schedule->placement === Placement::Twister && !self::errs(4) ? [] : ['text'])];
        $type = self::errs(10) ? 'fraction' : self::pick($types);
        $digits = static fn (): string => bin2hex(self::bytes(16));
        $wrong = self::errs(3) ? static fn (): string => self::pick(['', '007', '+1', '-', str_repeat('9', 40), '340282366920938463463374607431768211456', "a\"b\n", str_repeat('x', 1_025)]) : null;
        $id = static fn (): mixed => match (true) {
            $wrong !== null && in_array($type, ['bare', 'decimal', 'text'], true) && self::oneIn(3) => $wrong(),
            $type === 'uuid' => preg_replace('/^(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', self::oneIn(2) ? $digits() : strtoupper($digits())),
            $type === 'bare' => $digits(),
            $type === 'integer' => self::pick([0, 1, -1, 256, -300, 2 ** 32, PHP_INT_MAX, PHP_INT_MIN, self::number(-10 ** 9, 10 ** 9)]),
            $type === 'decimal' => self::pick(['0', '-1', '340282366920938463463374607431768211455', '-340282366920938463463374607431768211455', gmp_strval(gmp_init(self::pick(['', '-']) . $digits(), 16))]),
            $type === 'fraction' => self::oneIn(8) ? self::pick([0.0, -0.0, 5e-324, 0.9999999999999999, 1.0, -0.5, 1e20, 1e-7, NAN]) : mt_rand() / 2 ** 31,
            default => self::text(),
        };
        $ids = array_map($id, range(1, self::number(2, 12)));

        return [$ids, match ($type) {
            'bare' => IdType::Uuid,
            'decimal' => IdType::Integer,
            'text' => IdType::Text,
            default => null,
        }];
    }

    private static function compare(\Closure $ask, string $name): int
    {
        $state = mt_rand();
        mt_srand($state); // what a question draws is the same for both
        $local = self::outcome($ask, self::$local, DecidedBy::Local);
        mt_srand($state);
        $remote = self::outcome($ask, self::$remote, DecidedBy::Sidecar);
        if ($local !== $remote) {
            $lines = static fn (array $outcome): string => str_replace(';', ";\n", var_export($outcome, true));
            self::assertSame($lines($remote), $lines($local), $name);
        }

        return isset($local['refused']) ? 0 : 1;
    }

    /** @return array<string, mixed> */
    private static function outcome(\Closure $ask, Client $client, DecidedBy $by): array
    {
        try {
            $answer = $ask($client);
        } catch (BadIds $refused) {
            throw $refused;
        } catch (NeedsSidecar $needs) {
            self::fail("needs a sidecar: {$needs->getMessage()}");
        } catch (OffbeatException $refused) {
            ++self::$refusals;
            $details = $refused->details;
            if ($details !== []) {
                ksort($details[0]['metadata']); // a map, which has no order
            }

            return ['refused' => [
                $refused::class, $refused->getMessage(), $refused->reason, $refused->field, $refused->value, $refused->allowed,
                $refused->retryDelay, $details,
            ]];
        }
        ++self::$answers;
        $serialized = serialize($answer);
        self::assertSame(str_contains($serialized, 'Offbeat\DecidedBy'), str_contains($serialized, "DecidedBy:$by->name"));

        return ['answer' => preg_replace('/E:\d+:"Offbeat\\\\DecidedBy:\w+"/', '', $serialized)];
    }

    private static function instant(): DateTimeImmutable
    {
        $text = self::pick([
            '2026-01-01T00:00:00Z', '2038-01-19T03:14:08.999999Z', '1969-12-31T23:59:59.5Z', '1955-11-12T22:04:00.001Z', '0001-01-01T00:00:00Z',
            '9999-12-31T23:59:59Z', '2026-07-01T12:00:00.0005Z',
        ]);

        return self::oneIn(2) ? (new DateTimeImmutable('@' . self::number(0, 4 * 10 ** 9))) : new DateTimeImmutable($text);
    }

    private static function text(): string
    {
        return implode('', array_map(static fn (): string => self::pick(self::LETTERS), range(1, self::number(1, 4)))) . self::number(0, 1_000);
    }

    private static function bytes(int $count): string
    {
        return implode('', array_map(static fn (): string => chr(self::number(0, 255)), range(1, $count)));
    }

    /** Whether to be wrong. */
    private static function errs(int $oneIn): bool
    {
        return self::$mayErr && self::oneIn($oneIn);
    }

    private static function isRare(mixed $value): bool
    {
        return crc32(serialize($value)) % 7 === 0;
    }

    private static function oneIn(int $count): bool
    {
        return mt_rand(1, $count) === 1;
    }

    private static function number(int $least, int $most): int
    {
        return mt_rand($least, $most);
    }

    private static function pick(array $values): mixed
    {
        $values = array_values($values);

        return $values[mt_rand(0, count($values) - 1)];
    }

    private static function some(array $values): array
    {
        shuffle($values);

        return array_slice($values, 0, mt_rand(1, count($values)));
    }
}
