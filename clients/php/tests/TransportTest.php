<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NotFound;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\ResourceExhausted;
use Offbeat\Exception\Unauthenticated;
use Offbeat\Exception\Unavailable;
use Offbeat\Internal\Transport\Address;
use Offbeat\Internal\Transport\Conversation;
use Offbeat\Internal\Transport\Endpoint;
use Offbeat\Internal\Transport\RetryingTransport;
use Offbeat\Internal\Transport\Transport;
use Offbeat\Lanes\Lane;
use Offbeat\Lanes\LaneSet;
use Offbeat\Lanes\RunTimes;
use Offbeat\Stages\Stage;

/** Malformed answers. */
final class TransportTest extends OffbeatTestCase
{
    private const LIMIT = 10_000;

    public static function answers(): iterable
    {
        foreach (array_keys(self::transports()) as $kind) {
            yield "good, $kind" => [$kind, 'good'];
            yield "in pieces, $kind" => [$kind, 'in pieces'];
        }
        yield 'chunked, curl' => ['curl', 'chunked'];
    }

    /** @dataProvider answers */
    public function testAMessageInAnyPiecesIsTheAnswer(string $kind, string $mode): void
    {
        $server = self::nonsense($kind, $mode, $address);
        $transport = self::transport($kind, $address, self::LIMIT);
        self::assertSame('abc', $transport->call('offbeat.v1.SlotService/AssignSlot', 'question', 5.0));
        self::assertSame('abc', $transport->call('offbeat.v1.SlotService/AssignSlot', '', 5.0));
        self::assertSame(2, substr_count($server->output(), 'call'));
    }

    public function testAConnectionIsKept(): void
    {
        $server = self::nonsense('curl', 'good', $address);
        $transport = self::transport('curl', $address);
        for ($call = 0; $call < 5; $call++) {
            $transport->call('offbeat.v1.SlotService/AssignSlot', str_repeat('question', 300_000 * ($call % 2)), 5.0);
        }
        self::assertSame([5, 1], [substr_count($server->output(), 'call'), substr_count($server->output(), 'connection')]);
    }

    public static function nonsenses(): iterable
    {
        $modes = [
            'too long' => ResourceExhausted::class,
            'broken off' => Unavailable::class,
            'half a head' => Unavailable::class,
            'half a head, with its type' => Unavailable::class,
            'no length' => Unavailable::class,
            'nothing' => Unavailable::class,
            'web page' => OffbeatException::class,
            'json' => OffbeatException::class,
            'not found' => OffbeatException::class,
            'forbidden by a proxy' => OffbeatException::class,
            'no code' => OffbeatException::class,
            'half an error' => OffbeatException::class,
            'code of another kind' => OffbeatException::class,
            'details of another kind' => NotFound::class,
            'internal' => OffbeatException::class,
            'shutting down' => Unavailable::class,
            'who are you' => Unauthenticated::class,
            'http2' => Unavailable::class,
            'noise' => Unavailable::class,
        ];
        foreach ($modes as $mode => $class) {
            yield $mode => [$mode, $class];
        }
    }

    private const GRPC_NONSENSE = [
        'half a message', 'half a head', 'no message', 'two messages', 'too long', 'no status', 'broken off', 'web page',
        'not found', 'internal', 'status in words', 'shutting down', 'who are you', 'http1', 'noise',
    ];

    /** @dataProvider nonsenses */
    public function testNonsenseIsNamed(string $mode, string $class): void
    {
        $server = self::nonsense('curl', $mode, $address);
        $transport = self::transport('curl', $address, self::LIMIT);
        $started = microtime(true);
        $thrown = self::thrown(OffbeatException::class, static fn () => $transport->call('offbeat.v1.SlotService/AssignSlot', 'question', 5.0));
        self::assertSame($class, $thrown::class, $thrown->getMessage());
        self::assertNotSame('', $thrown->getMessage());
        self::assertLessThan(3, microtime(true) - $started);
    }

    /** How ext-grpc reports nonsense is up to it, but the exception must be one of ours, and soon. */
    public function testNonsenseIsNamedByExtGrpc(): void
    {
        if (!isset(self::transports()['grpc'])) {
            self::markTestSkipped('ext-grpc is not loaded');
        }
        foreach (self::GRPC_NONSENSE as $mode) {
            $server = self::nonsense('grpc', $mode, $address);
            $transport = self::transport('grpc', $address, self::LIMIT);
            self::thrown(OffbeatException::class, static fn () => $transport->call('offbeat.v1.SlotService/AssignSlot', 'question', 1.0), $mode);
            $transport->close();
        }
    }

    public static function overloads(): iterable
    {
        foreach (array_keys(self::transports()) as $kind) {
            yield $kind => [$kind, 'overloaded'];
        }
        if (isset(self::transports()['grpc'])) {
            yield 'grpc, in trailers' => ['grpc', 'overloaded in trailers'];
        }
    }

