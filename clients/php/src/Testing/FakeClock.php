<?php

declare(strict_types=1);

namespace Offbeat\Testing;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use Offbeat\Client;
use Offbeat\Mode;
use Offbeat\Times;

/**
 * A clock that stands still until a test sets it.
 *
 *     $clock = new Offbeat\Testing\FakeClock('2026-01-01T00:00:00Z');
 *     $offbeat = $clock->client();
 *     $clock->travel(3600);
 */
final class FakeClock
{
    public DateTimeImmutable $now;

    public function __construct(DateTimeInterface|string $now = '2026-01-01T00:00:00Z')
    {
        $this->now = is_string($now) ? new DateTimeImmutable($now, new DateTimeZone('UTC')) : DateTimeImmutable::createFromInterface($now);
    }

    /** A client that decides without a sidecar, by this clock. */
    public function client(?string $schedules = null): Client
    {
        return new Client(mode: Mode::Local, schedules: $schedules, clock: fn (): DateTimeImmutable => $this->now);
    }

    /** Moves the clock forward by a span of fixed length, or by seconds; back, if that is negative. */
    public function travel(DateInterval|int|float $span): void
    {
        $this->now = Times::shifted('span', $this->now, $span);
    }
}
