"""The kinds that a schedule declares: the slots of each, and the turns of the catch-up clock."""

from __future__ import annotations

from dataclasses import dataclass

from ..v1 import schedule_pb2 as pb
from .ids import check_part
from .limits import CATCH_UP_TURNS, KIND_COUNT, KIND_NAME
from .placement import Grid
from .rejections import (
    CONTRADICTORY,
    KINDS_DO_NOT_FIT,
    OUT_OF_RANGE,
    Rejection,
    missing,
    quoted,
)
from .times import MILLISECOND, ceil_millis, span_text

#: Without a catch-up span, a cycle has this many turns or more.
_DEFAULT_TURNS = 8

#: How many kinds a refusal names at most.
_SHOWN = 8


@dataclass(frozen=True)
class LocalKind:
    """A kind of a schedule. Spans are in nanoseconds."""

    name: str
    run_time: int | None
    #: Slots from kind 0 to this kind.
    offset: int
    #: Slots from this kind to the next one, around the cycle.
    gap: int
    #: The gap as a span.
    gap_time: int


@dataclass(frozen=True)
class Turns:
    """The equal parts of a cycle. In each of them, every kind has a place for late runs."""

    count: int
    #: Over how much time late runs are spread, in nanoseconds.
    span: int
    #: Milliseconds that are kept free behind a run of each kind.
    leads: tuple[int, ...]


@dataclass(frozen=True)
class Kinds:
    """The kinds of a schedule."""

    kinds: tuple[LocalKind, ...]
    #: ``EVEN`` or ``STABLE``.
    spacing: str
    turns: Turns

    def index_of(self, name: str) -> int:
        """Return the index of a kind; refuse an empty name, or one that is not declared."""
        for index, kind in enumerate(self.kinds):
            if kind.name == name:
                return index
        more = len(self.kinds) - _SHOWN
        known = ", ".join(kind.name for kind in self.kinds[:_SHOWN])
        known += f" and {more} more" if more > 0 else ""
        allowed = f"must be a kind of the schedule: {known}"
        if not name:
            raise missing("kind", allowed)
        raise Rejection(OUT_OF_RANGE, "kind", quoted(name), allowed)

    def longest_tolerance(self) -> int:
        """Return the least that a run time leaves of a gap, in nanoseconds."""
        return min(kind.gap_time - (kind.run_time or 0) for kind in self.kinds)


def goes_with_kinds(spec: pb.ScheduleSpec, catch_up_span: int | None) -> None:
    """Refuse fields that need kinds, in a spec without kinds."""
    allowed = "must not be set without kinds"
    if spec.kind_spacing == pb.KIND_SPACING_STABLE:
        raise Rejection(CONTRADICTORY, "kind_spacing", "STABLE", allowed)
    if catch_up_span is not None:
        raise Rejection(CONTRADICTORY, "catch_up_span", span_text(catch_up_span), allowed)


def check_kinds(
    spec: pb.ScheduleSpec,
    run_times: list[int | None],
    catch_up_span: int | None,
    grid: Grid,
    tick_millis: int,
) -> Kinds:
    """Check the kinds of a spec that is otherwise checked."""
    _check_names(spec, run_times)
    stable = spec.kind_spacing == pb.KIND_SPACING_STABLE
    slot = grid.slot_ticks * tick_millis * MILLISECOND
    if run_times[0] is not None:
        if stable:
            allowed = "must be EVEN with run times: STABLE makes no room for them"
            raise Rejection(CONTRADICTORY, "kind_spacing", "STABLE", allowed)
        positions = _with_needs(grid, _needs(run_times, grid, slot))
    else:
        positions = _spaced(grid, len(spec.kinds), stable)
    gaps = _gaps(positions, grid.slot_count)
    kinds = tuple(
        LocalKind(kind.name, run_time, position, gap, gap * slot)
        for kind, run_time, position, gap in zip(spec.kinds, run_times, positions, gaps)
    )
    turns = _check_turns(catch_up_span, grid, tick_millis, kinds)
    return Kinds(kinds, "STABLE" if stable else "EVEN", turns)


def _check_names(spec: pb.ScheduleSpec, run_times: list[int | None]) -> None:
    if not KIND_COUNT.allows(len(spec.kinds)):
        value = f"{len(spec.kinds)} kinds"
        raise Rejection(OUT_OF_RANGE, "kinds", value, f"must be {KIND_COUNT}")
    names = set()
    for index, (kind, run_time) in enumerate(zip(spec.kinds, run_times)):
        check_part(f"kinds[{index}].name", kind.name, KIND_NAME)
        if kind.name in names:
            allowed = "must be another name for each kind"
            raise Rejection(CONTRADICTORY, f"kinds[{index}].name", kind.name, allowed)
        names.add(kind.name)
        if (run_time is None) != (run_times[0] is None):
            value = "nothing" if run_time is None else span_text(run_time)
            allowed = "must be set for every kind, or for none"
            raise Rejection(CONTRADICTORY, f"kinds[{index}].run_time", value, allowed)


