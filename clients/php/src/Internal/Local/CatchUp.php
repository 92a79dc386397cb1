<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

/**
 * Finds the starts of late runs of a kind, in turns of the catch-up clock: the first one that is far enough from
 * regular runs of the ID's other kinds. See offbeat.v1.ListDueRunsRequest.
 *
 * @internal
 */
final class CatchUp
{
    /** How many starts, and runs of other kinds, may be examined for one answer. */
    private const MAX_LOOKS = 16_777_216;

    private int $looks = 0;

    public function __construct(
        private readonly CheckedSchedule $schedule,
        private readonly Runs $runs,
        private readonly Placing $placing,
        private readonly int $kind,
    ) {
    }

    /**
     * The first start at or after $from and before $until; null if no turn in between is free.
     *
     * @param array{int, int, int, int} $smear
     */
    public function start(int $offset, array $smear, int $from, int $until): ?int
    {
        $kinds = $this->schedule->kinds;
        $turn = $kinds->turnMillis;
        $share = intdiv($turn * $kinds->list[$this->kind]->offset, $this->schedule->slotCount);
        $place = (Whole::share($smear, $turn) + $share) % $turn;
        $others = [];
        foreach ($kinds->list as $index => $kind) {
            if ($index !== $this->kind) {
                $others[$index] = $this->placing->turned($offset, $kind->offset);
            }
        }
        $start = $from + Whole::rest($place - ($from - $this->schedule->anchorMillis), $turn);
        for (; $start < $until; $start += $turn) {
            if ($this->isFree($start, $others)) {
                return $start;
            }
        }

        return null;
    }

    /** @param array<int, int> $others the offsets of the ID's other kinds */
    private function isFree(int $start, array $others): bool
    {
        $this->looks += 1 + count($others);
        if ($this->looks > self::MAX_LOOKS) {
            $allowed = 'must need 0 to 16777216 cycles and spans looked through: ask for fewer IDs at once, with later watermarks';
            throw Refusal::of(Refusal::OUT_OF_RANGE, 'ids', 'IDs with runs in so many cycles', $allowed);
        }
        $leads = $this->schedule->kinds->leads;
        $lead = $leads[$this->kind];
        foreach ($others as $kind => $offset) {
            // After the year 9999 there are no runs.
            $next = $this->runs->millis($offset, $this->runs->cycleFrom($offset, min($start, Moment::END_MILLIS)));
            // The run before $next may itself start late, by the tolerance, and so after this start.
            $isNear = ($next < Moment::END_MILLIS && $next - $start < $lead)
                || $start - ($next - $this->schedule->periodMillis) < max($leads[$kind], $lead);
            if ($isNear) {
                return false;
            }
        }

        return true;
    }
}