    /** @dataProvider overloads */
    public function testDetailsComeWithTheStatus(string $kind, string $mode): void
    {
        $server = self::nonsense($kind, $mode, $address);
        $thrown = self::thrown(
            ResourceExhausted::class,
            static fn () => self::transport($kind, $address)->call('offbeat.v1.SlotService/AssignSlot', '', 5.0),
        );
        self::assertSame('full: 100% of ½', $thrown->getMessage());
        self::assertSame(1.05, $thrown->retryDelay);
        self::assertSame('ERROR_REASON_OVERLOADED', $thrown->reason);
        self::assertSame(['', '', 'at most ½'], [$thrown->field, $thrown->value, $thrown->allowed]);
        self::assertSame(['google.rpc.ErrorInfo', 'google.rpc.RetryInfo', 'example.Unknown'], array_column($thrown->details, 'type'));
    }

    public function testAClientThatIsDroppedLeavesNoConnection(): void
    {
        $open = static fn (): int => count(scandir('/proc/self/fd'));
        self::client('curl')->assignSlot(self::eightHours(), 'acme'); // starts the shared sidecar
        $before = $open();
        for ($client = 0; $client < 5; ++$client) {
            self::client('curl')->assignSlot(self::eightHours(), 'acme');
        }
        self::assertSame($before, $open());
    }

    /** @dataProvider transports */
    public function testDetailsThatCannotBeReadDoNotHideTheStatus(string $kind): void
    {
        $server = self::nonsense($kind, 'bad details', $address);
        $thrown = self::thrown(NotFound::class, static fn () => self::transport($kind, $address)->call('offbeat.v1.SlotService/AssignSlot', '', 5.0));
        self::assertStringContainsString('gone', $thrown->getMessage());
        self::assertSame([], $thrown->details);
    }

    public function testOnlyTheUnavailableIsAskedAgain(): void
    {
        foreach (['shutting down' => true, 'nothing' => true, 'http2' => true, 'internal' => false, 'overloaded' => false, 'who are you' => false] as $mode => $isAskedAgain) {
            $server = self::nonsense('curl', $mode, $address);
            $transport = new RetryingTransport(self::transport('curl', $address), patience: 0.6);
            self::thrown(OffbeatException::class, static fn () => $transport->call('offbeat.v1.SlotService/AssignSlot', '', 5.0));
            $made = substr_count($server->output(), 'call');
            self::assertSame($isAskedAgain, $made > 1, $mode);
            self::assertLessThanOrEqual(4, $made, $mode);
        }
    }

    public function testRetriesStayWithinTheDeadline(): void
    {
        $server = self::nonsense('curl', 'shutting down', $address);
        $transport = new RetryingTransport(self::transport('curl', $address));
        $started = microtime(true);
        self::thrown(Unavailable::class, static fn () => $transport->call('offbeat.v1.SlotService/AssignSlot', '', 0.3));
        self::assertLessThan(2, microtime(true) - $started); // without a deadline, 4 s
        self::assertLessThanOrEqual(3, substr_count($server->output(), 'call'));
    }

    public function testWhyItIsLostSaysMoreThanThatTimeIsUp(): void
    {
        $lostThenLate = new class () implements Transport {
            private int $calls = 0;

            public function call(string $method, string $bytes, float $timeout): string
            {
                throw $this->calls++ === 0 ? new Unavailable('nobody there') : new DeadlineExceeded('time is up');
            }

            public function close(): void
            {
            }
        };
        $call = static fn () => (new RetryingTransport($lostThenLate))->call('offbeat.v1.SlotService/AssignSlot', '', 5.0);
        self::assertSame('nobody there', self::thrown(Unavailable::class, $call)->getMessage());
        self::assertSame('time is up', self::thrown(DeadlineExceeded::class, $call)->getMessage());
    }

    public static function refusalsAtOnce(): iterable
    {
        yield 'not found' => ['not found at once', NotFound::class];
        yield 'who are you' => ['who are you at once', Unauthenticated::class];
        yield 'too large' => ['too large at once', ResourceExhausted::class];
    }

    /** @dataProvider refusalsAtOnce */
    public function testAnAnswerBeforeTheQuestionIsSentIsHeard(string $mode, string $class): void
    {
        $server = self::nonsense('curl', $mode, $address);
        $transport = self::transport('curl', $address);
        foreach ([60_000 => 50, 200_000 => 50, 4_000_000 => 50] as $size => $times) {
            $question = str_repeat('x', $size);
            for ($time = 0; $time < $times; ++$time) {
                $thrown = self::thrown(OffbeatException::class, static fn () => $transport->call('offbeat.v1.SlotService/Dance', $question, 5.0));
                self::assertSame($class, $thrown::class, "$size bytes: {$thrown->getMessage()}");
            }
        }
    }

