<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use Offbeat\CatchUpPolicy;
use Offbeat\DecidedBy;
use Offbeat\DueRuns;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\OffbeatException;
use Offbeat\IdType;
use Offbeat\Schedule;
use Offbeat\ScheduleReference;
use Offbeat\Times;
use Offbeat\V1;

/**
 * The client's call about runs that are due, or were missed.
 *
 * @internal
 */
trait DueRunCalls
{
    /**
     * Lists the runs that have become due since the last call: each run once, however often and irregularly this is
     * called, and after an outage those that were missed, as the policy says.
     *
     * Keep the answer's nextWatermarkTime with the jobs, and pass it as the watermark of the next call.
     *
     * @param iterable<int|float|string|\Stringable|\GMP> $ids
     * @param ?DateTimeInterface $watermark nextWatermarkTime of the last answer; in the first call, the time since
     *     which the IDs exist
     * @param ?iterable<DateTimeInterface|int> $watermarks instead of $watermark, one for each ID: instants, or
     *     milliseconds since the Unix epoch
     * @param ?DateTimeInterface $nowTime the time before which runs are due. Default: now, taken once
     * @param ?CatchUpPolicy $catchUpPolicy what happens to missed runs. Default: the latest one of each ID runs
     * @param DateInterval|int|float|null $lookAhead how far ahead of now runs are listed, to be enqueued with their
     *     start times. Lateness is still measured against now. Default: 0
     * @param DateInterval|int|float|null $maxClockSkew how far a watermark may lie after now plus $lookAhead, for
     *     example because a machine whose clock is fast wrote it; nothing is due then. Default: 60 s, or the shortest
     *     cycle if that is shorter
     * @param ?string $kind as in assignSlot()
     * @param ?iterable<int> $weights as in assignSlots()
     * @param ?iterable<DateTimeZone|string|null> $timeZones as in assignSlots()
     * @param bool $returnErrors as in assignSlots()
     *
     * @throws BadIds if some IDs are refused; it carries the runs of the others
     * @throws OffbeatException
     */
    public function listDueRuns(
        Schedule|ScheduleReference|string $schedule,
        iterable $ids,
        ?DateTimeInterface $watermark = null,
        ?iterable $watermarks = null,
        ?DateTimeInterface $nowTime = null,
        ?CatchUpPolicy $catchUpPolicy = null,
        DateInterval|int|float|null $lookAhead = null,
        DateInterval|int|float|null $maxClockSkew = null,
        ?string $kind = null,
        ?IdType $idType = null,
        ?iterable $weights = null,
        ?iterable $timeZones = null,
        bool $returnErrors = false,
        int|float|null $timeout = null,
    ): DueRuns {
        $now = DateTimeImmutable::createFromInterface($nowTime ?? $this->now());
        $request = (new V1\ListDueRunsRequest())
            ->setSchedule(ScheduleEncoder::message($schedule))
            ->setKind(Check::utf8('kind', $kind ?? ''))
            ->setNowTime(Times::toTimestamp($now));
        if ($watermark !== null) {
            $request->setWatermarkTime(Times::toTimestamp($watermark));
        }
        if ($catchUpPolicy !== null) {
            $request->setCatchUpPolicy($catchUpPolicy->toMessage());
        }
        if ($lookAhead !== null) {
            $request->setLookAhead(Times::toDuration('look_ahead', $lookAhead));
        }
        if ($maxClockSkew !== null) {
            $request->setMaxClockSkew(Times::toDuration('max_clock_skew', $maxClockSkew));
        }
        $batches = new Batches($ids, $idType, ['weights' => $weights, 'watermark_unix_millis' => $watermarks], $timeZones);
        $parts = [];
        foreach ($batches->answered(fn (Batch $batch): array => $this->pages($request, $batch, $timeout)) as [$batch, [$bytes, $by]]) {
            $parts[] = $this->read(
                static fn (): DueRuns => Columns::dueRuns($bytes, $batch->ids, $batch->first, $batch->idsAreUuids(), $by),
            );
        }
        if ($parts === []) {
            $description = $this->describeSchedule($schedule, timeout: $timeout);
            $next = Times::shifted('look_ahead', $now, $lookAhead ?? 0);

            $watermark = Times::fromTimestamp(Times::toTimestamp(max($next, $watermark ?? $next)));

            return DueRuns::none($description->fingerprint, $watermark, $description->decidedBy);
        }
        $runs = DueRuns::joined($parts);
        if ($runs->errors !== [] && !$returnErrors) {
            throw new BadIds($runs->errors, $runs);
        }

        return $runs;
    }

    /**
     * All pages of the answer to a batch, end to end, and who decided.
     *
     * @return array{string, DecidedBy}
     */
    private function pages(V1\ListDueRunsRequest $request, Batch $batch, int|float|null $timeout): array
    {
        $ids = $batch->bytes(['ids' => 2, 'weights' => 3, 'watermark_unix_millis' => 6]); // of the request
        $pages = '';
        $token = '';
        $decidedBy = [];
        $count = $batch->first + count($batch->ids);
        do {
            $question = $request->setPageToken($token)->serializeToString() . $ids;
            [$page, $decidedBy[]] = $this->askBatch('offbeat.v1.SlotService/ListDueRuns', $question, $count, $timeout);
            $pages .= $page;
            $token = $this->read(static fn (): string => Columns::nextPageToken($page));
        } while ($token !== '');

        return [$pages, DecidedBy::ofAll($decidedBy)];
    }

    /** @return array{string, DecidedBy} */
    abstract private function askBatch(string $method, string $bytes, int $idCount, int|float|null $timeout): array;

    abstract private function now(): DateTimeImmutable;

    abstract private function read(\Closure $reader): mixed;
}
