<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

/**
 * A job that is lent. Its consumer says how it went before the lease ends, or it is lent again.
 *
 * Epoch, sequence and attempt are a fencing token: of two leases on a job, the later has the
 * larger attempt, or another epoch.
 */
final class LeasedJob
{
    /**
     * @internal
     *
     * @param int $index its number within the group, from 0
     * @param int $sequence its place in the order of first attempts, from 0
     * @param int $attempt how many times it has been lent in this epoch, from 1
     * @param int $epoch the life of the spread
     * @param bool $redelivered whether a consumer may have had it before
     * @param string $job its bytes
     */
    public function __construct(
        public readonly string $groupId,
        public readonly int $index,
        public readonly int $sequence,
        public readonly int $attempt,
        public readonly int $epoch,
        public readonly bool $redelivered,
        public readonly string $job,
        private readonly float $lease,
        private float $deadline,
        private readonly ?Consumer $consumer,
    ) {
    }

    /** In how many seconds the lease ends; negative if it has ended. */
    public function leaseEndsIn(): float
    {
        return $this->deadline - Clock::now();
    }

    public function expired(): bool
    {
        return $this->leaseEndsIn() <= 0;
    }

    /** It is done. */
    public function ack(): void
    {
        $this->consumer()->decide($this, Verdict::Ack);
    }

    /**
     * It failed: it is lent again after the delay, or given up if this was the last attempt.
     *
     * @param \DateInterval|int|float $delay in seconds
     */
    public function nack(\DateInterval|int|float $delay = 0): void
    {
        $this->consumer()->decide($this, Verdict::Nack, $delay);
    }

    /** It was not begun: it is lent again, and the attempt does not count. */
    public function release(): void
    {
        $this->consumer()->decide($this, Verdict::Release);
    }

    /** It can never succeed: it is given up. */
    public function terminate(): void
    {
        $this->consumer()->decide($this, Verdict::Terminate);
    }

    /**
     * It is still being worked on: asks at once for the lease to last for its full length from now
     * on. False if it has ended: another consumer may have the job.
     */
    public function extend(): bool
    {
        return $this->consumer()->extend($this);
    }

    /** @internal When its verdict should be on its way, even if few others are: half of the lease is left. */
    public function settleBy(): float
    {
        return $this->deadline - $this->lease / 2;
    }

    /**
     * @internal The lease begins anew, or has ended.
     *
     * @param float $asked before it was asked for, by Clock
     */
    public function extended(Settlement $settlement, float $asked): void
    {
        $this->deadline = $settlement === Settlement::Extended ? $asked + $this->lease : $asked;
    }

    private function consumer(): Consumer
    {
        return $this->consumer ?? throw new \LogicException('a job of pull() is settled by settle()');
    }
}
