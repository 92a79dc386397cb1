<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;

/**
 * A cycle cut into slots, and a placement. What is null has the sidecar's default.
 *
 *     new Offbeat\Schedule(period: new DateInterval('PT8H'), slotCount: 96)
 *
 * The sidecar checks the values: a schedule that cannot be throws InvalidArgument when
 * it is first used.
 */
final class Schedule
{
    public readonly DateInterval|int|float $period;
    public readonly DateInterval|int|float|null $resolution;
    public readonly ?DateTimeImmutable $anchorTime;

    /**
     * @param DateInterval|int|float $period length of the cycle, as an interval of fixed length or
     *     in seconds: 1 ms to 3,660 days of elapsed time (a day is 24 hours, whatever the clocks do)
     * @param ?int $slotCount slots in a cycle; must divide it. Default: gcd of its seconds and 256
     * @param ?Placement $placement Placement::Hash by default
     * @param string $salt Placement::Hash only: the namespace
     * @param ?Profile $profile Placement::Twister only: Profile::Ruby by default
     * @param ?int $bucketCount Placement::Twister only: 256 (the default) or 65,536
     * @param DateInterval|int|float|null $resolution length of a tick: 1 second (the default) or a
     *     whole fraction of it, down to 0.001
     * @param ?DateTimeInterface $anchorTime when cycle 0 starts. Default: the Unix epoch
     */
    public function __construct(
        DateInterval|int|float $period,
        public readonly ?int $slotCount = null,
        public readonly ?Placement $placement = null,
        public readonly string $salt = '',
        public readonly ?Profile $profile = null,
        public readonly ?int $bucketCount = null,
        DateInterval|int|float|null $resolution = null,
        ?DateTimeInterface $anchorTime = null,
    ) {
        // Copies of what could be changed from outside.
        $this->period = Times::copy($period);
        $this->resolution = Times::copy($resolution);
        $this->anchorTime = $anchorTime === null ? null : DateTimeImmutable::createFromInterface($anchorTime);
    }

    /**
     * The same schedule, later by an interval or by so many seconds: for kinds of job that
     * must not meet.
     */
    public function shifted(DateInterval|int|float $offset): self
    {
        return new self(
            period: $this->period,
            slotCount: $this->slotCount,
            placement: $this->placement,
            salt: $this->salt,
            profile: $this->profile,
            bucketCount: $this->bucketCount,
            resolution: $this->resolution,
            anchorTime: Times::shifted($this->anchorTime ?? Times::instant(0, 0), $offset),
        );
    }

    /** @internal */
    public function toMessage(): V1\Schedule
    {
        $spec = new V1\ScheduleSpec();
        $spec->setPeriod(Times::toDuration('schedule.spec.period', $this->period));
        if ($this->slotCount !== null) {
            $spec->setSlotCount(Check::int32('schedule.spec.slot_count', $this->slotCount));
        }
        if ($this->placement !== null) {
            $spec->setPlacement($this->placement->toMessage());
        }
        $spec->setSalt(Check::utf8('schedule.spec.salt', $this->salt));
        if ($this->profile !== null) {
            $spec->setProfile($this->profile->toMessage());
        }
        if ($this->bucketCount !== null) {
            $spec->setBucketCount(Check::int32('schedule.spec.bucket_count', $this->bucketCount));
        }
        if ($this->resolution !== null) {
            $spec->setResolution(Times::toDuration('schedule.spec.resolution', $this->resolution));
        }
        if ($this->anchorTime !== null) {
            $spec->setAnchorTime(Times::toTimestamp($this->anchorTime));
        }

        return (new V1\Schedule())->setSpec($spec);
    }
}
