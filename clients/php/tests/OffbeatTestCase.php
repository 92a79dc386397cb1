<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateTimeImmutable;
use Offbeat\Client;
use Offbeat\Internal\Transport\CurlTransport;
use Offbeat\Internal\Transport\Endpoint;
use Offbeat\Internal\Transport\GrpcTransport;
use Offbeat\Internal\Transport\Transport;
use Offbeat\Schedule;
use PHPUnit\Framework\TestCase;

abstract class OffbeatTestCase extends TestCase
{
    protected const VECTORS = __DIR__ . '/../../../tests/vectors';

    /** The transports of this machine: ext-grpc is not everywhere. */
    public static function transports(): array
    {
        return ['curl' => ['curl']] + (GrpcTransport::isUsable() ? ['grpc' => ['grpc']] : []);
    }

    protected static function client(string $transport = 'auto'): Client
    {
        return new Client(Sidecar::shared()->address, transport: $transport);
    }

    protected static function transport(string $kind, string $address, int $maxAnswerBytes = 64 << 20): Transport
    {
        $class = $kind === 'curl' ? CurlTransport::class : GrpcTransport::class;

        return new $class(Endpoint::of($address), $maxAnswerBytes);
    }

    /**
     * A call by each way to reach the sidecar.
     *
     * @return array<string, \Closure>
     */
    protected static function ways(Client $client): array
    {
        static $number = 0;
        $name = 'way-' . ++$number;
        $spread = $client->namedSpread($name, feederCount: 1);

        return [
            'unary' => static fn (): int => $client->assignSlot(self::eightHours(), 'acme')->slotIndex,
            'batch' => static fn (): int => count($client->assignSlots(self::eightHours(), range(1, 10))),
            'large batch' => static fn (): int => count($client->assignSlots(self::eightHours(), range(1, 60_000))),
            'spread' => static fn (): array => array_column(iterator_to_array($client->spread([['a', 'b']], 1)), 'job'),
            'named spread' => static fn (): array => [$spread->producer(patience: 1)->submit('a', ['0']), $spread->describe()],
            'stream' => static function () use ($spread): string {
                foreach ($spread->stream('one', patience: 1) as $job) {
                    $job->ack();

                    return $job->payload;
                }
            },
        ];
    }

    /** Calls by every way, one after the other; all must succeed. */
    protected static function askAll(Client $client): void
    {
        $answers = array_map(static fn (\Closure $question): mixed => $question(), self::ways($client));
        self::assertSame([['a', 'b'], '0', 10], [$answers['spread'], $answers['stream'], $answers['batch']]);
    }

    protected static function eightHours(): Schedule
    {
        return new Schedule(period: 8 * 3600);
    }

    protected static function noon(): DateTimeImmutable
    {
        return new DateTimeImmutable('2026-03-01T12:00:00Z');
    }

    /** @return list<array<string, mixed>> */
    protected static function vectors(string $file): array
    {
        // JSON_BIGINT_AS_STRING is not needed: all numbers of the vectors fit into 64 bits.
        return json_decode(file_get_contents(self::VECTORS . "/$file"), true, flags: JSON_THROW_ON_ERROR);
    }

    /**
     * @template T of \Throwable
     *
     * @param class-string<T> $class
     *
     * @return T
     */
    protected static function thrown(string $class, callable $ask, string $message = ''): \Throwable
    {
        try {
            $ask();
        } catch (\Throwable $thrown) {
            self::assertInstanceOf($class, $thrown, "$message: $thrown");

            return $thrown;
        }
        self::fail("$message: no $class");
    }
}
