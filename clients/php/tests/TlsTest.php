<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\Unavailable;
use Offbeat\Exception\Untrusted;
use Offbeat\Tls;

/** TLS on every way to the sidecar, and the peers that it rejects. */
final class TlsTest extends OffbeatTestCase
{
    private static Certificates $certificates;
    private static Sidecar $sidecar;
    private static Sidecar $mutual;

    public static function setUpBeforeClass(): void
    {
        self::$certificates = new Certificates();
        self::$sidecar = new Sidecar(flags: self::$certificates->flags());
        self::$mutual = new Sidecar(flags: self::$certificates->flags(mutual: true));
    }

    /** @dataProvider transports */
    public function testAllCallsAndStreamsGoByTls(string $kind): void
    {
        $client = new Client(self::$sidecar->address, transport: $kind, tls: self::$certificates->tls());
        self::askAll($client);
        $client->close();
        self::askAll($client);
    }

    /** @dataProvider transports */
    public function testLargeMessagesGoByTls(string $kind): void
    {
        $client = new Client(self::$sidecar->address, transport: $kind, tls: self::$certificates->tls());
        self::assertCount(70_000, $client->assignSlots(self::eightHours(), range(1, 70_000)));
        $spread = $client->namedSpread("large-$kind", feederCount: 4);
        $jobs = array_map(static fn (int $i): string => str_pad("$i-", 60_000, 'x'), range(0, 199));
        $spread->producer()->submit('large', $jobs);
        $taken = [];
        foreach ($spread->stream('one', window: 200) as $job) {
            $job->ack();
            $taken[] = $job->payload;
            if (count($taken) === 200) {
                break;
            }
        }
        self::assertSame($jobs, $taken);
        $turns = $client->spread(array_fill(0, 300, array_fill(0, 300, 'job')), 20, timeout: 60);
        self::assertSame(90_000, iterator_count($turns));
    }

    /** If both sides only write, neither makes progress until the other reads. */
    public function testAStreamReadsWhileItCannotWrite(): void
    {
        $client = new Client(self::$sidecar->address, tls: self::$certificates->tls());
        $jobs = array_map('strval', range(0, 39_999));
        $spread = $client->namedSpread('both-write', feederCount: 1, maxConsumerLeaseCount: 65_536, leaseDuration: 120);
        $producer = $spread->producer();
        foreach (array_chunk($jobs, 4_000) as $number => $chunk) {
            $producer->submit("both-write-$number", $chunk);
        }
        $taken = 0;
        $consumer = $spread->stream('one', window: 40_000);
        foreach ($consumer as $job) {
            $job->ack();
            if (++$taken === count($jobs)) {
                break;
            }
        }
        $consumer->close();
        self::assertSame([40_000, 0], [$spread->describe()->counts->settledJobCount, $consumer->staleCount()]);
    }

    /** @dataProvider transports */
    public function testTheNameOfTheServerMayBeAnotherThanItsHost(string $kind): void
    {
        $tls = self::$certificates->tls(serverName: 'sidecar.test');
        self::askAll(new Client(self::$sidecar->address, transport: $kind, tls: $tls));
        $byName = 'localhost:' . substr(self::$sidecar->address, strlen('127.0.0.1:'));
        self::askAll(new Client($byName, transport: $kind, tls: $tls));
        self::assertUntrusted(new Client($byName, transport: $kind, tls: self::$certificates->tls()));
    }

    public static function strangers(): iterable
    {
        foreach (array_keys(self::transports()) as $kind) {
            yield "another authority, $kind" => [$kind, static fn (): Tls => self::$certificates->tls('other')];
            yield "the system's authorities, $kind" => [$kind, static fn (): Tls => new Tls()];
            yield "another name, $kind" => [$kind, static fn (): Tls => self::$certificates->tls(serverName: 'other.test')];
        }
    }

    /** @dataProvider strangers */
    public function testAStrangerIsNotSpokenTo(string $kind, \Closure $tls): void
    {
        self::askAll(new Client(self::$sidecar->address, transport: $kind, tls: self::$certificates->tls()));
        self::assertUntrusted(new Client(self::$sidecar->address, transport: $kind, tls: $tls()));
        self::askAll(new Client(self::$sidecar->address, transport: $kind, tls: self::$certificates->tls()));
    }

