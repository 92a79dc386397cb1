<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use DateTimeImmutable;
use Offbeat\AssignmentColumn;
use Offbeat\CatchUpPolicy;
use Offbeat\IdType;
use Offbeat\KindSpacing;
use Offbeat\Lanes\Lane;
use Offbeat\Lanes\LaneSet;
use Offbeat\Lanes\RunTimes;
use Offbeat\LatenessRecorder;
use Offbeat\MissedRunPolicy;
use Offbeat\NewId;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\SqlColumnType;
use Offbeat\SqlDialect;
use Offbeat\SqlTarget;
use Offbeat\Stages\Stage;

/** Answers survive queue messages, by serialize() and by json_encode(). */
final class QueueMessagesTest extends OffbeatTestCase
{
    public function testARunInJsonHasOneForm(): void
    {
        $schedule = new Schedule(period: 8 * 3600, slotCount: 96);
        $run = self::client()->assignSlot($schedule, 'acme', fromTime: self::noon(), kind: 'sync')->nextRun();
        $runKey = self::client()->describeSchedule($schedule)->fingerprint . "/sync/$run->cycleIndex/0/acme";
        self::assertSame([
            'late' => false,
            'id' => 'acme',
            'runKey' => $runKey,
            'runId' => substr(hash('sha256', $runKey), 0, 32),
            'nominalTime' => null,
            'scheduledTime' => $run->startTime->format('Y-m-d\TH:i:s\Z'),
            'startTime' => $run->startTime->format('Y-m-d\TH:i:s\Z'),
            'cycleIndex' => $run->cycleIndex,
            'pieceIndex' => 0,
            'kind' => 'sync',
        ], json_decode(json_encode($run), true));
        // The worker computes from it how late the job starts.
        $message = json_decode(json_encode(['run' => $run]), true)['run'];
        $scheduled = new DateTimeImmutable($message['scheduledTime']);
        self::assertEquals($run->scheduledTime, $scheduled);
        self::assertSame(2.5, (new LatenessRecorder('sync'))->record($scheduled, $run->startTime->modify('+2500 milliseconds')));
    }

    public function testInstantsAndSpansAreExact(): void
    {
        $fine = new Schedule(period: 0.5, slotCount: 2, resolution: 0.001);
        $row = json_decode(json_encode(self::client()->assignSlots($fine, [7], fromTime: new DateTimeImmutable('1969-12-31T23:59:58.123456Z'))[0]), true);
        self::assertMatchesRegularExpression('/^1969-12-31T23:59:58(\.\d{3})?Z$/D', $row['nextRun']['startTime']);
        self::assertIsFloat($row['slotOffset']);
        self::assertLessThan(0.25, $row['slotOffset']);
        $plan = self::client()->planMigration($fine, self::eightHours(), cutoverTime: new DateTimeImmutable('2026-03-01T13:00:00.25+01:00'));
        self::assertSame(['2026-03-01T12:00:00.250Z', null], [json_decode(json_encode($plan))->cutoverTime, json_decode(json_encode($plan))->ids]);
    }

    /** @requires extension gmp */
    public function testIdsStayAsTheyWereGiven(): void
    {
        $big = gmp_sub(gmp_pow(2, 128), 1);
        $uuid = '0190D7A2-1111-7abc-8def-0123456789ab';
        $fractions = new Schedule(period: 28_800, placement: Placement::Fraction);
        foreach ([
            [self::eightHours(), PHP_INT_MAX, null, '9223372036854775807'],
            [self::eightHours(), $big, null, '"340282366920938463463374607431768211455"'],
            [self::eightHours(), $uuid, null, "\"$uuid\""],
            [self::eightHours(), '42', null, '"42"'],
            [self::eightHours(), '-7', IdType::Integer, '"-7"'],
            [self::eightHours(), 'Straße/☕', null, '"Straße/☕"'],
            [$fractions, 0.1, null, '0.1'],
        ] as [$schedule, $id, $type, $json]) {
            foreach ([
                self::client()->assignSlot($schedule, $id, idType: $type)->nextRun(),
                self::client()->assignSlots($schedule, [$id], idType: $type)[0],
            ] as $answer) {
                self::assertEquals($id, $answer->id);
                self::assertEquals($answer, $again = unserialize(serialize($answer)));
                self::assertSame(get_debug_type($answer->id), get_debug_type($again->id));
                self::assertStringContainsString("\"id\":$json,", json_encode($answer, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE));
            }
        }
    }

