<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\Internal\Wire;
use Offbeat\V1;

/**
 * The runs that are due, as bytes: see BatchAnswers.
 *
 * @internal
 */
final class DueAnswers
{
    private const MAX_PAGE = 65_536;

    /** @var array<int, list<int>> the columns of offbeat.v1.DueRuns, by the numbers of their fields */
    private array $rows = [1 => [], [], [], [], []];
    private int $late = 0;
    private int $dropped = 0;
    private int $superseded = 0;
    private ?int $nextDue = null;
    /** Rows that were found, including those of the pages before. */
    private int $met = 0;
    private bool $hasMore = false;

    private function __construct(
        private readonly CheckedSchedule $schedule,
        private readonly DueSpec $spec,
        private readonly Runs $runs,
        private readonly Placing $placing,
        private readonly ?CatchUp $catchUp,
        private readonly int $firstRow,
        private readonly int $pageSize,
    ) {
    }

    /**
     * @param \Closure(): CheckedSchedule $schedule
     * @param V1\ListDueRunsRequest $request all of it except the IDs and their watermarks
     */
    public static function list(\Closure $schedule, V1\ListDueRunsRequest $request, string $ids, string $watermarks, Moment $now): string
    {
        $column = IdColumn::ofBytes($ids);
        $page = DuePage::of($request, $column->count(), intdiv(strlen($watermarks), 8));
        $now = $page->now($request->getNowTime(), $now);
        $schedule = $schedule();
        [$prefix, $rotation] = $schedule->ofKind($request->getKind());
        $spec = new DueSpec($schedule, $request, $now);
        $watermarks = self::watermarks($spec, $request, array_values(unpack('P*', $watermarks)), $column->count());
        SlotAnswers::checkLabel($request->getKind());
        $size = $request->getPageSize();
        if ($size < 0 || $size > self::MAX_PAGE) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, 'page_size', $size, 'must be 1 to 65536 runs');
        }
        $runs = new Runs($schedule);
        $placing = new Placing($schedule, $rotation);
        $kind = $schedule->kinds?->index($request->getKind());
        $catchUp = $kind === null ? null : new CatchUp($schedule, $runs, $placing, $kind);
        $rows = new self($schedule, $spec, $runs, $placing, $catchUp, $page->firstRow, $size === 0 ? self::MAX_PAGE : $size);
        for ($row = 0, $count = $column->count(); $row < $count; ++$row) {
            $id = $column->id($row);
            $place = $id === null ? null : $column->place($placing, $row, $id);
            if ($place !== null && !$rows->hasMore) {
                $rows->add($row, $id, $place->offset, is_int($watermarks) ? $watermarks : $watermarks[$row]);
            }
        }

        return $rows->answer($prefix, $column->errors(), $page, is_int($watermarks) ? $watermarks : null);
    }

    /**
     * The watermark of all IDs, or one for each.
     *
     * @param list<int> $ofEach
     *
     * @return int|list<int>
     */
    private static function watermarks(DueSpec $spec, V1\ListDueRunsRequest $request, array $ofEach, int $count): int|array
    {
        $time = $request->getWatermarkTime();
        $moment = $time === null ? null : Moment::ofMessage('watermark_time', $time);
        if ($moment === null && $ofEach === []) {
            $allowed = 'must be set, but for IDs with watermarks of their own';
            throw Refusal::of(Refusal::MISSING, 'watermark_time', 'nothing', $allowed);
        }
        if ($moment !== null && $ofEach !== []) {
            $allowed = 'must not be set together with watermark_unix_millis';
            throw Refusal::of(Refusal::CONTRADICTORY, 'watermark_time', $moment->text(), $allowed);
        }
        if ($moment !== null) {
            return $spec->checkWatermark($moment->millisCeil(), 'watermark_time');
        }
        if (count($ofEach) !== $count) {
            $value = count($ofEach) . " for $count IDs";
            throw Refusal::of(Refusal::CONTRADICTORY, 'watermark_unix_millis', $value, 'must be none, or one for each ID');
        }
        foreach ($ofEach as $row => $millis) {
            $spec->checkWatermark($millis, "watermark_unix_millis[$row]");
        }

        return $ofEach;
    }

    /** Adds the due runs of an ID, the late one first. */
    private function add(int $row, Id $id, int $offset, int $watermark): void
    {
        $spec = $this->spec;
        $end = min(max($spec->endMillis, $watermark), Moment::END_MILLIS);
        $cycle = fn (int $millis): int => $this->runs->cycleFrom($offset, max($watermark, min($millis, $end)));
        [$first, $tooOld, $late, $due, $behind] = array_map(
            $cycle,
            [$watermark, $spec->caughtUpFrom, $spec->onTimeFrom, $spec->nowMillis, $end],
        );
        // A run that is due and on time replaces the missed one. A run that look_ahead lists early does not.
        $runsOnce = !$spec->drops && $late > $tooOld && $due === $late;
        $this->dropped += $late - $first - ($runsOnce ? 1 : 0);
        $next = $this->runs->millis($offset, $this->runs->cycleFrom($offset, $end));
        if ($next < Moment::END_MILLIS) {
            $this->nextDue = min($this->nextDue ?? $next, $next);
        }
        if ($runsOnce) {
            $this->addLate($row, $id, $offset, $late - 1);
        }
        for ($number = $late; $number < $behind && !$this->hasMore; ++$number) {
            $millis = $this->runs->millis($offset, $number);
            $this->push($row, $number, $millis, $millis);
        }
    }

    private function addLate(int $row, Id $id, int $offset, int $cycle): void
    {
        $now = $this->spec->nowMillis;
        $start = match (true) {
            $this->catchUp !== null => $this->catchUp->start($offset, $this->placing->smear($id), $now, $now + 2 * $this->schedule->periodMillis),
            $this->spec->smearMillis === 0 => $now,
            default => $now + Whole::share($this->placing->smear($id), $this->spec->smearMillis),
        };
        $next = $this->runs->millis($offset, $this->runs->cycleFrom($offset, $now));
        if ($start === null) {
            ++$this->dropped;
        } elseif ($next < Moment::END_MILLIS && $start > $next - max($this->spec->minGapMillis, 1)) {
            ++$this->superseded;
        } else {
            ++$this->late;
            $this->push($row, $cycle, $this->runs->millis($offset, $cycle), $start);
        }
    }

    private function push(int $row, int $cycle, int $scheduled, int $start): void
    {
        if ($this->met++ < $this->firstRow) {
            return;
        }
        if (count($this->rows[1]) >= $this->pageSize) {
            $this->hasMore = true;

            return;
        }
        foreach ([1 => $row, 0, $cycle, $scheduled, $start] as $number => $value) {
            $this->rows[$number][] = $value;
        }
    }

    /** @param list<V1\IdError> $errors */
    private function answer(string $prefix, array $errors, DuePage $page, ?int $watermark): string
    {
        $columns = '';
        foreach ($this->rows as $number => $values) {
            $columns .= $values === [] ? '' : Wire::field($number, pack($number <= 2 ? 'V*' : 'P*', ...$values));
        }
        $message = (new V1\DueRuns())->setRunKeyPrefix($prefix)->setErrors($errors);
        $response = (new V1\ListDueRunsResponse())->setIdentity($this->schedule->identity());
        if ($this->hasMore) {
            $response->setNextPageToken($page->next($this->spec->now, $this->firstRow + $this->pageSize));
        } else {
            $response->setLateRunCount($this->late)
                ->setDroppedRunCount($this->dropped)
                ->setSupersededRunCount($this->superseded);
            $times = [
                [$response->setNextWatermarkTime(...), max($this->spec->endMillis, $watermark ?? PHP_INT_MIN)],
                [$response->setNextDueTime(...), $this->nextDue],
            ];
            foreach ($times as [$set, $millis]) {
                $time = $millis === null ? null : Moment::messageOf($millis);
                if ($time !== null) {
                    $set($time);
                }
            }
        }

        return $response->serializeToString() . Wire::field(2, $columns . $message->serializeToString());
    }
}
