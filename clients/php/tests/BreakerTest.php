<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Breaker;
use Offbeat\Client;
use Offbeat\DecidedBy;
use Offbeat\Exception\CircuitOpen;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NoAnswer;
use Offbeat\Exception\Unavailable;
use Offbeat\Internal\Breaker\FileStore;
use Offbeat\Internal\Breaker\State;
use Offbeat\Internal\Transport\BreakingTransport;
use Offbeat\Internal\Transport\Transport;

/** A sidecar is frozen, dead or slow, and callers must not wait for it. */
final class BreakerTest extends OffbeatTestCase
{
    /** The longest call of 0.3 s, in seconds, on a busy machine; without a limit it takes 10. */
    private const WEB = 2;

    /** Frozen while it has our connection, and in the middle of other processes' calls. */
    public function testAFrozenSidecarCostsAWebProcessLittle(): void
    {
        $sidecar = new Sidecar();
        $client = new Client($sidecar->address, timeout: 'web');
        $ask = static fn () => $client->describeSchedule(self::eightHours());
        $ask();
        $sidecar->process->freeze();
        $seconds = [];
        for ($call = 0; $call < 300; ++$call) {
            [$class, $took] = self::timed($ask);
            self::assertLessThan(self::WEB, $took);
            $seconds[$class][] = $took;
        }
        // Five calls time out; all others fail at once, except later probes.
        self::assertGreaterThan(290, count($seconds[CircuitOpen::class]));
        sort($seconds[CircuitOpen::class]);
        self::assertLessThan(0.02, $seconds[CircuitOpen::class][145]); // the median: the machine is shared
        self::assertCount(2, $seconds);
        self::assertGreaterThanOrEqual(5, count($seconds[\Offbeat\Exception\DeadlineExceeded::class]));
        $sidecar->process->thaw();
        self::until($ask, 10);
        $classes = array_map(static fn () => self::timed($ask)[0], range(1, 20));
        self::assertNotContains(CircuitOpen::class, $classes);
        self::assertGreaterThan(15, count(array_keys($classes, 'answered'))); // some are late on a busy machine
    }

    public function testADeadSidecarAndItsSuccessor(): void
    {
        $sidecar = new Sidecar();
        $client = new Client($sidecar->address, timeout: 'web', breaker: new Breaker(failureCount: 2, openDuration: 0.3));
        $ask = static fn () => $client->assignSlot(self::eightHours(), 'acme');
        $ask();
        $sidecar->process->end(SIGKILL);
        [$classes, $longest] = [[], 0.0];
        for ($call = 0; $call < 100; ++$call) {
            [$classes[], $took] = self::timed($ask);
            $longest = max($longest, $took);
        }
        self::assertLessThan(self::WEB, $longest);
        self::assertSame([Unavailable::class, Unavailable::class, CircuitOpen::class], array_slice($classes, 0, 3));
        self::assertContains(CircuitOpen::class, $classes);
        $sidecar = new Sidecar($sidecar->address);
        self::until($ask, 10);
        self::assertSame('answered', self::timed($ask)[0]);
    }

