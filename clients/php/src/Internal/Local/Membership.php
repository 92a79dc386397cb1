<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\Exception\NeedsSidecar;
use Offbeat\V1;

/**
 * Which rows of a table belong to a slot or a window, with PLACEMENT_HASH: those whose MD5 lies in a range of
 * hexadecimal digits. An index over the same expression serves it.
 *
 * @internal
 */
final class Membership
{
    private const OPEN = '10000000000000000'; // 2^64

    public readonly V1\SqlIndex $index;
    /** What predicates compare: see SqlKey::compared(). */
    private readonly string $compared;
    private readonly int $style;
    private readonly int $firstNumber;

    /**
     * @param int $rotation slots from kind 0 to the kind
     *
     * @throws NeedsSidecar
     */
    public function __construct(
        private readonly CheckedSchedule $schedule,
        V1\SqlTarget $target,
        private readonly int $rotation,
    ) {
        if ($schedule->placement !== V1\Placement::PLACEMENT_HASH) {
            throw new NeedsSidecar('predicates need a sidecar under other placements than HASH');
        }
        $column = new SqlColumn($target);
        $this->style = $target->getParameterStyle();
        $this->firstNumber = $column->firstNumber;
        $key = new SqlKey($column, $schedule->salt);
        $this->index = $key->index();
        $this->compared = $key->compared();
    }

    public static function checkTarget(?V1\SqlTarget $target): void
    {
        if ($target !== null && $target->getTimeZoneColumn() !== '') {
            $allowed = 'must be set with time_zones of GetWindowPredicate alone';
            $value = Refusal::quoted($target->getTimeZoneColumn());
            throw Refusal::of(Refusal::CONTRADICTORY, 'sql_target.time_zone_column', $value, $allowed);
        }
    }

    /** The rows of a slot. */
    public function slot(int $slot): V1\SqlPredicate
    {
        $first = Whole::rest($slot - $this->rotation, $this->schedule->slotCount) * $this->schedule->slotTicks;

        return $this->predicate([$this->bounds($first, $first + $this->schedule->slotTicks)]);
    }

    /** The rows that run in a window. */
    public function window(Moment $start, Moment $end): V1\SqlPredicate
    {
        $of = $this->schedule->periodTicks;
        $first = $this->ticksBefore($start);
        $length = $this->ticksBefore($end) - $first;
        if ($length > $of) {
            $allowed = "must be at most a period of {$this->schedule->period()->text()} after start_time, {$start->text()}: "
                . 'in it every ID runs once';
            throw Refusal::of(Refusal::OUT_OF_RANGE, 'end_time', $end->text(), $allowed);
        }
        $from = Whole::rest($first, $of);
        $ticks = match (true) {
            $length === $of => [[0, $of]],
            $from + $length <= $of => [[$from, $from + $length]],
            default => [[$from, $of], [0, $from + $length - $of]],
        };
        if ($this->rotation === 0) {
            return $this->predicate(array_map(fn (array $range): array => $this->bounds(...$range), $ticks));
        }
        $ranges = [];
        foreach ($ticks as [$start, $end]) {
            foreach ($this->unrotated($start, $end) as $range) {
                $ranges[] = $this->bounds(...$range);
            }
        }

        return $this->predicate(self::merged($ranges));
    }

    private function ticksBefore(Moment $moment): int
    {
        return Whole::ceil($moment->millisCeil() - $this->schedule->anchorMillis, $this->schedule->tickMillis);
    }

    /** @return array{string, string} the hashes whose offsets lie in a range of ticks */
    private function bounds(int $start, int $end): array
    {
        return [Whole::bound($start, $this->schedule->periodTicks), Whole::bound($end, $this->schedule->periodTicks)];
    }

    /**
     * The ticks that the rotation moves to these: one range, or two around the start of the cycle.
     *
     * @return list<array{int, int}>
     */
    private function unrotated(int $start, int $end): array
    {
        $of = $this->schedule->periodTicks;
        $shift = $this->rotation * $this->schedule->slotTicks;

        return match (true) {
            $start >= $shift => [[$start - $shift, $end - $shift]],
            $end <= $shift => [[$start + $of - $shift, $end + $of - $shift]],
            default => [[0, $end - $shift], [$start + $of - $shift, $of]],
        };
    }

    /**
     * @param list<array{string, string}> $ranges
     *
     * @return list<array{string, string}> in order; ranges that overlap or touch are one
     */
    private static function merged(array $ranges): array
    {
        usort($ranges, static fn (array $one, array $other): int => strcmp($one[0], $other[0]) ?: strcmp($one[1], $other[1]));
        $merged = [];
        foreach ($ranges as [$start, $end]) {
            $last = array_key_last($merged);
            if ($last !== null && strcmp($start, $merged[$last][1]) <= 0) {
                $merged[$last][1] = strcmp($merged[$last][1], $end) < 0 ? $end : $merged[$last][1];
            } else {
                $merged[] = [$start, $end];
            }
        }

        return $merged;
    }

    /** @param non-empty-list<array{string, string}> $ranges one that ends at 2^64 has no upper bound in SQL */
    private function predicate(array $ranges): V1\SqlPredicate
    {
        $parameters = $conditions = [];
        foreach ($ranges as [$low, $high]) {
            $condition = "$this->compared >= " . $this->bind(substr($low, 1), $parameters);
            $conditions[] = $high === self::OPEN ? $condition : "$condition AND $this->compared < " . $this->bind(substr($high, 1), $parameters);
        }
        $sql = count($conditions) === 1 ? "($conditions[0])" : '((' . implode(') OR (', $conditions) . '))';

        return (new V1\SqlPredicate())->setSql($sql)->setParameters($parameters);
    }

    /** @param list<V1\SqlParameter> $parameters the parameters so far, to which this one is added */
    private function bind(string $digits, array &$parameters): string
    {
        $number = $this->firstNumber + count($parameters);
        [$name, $placeholder] = match ($this->style) {
            V1\SqlParameterStyle::SQL_PARAMETER_STYLE_QUESTION_MARK => ['', '?'],
            V1\SqlParameterStyle::SQL_PARAMETER_STYLE_FORMAT => ['', '%s'],
            V1\SqlParameterStyle::SQL_PARAMETER_STYLE_DOLLAR => ['', "\$$number"],
            V1\SqlParameterStyle::SQL_PARAMETER_STYLE_NAMED => ["offbeat_$number", ":offbeat_$number"],
            default => [null, "'$digits'"],
        };
        if ($name !== null) {
            $parameters[] = (new V1\SqlParameter())->setName($name)->setText($digits);
        }

        return $placeholder;
    }
}
