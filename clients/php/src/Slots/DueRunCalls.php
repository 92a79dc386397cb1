<?php

declare(strict_types=1);

namespace Offbeat\Slots;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use Google\Protobuf\Internal\Message;
use Offbeat\Answer\DueRuns;
use Offbeat\Check;
use Offbeat\Columns;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\OffbeatException;
use Offbeat\IdType;
use Offbeat\Schedule;
use Offbeat\ScheduleVersion;
use Offbeat\Times;
use Offbeat\V1;

/**
 * The client's question about runs that are due, or were missed.
 *
 * @internal
 */
trait DueRunCalls
{
    /**
     * Which runs are due since the last time that this was asked: each run once, however often and
     * irregularly it is asked, and after an outage those that were missed, as a policy wants them.
     *
     * Keep the answer's nextWatermark with the jobs, and give it back the next time.
     *
     * @param iterable<int|float|string|\Stringable|\GMP> $ids
     * @param ?DateTimeInterface $watermark runs before this were listed before: the nextWatermark of the
     *     last answer, or, the first time, when the IDs began
     * @param ?iterable<DateTimeInterface|int> $watermarks instead, one for each ID: instants, or
     *     milliseconds since the Unix epoch
     * @param ?DateTimeInterface $nowTime until when runs are due. Default: now, taken once
     * @param ?MissedRunPolicy $missedRunPolicy MissedRunPolicy::RunOnce by default
     * @param DateInterval|int|float|null $onTimeTolerance runs that should have started this long ago were
     *     not missed yet: at least the time between two calls. Default: 60 s
     * @param DateInterval|int|float|null $catchUpHorizon missed runs older than this are dropped.
     *     Default: one period
     * @param DateInterval|int|float|null $smearSpan missed runs start smeared over this. Default: at once
     * @param DateInterval|int|float|null $maxClockSkew how far a watermark may lie ahead of now; nothing is
     *     due then. Default: 60 s
     * @param ?iterable<int> $weights as in assignSlots()
     * @param bool $returnErrors as in assignSlots()
     *
     * @throws BadIds if some IDs are refused; it carries the runs of the others
     * @throws OffbeatException
     */
    public function listDueRuns(
        Schedule|ScheduleVersion $schedule,
        iterable $ids,
        ?DateTimeInterface $watermark = null,
        ?iterable $watermarks = null,
        ?DateTimeInterface $nowTime = null,
        ?MissedRunPolicy $missedRunPolicy = null,
        DateInterval|int|float|null $onTimeTolerance = null,
        DateInterval|int|float|null $catchUpHorizon = null,
        DateInterval|int|float|null $smearSpan = null,
        DateInterval|int|float|null $maxClockSkew = null,
        ?string $kind = null,
        ?IdType $idType = null,
        ?iterable $weights = null,
        bool $returnErrors = false,
        int|float|null $timeout = null,
    ): DueRuns {
        $now = DateTimeImmutable::createFromInterface($nowTime ?? new DateTimeImmutable());
        $request = (new V1\ListDueRunsRequest())
            ->setSchedule($schedule->toMessage())
            ->setKind(Check::utf8('kind', $kind ?? ''))
            ->setNowTime(Times::toTimestamp($now))
            ->setMissedRunPolicy($missedRunPolicy?->toMessage() ?? V1\MissedRunPolicy::MISSED_RUN_POLICY_UNSPECIFIED);
        if ($watermark !== null) {
            $request->setWatermark(Times::toTimestamp($watermark));
        }
        if ($onTimeTolerance !== null) {
            $request->setOnTimeTolerance(Times::toDuration('on_time_tolerance', $onTimeTolerance));
        }
        if ($catchUpHorizon !== null) {
            $request->setCatchUpHorizon(Times::toDuration('catch_up_horizon', $catchUpHorizon));
        }
        if ($smearSpan !== null) {
            $request->setSmearSpan(Times::toDuration('smear_span', $smearSpan));
        }
        if ($maxClockSkew !== null) {
            $request->setMaxClockSkew(Times::toDuration('max_clock_skew', $maxClockSkew));
        }
        $batches = new Batches($ids, $idType, ['weights' => $weights, 'watermark_unix_millis' => $watermarks]);
        $fields = ['ids' => 2, 'weights' => 3, 'watermark_unix_millis' => 6]; // of the request
        $answers = $this->answers('ListDueRuns', $request, $fields, $batches, Columns::dueRuns(...), $timeout);
        $parts = iterator_to_array($answers, false);
        if ($parts === []) {
            $fingerprint = $this->describeSchedule($schedule, timeout: $timeout)->fingerprint;
            $next = max($now, $watermark ?? $now);

            return DueRuns::none($fingerprint, Times::fromTimestamp(Times::toTimestamp($next)));
        }
        $runs = DueRuns::joined($parts);
        if ($runs->errors !== [] && !$returnErrors) {
            throw new BadIds($runs->errors, $runs);
        }

        return $runs;
    }

    abstract private function answers(
        string $method,
        Message $request,
        array $fields,
        Batches $batches,
        \Closure $reader,
        int|float|null $timeout,
    ): \Generator;
}
