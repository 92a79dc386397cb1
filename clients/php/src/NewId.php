<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;

/** Says that an ID is new, to be told its first run. */
final class NewId
{
    public readonly DateTimeImmutable $createTime;
    public readonly DateInterval|int|float|null $smearSpan;
    public readonly DateInterval|int|float|null $maxClockSkew;

    /**
     * @param DateTimeInterface $createTime when it came; after fromTime by maxClockSkew at most
     * @param ?FirstRunPolicy $policy FirstRunPolicy::NextCycle by default
     * @param DateInterval|int|float|null $smearSpan FirstRunPolicy::NowSmeared only, which wants it: how
     *     soon it runs, at the latest. Refused where the schedule declares kinds: it runs as a late run then
     * @param DateInterval|int|float|null $maxClockSkew how far its coming may lie ahead of fromTime, by the clock of
     *     another machine. Default: 60 s
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
