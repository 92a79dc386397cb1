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

    /**
     * @param DateTimeInterface $createdTime when it came; not after fromTime
     * @param ?NewcomerPolicy $policy NewcomerPolicy::NextCycle by default
     * @param DateInterval|int|float|null $smearSpan NewcomerPolicy::NowSmeared only, which wants it: how
     *     soon it runs, at the latest
     */
    public function __construct(
        DateTimeInterface $createdTime,
        public readonly ?NewcomerPolicy $policy = null,
        DateInterval|int|float|null $smearSpan = null,
    ) {
        $this->createdTime = DateTimeImmutable::createFromInterface($createdTime);
        $this->smearSpan = Times::copy($smearSpan);
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

        return $message;
    }
}
