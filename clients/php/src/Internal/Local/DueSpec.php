<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\Exception\NeedsSidecar;
use Offbeat\V1;

/**
 * A checked request for due runs. Instants and spans are in milliseconds.
 *
 * @internal
 */
final class DueSpec
{
    private const MAX_HORIZON_SECONDS = 316_224_000;
    private const POLICY = 'catch_up_policy.';

    public readonly int $nowMillis;
    /** Runs before this are listed. */
    public readonly int $endMillis;
    /** Runs before this are missed. */
    public readonly int $onTimeFrom;
    /** Missed runs before this are older than the horizon. */
    public readonly int $caughtUpFrom;
    public readonly int $smearMillis;
    public readonly int $minGapMillis;
    public readonly bool $drops;
    private readonly int $lastWatermark;
    private readonly Span $latestSkew;

    public function __construct(CheckedSchedule $schedule, V1\ListDueRunsRequest $request, public readonly Moment $now)
    {
        $policy = $request->getCatchUpPolicy() ?? new V1\CatchUpPolicy();
        $this->drops = self::drops($policy->getMissedRunPolicy());
        $skew = Span::ofOptional('max_clock_skew', $request->getMaxClockSkew());
        $lookAhead = Span::ofOptional('look_ahead', $request->getLookAhead());
        $tolerance = Span::ofOptional('on_time_tolerance', $policy->getOnTimeTolerance());
        $horizon = Span::ofOptional('horizon', $policy->getHorizon());
        $smear = Span::ofOptional('smear_span', $policy->getSmearSpan());
        $minGap = Span::ofOptional('min_gap', $policy->getMinGap());
        if ($this->drops && $tolerance === null) {
            $allowed = 'must be set with the policy DROP: at least the time between two requests, or runs are lost';
            throw Refusal::of(Refusal::MISSING, self::POLICY . 'on_time_tolerance', 'nothing', $allowed);
        }
        $period = $schedule->period();
        [$none, $minute] = [new Span(0), self::shorter(new Span(60), $period)];
        $tolerance = self::tolerance($schedule, $tolerance, $minute);
        $smeared = self::upToPeriod(self::POLICY . 'smear_span', $smear ?? $none, $period);
        if ($schedule->kinds !== null && $smear !== null) {
            $allowed = 'must not be set where the schedule declares kinds: its catch_up_span says where late runs start, the same for all callers';
            throw Refusal::of(Refusal::CONTRADICTORY, self::POLICY . 'smear_span', $smear->text(), $allowed);
        }
        $lookAhead = self::upToPeriod('look_ahead', $lookAhead ?? $none, $period);
        $minGap = self::upToPeriod(self::POLICY . 'min_gap', $minGap ?? $none, $period);
        $this->latestSkew = $lookAhead->plus(self::upToPeriod('max_clock_skew', $skew ?? $minute, $period));
        $horizon = self::horizon($horizon ?? $period, $tolerance);
        $this->nowMillis = $now->millisCeil();
        $this->endMillis = $now->millisCeilPlus($lookAhead);
        $this->onTimeFrom = $now->millisCeilPlus($tolerance, -1);
        $this->caughtUpFrom = $now->millisCeilPlus($horizon, -1);
        $this->smearMillis = $smeared->millisFloor();
        $this->minGapMillis = $minGap->millisCeil();
        $this->lastWatermark = $now->millisCeilPlus($this->latestSkew);
    }

    public function checkWatermark(int $millis, string $field): int
    {
        $time = Moment::ofMillis($millis);
        if ($millis > $this->lastWatermark) {
            $latest = Moment::ofMillis($this->lastWatermark)?->text() ?? '9999-12-31T23:59:59.999999999Z';
            $allowed = "must be at most $latest: max_clock_skew and look_ahead, {$this->latestSkew->text()}, after now_time";
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $time?->text() ?? "$millis ms", $allowed);
        }
        if ($time === null) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, "$millis ms since the Unix epoch", 'must be ' . Moment::RANGE);
        }

        return $millis;
    }

    /** Whether missed runs are dropped; otherwise the latest one of each ID runs. */
    private static function drops(int $policy): bool
    {
        return match ($policy) {
            V1\MissedRunPolicy::MISSED_RUN_POLICY_UNSPECIFIED, V1\MissedRunPolicy::MISSED_RUN_POLICY_RUN_ONCE => false,
            V1\MissedRunPolicy::MISSED_RUN_POLICY_DROP => true,
            V1\MissedRunPolicy::MISSED_RUN_POLICY_RUN_ALL => throw new NeedsSidecar(
                'MISSED_RUN_POLICY_RUN_ALL needs a sidecar: clients decide DROP and RUN_ONCE alone',
            ),
            default => throw Refusal::of(
                Refusal::OUT_OF_RANGE,
                self::POLICY . 'missed_run_policy',
                $policy,
                'must be 0 to 3, a value of MissedRunPolicy',
            ),
        };
    }

    private static function tolerance(CheckedSchedule $schedule, ?Span $tolerance, Span $minute): Span
    {
        $field = self::POLICY . 'on_time_tolerance';
        if ($schedule->kinds === null) {
            return self::upToPeriod($field, $tolerance ?? $minute, $schedule->period());
        }
        $longest = $schedule->kinds->longestTolerance;
        $tolerance ??= self::shorter($minute, $longest);
        if (!$tolerance->isWithin(new Span(0), $longest)) {
            $allowed = "must be 0s to {$longest->text()}, what the run time of a kind leaves of the gap to the next one: "
                . 'a run that starts later could meet it';
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $tolerance->text(), $allowed);
        }

        return $tolerance;
    }

    private static function horizon(Span $horizon, Span $tolerance): Span
    {
        if (!$horizon->isWithin($tolerance, new Span(self::MAX_HORIZON_SECONDS))) {
            $allowed = "must be on_time_tolerance, {$tolerance->text()}, to 316224000s (3660 days)";
            throw Refusal::of(Refusal::OUT_OF_RANGE, self::POLICY . 'horizon', $horizon->text(), $allowed);
        }

        return $horizon;
    }

    private static function upToPeriod(string $field, Span $span, Span $period): Span
    {
        if (!$span->isWithin(new Span(0), $period)) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $span->text(), "must be 0s to {$period->text()}, one period");
        }

        return $span;
    }

    private static function shorter(Span $one, Span $other): Span
    {
        return $one->compare($other) <= 0 ? $one : $other;
    }
}
