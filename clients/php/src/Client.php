<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Google\Protobuf\Internal\Message;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\Lanes\LaneCalls;
use Offbeat\Lateness\LatenessCalls;
use Offbeat\NamedSpread\Calls;
use Offbeat\NamedSpread\Messages;
use Offbeat\NamedSpread\NamedSpread;
use Offbeat\NamedSpread\Patience;
use Offbeat\NamedSpread\Service;
use Offbeat\NamedSpread\SpreadDescription;
use Offbeat\Slots\BatchCalls;
use Offbeat\Slots\DueRunCalls;
use Offbeat\Slots\KindCalls;
use Offbeat\Slots\MigrationCalls;
use Offbeat\Slots\SlotCalls;
use Offbeat\Spread\ShortagePolicy;
use Offbeat\Spread\Spread;
use Offbeat\Spread\SpreadPolicy;
use Offbeat\Stages\StageCalls;
use Offbeat\Transport\Conversation;
use Offbeat\Transport\CurlTransport;
use Offbeat\Transport\Endpoint;
use Offbeat\Transport\GrpcTransport;
use Offbeat\Transport\Retrying;
use Offbeat\Transport\Transport;

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
     *     is taken for each call anew. Over TCP it wants tls, or a loopback address
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
        $this->transport = new Retrying($this->direct);
    }

    /** Closes the connection; the next call makes a new one. */
    public function close(): void
    {
        $this->transport->close();
    }

    /**
     * The jobs of groups, so that jobs of one group stay $feederCount turns apart: an iterable of
     * turns, with a certificate() when they have all been taken.
     *
     * Groups and jobs are pulled when they are needed. It has a connection of its own, by PHP's
     * sockets, whatever the transport is.
     *
     * @param iterable<iterable<mixed>> $groups
     * @param ?int $maxOpenGroups SpreadPolicy::Cooldown only: how many groups are open at most
     * @param ?ShortagePolicy $onShortage SpreadPolicy::Cooldown only
     * @param ?int $jobWindow how many jobs of an open group are pulled ahead of their turns. Default: 256
     * @param ?int $groupWindow how many groups are pulled before a feeder needs them. Default: 0
     * @param int|float|null $timeout until the last turn, in seconds. Default: none
     *
     * @throws OffbeatException
     */
    public function spread(
        iterable $groups,
        int $feederCount,
        ?SpreadPolicy $policy = null,
        ?int $maxOpenGroups = null,
        ?ShortagePolicy $onShortage = null,
        ?int $jobWindow = null,
        ?int $groupWindow = null,
        int|float|null $timeout = null,
    ): Spread {
        $spec = (new V1\SpreadSpec())->setFeederCount(Check::int32('spec.feeder_count', $feederCount));
        if ($policy !== null) {
            $spec->setPolicy($policy->toMessage());
        }
        if ($maxOpenGroups !== null) {
            $spec->setMaxOpenGroups(Check::int32('spec.max_open_groups', $maxOpenGroups));
        }
        if ($onShortage !== null) {
            $spec->setOnShortage($onShortage->toMessage());
        }
        if ($jobWindow !== null) {
            $spec->setJobWindow(Check::int32('spec.job_window', $jobWindow));
        }
        if ($groupWindow !== null) {
            $spec->setGroupWindow(Check::int32('spec.group_window', $groupWindow));
        }

        return $this->spreadFrom($groups, (new V1\SpreadRequest())->setSpec($spec), $timeout);
    }

    /**
     * Goes on with a spread behind the turns that were taken, by its `resumeToken()`.
     *
     * The groups must be the same, in the same order: they are pulled from the first on, and
     * what had its turn is dropped. Other groups are refused before the first turn.
     *
     * @param iterable<iterable<mixed>> $groups
     * @param int|float|null $timeout until the last turn, in seconds. Default: none
     *
     * @throws OffbeatException
     */
    public function resumeSpread(iterable $groups, string $resumeToken, int|float|null $timeout = null): Spread
    {
        $token = new V1\ResumeToken();
        try {
            $token->mergeFromString($resumeToken);
        } catch (\Exception) {
            throw InvalidArgument::refused('resume_token', $resumeToken, "must be a spread's resumeToken()");
        }

        return $this->spreadFrom($groups, (new V1\SpreadRequest())->setResumeToken($token), $timeout);
    }

    /** @param iterable<iterable<mixed>> $groups */
    private function spreadFrom(iterable $groups, V1\SpreadRequest $first, int|float|null $timeout): Spread
    {
        $seconds = $timeout === null ? null : Check::timeout('timeout', $timeout);
        $path = '/offbeat.v1.SpreadService/Spread';

        return new Spread($groups, $first, fn (): Conversation => new Conversation($this->endpoint, $path, $seconds));
    }

    /**
     * A spread that outlives this process: producers submit groups, any number of consumers draw
     * their jobs. Nothing connects yet; its first call opens the spread.
     *
     * All who open it must give the same parameters; what is left out is the sidecar's default.
     *
     * @param int $feederCount how many groups take turns: the workers of all consumers, and a few more
     * @param ?int $maxOpenGroups SpreadPolicy::Cooldown only: how many groups are open at most
     * @param DateInterval|int|float|null $lease how long a job is lent, in seconds. Default: 30
     * @param ?int $maxAttempts how many times a job is lent before it is given up. Default: 5
     * @param ?int $maxConsumerLeases how many jobs one consumer may hold at once. Default: 1,024
     * @param ?int $maxGroups how many groups there may be at once. Default: 65,536
     * @param ?int $maxJobs how many jobs there may be at once. Default: 1,000,000
     * @param ?int $maxBytes how many bytes of jobs there may be at once. Default: 64 MiB
     */
    public function namedSpread(
        string $name,
        int $feederCount,
        ?SpreadPolicy $policy = null,
        ?int $maxOpenGroups = null,
        DateInterval|int|float|null $lease = null,
        ?int $maxAttempts = null,
        ?int $maxConsumerLeases = null,
        ?int $maxGroups = null,
        ?int $maxJobs = null,
        ?int $maxBytes = null,
    ): NamedSpread {
        $spec = (new V1\NamedSpreadSpec())->setFeederCount(Check::int32('spec.feeder_count', $feederCount));
        if ($policy !== null) {
            $spec->setPolicy($policy->toMessage());
        }
        if ($maxOpenGroups !== null) {
            $spec->setMaxOpenGroups(Check::int32('spec.max_open_groups', $maxOpenGroups));
        }
        if ($lease !== null) {
            $spec->setLease(Times::toDuration('spec.lease', $lease));
        }
        if ($maxAttempts !== null) {
            $spec->setMaxAttempts(Check::int32('spec.max_attempts', $maxAttempts));
        }
        if ($maxConsumerLeases !== null) {
            $spec->setMaxConsumerLeases(Check::int32('spec.max_consumer_leases', $maxConsumerLeases));
        }
        if ($maxGroups !== null) {
            $spec->setMaxGroups(Check::int32('spec.max_groups', $maxGroups));
        }
        if ($maxJobs !== null) {
            $spec->setMaxJobs(Check::int32('spec.max_jobs', $maxJobs));
        }
        if ($maxBytes !== null) {
            $spec->setMaxBytes($maxBytes);
        }

        return new NamedSpread(new Calls($this->namedSpreadService(), Check::utf8('spread', $name), $spec));
    }

    /**
     * The named spreads, by name: page by page, as they are taken.
     *
     * @return \Generator<int, SpreadDescription>
     *
     * @throws OffbeatException
     */
    public function listSpreads(): \Generator
    {
        $service = $this->namedSpreadService();
        $request = new V1\ListSpreadsRequest();
        do {
            $page = Patience::ofACall($this->timeout)->run(
                static fn (): V1\ListSpreadsResponse => $service->call('ListSpreads', $request, new V1\ListSpreadsResponse()),
            );
            foreach ($page->getSpreads() as $spread) {
                $request->setAfterSpread($spread->getSpread());
                yield Messages::description($spread);
            }
        } while ($page->getHasMore());
    }

    private function namedSpreadService(): Service
    {
        return new Service($this->direct, $this->endpoint, $this->timeout);
    }

    /**
     * @template T of Message
     *
     * @param string $method with its service, such as SlotService/AssignSlot
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
