<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateTimeImmutable;
use Offbeat\CalendarCycle;
use Offbeat\CalendarUnit;
use Offbeat\CatchUpPolicy;
use Offbeat\Client;
use Offbeat\CycleWindow;
use Offbeat\DatedExclusion;
use Offbeat\DecidedBy;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NeedsSidecar;
use Offbeat\Exception\NoAnswer;
use Offbeat\Exception\OffbeatException;
use Offbeat\IdType;
use Offbeat\Lanes\Lane;
use Offbeat\Lanes\LaneSet;
use Offbeat\MissedRunPolicy;
use Offbeat\Mode;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\ScheduleReference;
use Offbeat\TwisterProfile;

/** Modes: who decides, and which requests the client refuses to decide alone. */
final class LocalModeTest extends OffbeatTestCase
{
    private const NOBODY = '127.0.0.1:1';

    public function testWhoDecidesIsSaid(): void
    {
        $address = Sidecar::shared()->address;
        foreach ([
            [new Client($address), DecidedBy::Sidecar],
            [new Client($address, mode: 'auto'), DecidedBy::Local],
            [new Client($address, mode: Mode::Local), DecidedBy::Local],
            [new Client(self::NOBODY, mode: 'auto'), DecidedBy::Local],
        ] as [$client, $by]) {
            foreach (self::answers($client, self::eightHours()) as $answer) {
                self::assertSame($by, $answer->decidedBy);
            }
            self::assertSame($by->value, json_decode(json_encode($client->assignSlot(self::eightHours(), 'acme')), true)['decidedBy']);
        }
    }

    public function testAutoAsksTheSidecarForWhatItMust(): void
    {
        $auto = new Client(Sidecar::shared()->address, mode: Mode::Auto);
        foreach (self::answers($auto, self::berlin()) as $answer) {
            self::assertSame(DecidedBy::Sidecar, $answer->decidedBy);
        }
        self::assertSame(2, count($auto->assignSlot(new Schedule(period: 3_600, weightQuantum: 5), 'a', weight: 9)->pieces));
        self::assertSame('offbeat', explode('-', 'offbeat-' . $auto->serverInfo()->version)[0]);
        self::assertNotSame([], $auto->listSlots(self::berlin()));
    }

    public function testBatchesOfAThousandGoToTheSidecarIfThereIsOne(): void
    {
        $noon = self::noon();
        $asks = [
            static fn (Client $client, array $ids): object => $client->assignSlots(self::eightHours(), $ids, $noon),
            static fn (Client $client, array $ids): object => $client->assignPacked(self::eightHours(), integers: pack('P*', ...$ids), fromTime: $noon),
            static fn (Client $client, array $ids): object => $client->listDueRuns(self::eightHours(), $ids, $noon->modify('-1 day'), nowTime: $noon),
        ];
        foreach ($asks as $ask) {
            $auto = new Client(Sidecar::shared()->address, mode: Mode::Auto);
            self::assertSame(DecidedBy::Local, $ask($auto, range(1, 999))->decidedBy);
            $many = $ask($auto, range(1, 1_000));
            self::assertSame(DecidedBy::Sidecar, $many->decidedBy);
            $alone = $ask(new Client(self::NOBODY, mode: Mode::Auto), range(1, 1_000));
            self::assertSame(DecidedBy::Local, $alone->decidedBy);
            self::assertEquals(self::withoutDecider($many), self::withoutDecider($alone));
        }
        // The last batch of a call counts too.
        self::assertSame(DecidedBy::Sidecar, $auto->assignSlots(self::eightHours(), range(1, 65_600), $noon)->decidedBy);
    }

