<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use DateTimeImmutable;
use Offbeat\Client;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\Unavailable;
use Offbeat\LatenessRecorder;
use Offbeat\Row;
use Offbeat\Run;
use Offbeat\ScheduleReference;
use Prometheus\CollectorRegistry;
use Prometheus\Storage\InMemory;

/** How late runs start, in the metrics of the application and in those of the sidecar. */
final class LatenessTest extends OffbeatTestCase
{
    public function testLatenessIsFromScheduledToStartedAndNeverBelowZero(): void
    {
        $lateness = new LatenessRecorder('nightly');
        $scheduled = new DateTimeImmutable('2026-03-01T12:00:00.250Z');
        foreach ([
            ['2026-03-01T12:00:00.250Z', 0.0],
            ['2026-03-01T12:00:01.000Z', 0.75],
            ['2026-03-01T13:00:00.250+01:00', 0.0],
            ['2026-03-01T11:59:59Z', 0.0],
            ['2026-03-02T12:00:00.250001Z', 86_400.000001],
        ] as [$started, $seconds]) {
            self::assertSame($seconds, $lateness->record($scheduled, new DateTimeImmutable($started)));
        }
        $run = new Run('acme', 'key', 'id', $scheduled->modify('-1 hour'), $scheduled, $scheduled->modify('+1 hour'), 1, 0, 'sync');
        $none = new DateInterval('PT0S');
        foreach ([$run, new Row('acme', 0, 0, $none, $none, nextRun: $run)] as $given) {
            self::assertSame(10.0, $lateness->record($given, $scheduled->modify('+10 seconds')));
        }
        self::assertEqualsWithDelta(60, $lateness->record(new DateTimeImmutable('-1 minute')), 1);
        self::assertNull($lateness->lastError());
    }

    public function testRegistriesHaveAHistogram(): void
    {
        $registry = new CollectorRegistry(new InMemory(), false);
        $lateness = new LatenessRecorder(new ScheduleReference('nightly', 2), kind: 'sync', metrics: $registry);
        foreach ([0, 3, 90] as $seconds) {
            $lateness->record(self::noon(), self::noon()->modify("+$seconds seconds"));
        }
        (new LatenessRecorder('nightly', metrics: $registry))->record(self::noon(), self::noon());
        self::assertNull($lateness->lastError());
        [$family] = $registry->getMetricFamilySamples();
        self::assertSame(['offbeat_run_lateness_seconds', ['schedule', 'kind']], [$family->getName(), $family->getLabelNames()]);
        $samples = [];
        foreach ($family->getSamples() as $sample) {
            $samples[substr($sample->getName(), 29) . implode(' ', $sample->getLabelValues())] = (float) $sample->getValue();
        }
        self::assertSame(
            [3.0, 93.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 1.0],
            array_map(
                static fn (string $name): float => $samples[$name],
                ['countnightly sync', 'sumnightly sync', 'bucketnightly sync 0.1', 'bucketnightly sync 1', 'bucketnightly sync 5',
                    'bucketnightly sync 60', 'bucketnightly sync 300', 'bucketnightly sync +Inf', 'countnightly default'],
            ),
        );
    }

    public function testClosuresAreCalled(): void
    {
        $called = [];
        $lateness = new LatenessRecorder('nightly', 'sync', static function (mixed ...$given) use (&$called): void {
            $called[] = $given;
        });
        $lateness->record(self::noon(), self::noon()->modify('+2 seconds'));
        self::assertSame([[2.0, 'nightly', 'sync']], $called);
    }

    /** @dataProvider transports */
    public function testTheSidecarIsToldInBatches(string $kind): void
    {
        [$sidecar, $metrics] = self::withMetrics();
        $client = new Client($sidecar->address, transport: $kind);
        $lateness = new LatenessRecorder('nightly', 'sync', client: $client);
        $scheduled = self::noon();
        for ($run = 1; $run < 500; ++$run) {
            $lateness->record($scheduled, $scheduled->modify('+400 milliseconds'));
        }
        self::assertNull($lateness->lastError());
        self::assertArrayNotHasKey('count', $metrics());
        $lateness->record($scheduled, $scheduled->modify('+20 years'));
        self::assertNull($lateness->lastError());
        self::assertSame(500.0, $metrics()['count']);
        $lateness->record($scheduled, $scheduled->modify('-1 hour'));
        self::assertSame(500.0, $metrics()['count']);
        $lateness->flush();
        $lateness->flush();
        self::assertSame(501.0, $metrics()['count']);
        $lateness->record($scheduled, $scheduled);
        unset($lateness);
        self::assertSame(502.0, $metrics()['count']);
        self::assertEqualsWithDelta(499 * 0.4 + 366 * 86_400, $metrics()['sum'], 0.01);
        self::assertTrue($client->recordLateness('nightly', [0.5, 1, new DateInterval('PT2S')], 'sync'));
        self::assertEqualsWithDelta(499 * 0.4 + 366 * 86_400 + 3.5, $metrics()['sum'], 0.01);
        self::assertTrue($client->recordLateness(new ScheduleReference('nightly', 3), [1], 'mail'));
        self::assertSame(1.0, $metrics('nightly', 'mail')['count']);
        self::assertTrue($client->recordLateness('nightly/4', [1], 'mail')); // the same, named as text
        (new LatenessRecorder('nightly/5', kind: 'mail', client: $client))->record($scheduled, $scheduled);
        self::assertSame(3.0, $metrics('nightly', 'mail')['count']);
        self::assertFalse($client->recordLateness('other', [1], 'other'));
    }

