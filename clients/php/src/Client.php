<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeImmutable;
use DateTimeInterface;
use Google\Protobuf\Internal\Message;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NeedsSidecar;
use Offbeat\Exception\OffbeatException;
use Offbeat\Internal\BatchCalls;
use Offbeat\Internal\Check;
use Offbeat\Internal\DueRunCalls;
use Offbeat\Internal\KindCalls;
use Offbeat\Internal\LaneCalls;
use Offbeat\Internal\LatenessCalls;
use Offbeat\Internal\Local\Decider;
use Offbeat\Internal\Local\ScheduleFile;
use Offbeat\Internal\LocalCalls;
use Offbeat\Internal\MigrationCalls;
use Offbeat\Internal\Settings;
use Offbeat\Internal\SlotCalls;
use Offbeat\Internal\SpreadCalls;
use Offbeat\Internal\StageCalls;
use Offbeat\Internal\Transport\BreakingTransport;
use Offbeat\Internal\Transport\CurlTransport;
use Offbeat\Internal\Transport\Endpoint;
use Offbeat\Internal\Transport\GrpcTransport;
use Offbeat\Internal\Transport\NoTransport;
use Offbeat\Internal\Transport\RetryingTransport;
use Offbeat\Internal\Transport\Transport;

/**
 * A client of Offbeat, which asks a sidecar or decides without one: see Mode.
 *
 *     $client = new Offbeat\Client('127.0.0.1:2328');
 *     $client->assignSlot(new Offbeat\Schedule(period: 8 * 3600), 'acme')->nextRun()->startTime;
 *
 * Connects at its first call. With ext-curl, it may be used on both sides of a fork. Calls that do not reach the
 * sidecar are retried for up to four seconds, or until their timeout, because the sidecar may be restarting.
 */
final class Client
{
    use BatchCalls;
    use DueRunCalls;
    use KindCalls;
    use LaneCalls;
    use LatenessCalls;
    use LocalCalls;
    use MigrationCalls;
    use SlotCalls;
    use SpreadCalls;
    use StageCalls;

    public const DEFAULT_ADDRESS = '127.0.0.1:2328';

    /** From this many IDs in a call on, Mode::Auto asks the sidecar first, because it is faster. */
    private const MANY_IDS = 1_000;

    public readonly string $address;
    public readonly float $timeout;
    public readonly Mode $mode;
    /** Sends each call once, without a breaker: for callers that retry themselves. */
    private readonly Transport $bare;
    /** Sends each call once, through the breaker if there is one. */
    private readonly Transport $direct;
    private readonly Transport $transport;
    private readonly Endpoint $endpoint;
    private readonly Decider $decider;
    /** @var \Closure(): DateTimeInterface */
    private readonly \Closure $clock;

    /**
     * @param ?string $address HOST:PORT or unix:PATH; by default OFFBEAT_ADDRESS, else 127.0.0.1:2328
     * @param int|float|string|null $timeout the longest time for a call, or for each call of a large batch: a number of
     *     seconds, 'web' (0.3 s, with a breaker) or 'worker' (10 s); by default OFFBEAT_TIMEOUT, else 'worker'
     * @param string|(\Closure(): string)|null $token the bearer token for the sidecar, or a closure that returns the
     *     current token before every call. Without TLS, a token is allowed over Unix sockets and to loopback addresses
     *     only
     * @param ?Tls $tls by default none; new Tls() trusts the certificate authorities of the system
     * @param Mode|string|null $mode who decides; by default OFFBEAT_MODE, else Mode::Remote
     * @param ?string $schedules a file with the JSON of `offbeat schedules export`, for schedules by name that are decided
     *     without a sidecar; by default OFFBEAT_SCHEDULES, else none
     * @param Breaker|false|null $breaker by default one with the timeout 'web', and none with other timeouts
     * @param (\Closure(): DateTimeInterface)|null $clock with Mode::Local only: returns the current time; by default
     *     the clock of this machine
     */
    public function __construct(
        ?string $address = null,
        int|float|string|null $timeout = null,
        TransportKind|string $transport = TransportKind::Auto,
        #[\SensitiveParameter]
        string|\Closure|null $token = null,
        ?Tls $tls = null,
        Mode|string|null $mode = null,
        ?string $schedules = null,
        Breaker|false|null $breaker = null,
        ?\Closure $clock = null,
    ) {
        $this->mode = Settings::mode($mode);
        if ($clock !== null && $this->mode !== Mode::Local) {
            throw InvalidArgument::refused('clock', $clock, "must not be set unless the mode is 'local': a sidecar has its own");
        }
        $this->clock = $clock ?? static fn (): DateTimeImmutable => new DateTimeImmutable();
        $this->address = $address ?? Settings::variable('OFFBEAT_ADDRESS') ?? self::DEFAULT_ADDRESS;
        [$this->timeout, $isWeb] = Settings::timeout($timeout);
        $this->endpoint = Endpoint::of($this->address, $tls, $token);
        $schedules ??= Settings::variable('OFFBEAT_SCHEDULES');
        $this->decider = new Decider($this->mode, $schedules === null ? null : new ScheduleFile($schedules), $this->clock);
        $this->bare = $this->mode === Mode::Local ? new NoTransport() : self::transport($transport, $this->endpoint);
        $breaker ??= $isWeb ? new Breaker() : false;
        if ($breaker === false || $this->mode === Mode::Local) {
            $this->direct = $this->bare;
            $this->transport = new RetryingTransport($this->bare);
        } else {
            $store = BreakingTransport::store($this->address);
            $this->direct = new BreakingTransport($this->bare, $breaker, $this->address, $store);
            $this->transport = new BreakingTransport(new RetryingTransport($this->bare), $breaker, $this->address, $store);
        }
    }

