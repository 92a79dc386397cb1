<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;

/** An ID that is new to the schedule: the answer then has its first run. */
final class NewId
{
    public readonly DateTimeImmutable $createTime;
    public readonly DateInterval|int|float|null $smearSpan;
    public readonly DateInterval|int|float|null $maxClockSkew;

    /**
     * @param DateTimeInterface $createTime when the ID was created; at most $maxClockSkew after fromTime
     * @param ?FirstRunPolicy $policy FirstRunPolicy::NextCycle by default
     * @param DateInterval|int|float|null $smearSpan must be set with FirstRunPolicy::NowSmeared, and only then: the
     *     first run starts at most this long after $createTime. Refused if the schedule declares kinds: it then starts
     *     like a late run
     * @param DateInterval|int|float|null $maxClockSkew how far $createTime may lie after fromTime, for example because
     *     it comes from a machine whose clock is fast. Default: 60 s, or the shortest cycle if that is shorter
     */
    public function __construct(
        DateTimeInterface $createTime,
        public readonly ?FirstRunPolicy $policy = null,
        DateInterval|int|float|null $smearSpan = null,
        DateInterval|int|float|null $maxClockSkew = null,
    ) {
        $this->createTime = DateTimeImmutable::createFromInterface($createTime);
        $this->smearSpan = Times::copy($smearSpan);
        $this->maxClockSkew = Times::copy($maxClockSkew);
    }

    /** @internal */
    public function toMessage(): V1\NewId
    {
        $message = (new V1\NewId())
            ->setCreateTime(Times::toTimestamp($this->createTime))
            ->setPolicy($this->policy?->toMessage() ?? V1\FirstRunPolicy::FIRST_RUN_POLICY_UNSPECIFIED);
        if ($this->smearSpan !== null) {
            $message->setSmearSpan(Times::toDuration('new_id.smear_span', $this->smearSpan));
        }
        if ($this->maxClockSkew !== null) {
            $message->setMaxClockSkew(Times::toDuration('new_id.max_clock_skew', $this->maxClockSkew));
        }

        return $message;
    }
}
