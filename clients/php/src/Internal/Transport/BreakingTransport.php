<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Breaker;
use Offbeat\Exception\CircuitOpen;
use Offbeat\Exception\NoAnswer;
use Offbeat\Internal\Breaker\ApcuStore;
use Offbeat\Internal\Breaker\FileStore;
use Offbeat\Internal\Breaker\MemoryStore;
use Offbeat\Internal\Breaker\State;
use Offbeat\Internal\Breaker\Store;
use Offbeat\Internal\Clock;

/**
 * A circuit breaker: makes no calls for a while after consecutive calls without an answer. See Breaker.
 *
 * @internal
 */
final class BreakingTransport implements Transport
{
    /** The longest time that calls fail because one that was let through has no answer yet. */
    private const MAX_PROBE_SECONDS = 30.0;
    private const PROBE_SPARE_SECONDS = 1.0;

    public function __construct(
        private readonly Transport $transport,
        private readonly Breaker $breaker,
        private readonly string $address,
        private readonly Store $store,
    ) {
    }

    /** The state for an address, shared by the processes that call it. */
    public static function store(string $address): Store
    {
        $name = 'offbeat-breaker-' . substr(hash('sha256', $address), 0, 32);

        return ApcuStore::isUsable() ? new ApcuStore($name) : FileStore::of($name) ?? new MemoryStore($name);
    }

    public function call(string $method, string $bytes, float $timeout): string
    {
        $state = $this->store->read();
        $isProbe = $state->openFor > 0.0;
        if ($isProbe) {
            $this->pass($state, $timeout);
        }
        try {
            $answer = $this->transport->call($method, $bytes, $timeout);
        } catch (NoAnswer $none) {
            $this->store->change(fn (State $state): ?State => $this->failed($state, $isProbe));
            throw $none;
        } catch (\Throwable $refused) {
            $this->answered($state);
            throw $refused;
        }
        $this->answered($state);

        return $answer;
    }

    public function close(): void
    {
        $this->transport->close();
    }

    /**
     * Lets one call through once the breaker has been open for long enough.
     *
     * @throws CircuitOpen for all other calls
     */
    private function pass(State $state, float $timeout): void
    {
        $now = Clock::now();
        $left = $this->left($state, $now);
        $isProbe = $left <= 0 && $this->store->change(function (State $state) use ($now, $timeout): ?State {
            $probeUntil = $now + min($timeout + self::PROBE_SPARE_SECONDS, self::MAX_PROBE_SECONDS);

            return $this->left($state, $now) > 0 ? null : new State($state->failures, $state->openFor, $state->openUntil, $probeUntil);
        });
        if (!$isProbe) {
            $left = max($left, $this->left($this->store->read(), $now), 0.001);
            $shown = round($left, 3);
            throw new CircuitOpen(
                "$this->address: not asked, since $state->failures calls in a row got no answer: it is asked again in $shown s",
                retryDelay: $left,
            );
        }
    }

    /**
     * How much longer calls fail at once, in seconds. An instant that is too far ahead is from before a restart of the
     * machine.
     */
    private function left(State $state, float $now): float
    {
        $open = $state->openUntil - $now;
        $probe = $state->probeUntil - $now;

        return max($open > $this->breaker->maxOpenDuration ? 0.0 : $open, $probe > self::MAX_PROBE_SECONDS ? 0.0 : $probe);
    }

    private function failed(State $state, bool $isProbe): ?State
    {
        if ($state->openFor > 0.0 && !$isProbe) {
            return null; // the call was in flight when others opened the breaker
        }
        $failures = $state->failures + 1;
        if ($failures < $this->breaker->failureCount) {
            return new State($failures);
        }
        $openFor = (float) min($this->breaker->maxOpenDuration, $isProbe ? 2 * $state->openFor : $this->breaker->openDuration);

        return new State($failures, $openFor, Clock::now() + $openFor);
    }

    private function answered(State $before): void
    {
        if (!$before->isWell()) {
            $this->store->change(static fn (): State => new State());
        }
    }
}