    /** @dataProvider transports */
    public function testNothingFailsTheJob(string $kind): void
    {
        [$address, $start] = ['127.0.0.1:' . Sidecar::freePort(), self::noon()];
        $broken = static fn () => throw new \DomainException('no room');
        $client = new Client($address, transport: $kind);
        $lateness = new LatenessRecorder('nightly', metrics: $broken, client: $client);
        $started = microtime(true);
        for ($run = 0; $run < 1_200; ++$run) { // two batches are sent while no sidecar runs
            self::assertSame(1.0, $lateness->record($start, $start->modify('+1 second')));
        }
        self::assertInstanceOf(\DomainException::class, $lateness->lastError());
        $lateness->flush();
        self::assertInstanceOf(Unavailable::class, $lateness->lastError());
        self::assertLessThan(3, microtime(true) - $started);
        // The sidecar receives all of them once it is back.
        [$sidecar, $metrics] = self::withMetrics($address);
        $lateness->flush();
        self::assertSame(1_200.0, $metrics('nightly', 'default')['count']);
        // Refused reports are not sent again.
        $refused = new LatenessRecorder('no name', client: $client);
        $refused->record($start, $start);
        $refused->flush();
        self::assertInstanceOf(InvalidArgument::class, $refused->lastError());
        $sidecar->process->end();
        $refused->flush();
        self::assertInstanceOf(InvalidArgument::class, $refused->lastError());
    }

    public function testTheSidecarIsToldNowAndThen(): void
    {
        [$sidecar, $metrics] = self::withMetrics();
        $lateness = new LatenessRecorder('nightly', 'sync', client: new Client($sidecar->address));
        $lateness->record(self::noon(), self::noon());
        \Closure::bind(fn () => $this->due -= 4, $lateness, LatenessRecorder::class)(); // as if 4 s had passed
        $lateness->record(self::noon(), self::noon());
        self::assertArrayNotHasKey('count', $metrics());
        \Closure::bind(fn () => $this->due -= 1, $lateness, LatenessRecorder::class)();
        $lateness->record(self::noon(), self::noon());
        self::assertSame(3.0, $metrics()['count']);
        $lateness->record(self::noon(), self::noon());
        self::assertSame(3.0, $metrics()['count']);
    }

    /** A retried report could be counted twice. */
    public function testAReportIsNotMadeAgain(): void
    {
        $started = microtime(true);
        $client = new Client('127.0.0.1:' . Sidecar::freePort());
        self::thrown(Unavailable::class, static fn () => $client->recordLateness('nightly', [1]));
        self::assertLessThan(3, microtime(true) - $started); // retries would take 4 s
    }

    public function testASilentSidecarKeepsAJobForASecondAtMost(): void
    {
        $silent = stream_socket_server('tcp://127.0.0.1:0');
        $lateness = new LatenessRecorder('nightly', client: new Client(stream_socket_get_name($silent, false)));
        $lateness->record(self::noon(), self::noon());
        $started = microtime(true);
        $lateness->flush();
        self::assertLessThan(5, microtime(true) - $started); // by the client's timeout 10 s
        self::assertNotNull($lateness->lastError());
    }

    /** Without ext-grpc: where 1.51 is but loaded, forked children hang at their end. */
    public function testBothSidesOfAForkTellWhatIsTheirs(): void
    {
        if (str_contains((string) shell_exec(escapeshellarg(PHP_BINARY) . ' -m'), 'grpc')) {
            self::markTestSkipped('php.ini loads ext-grpc');
        }
        [$sidecar, $metrics] = self::withMetrics();
        $process = new Process([PHP_BINARY, __DIR__ . '/processes/fork_lateness.php', $sidecar->address]);
        self::assertSame(0, $process->wait(30), $process->output());
        self::assertSame('', $process->output());
        self::assertSame([3.0, 21.0], [$metrics('nightly', 'default')['count'], $metrics('nightly', 'default')['sum']]);
    }

    public function testReportsThatCannotBe(): void
    {
        $client = self::client();
        foreach ([
            ['schedule_name', static fn () => $client->recordLateness("\xff", [1])],
            ['schedule_name', static fn () => $client->recordLateness('two words', [1])],
            ['kind', static fn () => $client->recordLateness('nightly', [1], "\xff")],
            ['lateness_millis', static fn () => $client->recordLateness('nightly', [])],
            ['lateness_millis[1]', static fn () => $client->recordLateness('nightly', [1, 'late'])],
            ['lateness_millis[1]', static fn () => $client->recordLateness('nightly', [1, NAN])],
            ['timeout', static fn () => $client->recordLateness('nightly', [1], timeout: 0)],
        ] as [$field, $ask]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask, $field)->field);
        }
    }

    /**
     * A sidecar, and what reads count and sum of a histogram in its metrics.
     *
     * @return array{Sidecar, \Closure(string, string): array<string, float>}
     */
    private static function withMetrics(?string $address = null): array
    {
        $admin = '127.0.0.1:' . Sidecar::freePort();
        $sidecar = new Sidecar($address, ['--admin-listen', $admin]);

        return [$sidecar, static function (string $schedule = 'nightly', string $kind = 'sync') use ($admin): array {
            $pattern = "/^offbeat_run_lateness_seconds_(count|sum)\\{schedule=\"$schedule\",kind=\"$kind\"\\} (\\S+)$/m";
            preg_match_all($pattern, file_get_contents("http://$admin/metrics"), $found);

            return array_map(floatval(...), array_combine($found[1], $found[2]));
        }];
    }
}