    public function testLocalModeRefusesWhatNeedsASidecar(): void
    {
        $local = new Client(mode: Mode::Local);
        $lanes = new LaneSet([new Lane('a', 1, 1), new Lane('b', 1)]);
        $day = new CalendarCycle(CalendarUnit::Day, 'UTC');
        $schedules = [
            'a calendar cycle needs a sidecar: clients decide elapsed periods alone' => self::berlin(),
            'active windows' => new Schedule(period: 3_600, activeWindows: [new CycleWindow(0, 60)]),
            'exclusions' => new Schedule(period: 3_600, exclusions: [new DatedExclusion(self::noon(), self::noon()->modify('+1 hour'))]),
            'weights' => new Schedule(period: 3_600, weightQuantum: 5),
            'kind conflicts' => new Schedule(period: 3_600, kinds: ['a', 'b'], kindConflicts: [['a', 'b']]),
            'profile' => new Schedule(period: 3_600, placement: Placement::Twister),
            'by name' => new ScheduleReference('nightly', 1),
        ];
        foreach ($schedules as $words => $schedule) {
            self::assertStringContainsString($words, (string) $local->localRefusal($schedule));
            self::assertSame($local->localRefusal($schedule), (new Client(self::NOBODY))->localRefusal($schedule));
            $thrown = self::thrown(NeedsSidecar::class, static fn () => $local->assignSlots($schedule, ['acme']));
            self::assertSame($local->localRefusal($schedule), $thrown->getMessage());
        }
        $hash = self::eightHours();
        self::assertNull($local->localRefusal($hash));
        foreach ([
            static fn () => $local->serverInfo(),
            static fn () => $local->describeSchedule($hash, population: 5),
            static fn () => $local->assignSlot($hash, 'a', weight: 5),
            static fn () => $local->assignSlot($hash, 'a', timeZone: 'UTC'),
            static fn () => $local->assignSlots($hash, ['a'], weights: [5]),
            static fn () => $local->assignSlots($hash, ['a'], timeZones: ['UTC']),
            static fn () => $local->listDueRuns($hash, ['a'], self::noon(), catchUpPolicy: new CatchUpPolicy(MissedRunPolicy::RunAll)),
            static fn () => $local->auditIds($hash, ['a']),
            static fn () => $local->planMigration($hash, $hash, ['a'], self::noon()),
            static fn () => $local->compareSchedules([$hash, $hash]),
            static fn () => $local->reciprocalSlots($hash, kindCount: 2),
            static fn () => $local->dispatchJobs($lanes, [], []),
            static fn () => $local->listSchedules(),
            static fn () => iterator_to_array($local->spread([['a']], 1)),
            static fn () => $local->namedSpread('mail', feederCount: 1)->open(),
        ] as $ask) {
            self::assertStringContainsString('need', self::thrown(NeedsSidecar::class, $ask)->getMessage());
        }
        self::assertSame('a', $local->routeJob($lanes)->laneName);
        self::assertInstanceOf(OffbeatException::class, new NeedsSidecar('why'));
        // An invalid schedule is refused in every mode.
        self::assertSame('schedule.spec.slot_count', self::thrown(InvalidArgument::class, static fn () => $local->localRefusal(new Schedule(period: 60, slotCount: 7)))->field);
    }

