<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\V1;

/**
 * The kinds that a schedule declares: the place of each, and the turns of the catch-up clock.
 *
 * @internal
 */
final class Kinds
{
    private const MAX_COUNT = 1_000;
    private const MAX_TURNS = 65_536;
    private const DEFAULT_TURNS = 8;
    private const SHOWN = 8;

    /**
     * @param non-empty-list<Kind> $list
     * @param int $turns how many turns a cycle has
     * @param Span $catchUpSpan the part of a cycle over which late runs are spread
     * @param int $turnMillis length of a turn
     * @param list<int> $leads milliseconds that are kept free after a run of each kind
     * @param Span $longestTolerance how late a run may start at most, so that kinds keep apart
     */
    private function __construct(
        public readonly array $list,
        public readonly bool $isStable,
        public readonly int $turns,
        public readonly Span $catchUpSpan,
        public readonly int $turnMillis,
        public readonly array $leads,
        public readonly Span $longestTolerance,
    ) {
    }

    /** The kinds of a spec, for a cycle of slots; null if it declares none. */
    public static function ofSpec(V1\ScheduleSpec $spec, string $field, int $slots, int $slotTicks, int $tickMillis): ?self
    {
        $slotMillis = $slotTicks * $tickMillis;
        $messages = iterator_to_array($spec->getKinds(), false);
        $runTimes = self::runTimes($messages, $field);
        $isStable = self::isStable($spec->getKindSpacing(), $field);
        $span = Span::ofOptional("$field.catch_up_span", $spec->getCatchUpSpan());
        if ($messages === []) {
            self::checkWithout($isStable, count($spec->getKindConflicts()), $span, $field);

            return null;
        }
        $names = self::names($messages, $runTimes, $field);
        $offsets = $runTimes[0] === null
            ? self::spaced(count($names), $isStable, $slots, $field)
            : self::needed($runTimes, $isStable, $slots, $slotMillis, $field);
        $kinds = [];
        foreach ($names as $index => $name) {
            $kinds[] = new Kind($name, $runTimes[$index], $offsets[$index], self::gap($offsets, $index, $slots));
        }
        $period = $slots * $slotMillis;
        [$turns, $span] = self::turns($kinds, $span, $slots, $slots * $slotTicks, $tickMillis, $field);
        $gap = min(array_column($kinds, 'gap'));
        $turn = intdiv($period, $turns);
        $lead = static fn (Kind $kind): int => $kind->runTime?->millisCeil() ?? intdiv(intdiv($turn * $gap, $slots), 2);
        $left = static fn (Kind $kind): Span => Span::ofMillis($kind->gap * $slotMillis)->minus($kind->runTime ?? new Span(0));
        $tolerances = array_map($left, $kinds);
        usort($tolerances, static fn (Span $one, Span $other): int => $one->compare($other));

        return new self($kinds, $isStable, $turns, $span, $turn, array_map($lead, $kinds), $tolerances[0]);
    }

    /** The index of the kind with this name. Refuses an unknown or empty name. */
    public function index(string $name): int
    {
        $names = array_column($this->list, 'name');
        $index = array_search($name, $names, true);
        if ($index !== false) {
            return $index;
        }
        $more = count($names) > self::SHOWN ? ' and ' . count($names) - self::SHOWN . ' more' : '';
        $allowed = 'must be a kind of the schedule: ' . implode(', ', array_slice($names, 0, self::SHOWN)) . $more;
        throw $name === ''
            ? Refusal::of(Refusal::MISSING, 'kind', 'nothing', $allowed)
            : Refusal::of(Refusal::OUT_OF_RANGE, 'kind', Refusal::quoted($name), $allowed);
    }

    /**
     * @param list<V1\Kind> $messages
     *
     * @return list<?Span>
     */
    private static function runTimes(array $messages, string $field): array
    {
        $times = [];
        foreach ($messages as $index => $message) {
            $times[] = Span::ofOptional("$field.kinds[$index].run_time", $message->getRunTime());
        }

        return $times;
    }

