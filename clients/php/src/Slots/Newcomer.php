<?php

declare(strict_types=1);

namespace Offbeat\Slots;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use Offbeat\Times;
use Offbeat\V1;

/** Says that an ID is new, to be told its first run. */
final class Newcomer
{
    public readonly DateTimeImmutable $createdTime;
    public readonly DateInterval|int|float|null $smearSpan;
    public readonly DateInterval|int|float|null $maxClockSkew;

    /**
     * @param DateTimeInterface $createdTime when it came; after fromTime by maxClockSkew at most
     * @param ?NewcomerPolicy $policy NewcomerPolicy::NextCycle by default
     * @param DateInterval|int|float|null $smearSpan NewcomerPolicy::NowSmeared only, which wants it: how
     *     soon it runs, at the latest. Refused where the schedule declares kinds: it runs as a late run then
     * @param DateInterval|int|float|null $maxClockSkew how far its coming may lie ahead of fromTime, by the clock of
     *     another machine. Default: 60 s
     */
    public function __construct(
        DateTimeInterface $createdTime,
        public readonly ?NewcomerPolicy $policy = null,
        DateInterval|int|float|null $smearSpan = null,
        DateInterval|int|float|null $maxClockSkew = null,
    ) {
        $this->createdTime = DateTimeImmutable::createFromInterface($createdTime);
        $this->smearSpan = Times::copy($smearSpan);
        $this->maxClockSkew = Times::copy($maxClockSkew);
    }

    /** @internal */
    public function toMessage(): V1\Newcomer
    {
        $message = (new V1\Newcomer())
            ->setCreatedTime(Times::toTimestamp($this->createdTime))
            ->setPolicy($this->policy?->toMessage() ?? V1\NewcomerPolicy::NEWCOMER_POLICY_UNSPECIFIED);
        if ($this->smearSpan !== null) {
            $message->setSmearSpan(Times::toDuration('newcomer.smear_span', $this->smearSpan));
        }
        if ($this->maxClockSkew !== null) {
            $message->setMaxClockSkew(Times::toDuration('newcomer.max_clock_skew', $this->maxClockSkew));
        }

        return $message;
    }
}