    public function testARefusalIsHeardThoughTheConnectionIsClosed(): void
    {
        $address = sys_get_temp_dir() . '/offbeat-' . bin2hex(random_bytes(6)) . '.sock';
        $server = stream_socket_server("unix://$address");
        $stream = new Conversation(Endpoint::of("unix:$address"), '/stream', 5.0);
        $accepted = stream_socket_accept($server, 5);
        $said = '{"error":{"code":"unauthenticated","message":"who are you?"}}';
        $envelope = pack('CN', 2, strlen($said)) . $said;
        fwrite($accepted, "HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\n"
            . 'content-length: ' . strlen($envelope) . "\r\n\r\n$envelope");
        fclose($accepted);
        $refused = self::thrown(Unauthenticated::class, static fn () => $stream->write('a message'));
        self::assertSame('who are you?', $refused->getMessage());
        unlink($address);
    }

    public function testAStreamOfEndlessChunksOrLinesIsNoneOfASidecar(): void
    {
        $address = sys_get_temp_dir() . '/offbeat-' . bin2hex(random_bytes(6)) . '.sock';
        $server = stream_socket_server("unix://$address");
        foreach (["5000000\r\n", "fffffffff\r\n", str_repeat('0', 70_000)] as $start) {
            $stream = new Conversation(Endpoint::of("unix:$address"), '/stream', 1.0);
            $accepted = stream_socket_accept($server, 5);
            fwrite($accepted, "HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\ntransfer-encoding: chunked\r\n\r\n$start");
            fclose($accepted);
            $thrown = self::thrown(OffbeatException::class, static fn () => $stream->read());
            self::assertStringContainsString('none of a sidecar', $thrown->getMessage());
            $stream->close();
        }
        unlink($address);
    }

    /** As from a newer sidecar, with outcomes that this client does not know. */
    public function testAnswersWithoutAnOutcomeAreNamed(): void
    {
        $server = self::nonsense('curl', 'empty', $address);
        $client = new Client($address, transport: 'curl');
        $lanes = new LaneSet([new Lane('express', 1, 60), new Lane('slow', 1)]);
        foreach ([
            static fn () => $client->allocateWorkers([new Stage('a')], 1),
            static fn () => $client->chooseStage([new Stage('a')]),
            static fn () => $client->routeJob($lanes),
            static fn () => $client->splitWorkers($lanes, []),
            static fn () => $client->planLanes(RunTimes::samples([1]), 1, 2),
            static fn () => $client->describeSchedule(self::eightHours()),
            static fn () => $client->assignSlot(self::eightHours(), 'acme'),
            static fn () => $client->compareSchedules([self::eightHours(), self::eightHours()]),
        ] as $place => $ask) {
            $thrown = self::thrown(OffbeatException::class, $ask, (string) $place);
            self::assertStringContainsString('none of a sidecar', $thrown->getMessage());
        }
        self::assertSame(8, substr_count($server->output(), 'call'));
    }

    public function testAnswersThatAreNoMessagesAreNamed(): void
    {
        $server = self::nonsense('curl', 'good', $address); // its "abc" is no valid answer
        $client = new Client($address, transport: 'curl');
        foreach ([
            static fn () => $client->assignSlot(self::eightHours(), 1),
            static fn () => $client->assignSlots(self::eightHours(), [1]),
        ] as $ask) {
            self::assertSame(OffbeatException::class, self::thrown(OffbeatException::class, $ask)::class);
        }
    }

    public function testWhichAddressesAreOfThisMachine(): void
    {
        foreach (['localhost:1', 'LocalHost:1', '127.0.0.1:1', '127.255.0.9:1', '[::1]:1', '[0:0::1]:1', 'unix:/run/a.sock'] as $here) {
            self::assertTrue(Address::parse($here)->isLocal(), $here);
        }
        foreach (['127.0.0.1.example:1', '127.example:1', '128.0.0.1:1', '[::2]:1', '[127::1]:1', '0.0.0.0:1', 'localhost.example:1', 'sidecar:1'] as $there) {
            self::assertFalse(Address::parse($there)->isLocal(), $there);
        }
    }

    public function testAddresses(): void
    {
        foreach (['localhost:2328', '127.0.0.1:1', '[::1]:65535', 'unix:/run/a.sock', 'unix:///run/a.sock', 'unix:a.sock'] as $good) {
            self::assertSame($good, Address::parse($good)->text);
        }
        self::assertSame('/run/a.sock', Address::parse('unix:///run/a.sock')->path);
        foreach (['', 'localhost', 'localhost:0', 'localhost:65536', 'http://a:1', 'a b:1', "a:1\n", 'a:1/x', 'unix:', 'u@a:1', "unix:/a\0b"] as $bad) {
            $thrown = self::thrown(InvalidArgument::class, static fn () => Address::parse($bad), $bad);
            self::assertSame('address', $thrown->field);
        }
    }

    private static function nonsense(string $kind, string $mode, ?string &$address): Process
    {
        $protocol = $kind === 'curl' ? 'connect' : 'grpc';
        $server = new Process([PHP_BINARY, '-n', __DIR__ . "/processes/nonsense_$protocol.php", $mode]);
        $address = '127.0.0.1:' . $server->waitFor('/port (\d+)\n/');

        return $server;
    }
}
