<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\V1;

/**
 * Decides in which lane the next attempt of a job runs.
 *
 * @internal
 */
final class Lanes
{
    private const MAX_TIMEOUT_MILLIS = 366 * 86_400_000;

    /** @var list<string> */
    private readonly array $names;
    /** @var list<int> how many workers each has */
    private readonly array $workers;
    /** @var list<?Span> */
    private readonly array $timeouts;
    private readonly float $maxSlowProbability;
    private readonly bool $suspends;

    private function __construct(V1\LaneSet $message)
    {
        $lanes = iterator_to_array($message->getLanes(), false);
        $this->names = self::names($lanes);
        $timeouts = $workers = [];
        foreach ($lanes as $place => $lane) {
            $timeouts[] = Span::ofOptional("lane_set.lanes[$place].attempt_timeout", $lane->getAttemptTimeout());
        }
        self::value('policy', $message->getPolicy(), 'LanePolicy');
        $this->suspends = self::value('on_timeout', $message->getOnTimeout(), 'TimeoutAction') === V1\TimeoutAction::TIMEOUT_ACTION_SUSPEND;
        if (count($lanes) < 2 || count($lanes) > 16) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, 'lane_set.lanes', count($lanes), 'must be 2 to 16 lanes');
        }
        foreach ($lanes as $place => $lane) {
            $isLast = $place === count($lanes) - 1;
            $workers[] = self::workers($lane->getWorkerCount(), $place === 0 || $isLast, "lane_set.lanes[$place].worker_count");
            self::checkTimeout($timeouts[$place], $timeouts[$place - 1] ?? null, $isLast, "lane_set.lanes[$place].attempt_timeout");
        }
        $this->workers = $workers;
        $this->timeouts = $timeouts;
        $this->maxSlowProbability = $message->hasMaxExpressSlowProbability() ? $message->getMaxExpressSlowProbability() : 1.0;
        self::checkProbability('lane_set.max_express_slow_probability', $this->maxSlowProbability);
    }

    public static function route(V1\RouteJobRequest $request): V1\RouteJobResponse
    {
        if ($request->getLaneSet() === null) {
            throw Refusal::of(Refusal::MISSING, 'lane_set', 'nothing', 'must be set');
        }
        $lanes = new self($request->getLaneSet());
        $timedOut = [];
        foreach ($request->getTimedOutLaneNames() as $place => $name) {
            $timedOut[] = $lanes->place("timed_out_lane_names[$place]", $name);
        }
        $prediction = self::prediction($request->getPrediction());
        $worker = $request->getWorkerLaneName() === '' ? null : $lanes->place('worker_lane_name', $request->getWorkerLaneName());

        return $lanes->outcome($timedOut, $prediction, $worker);
    }

    /** @param list<int> $timedOut */
    private function outcome(array $timedOut, float|Span|null $prediction, ?int $worker): V1\RouteJobResponse
    {
        if ($worker !== null && $this->workers[$worker] === 0) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, 'worker_lane_name', 'another', 'must be a lane of the set that has workers');
        }
        $predicted = $this->predicted($prediction);
        if ($timedOut !== []) {
            [$lane, $reason] = [$this->atLeast(max($timedOut) + 1), V1\RouteReason::ROUTE_REASON_DEMOTED];
        } elseif ($predicted > 0) {
            [$lane, $reason] = [$predicted, V1\RouteReason::ROUTE_REASON_PREDICTED_SLOW];
        } else {
            [$lane, $reason] = [0, V1\RouteReason::ROUTE_REASON_UNTRIED];
        }
        $response = new V1\RouteJobResponse();
        if ($lane === null) {
            return $response->setPermanentFailure($this->failure(max($timedOut)));
        }
        if ($worker !== null && $worker > $lane) {
            [$lane, $reason] = [$worker, V1\RouteReason::ROUTE_REASON_IDLE_WORKER];
        }
        $timeout = $this->timeouts[$lane];
        $next = $timeout === null ? null : $this->atLeast($lane + 1);
        $route = (new V1\LaneRoute())
            ->setLaneName($this->names[$lane])
            ->setAttempt(count($timedOut) + 1)
            ->setNextLaneName($next === null ? '' : $this->names[$next])
            ->setReason($reason)
            ->setResumes($timedOut !== [] && $this->suspends);

        return $response->setRoute($timeout === null ? $route : $route->setAttemptTimeout($timeout->message()));
    }

    private function failure(int $lane): V1\PermanentFailure
    {
        $timeout = $this->timeouts[$lane];
        $after = $timeout === null ? '' : " of {$timeout->text()}";
        $name = Refusal::quoted($this->names[$lane]);
        $failure = (new V1\PermanentFailure())
            ->setLastLaneName($this->names[$lane])
            ->setMessage("reached the timeout$after of lane $name, the last");

        return $timeout === null ? $failure : $failure->setExceededTimeout($timeout->message());
    }

    /** The index of the lane in which an untried job starts: 0, unless it is predicted to be slow. */
    private function predicted(float|Span|null $prediction): int
    {
        $begins = 0;
        if ($prediction instanceof Span) {
            if ($prediction->compare(new Span(0)) < 0) {
                throw Refusal::of(Refusal::OUT_OF_RANGE, 'prediction.run_time', $prediction->text(), 'must be 0 s or more');
            }
            $last = count($this->timeouts) - 1;
            while ($begins < $last && $this->timeouts[$begins] !== null && $prediction->compare($this->timeouts[$begins]) > 0) {
                ++$begins;
            }
        } elseif ($prediction !== null) {
            self::checkProbability('prediction.slow_probability', $prediction);
            $begins = $prediction > $this->maxSlowProbability ? 1 : 0;
        }

        return $this->atLeast($begins) ?? count($this->names) - 1;
    }

    /** The index of the first lane with workers, from $lane on; null if there is none. */
    private function atLeast(int $lane): ?int
    {
        for (; $lane < count($this->workers); ++$lane) {
            if ($this->workers[$lane] > 0) {
                return $lane;
            }
        }

        return null;
    }

    private function place(string $field, string $name): int
    {
        $place = array_search($name, $this->names, true);
        if ($place === false) {
            $allowed = 'must be a lane of the set: ' . implode(', ', $this->names);
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, Refusal::quoted($name), $allowed);
        }

        return $place;
    }

    /**
     * @param list<V1\Lane> $lanes
     *
     * @return list<string>
     */
    private static function names(array $lanes): array
    {
        $names = [];
        foreach ($lanes as $place => $lane) {
            $name = $lane->getName();
            $refuse = static fn (string $reason, string $allowed): \Throwable
                => Refusal::of($reason, "lane_set.lanes[$place].name", Refusal::quoted($name), $allowed);
            if ($name === '' || strlen($name) > 128) {
                throw $refuse(Refusal::OUT_OF_RANGE, 'must be 1 to 128 bytes of UTF-8');
            }
            $other = array_search($name, $names, true);
            if ($other !== false) {
                throw $refuse(Refusal::CONTRADICTORY, "must not be the name of [$other] too");
            }
            $names[] = $name;
        }

        return $names;
    }

    private static function workers(int $count, bool $hasWorkers, string $field): int
    {
        if ($count < 0 || $count > 1_000_000) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $count, 'must be 0 to 1000000 workers');
        }
        if ($count === 0 && $hasWorkers) {
            $allowed = 'must be 1 or more: the express and the slow lane must not be without workers';
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, 0, $allowed);
        }

        return $count;
    }

    private static function checkTimeout(?Span $timeout, ?Span $before, bool $isLast, string $field): void
    {
        if ($timeout === null) {
            if (!$isLast) {
                throw Refusal::of(Refusal::MISSING, $field, 'nothing', 'must be set: the slow lane alone may be without');
            }

            return;
        }
        $longest = Span::ofMillis(self::MAX_TIMEOUT_MILLIS + 1);
        if ($timeout->compare(Span::ofMillis(1)) < 0 || $timeout->compare($longest) >= 0) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $timeout->text(), 'must be 1 to 31622400000 ms');
        }
        if ($before !== null && $timeout->compare($before) <= 0) {
            $allowed = "must be longer than {$before->text()}, the timeout of the lane before";
            throw Refusal::of(Refusal::CONTRADICTORY, $field, $timeout->text(), $allowed);
        }
    }

    private static function checkProbability(string $field, float $probability): void
    {
        if (!($probability >= 0.0 && $probability <= 1.0)) {
            $value = preg_replace('/\.0$/', '', Refusal::decimals($probability));
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $value, 'must be 0 to 1');
        }
    }

    private static function prediction(?V1\LanePrediction $message): float|Span|null
    {
        return match ($message?->getPrediction()) {
            null => null,
            'slow_probability' => $message->getSlowProbability(),
            'run_time' => Span::ofMessage('prediction.run_time', $message->getRunTime()),
            default => throw Refusal::of(
                Refusal::MISSING,
                'prediction.prediction',
                'nothing',
                'slow_probability or run_time must be set',
            ),
        };
    }

    private static function value(string $field, int $value, string $type): int
    {
        return $value >= 0 && $value <= 2
            ? $value
            : throw Refusal::of(Refusal::OUT_OF_RANGE, "lane_set.$field", $value, "must be 0 to 2, a value of $type");
    }
}
