<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use DateInterval;
use DateTimeImmutable;
use Offbeat\Internal\Clock;
use Offbeat\Times;

/**
 * A leased job. Its consumer settles it before the lease ends; otherwise the job is leased again.
 *
 * Epoch, sequence and attempt, compared in this order, are a fencing token: of two leases of a job, the later one has
 * the larger token.
 */
final class LeasedJob
{
    /**
     * @internal
     *
     * @param string $groupId the group, as its producer calls it
     * @param int $jobIndex within the group, from 0
     * @param int $sequence position in the order of first attempts, from 0
     * @param int $attempt leases of the job in this epoch, from 1
     * @param int $epoch the epoch of the spread in which the job was leased
     * @param bool $redelivered whether a consumer may have had the job before
     * @param string $payload any bytes
     */
    public function __construct(
        public readonly string $groupId,
        public readonly int $jobIndex,
        public readonly int $sequence,
        public readonly int $attempt,
        public readonly int $epoch,
        public readonly bool $redelivered,
        public readonly string $payload,
        private readonly float $lease,
        private DateTimeImmutable $leaseEndTime,
        private float $deadline,
        private readonly ?Consumer $consumer,
    ) {
    }

    /** The token of the lease, for a process that settles the job and did not pull it. */
    public function token(): LeaseToken
    {
        return new LeaseToken($this->epoch, $this->sequence, $this->attempt);
    }

    /** How long a lease lasts. */
    public function leaseDuration(): DateInterval
    {
        return Times::fromMicros(Times::toMicros('lease_duration', $this->lease));
    }

    /** Seconds until the lease ends, by the clock of this machine; negative if it has ended. */
    public function leaseEndsIn(): float
    {
        return $this->deadline - Clock::now();
    }

    /** When the lease ends, by the clock of the sidecar; later after it was extended. */
    public function leaseEndTime(): DateTimeImmutable
    {
        return $this->leaseEndTime;
    }

    /** Whether the lease has ended. */
    public function expired(): bool
    {
        return $this->leaseEndsIn() <= 0;
    }

    /** The job is done. */
    public function ack(): void
    {
        $this->consumer()->settle($this, SettleAction::Ack);
    }

    /**
     * The attempt failed: the job is leased again after the delay, or becomes a dead letter if this was its last
     * attempt.
     *
     * @param DateInterval|int|float $delay in seconds, up to a day
     */
    public function nack(DateInterval|int|float $delay = 0): void
    {
        $this->consumer()->settle($this, SettleAction::Nack, $delay);
    }

    /**
     * The job was not started: it is leased again, and the attempt does not count. Without a delay, it is the next job
     * to be leased, so a consumer that cannot handle it should set one.
     *
     * @param DateInterval|int|float $delay in seconds, up to a day
     */
    public function release(DateInterval|int|float $delay = 0): void
    {
        $this->consumer()->settle($this, SettleAction::Release, $delay);
    }

    /** The job can never succeed: it becomes a dead letter. */
    public function deadLetter(): void
    {
        $this->consumer()->settle($this, SettleAction::DeadLetter);
    }

    /**
     * The job is still running: extends the lease at once, to its full duration from now on. Returns the new
     * leaseEndTime(), or null if the lease has ended: another consumer may then have the job.
     */
    public function extendLease(): ?DateTimeImmutable
    {
        return $this->consumer()->extendLease($this);
    }

    /** @internal The latest time at which its settlement should be sent, by Clock: half of the lease is then left. */
    public function settleBy(): float
    {
        return $this->deadline - $this->lease / 2;
    }

    /**
     * @internal Records that the lease was extended, or has ended.
     *
     * @param float $asked when the call was sent, by Clock
     */
    public function extended(SettleResult $result, float $asked): void
    {
        $this->leaseEndTime = $result->leaseEndTime ?? $this->leaseEndTime;
        $this->deadline = $result->outcome === SettleOutcome::Extended ? $asked + $this->lease : $asked;
    }

    private function consumer(): Consumer
    {
        return $this->consumer ?? throw new \LogicException('a job of pull() is settled by settle()');
    }
}
