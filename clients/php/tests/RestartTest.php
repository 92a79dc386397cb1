<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\OffbeatException;

/** A sidecar ends, and another one takes its place a while later. */
final class RestartTest extends OffbeatTestCase
{
    private const AWAY = 1.5;

    private static Certificates $certificates;

    public static function setUpBeforeClass(): void
    {
        self::$certificates = new Certificates();
    }

    public static function places(): iterable
    {
        foreach (array_keys(self::transports()) as $kind) {
            foreach (['TCP', 'TLS', 'socket'] as $place) {
                yield "$place, $kind" => [$kind, $place, 'unary'];
            }
            yield "a batch, $kind" => [$kind, 'TCP', 'batch'];
            yield "a named spread, $kind" => [$kind, 'TCP', 'named spread'];
        }
    }

    /** @dataProvider places */
    public function testCallsWaitForTheNextSidecar(string $kind, string $place, string $way): void
    {
        [$address, $flags, $tls] = self::place($kind, $place);
        $client = new Client($address, transport: $kind, tls: $tls);
        $spread = $client->namedSpread('mail', feederCount: 1);
        $question = match ($way) {
            'unary' => static fn () => $client->describeSchedule(self::eightHours()),
            'batch' => static fn () => $client->assignSlots(self::eightHours(), range(1, 40_000)),
            'named spread' => static fn () => $spread->open(),
        };
        $sidecar = new Sidecar($address, $flags);
        $question();
        self::assertSame(0, $sidecar->process->end());
        $next = self::startLater($address, $flags);
        $started = microtime(true);
        $question();
        $waited = microtime(true) - $started;
        self::assertGreaterThan(self::AWAY - 0.2, $waited);
        self::assertLessThan(self::AWAY + 2, $waited);
        $next->end();
    }

    /** Calls follow one another through several restarts. */
    public function testNoCallOfManyFails(): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $code = 'require $argv[1]; $client = new Offbeat\Client($argv[2]); $schedule = new Offbeat\Schedule(period: 60); echo "ready\n";'
            . ' for ($calls = 0, $end = microtime(true) + 6; microtime(true) < $end; ++$calls) { $client->assignSlot($schedule, $calls); } echo "done $calls\n";';
        $sidecar = new Sidecar($address);
        $asking = new Process([PHP_BINARY, '-r', $code, '--', __DIR__ . '/../autoload.php', $address]);
        $asking->waitFor('/ready/');
        for ($restart = 0; $restart < 3; ++$restart) {
            usleep(300_000);
            $sidecar->process->end();
            usleep(500_000);
            $sidecar = new Sidecar($address);
        }
        self::assertSame(0, $asking->wait(20), $asking->output());
        self::assertGreaterThan(100, (int) $asking->waitFor('/done (\d+)/'));
    }

    /** @dataProvider transports */
    public function testTheDeadlineIsNotWaitedOut(string $kind): void
    {
        $client = new Client('127.0.0.1:' . Sidecar::freePort(), timeout: 0.5, transport: $kind);
        $spread = $client->namedSpread('mail', feederCount: 1);
        foreach ([
            static fn () => $client->describeSchedule(self::eightHours()),
            static fn () => $spread->describe(),
        ] as $question) {
            $started = microtime(true);
            self::thrown(OffbeatException::class, $question);
            self::assertLessThan(2, microtime(true) - $started);
        }
    }

    /** @return array{string, list<string>, ?\Offbeat\Tls} */
    private static function place(string $kind, string $place): array
    {
        $port = '127.0.0.1:' . Sidecar::freePort();

        return match ($place) {
            'TCP' => [$port, [], null],
            'TLS' => [$port, self::$certificates->flags(), self::$certificates->tls()],
            'socket' => ['unix:' . self::$certificates->path("$kind.sock"), [], null],
        };
    }

    private static function startLater(string $address, array $flags): Process
    {
        return new Process(['sh', '-c', 'sleep ' . self::AWAY . '; exec "$@"', 'sh', ...Sidecar::command($address, $flags)]);
    }
}