    public function testAllAnswersGoIntoMessages(): void
    {
        foreach (self::answers() as $name => $answer) {
            $again = unserialize(serialize($answer));
            $json = json_encode($answer, JSON_THROW_ON_ERROR);
            self::assertSame($json, json_encode($again, JSON_THROW_ON_ERROR), $name);
            self::assertSame($answer::class, $again::class);
            self::assertNotSame('{}', $json, $name);
            // The form that json_encode() gives to PHP's own instants and spans.
            self::assertStringNotContainsString('timezone_type', $json, $name);
            self::assertStringNotContainsString('from_string', $json, $name);
            foreach (array_keys(json_decode($json, true)) as $key) {
                self::assertMatchesRegularExpression('/^([a-z][A-Za-z0-9]*|\d+)$/D', (string) $key, 'camel case, as in PHP');
            }
        }
    }

    public function testWhatAnAnswerCanStillDoAfterItsJourney(): void
    {
        $client = self::client();
        $due = $client->listDueRuns(self::eightHours(), ['a', 'b'], watermark: self::noon()->modify('-8 hours'), nowTime: self::noon());
        $again = unserialize(serialize($due));
        self::assertEquals(iterator_to_array($due), iterator_to_array($again));
        self::assertSame($due->runKey(1), $again->runKey(1));
        $route = unserialize(serialize($client->routeJob(new LaneSet([new Lane('express', 1, 60), new Lane('slow', 1)]))));
        self::assertEqualsWithDelta(60, $route->deadline()->remaining(), 1);
    }

    /** @return array<string, object> */
    private static function answers(): array
    {
        $client = self::client();
        $schedule = new Schedule(period: 8 * 3600, slotCount: 96, weightQuantum: 10);
        $kinds = new Schedule(period: 8 * 3600, slotCount: 96, kinds: ['import', 'export'], kindSpacing: KindSpacing::Stable);
        $assigned = $client->assignSlot($schedule, 'acme', fromTime: self::noon(), weight: 25, newId: new NewId(self::noon()));
        $rows = $client->assignSlots($schedule, ['acme'], fromTime: self::noon(), weights: [25], columns: AssignmentColumn::cases());
        $due = $client->listDueRuns(
            $schedule,
            ['acme'],
            watermark: self::noon()->modify('-1 day'),
            nowTime: self::noon(),
            catchUpPolicy: new CatchUpPolicy(MissedRunPolicy::RunAll),
        );
        $target = new SqlTarget(SqlDialect::Sqlite, 'account', 'hash', SqlColumnType::HashDigits);
        $plan = $client->planMigration(self::eightHours(), new Schedule(3600), ids: ['acme'], sqlTarget: $target);
        $lanes = new LaneSet([new Lane('express', 1, new DateInterval('PT1M')), new Lane('slow', 1)]);
        $spread = $client->namedSpread('messages', feederCount: 1);

        return [
            'assignment' => $assigned,
            'piece' => $assigned->pieces[1],
            'explanation' => $assigned->explanation,
            'rows' => $rows,
            'row' => $rows[0],
            'due runs' => $due,
            'due run' => $due[0],
            'plan' => $plan,
            'step' => $plan->steps[0],
            'migrated IDs' => $plan->ids,
            'migrated ID' => $plan->ids[0],
            'description' => $client->describeSchedule($kinds, population: 1_000),
            'slot' => $client->listSlots(self::eightHours(), startTime: self::noon(), sqlTarget: $target)[0],
            'audit' => $client->auditIds(self::eightHours(), range(1, 10)),
            'reciprocals' => $client->reciprocalSlots(self::eightHours(), kindCount: 2),
            'comparison' => $client->compareSchedules([self::eightHours(), self::eightHours()]),
            'server' => $client->serverInfo(),
            'route' => $client->routeJob($lanes),
            'failure' => $client->routeJob(new LaneSet([new Lane('express', 1, 60), new Lane('slow', 1, 90)]), ['slow']),
            'dispatched' => $client->dispatchJobs($lanes, ['express' => 1], []),
            'split' => $client->splitWorkers($lanes, []),
            'lane plan' => $client->planLanes(RunTimes::samples([1, 2, 3]), 0.1, 2, timeout: 60),
            'allocation' => $client->allocateWorkers([new Stage('a', 1, 1)], 2),
            'choice' => $client->chooseStage([new Stage('a', 1, 1)]),
            'spread' => $spread->open(),
            'group' => $spread->producer()->submit('a', ['0']),
            'pulled' => $spread->pull('one', 1),
        ];
    }
}