def _spaced(grid: Grid, count: int, stable: bool) -> list[int]:
    """Return the positions of kinds that need one slot each."""
    slots = grid.slot_count
    if stable:  # van der Corput's sequence in base 2
        positions = [int(f"{kind:032b}"[::-1], 2) * slots >> 32 for kind in range(count)]
    else:
        positions = [kind * slots // count for kind in range(count)]
    if min(_gaps(positions, slots)) == 0:
        allowed = f"must be 1 to {slots} kinds on {slots} slots, one slot each"
        if stable:
            allowed = (
                f"two of so many kinds meet on {slots} slots with STABLE spacing: take fewer "
                "kinds, more slots or EVEN"
            )
        raise Rejection(KINDS_DO_NOT_FIT, "kinds", count, allowed)
    return positions


def _needs(run_times: list[int | None], grid: Grid, slot: int) -> list[int]:
    """Return how many slots each run time needs, rounded up."""
    period = grid.slot_count * slot
    needs = []
    for index, run_time in enumerate(run_times):
        span = run_time or 0
        if not 0 <= span <= period:
            allowed = f"must be 0s to {span_text(period)}, one period"
            field = f"kinds[{index}].run_time"
            raise Rejection(OUT_OF_RANGE, field, span_text(span), allowed)
        needs.append(max(-(-span // slot), 1))
    return needs


def _with_needs(grid: Grid, needs: list[int]) -> list[int]:
    """Return the positions of kinds that need several slots; the other slots are shared evenly."""
    slots, total = grid.slot_count, sum(needs)
    if total > slots:
        value = f"a need of {total} slots"
        allowed = f"must be at most the {slots} slots of the cycle, one or more for each kind"
        raise Rejection(KINDS_DO_NOT_FIT, "kinds", value, allowed)
    slack = slots - total
    return [sum(needs[:kind]) + kind * slack // len(needs) for kind in range(len(needs))]


def _gaps(positions: list[int], slots: int) -> list[int]:
    """Return the slots from each kind to the next, around the cycle."""
    order = sorted((position, kind) for kind, position in enumerate(positions))
    gaps = [slots] * len(positions)
    if len(positions) > 1:
        for (position, kind), (following, _) in zip(order, [*order[1:], order[0]]):
            # After the last kind of the cycle, the next one is the first kind of the next cycle.
            gaps[kind] = following - position + (slots if following < position else 0)
    return gaps


def _check_turns(
    span: int | None, grid: Grid, tick_millis: int, kinds: tuple[LocalKind, ...]
) -> Turns:
    """Check a catch-up span, or compute the default."""
    period = grid.period_ticks * tick_millis
    least_turn = _least_turn(grid.slot_count, kinds)
    fewest = 2 * len(kinds)
    counts = [
        count for count in _divisors(grid.period_ticks) if fewest <= count <= CATCH_UP_TURNS.maximum
    ]
    most = max((count for count in counts if period // count >= least_turn), default=None)
    if most is None:
        allowed = (
            f"must leave late runs room: {fewest} turns or more, each "
            f"{span_text(least_turn * MILLISECOND)} or longer; a cycle has only "
            f"{span_text(period * MILLISECOND)} (take shorter run times, fewer kinds, or a longer "
            "cycle)"
        )
        raise Rejection(KINDS_DO_NOT_FIT, "kinds", f"{len(kinds)} kinds", allowed)
    if span is None:
        least = max(_DEFAULT_TURNS, fewest)
        count = min(next((count for count in counts if count >= least), most), most)
        span = period // count * MILLISECOND
    else:
        longest = period // fewest * MILLISECOND
        parts = -(-period // max(span // MILLISECOND, 1))
        found = next((count for count in counts if count >= parts), None)
        if found is None or found > most or span > longest:
            shortest = span_text(period // most * MILLISECOND)
            allowed = (
                f"must be {shortest} to {span_text(longest)}: {fewest} turns or more in a cycle, "
                "each long enough to keep late runs apart"
            )
            raise Rejection(OUT_OF_RANGE, "catch_up_span", span_text(span), allowed)
        count = found
    least_gap = min(kind.gap for kind in kinds)
    half_gap = period // count * least_gap // grid.slot_count // 2
    leads = (half_gap if kind.run_time is None else ceil_millis(kind.run_time) for kind in kinds)
    return Turns(count, span, tuple(leads))


def _least_turn(slots: int, kinds: tuple[LocalKind, ...]) -> int:
    """Return the shortest turn, in milliseconds, that holds each run time.

    One millisecond is added for rounding.
    """
    if len(kinds) < 2:
        return 1
    needed = (
        -(-(max(ceil_millis(kind.run_time or 0), 1) + 1) * slots // kind.gap) for kind in kinds
    )
    return max(needed)


def _divisors(number: int) -> list[int]:
    """Return all divisors, rising: at most 281,000 trials, as cycles have up to 3.2e11 ticks."""
    rest, found, prime = number, [1], 2
    while prime * prime <= rest:
        known, power = list(found), 1
        while rest % prime == 0:
            rest //= prime
            power *= prime
            found += [divisor * power for divisor in known]
        prime += 1 if prime == 2 else 2
    if rest > 1:
        found += [divisor * rest for divisor in found]
    return sorted(found)
