<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;

/**
 * How Client::listDueRuns() treats missed runs. null stands for the sidecar's default.
 *
 *     new CatchUpPolicy(MissedRunPolicy::RunOnce, smearSpan: 600)
 */
final class CatchUpPolicy
{
    public readonly DateInterval|int|float|null $onTimeTolerance;
    public readonly DateInterval|int|float|null $horizon;
    public readonly DateInterval|int|float|null $smearSpan;
    public readonly DateInterval|int|float|null $minGap;

    /**
     * @param ?MissedRunPolicy $missedRunPolicy MissedRunPolicy::RunOnce by default
     * @param DateInterval|int|float|null $onTimeTolerance runs that are late by at most this are on time, not missed.
     *     Use at least the time between two calls. If the schedule declares kinds, at most what the run time of a kind
     *     leaves of its run budget. Must be given with MissedRunPolicy::Drop, which drops missed runs for good.
     *     Default: 60 s, or the largest allowed value if that is shorter
     * @param DateInterval|int|float|null $horizon missed runs that are older than this are dropped. Default: the
     *     shortest cycle
     * @param DateInterval|int|float|null $smearSpan missed runs start spread over this span, instead of all at once.
     *     Refused if the schedule declares kinds: its catchUpSpan decides. Default: 0
     * @param DateInterval|int|float|null $minGap with MissedRunPolicy::RunOnce, a missed run does not run if it would
     *     start at or after the next run of its ID, or less than this before it. Default: 0
     */
    public function __construct(
        public readonly ?MissedRunPolicy $missedRunPolicy = null,
        DateInterval|int|float|null $onTimeTolerance = null,
        DateInterval|int|float|null $horizon = null,
        DateInterval|int|float|null $smearSpan = null,
        DateInterval|int|float|null $minGap = null,
    ) {
        $this->onTimeTolerance = Times::copy($onTimeTolerance);
        $this->horizon = Times::copy($horizon);
        $this->smearSpan = Times::copy($smearSpan);
        $this->minGap = Times::copy($minGap);
    }

    /** @internal */
    public function toMessage(): V1\CatchUpPolicy
    {
        $message = (new V1\CatchUpPolicy())
            ->setMissedRunPolicy($this->missedRunPolicy?->toMessage() ?? V1\MissedRunPolicy::MISSED_RUN_POLICY_UNSPECIFIED);
        if ($this->onTimeTolerance !== null) {
            $message->setOnTimeTolerance(Times::toDuration('catch_up_policy.on_time_tolerance', $this->onTimeTolerance));
        }
        if ($this->horizon !== null) {
            $message->setHorizon(Times::toDuration('catch_up_policy.horizon', $this->horizon));
        }
        if ($this->smearSpan !== null) {
            $message->setSmearSpan(Times::toDuration('catch_up_policy.smear_span', $this->smearSpan));
        }
        if ($this->minGap !== null) {
            $message->setMinGap(Times::toDuration('catch_up_policy.min_gap', $this->minGap));
        }

        return $message;
    }
}