    /** @dataProvider transports */
    public function testMutualTls(string $kind): void
    {
        $ask = static fn (?string $client, float $timeout = 10): Client => new Client(
            self::$mutual->address,
            timeout: $timeout,
            transport: $kind,
            tls: self::$certificates->tls(client: $client),
        );
        self::askAll($ask('client-of-ours'));
        foreach ([null, 'client-of-other'] as $stranger) {
            foreach (self::ways($ask($stranger, 1.5)) as $way => $question) {
                $refused = self::thrown(Unavailable::class, $question, $way);
                self::assertStringContainsString('does it take our certificate?', $refused->getMessage());
            }
        }
        self::askAll($ask('client-of-ours'));
    }

    /** @dataProvider transports */
    public function testOneSideWithoutTlsIsNamed(string $kind): void
    {
        foreach ([
            'there, without TLS?' => new Client(self::$sidecar->address, timeout: 1.5, transport: $kind),
            'there, with TLS' => new Client(Sidecar::shared()->address, timeout: 1.5, transport: $kind, tls: new Tls()),
        ] as $hint => $client) {
            foreach (self::ways($client) as $way => $question) {
                $refused = self::thrown(Unavailable::class, $question, $way);
                self::assertStringContainsString($hint, $refused->getMessage(), $way);
            }
        }
    }

    public function testASilentServerIsNotWaitedForLongerThanTheDeadline(): void
    {
        $silent = stream_socket_server('tcp://127.0.0.1:0');
        $client = new Client(stream_socket_get_name($silent, false), timeout: 0.3, tls: new Tls());
        $started = microtime(true);
        self::thrown(OffbeatException::class, static fn () => iterator_to_array($client->spread([['a']], 1, timeout: 0.3)));
        self::assertLessThan(3, microtime(true) - $started);
    }

    public function testFilesAreReadAgainForANewConnection(): void
    {
        foreach (array_keys(self::transports()) as $kind) {
            $ca = self::$certificates->write('current.pem', file_get_contents(self::$certificates->path('other.pem')));
            $client = new Client(self::$sidecar->address, transport: $kind, tls: new Tls($ca));
            self::assertUntrusted($client);
            copy(self::$certificates->path('ours.pem'), $ca);
            self::askAll($client);
        }
    }

    /** Like testBothSidesOfAForkMayAsk; libcurl before 8.0 keeps TLS connections as well. */
    public function testBothSidesOfAForkMayAsk(): void
    {
        if (str_contains((string) shell_exec(escapeshellarg(PHP_BINARY) . ' -m'), 'grpc')) {
            self::markTestSkipped('php.ini loads ext-grpc');
        }
        $command = [PHP_BINARY, __DIR__ . '/processes/fork.php', self::$sidecar->address, self::$certificates->path('ours.pem')];
        $process = new Process($command);
        self::assertSame(0, $process->wait(60), $process->output());
        self::assertSame("both sides\n", $process->output());
    }

    public function testWhatIsNoTlsIsRefused(): void
    {
        $path = self::$certificates->path(...);
        foreach ([
            ['tls.key', static fn () => new Tls(certificate: $path('client-of-ours.pem'))],
            ['tls.certificate', static fn () => new Tls(key: $path('client-of-ours.key'))],
            ['tls.ca', static fn () => new Tls($path('nothing.pem'))],
            ['tls.ca', static fn () => new Tls($path(''))],
            ['tls.ca', static fn () => new Tls($path('ours.key'))],
            ['tls.key', static fn () => new Tls(null, $path('ours.pem'), $path('ours.pem'))],
            ['tls.server_name', static fn () => new Tls(serverName: 'a/b')],
            ['tls.server_name', static fn () => new Tls(serverName: '')],
            ['tls', static fn () => new Client('unix:/run/offbeat.sock', tls: new Tls())],
        ] as [$field, $ask]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask, $field)->field);
        }
    }

    private static function assertUntrusted(Client $client): void
    {
        foreach (self::ways($client) as $way => $question) {
            $started = microtime(true);
            $refused = self::thrown(Untrusted::class, $question, $way);
            self::assertStringContainsString('TLS failed: is that the sidecar', $refused->getMessage());
            self::assertLessThan(3, microtime(true) - $started, "$way: it was asked again");
        }
    }
}
