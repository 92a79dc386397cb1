<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeImmutable;
use DateTimeInterface;

/** A single span of time in which nothing may start: half-open, from start to end. */
final class DatedExclusion
{
    public readonly DateTimeImmutable $startTime;
    public readonly DateTimeImmutable $endTime;

    /** @param ?ExclusionPolicy $policy ExclusionPolicy::Defer by default */
    public function __construct(
        DateTimeInterface $startTime,
        DateTimeInterface $endTime,
        public readonly ?ExclusionPolicy $policy = null,
    ) {
        $this->startTime = DateTimeImmutable::createFromInterface($startTime);
        $this->endTime = DateTimeImmutable::createFromInterface($endTime);
    }

    /** @internal */
    public function toMessage(string $field): V1\Exclusion
    {
        $dated = (new V1\DatedExclusion())
            ->setStartTime(Times::toTimestamp($this->startTime))
            ->setEndTime(Times::toTimestamp($this->endTime));

        return (new V1\Exclusion())
            ->setDated($dated)
            ->setPolicy($this->policy?->toMessage() ?? V1\ExclusionPolicy::EXCLUSION_POLICY_UNSPECIFIED);
    }
}