    /** Closes the connection; the next call makes a new one. */
    public function close(): void
    {
        $this->transport->close();
    }

    /**
     * Describes the sidecar: its version, its time-zone database and its limits.
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
    private function call(string $method, Message $request, Message $response, int|float|null $timeout): Message
    {
        return $this->ask($method, $request, $response, $timeout)[0];
    }

    /**
     * The same as call(), and who decided.
     *
     * @template T of Message
     *
     * @param T $response
     * @param string $opening fields that are not in the request, as bytes
     *
     * @return array{T, DecidedBy}
     */
    private function ask(string $method, Message $request, Message $response, int|float|null $timeout, string $opening = ''): array
    {
        $seconds = $this->seconds($timeout);
        $decided = $this->mode === Mode::Remote ? null : $this->decider->answer($method, $request, $opening);
        if ($decided !== null) {
            return [$decided, DecidedBy::Local];
        }
        $bytes = $this->send($method, $opening . $request->serializeToString(), $seconds);
        $response = $this->read(static function () use ($bytes, $response): Message {
            $response->mergeFromString($bytes);

            return $response;
        });

        return [$response, DecidedBy::Sidecar];
    }

    /**
     * The bytes of the answer to a batch, and who decided.
     *
     * @param int $idCount IDs of the call, up to the end of this batch
     *
     * @return array{string, DecidedBy}
     */
    private function askBatch(string $method, string $bytes, int $idCount, int|float|null $timeout): array
    {
        $seconds = $this->seconds($timeout);
        if ($this->mode === Mode::Remote) {
            return [$this->send($method, $bytes, $seconds), DecidedBy::Sidecar];
        }
        if ($this->mode === Mode::Auto && $idCount >= self::MANY_IDS && $this->decider->takes($method, $bytes)) {
            try {
                return [$this->sendOnce($method, $bytes, $seconds), DecidedBy::Sidecar];
            } catch (OffbeatException) {
                // The sidecar would only be faster: the batch is now decided, or refused, here.
            }
        }
        $decided = $this->decider->batch($method, $bytes);

        return $decided === null
            ? [$this->send($method, $bytes, $seconds), DecidedBy::Sidecar]
            : [$decided, DecidedBy::Local];
    }

    private function now(): DateTimeImmutable
    {
        return DateTimeImmutable::createFromInterface(($this->clock)());
    }

    /** @throws NeedsSidecar in Mode::Local */
    private function requireSidecar(string $what): void
    {
        if ($this->mode === Mode::Local) {
            throw new NeedsSidecar("$what needs a sidecar: clients do not decide it");
        }
    }

    private function send(string $method, string $bytes, int|float|null $timeout): string
    {
        return $this->transport->call($method, $bytes, $this->seconds($timeout));
    }

    /** For calls that count twice if they are made twice: they are not retried. */
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
}