    public function testWrongWordsAreRefused(): void
    {
        foreach ([
            ['mode', static fn () => new Client(mode: 'lokal')],
            ['timeout', static fn () => new Client(timeout: 'weeb')],
            ['timeout', static fn () => new Client(timeout: '5')],
            ['timeout', static fn () => new Client(timeout: NAN)],
            ['timeout', static fn () => (new Client(mode: 'local'))->assignSlot(self::eightHours(), 1, timeout: 0)],
            ['timeout', static fn () => (new Client(mode: 'local'))->assignSlots(self::eightHours(), [1], timeout: 0)],
            ['clock', static fn () => new Client(clock: static fn () => self::noon())],
            ['clock', static fn () => new Client(mode: 'auto', clock: static fn () => self::noon())],
        ] as [$field, $make]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $make)->field);
        }
        foreach (['OFFBEAT_MODE' => 'x', 'OFFBEAT_TIMEOUT' => 'x'] as $name => $value) {
            self::withVariable($name, $value, static function () use ($name): void {
                self::assertSame($name, self::thrown(InvalidArgument::class, static fn () => new Client())->field);
            });
        }
    }

    public function testVariablesSayWhatArgumentsDoNot(): void
    {
        self::withVariable('OFFBEAT_MODE', 'local', static function (): void {
            self::assertSame(Mode::Local, (new Client())->mode);
            self::assertSame(Mode::Remote, (new Client(mode: 'remote'))->mode);
        });
        foreach (['web' => 0.3, 'worker' => 10.0, '2.5' => 2.5] as $word => $seconds) {
            self::withVariable('OFFBEAT_TIMEOUT', (string) $word, static fn () => self::assertSame($seconds, (new Client())->timeout));
        }
        self::assertSame([0.3, 10.0, 10.0], [(new Client(timeout: 'web'))->timeout, (new Client(timeout: 'worker'))->timeout, (new Client())->timeout]);
    }

    public function testShardsAreSlots(): void
    {
        $remote = self::client();
        foreach (['acme', '', 42, '0190d7a2-1111-7abc-8def-0123456789ab', gmp_init('340282366920938463463374607431768211455')] as $id) {
            foreach ([1, 7, 1_048_576] as $count) {
                $schedule = new Schedule(period: $count, slotCount: $count, salt: 'é');
                self::assertSame($remote->assignSlot($schedule, $id)->slotIndex, Client::shard($id, $count, 'é'));
            }
        }
        self::assertSame(Client::shard(42, 64), $remote->shard('42', 64, idType: IdType::Integer));
        foreach ([
            ['shard_count', static fn () => Client::shard('a', 0)],
            ['shard_count', static fn () => Client::shard('a', 1_048_577)],
            ['salt', static fn () => Client::shard('a', 2, str_repeat('s', 257))],
            ['id.text', static fn () => Client::shard(str_repeat('x', 1_025), 2)],
        ] as [$field, $ask]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask)->field);
        }
    }

    /** Pages from the client alone and from a sidecar are interchangeable. */
    public function testPagesOfLocalAndRemoteAnswersAreEqual(): void
    {
        $twister = new Schedule(period: 4, slotCount: 2, placement: Placement::Twister, profile: TwisterProfile::Php);
        $ids = range(1, 60_000);
        $ask = static fn (Client $client): object
            => $client->listDueRuns($twister, $ids, self::noon()->modify('-1 day'), nowTime: self::noon(), lookAhead: 4, kind: 'x');
        $remote = $ask(self::client());
        self::assertGreaterThan(65_536, count($remote));
        $local = $ask(new Client(mode: Mode::Local));
        self::assertEquals(self::withoutDecider($remote), self::withoutDecider($local));
    }

    public function testAutoDoesNotMindWhoElseListensThere(): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $other = new Process([PHP_BINARY, '-S', $address, '-t', __DIR__ . '/Random']);
        $other->waitFor('/started/');
        self::thrown(OffbeatException::class, static fn () => (new Client($address))->serverInfo());
        $auto = new Client($address, mode: Mode::Auto);
        self::assertSame(DecidedBy::Local, $auto->assignSlots(self::eightHours(), range(1, 1_000))->decidedBy);
        $other->end();
    }

    public function testWithoutASidecarAutoDoesNotWait(): void
    {
        $started = microtime(true);
        $auto = new Client(self::NOBODY, mode: Mode::Auto);
        $auto->assignSlots(self::eightHours(), range(1, 2_000));
        self::assertLessThan(0.5, microtime(true) - $started);
        self::thrown(NoAnswer::class, static fn () => $auto->describeSchedule(self::berlin(), timeout: 0.1));
    }

    /** @return list<object> */
    private static function answers(Client $client, Schedule $schedule): array
    {
        $noon = self::noon();

        return [
            $client->describeSchedule($schedule),
            $client->assignSlot($schedule, 'acme'),
            $client->assignSlots($schedule, ['acme', 'globex']),
            $client->assignSlots($schedule, []),
            $client->assignPacked($schedule, integers: pack('P*', 1, 2)),
            $client->assignPacked($schedule, integers: ''),
            $client->listDueRuns($schedule, ['acme'], $noon, nowTime: $noon->modify('+1 day')),
            $client->listDueRuns($schedule, [], $noon),
            ...iterator_to_array($client->streamSlotAssignments($schedule, ['acme']), false),
        ];
    }

    private static function withoutDecider(object $answer): string
    {
        return preg_replace('/E:\d+:"Offbeat\\\\DecidedBy:\w+"/', '', serialize($answer));
    }

    private static function berlin(): Schedule
    {
        return new Schedule(calendar: new CalendarCycle(CalendarUnit::Day, 'Europe/Berlin'));
    }

    private static function withVariable(string $name, string $value, \Closure $then): void
    {
        putenv("$name=$value");
        try {
            $then();
        } finally {
            putenv($name);
        }
    }
}
