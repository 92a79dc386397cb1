<?php

declare(strict_types=1);

namespace Offbeat;

use Google\Protobuf\Internal\Message;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\Internal\BatchCalls;
use Offbeat\Internal\Check;
use Offbeat\Internal\DueRunCalls;
use Offbeat\Internal\KindCalls;
use Offbeat\Internal\LaneCalls;
use Offbeat\Internal\LatenessCalls;
use Offbeat\Internal\MigrationCalls;
use Offbeat\Internal\SlotCalls;
use Offbeat\Internal\SpreadCalls;
use Offbeat\Internal\StageCalls;
use Offbeat\Internal\Transport\CurlTransport;
use Offbeat\Internal\Transport\Endpoint;
use Offbeat\Internal\Transport\GrpcTransport;
use Offbeat\Internal\Transport\RetryingTransport;
use Offbeat\Internal\Transport\Transport;

/**
 * Asks a sidecar.
 *
 *     $client = new Offbeat\Client('127.0.0.1:2328');
 *     $client->assignSlot(new Offbeat\Schedule(period: 8 * 3600), 'acme')->nextRun()->startTime;
 *
 * Connects at its first call, and may be used on both sides of a fork (by curl). Calls
 * that did not reach the sidecar are made again, for up to four seconds: it may be restarting.
 */
final class Client
{
    use BatchCalls;
    use DueRunCalls;
    use KindCalls;
    use LaneCalls;
    use LatenessCalls;
    use MigrationCalls;
    use SlotCalls;
    use SpreadCalls;
    use StageCalls;

    public const DEFAULT_ADDRESS = '127.0.0.1:2328';

    private const DEFAULT_TIMEOUT = 10.0;

    public readonly string $address;
    public readonly float $timeout;
    /** Makes each call once. */
    private readonly Transport $direct;
    private readonly Transport $transport;
    private readonly Endpoint $endpoint;

    /**
     * @param ?string $address HOST:PORT or unix:PATH; by default OFFBEAT_ADDRESS, else 127.0.0.1:2328
     * @param int|float|null $timeout bounds every call, and each call of a large batch; in seconds;
     *     by default OFFBEAT_TIMEOUT, else 10
     * @param string|(\Closure(): string)|null $token one that the sidecar takes; what a closure returns
     *     is taken again for each call. Over TCP it needs tls, or a loopback address
     * @param ?Tls $tls by default none; new Tls() trusts the authorities of the system
     */
    public function __construct(
        ?string $address = null,
        int|float|null $timeout = null,
        TransportKind|string $transport = TransportKind::Auto,
        #[\SensitiveParameter]
        string|\Closure|null $token = null,
        ?Tls $tls = null,
    ) {
        $this->address = $address ?? self::variable('OFFBEAT_ADDRESS') ?? self::DEFAULT_ADDRESS;
        $this->timeout = $timeout === null ? self::timeoutFromVariable() : Check::timeout('timeout', $timeout);
        $this->endpoint = Endpoint::of($this->address, $tls, $token);
        $this->direct = self::transport($transport, $this->endpoint);
        $this->transport = new RetryingTransport($this->direct);
    }

    /** Closes the connection; the next call makes a new one. */
    public function close(): void
    {
        $this->transport->close();
    }

    /**
     * What the sidecar is: its version, its time-zone database and its limits.
     *
     * @throws OffbeatException
     */
    public function serverInfo(int|float|null $timeout = null): ServerInfo
    {
        $method = 'offbeat.v1.ServerInfoService/GetServerInfo';
        $response = $this->call($method, new V1\GetServerInfoRequest(), new V1\GetServerInfoResponse(), $timeout);

        return $this->read(static fn (): ServerInfo => ServerInfo::fromMessage($response));
    }

    /**
     * @template T of Message
     *
     * @param string $method with its service, such as offbeat.v1.SlotService/AssignSlot
     * @param T $response
     *
     * @return T
     */
    private function call(string $method, Message|string $request, Message $response, int|float|null $timeout): Message
    {
        $bytes = $this->send($method, is_string($request) ? $request : $request->serializeToString(), $timeout);

        return $this->read(static function () use ($bytes, $response): Message {
            $response->mergeFromString($bytes);

            return $response;
        });
    }

    private function send(string $method, string $bytes, int|float|null $timeout): string
    {
        return $this->transport->call($method, $bytes, $this->seconds($timeout));
    }

    /** For what counts when it is made twice: no attempt is made again. */
    private function sendOnce(string $method, string $bytes, int|float|null $timeout): string
    {
        return $this->direct->call($method, $bytes, $this->seconds($timeout));
    }

    private function seconds(int|float|null $timeout): float
    {
        return $timeout === null ? $this->timeout : Check::timeout('timeout', $timeout);
    }

    /**
     * @template T
     *
     * @param \Closure(): T $reader
     *
     * @return T
     */
    private function read(\Closure $reader): mixed
    {
        try {
            return $reader();
        } catch (\Throwable $malformed) {
            throw new OffbeatException("$this->address: the answer is none of a sidecar", previous: $malformed);
        }
    }

    private static function transport(TransportKind|string $kind, Endpoint $endpoint): Transport
    {
        if (is_string($kind)) {
            $kind = TransportKind::tryFrom($kind)
                ?? throw InvalidArgument::refused('transport', $kind, "must be 'auto', 'curl' or 'grpc'");
        }

        return match (true) {
            $kind !== TransportKind::Grpc && CurlTransport::isUsable() => new CurlTransport($endpoint),
            $kind !== TransportKind::Curl && GrpcTransport::isUsable() => new GrpcTransport($endpoint),
            default => throw InvalidArgument::refused(
                'transport',
                $kind->value,
                'must be one that is loaded: ext-curl, or ext-grpc',
            ),
        };
    }

    private static function variable(string $name): ?string
    {
        $value = getenv($name);

        return $value === false || $value === '' ? null : $value;
    }

    private static function timeoutFromVariable(): float
    {
        $value = self::variable('OFFBEAT_TIMEOUT');
        if ($value === null) {
            return self::DEFAULT_TIMEOUT;
        }
        if (!is_numeric($value)) {
            throw InvalidArgument::refused('OFFBEAT_TIMEOUT', $value, 'must be a positive number of seconds');
        }

        return Check::timeout('OFFBEAT_TIMEOUT', (float) $value);
    }
}