    private static function isStable(int $spacing, string $field): bool
    {
        return match ($spacing) {
            V1\KindSpacing::KIND_SPACING_UNSPECIFIED, V1\KindSpacing::KIND_SPACING_EVEN => false,
            V1\KindSpacing::KIND_SPACING_STABLE => true,
            default => throw Refusal::of(
                Refusal::OUT_OF_RANGE,
                "$field.kind_spacing",
                $spacing,
                'must be 0 to 2, a value of KindSpacing',
            ),
        };
    }

    /** Refuses fields that have a meaning only with kinds. */
    private static function checkWithout(bool $isStable, int $conflicts, ?Span $span, string $field): void
    {
        [$name, $value] = match (true) {
            $isStable => ['kind_spacing', 'STABLE'],
            $conflicts > 0 => ['kind_conflicts', "$conflicts pairs"],
            default => ['catch_up_span', $span?->text()],
        };
        if ($value !== null) {
            throw Refusal::of(Refusal::CONTRADICTORY, "$field.$name", $value, 'must not be set without kinds');
        }
    }

    /**
     * @param non-empty-list<V1\Kind> $messages
     * @param non-empty-list<?Span> $runTimes
     *
     * @return non-empty-list<string>
     */
    private static function names(array $messages, array $runTimes, string $field): array
    {
        if (count($messages) > self::MAX_COUNT) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, "$field.kinds", count($messages) . ' kinds', 'must be 1 to 1000 kinds');
        }
        $names = [];
        foreach ($messages as $index => $message) {
            $name = $message->getName();
            Names::checkPart("$field.kinds[$index].name", $name);
            if (in_array($name, $names, true)) {
                $allowed = 'must be another name for each kind';
                throw Refusal::of(Refusal::CONTRADICTORY, "$field.kinds[$index].name", $name, $allowed);
            }
            if (($runTimes[$index] === null) !== ($runTimes[0] === null)) {
                $value = $runTimes[$index]?->text() ?? 'nothing';
                $allowed = 'must be set for every kind, or for none';
                throw Refusal::of(Refusal::CONTRADICTORY, "$field.kinds[$index].run_time", $value, $allowed);
            }
            $names[] = $name;
        }

        return $names;
    }

    /** @return list<int> the slots from kind 0 to each kind, without run times */
    private static function spaced(int $count, bool $isStable, int $slots, string $field): array
    {
        $offsets = [];
        for ($kind = 0; $kind < $count; ++$kind) {
            // Van der Corput's sequence: the bits of the index, reversed, as a fraction of 2^10.
            $offsets[] = $isStable
                ? bindec(strrev(sprintf('%010b', $kind))) * $slots >> 10
                : intdiv($kind * $slots, $count);
        }
        if (count(array_unique($offsets)) < $count) {
            throw Refusal::of(Refusal::KINDS_DO_NOT_FIT, "$field.kinds", $count, $isStable
                ? "two of so many kinds meet on $slots slots with STABLE spacing: take fewer kinds, more slots or EVEN"
                : "must be 1 to $slots kinds on $slots slots, one slot each");
        }

        return $offsets;
    }

    /**
     * The same with run times: each kind has the slots that its run time needs, and an even share of what is left.
     *
     * @param non-empty-list<Span> $runTimes
     *
     * @return list<int>
     */
    private static function needed(array $runTimes, bool $isStable, int $slots, int $slotMillis, string $field): array
    {
        if ($isStable) {
            $allowed = 'must be EVEN with run times: STABLE makes no room for them';
            throw Refusal::of(Refusal::CONTRADICTORY, "$field.kind_spacing", 'STABLE', $allowed);
        }
        $period = Span::ofMillis($slots * $slotMillis);
        $needs = [];
        foreach ($runTimes as $index => $time) {
            if (!$time->isWithin(new Span(0), $period)) {
                $allowed = "must be 0s to {$period->text()}, one period";
                throw Refusal::of(Refusal::OUT_OF_RANGE, "$field.kinds[$index].run_time", $time->text(), $allowed);
            }
            $needs[] = max(1, Whole::ceil($time->millisCeil(), $slotMillis));
        }
        $total = array_sum($needs);
        if ($total > $slots) {
            $allowed = "must be at most the $slots slots of the cycle, one or more for each kind";
            throw Refusal::of(Refusal::KINDS_DO_NOT_FIT, "$field.kinds", "a need of $total slots", $allowed);
        }
        [$offsets, $before] = [[], 0];
        foreach ($needs as $kind => $need) {
            $offsets[] = $before + intdiv($kind * ($slots - $total), count($needs));
            $before += $need;
        }

        return $offsets;
    }

    /** @param list<int> $offsets */
    private static function gap(array $offsets, int $index, int $slots): int
    {
        $gap = $slots;
        foreach ($offsets as $other => $offset) {
            if ($other !== $index) {
                $gap = min($gap, Whole::rest($offset - $offsets[$index], $slots));
            }
        }

        return $gap;
    }

    /**
     * The number of turns in a cycle, and the part of it over which late runs are spread.
     *
     * @param non-empty-list<Kind> $kinds
     *
     * @return array{int, Span}
     */
    private static function turns(array $kinds, ?Span $span, int $slots, int $ticks, int $tickMillis, string $field): array
    {
        $period = $ticks * $tickMillis;
        $fewest = 2 * count($kinds);
        $least = self::leastTurn($kinds, $slots);
        $counts = [];
        for ($count = $fewest; $count <= self::MAX_TURNS; ++$count) {
            if ($ticks % $count === 0) {
                $counts[] = $count;
            }
        }
        $holding = array_filter($counts, static fn (int $count): bool => intdiv($period, $count) >= $least);
        if ($holding === []) {
            $allowed = "must leave late runs room: $fewest turns or more, each " . Span::ofMillis($least)->text()
                . ' or longer; a cycle has only ' . Span::ofMillis($period)->text()
                . ' (take shorter run times, fewer kinds, or a longer cycle)';
            throw Refusal::of(Refusal::KINDS_DO_NOT_FIT, "$field.kinds", count($kinds) . ' kinds', $allowed);
        }
        $most = max($holding);
        $from = static fn (int $least): ?int => current(array_filter($counts, static fn (int $count): bool => $count >= $least)) ?: null;
        if ($span === null) {
            $count = min($from(max(self::DEFAULT_TURNS, $fewest)) ?? $most, $most);

            return [$count, Span::ofMillis(intdiv($period, $count))];
        }
        $longest = Span::ofMillis(intdiv($period, $fewest));
        $count = $span->compare($longest) <= 0 ? $from(Whole::ceil($period, max($span->millisFloor(), 1))) : null;
        if ($count === null || $count > $most) {
            $allowed = 'must be ' . Span::ofMillis(intdiv($period, $most))->text() . " to {$longest->text()}: "
                . "$fewest turns or more in a cycle, each long enough to keep late runs apart";
            throw Refusal::of(Refusal::OUT_OF_RANGE, "$field.catch_up_span", $span->text(), $allowed);
        }

        return [$count, $span];
    }

    /**
     * The shortest turn, in milliseconds, that leaves each kind its run time, and a millisecond for rounding, before
     * the next kind.
     *
     * @param non-empty-list<Kind> $kinds
     */
    private static function leastTurn(array $kinds, int $slots): int
    {
        $needed = static fn (Kind $kind): int => Whole::ceil((max($kind->runTime?->millisCeil() ?? 1, 1) + 1) * $slots, $kind->gap);

        return count($kinds) < 2 ? 1 : max(array_map($needed, $kinds));
    }
}