    /** Between processes, as between two requests under PHP-FPM. */
    public function testProcessesShareWhatTheyKnow(): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        self::fail5($address);
        $code = 'require $argv[1]; try { (new Offbeat\Client($argv[2], timeout: "web"))->assignSlot(new Offbeat\Schedule(period: 60), 1); }'
            . ' catch (Offbeat\Exception\NoAnswer $e) { echo $e::class, "\n"; }';
        $other = new Process([PHP_BINARY, '-r', $code, '--', __DIR__ . '/../autoload.php', $address]);
        self::assertSame('CircuitOpen', $other->waitFor('/Exception\\\\(\w+)/'));
        self::assertSame(0, $other->wait(5));
        // Another sidecar is another circuit.
        self::assertSame('answered', self::timed(static fn () => (new Client(Sidecar::shared()->address, timeout: 'web'))->serverInfo())[0]);
    }

    public function testTheTimeOfAnOpenBreakerDoublesAndIsBounded(): void
    {
        $transport = self::answering(static fn () => throw new Unavailable('away'));
        $breaking = self::breaking($transport, new Breaker(2, 0.2, 0.6));
        $waits = [];
        for ($probe = 0; $probe < 5; ++$probe) {
            while (true) {
                $thrown = self::thrown(Unavailable::class, static fn () => $breaking->call('x', '', 1.0));
                if ($thrown instanceof CircuitOpen && $thrown->retryDelay > 0.001) {
                    break;
                }
            }
            $waits[] = $thrown->retryDelay;
            self::assertSame("nobody: not asked, since " . 2 + $probe . " calls in a row got no answer: it is asked again in "
                . round($thrown->retryDelay, 3) . ' s', $thrown->getMessage());
            usleep((int) ($thrown->retryDelay * 1e6) + 5_000);
        }
        foreach ([0.2, 0.4, 0.6, 0.6, 0.6] as $probe => $wait) {
            self::assertEqualsWithDelta($wait, $waits[$probe], 0.15);
        }
    }

    public function testOnlyOneCallLooksAgain(): void
    {
        $calls = 0;
        $breaking = null;
        $transport = self::answering(static function () use (&$calls, &$breaking): string {
            if (++$calls === 1) {
                throw new Unavailable('away');
            }
            // Further calls arrive while the first one waits for its answer.
            self::thrown(CircuitOpen::class, static fn () => $breaking->call('x', '', 1.0));

            return 'answer';
        });
        $breaking = self::breaking($transport, new Breaker(1, 0.3));
        self::thrown(Unavailable::class, static fn () => $breaking->call('x', '', 1.0));
        self::thrown(CircuitOpen::class, static fn () => $breaking->call('x', '', 1.0));
        usleep(310_000);
        self::assertSame('answer', $breaking->call('x', '', 1.0));
        self::assertSame(2, $calls);
    }

    /** Failures of calls that were in flight when the circuit opened must not count again. */
    public function testCallsThatFailTogetherOpenItOnce(): void
    {
        [$depth, $breaking] = [0, null];
        $transport = self::answering(static function () use (&$depth, &$breaking): string {
            if (++$depth < 8) {
                self::thrown(Unavailable::class, static fn () => $breaking->call('x', '', 1.0));
            }
            usleep(60_000);
            throw new Unavailable('away');
        });
        $breaking = self::breaking($transport, new Breaker(3, 3));
        self::thrown(Unavailable::class, static fn () => $breaking->call('x', '', 1.0));
        $open = self::thrown(CircuitOpen::class, static fn () => $breaking->call('x', '', 1.0));
        self::assertSame(8, $depth);
        self::assertLessThan(2.75, $open->retryDelay); // the circuit opened at the third of eight calls
    }

    public function testARefusalIsAnAnswer(): void
    {
        $outcomes = [new Unavailable('away'), new Unavailable('away'), InvalidArgument::refused('x', 1, 'must be 2'), new Unavailable('away'), new Unavailable('away')];
        $transport = self::answering(static function () use (&$outcomes): string {
            throw array_shift($outcomes);
        });
        $breaking = self::breaking($transport, new Breaker(3));
        foreach ([Unavailable::class, Unavailable::class, InvalidArgument::class, Unavailable::class, Unavailable::class] as $class) {
            $thrown = self::thrown($class, static fn () => $breaking->call('x', '', 1.0));
            self::assertNotInstanceOf(CircuitOpen::class, $thrown);
        }
    }

    /** Files of other users, and files from before a reboot, must not be used. */
    public function testTheFileIsOursAlone(): void
    {
        $store = FileStore::of('test-' . bin2hex(random_bytes(8)));
        $folder = sys_get_temp_dir() . '/offbeat-' . posix_geteuid();
        self::assertSame(0o700, fileperms($folder) & 0o777);
        $store->change(static fn (): State => new State(5, 1.0, hrtime(true) / 1e9 + 20));
        self::assertSame(5, $store->read()->failures);
        self::assertFalse($store->change(static fn (): ?State => null));
        $path = (new \ReflectionProperty($store, 'path'))->getValue($store);
        file_put_contents($path, 'x');
        self::assertTrue($store->read()->isWell());
        $breaking = new BreakingTransport(self::answering(static fn (): string => 'answer'), new Breaker(), 'nobody', $store);
        foreach ([new State(5, 1.0, 1e12), new State(5, 1.0, 0.0, 1e12)] as $stale) {
            file_put_contents($path, $stale->bytes());
            self::assertSame('answer', $breaking->call('x', '', 1.0));
            self::assertTrue($store->read()->isWell());
        }
        chmod($folder, 0o777);
        $ofAll = FileStore::of('x');
        chmod($folder, 0o700);
        self::assertNull($ofAll);
        $given = sys_get_temp_dir() . '/offbeat-given-' . bin2hex(random_bytes(8));
        rename($folder, $given);
        symlink($given, $folder);
        try {
            self::assertNull(FileStore::of('x'));
        } finally {
            unlink($folder);
            rename($given, $folder);
            unlink($path);
        }
    }

    public function testAutoIsNotInTheWay(): void
    {
        $sidecar = new Sidecar();
        $auto = new Client($sidecar->address, timeout: 'web', mode: 'auto');
        $sidecar->process->freeze();
        $took = [];
        for ($call = 0; $call < 300; ++$call) {
            [, $took[]] = self::timed(static fn () => self::assertSame(DecidedBy::Local, $auto->assignSlot(self::eightHours(), $call)->decidedBy));
        }
        // Those that ask would wait 0.3 s each, until five opened the circuit.
        self::assertLessThan(3, count(array_filter($took, static fn (float $seconds) => $seconds > 0.25)));
        $took = [];
        for ($call = 0; $call < 8; ++$call) { // a sidecar would answer sooner
            [, $took[]] = self::timed(static fn () => self::assertSame(DecidedBy::Local, $auto->assignSlots(self::eightHours(), range(1, 1_000))->decidedBy));
        }
        self::assertLessThan(self::WEB, max($took));
        self::assertLessThan(0.25, min(array_slice($took, 5))); // the circuit is open
        $sidecar->process->thaw();
    }

    public function testArgumentsAreChecked(): void
    {
        foreach ([
            ['failure_count', static fn () => new Breaker(failureCount: 0)],
            ['open_duration', static fn () => new Breaker(openDuration: 0)],
            ['open_duration', static fn () => new Breaker(openDuration: NAN)],
            ['max_open_duration', static fn () => new Breaker(maxOpenDuration: 0.5)],
        ] as [$field, $make]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $make)->field);
        }
        $address = '127.0.0.1:' . Sidecar::freePort();
        foreach ([new Client($address, timeout: 0.06), new Client($address, timeout: 'web', breaker: false)] as $client) {
            for ($call = 0; $call < 7; ++$call) { // without a breaker, each call is made
                self::assertSame(Unavailable::class, self::timed(static fn () => $client->serverInfo(timeout: 0.06))[0]);
            }
        }
    }

    private static function fail5(string $address): void
    {
        // Open for longer than another process takes to start.
        $client = new Client($address, timeout: 'web', breaker: new Breaker(openDuration: 20));
        for ($call = 0; $call < 5; ++$call) {
            self::assertSame(Unavailable::class, self::timed(static fn () => $client->serverInfo(timeout: 0.02))[0]);
        }
        self::assertSame(CircuitOpen::class, self::timed(static fn () => $client->serverInfo())[0]);
    }

    private static function breaking(Transport $transport, Breaker $breaker): BreakingTransport
    {
        return new BreakingTransport($transport, $breaker, 'nobody', BreakingTransport::store(bin2hex(random_bytes(8))));
    }

    private static function answering(\Closure $answer): Transport
    {
        return new class ($answer) implements Transport {
            public function __construct(private readonly \Closure $answer)
            {
            }

            public function call(string $method, string $bytes, float $timeout): string
            {
                return ($this->answer)();
            }

            public function close(): void
            {
            }
        };
    }

    /** @return array{string, float} "answered" or the class that was thrown, and the seconds it took */
    private static function timed(\Closure $ask): array
    {
        $started = microtime(true);
        try {
            $ask();
            $class = 'answered';
        } catch (NoAnswer $none) {
            $class = $none::class;
        }

        return [$class, microtime(true) - $started];
    }

    private static function until(\Closure $ask, float $seconds): void
    {
        $end = microtime(true) + $seconds;
        while (self::timed($ask)[0] !== 'answered' && microtime(true) < $end) {
            usleep(20_000);
        }
    }
}
