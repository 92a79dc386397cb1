"""Schedules of elapsed periods: checked, with their defaults, canonical text and fingerprint."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ..errors import NeedsSidecar
from ..v1 import schedule_pb2 as pb
from .ids import PlainId, check_part
from .kinds import Kinds, check_kinds, goes_with_kinds
from .limits import (
    KIND_NAME,
    PERIOD,
    RESOLUTION,
    SALT,
    SCHEDULE_NAME,
    SCHEDULE_VERSION,
    SLOT_COUNT,
)
from .placement import FRACTION, HASH, TWISTER, Grid
from .rejections import (
    CONTRADICTORY,
    FIELD_MISSING,
    OUT_OF_RANGE,
    SLOT_COUNT_DOES_NOT_DIVIDE,
    Rejection,
    missing,
    quoted,
    unknown_enum_value,
)
from .times import (
    MILLISECOND,
    SECOND,
    duration,
    moment_text,
    read_moment,
    read_span,
    span_text,
    timestamp,
)

_PLACEMENTS = (HASH, HASH, TWISTER, FRACTION)
_PROFILES = ("", "RUBY", "RUBY_3_0_TO_3_1", "PYTHON", "PHP")
_PYTHON = 3
_DEFAULT_BUCKET_COUNT, _WIDE_BUCKET_COUNT = 256, 65_536

#: Fields that need a sidecar, and why. (A weight without a quantum is refused.)
_REASONS = {
    "calendar": "a calendar cycle needs a sidecar: clients decide elapsed periods alone",
    "active_windows": "active windows need a sidecar: clients decide whole cycles alone",
    "exclusions": "exclusions need a sidecar: clients decide runs in every cycle alone",
    "weight_quantum": "weights need a sidecar: clients decide IDs of one piece alone",
    "kind_conflicts": "conflicts between kinds need a sidecar, which searches where kinds stand",
}

#: Schedules that are kept, checked: a program has few.
_KEPT_SCHEDULES = 256


@dataclass(frozen=True)
class LocalSchedule:
    """A checked schedule; where kinds are declared, as one of them has it."""

    grid: Grid
    tick_millis: int
    anchor_millis: int
    profile: int
    kinds: Kinds | None
    canonical_text: str
    fingerprint: str
    #: With every default filled in.
    spec: pb.ScheduleSpec
    #: ``name/version``, else the fingerprint.
    run_key_root: str
    #: Index of the kind whose schedule it is, if it is that of one.
    kind: int | None = None
    #: Ticks that the kind runs after kind 0.
    rotation_ticks: int = 0
    #: The schedule as each kind has it, by name.
    _of_kinds: dict[str, LocalSchedule] = field(init=False, default_factory=dict)

    @property
    def period_ticks(self) -> int:
        return self.grid.period_ticks

    @property
    def period_millis(self) -> int:
        return self.grid.period_ticks * self.tick_millis

    @property
    def slot_millis(self) -> int:
        return self.grid.slot_ticks * self.tick_millis

    def of_kind(self, name: str) -> LocalSchedule:
        """Return the schedule as a kind has it; without kinds, any name is a label."""
        if self.kinds is None:
            return self
        known = self._of_kinds.get(name)
        if known is None:
            index = self.kinds.index_of(name)
            rotation = self.kinds.kinds[index].offset * self.grid.slot_ticks
            known = self._of_kinds[name] = replace(self, kind=index, rotation_ticks=rotation)
        return known

    def place(self, plain: PlainId) -> tuple[int, int | float]:
        """Return ticks from the start of the cycle, and the number that decided them."""
        offset, rule = self.grid.offset(plain)
        if self.rotation_ticks:
            offset = (offset + self.rotation_ticks) % self.grid.period_ticks
        return offset, rule

    def run_key_prefix(self, kind: str) -> str:
        name = kind or "default"
        check_part("kind", name, KIND_NAME)
        return f"{self.run_key_root}/{name}"

    def identity(self) -> pb.ScheduleIdentity:
        return pb.ScheduleIdentity(fingerprint=self.fingerprint, run_key_root=self.run_key_root)

    def named(self, name: str) -> LocalSchedule:
        """Return the same, known by name: its run keys begin with that."""
        return replace(self, run_key_root=name)

    def span_of_ticks(self, ticks: int) -> int:
        """Return a number of ticks in nanoseconds."""
        return ticks * self.tick_millis * MILLISECOND


def check_spec(spec: pb.ScheduleSpec) -> LocalSchedule:
    """Check a spec, or remember that it was checked."""
    return _checked(spec.SerializeToString())


def needs_sidecar(spec: pb.ScheduleSpec) -> str | None:
    """Say why a spec cannot be decided here, as far as its fields alone tell."""
    if spec.WhichOneof("cycle") == "calendar":
        return _REASONS["calendar"]
    for name in ("active_windows", "exclusions", "kind_conflicts"):
        if getattr(spec, name):
            return _REASONS[name]
    return _REASONS["weight_quantum"] if spec.HasField("weight_quantum") else None


def check_reference(name: str, version: int) -> None:
    """Refuse a name or a version that cannot be."""
    check_part("name", name, SCHEDULE_NAME)
    if version == 0:
        allowed = f"must be {SCHEDULE_VERSION}; the newest is not the default"
        raise Rejection(FIELD_MISSING, "version", version, allowed)
    if not SCHEDULE_VERSION.allows(version):
        raise Rejection(OUT_OF_RANGE, "version", version, f"must be {SCHEDULE_VERSION}")


@lru_cache(maxsize=_KEPT_SCHEDULES)
def _checked(data: bytes) -> LocalSchedule:
    spec = pb.ScheduleSpec.FromString(data)
    reason = needs_sidecar(spec)
    if reason is not None:
        raise NeedsSidecar(reason)
    return _check(spec)


def _check(spec: pb.ScheduleSpec) -> LocalSchedule:
    """Check the fields in the sidecar's order: what cannot be read first, then what cannot be."""
    if spec.WhichOneof("cycle") is None:
        raise missing("period", "must be 1 ms to 316224000 s (3660 days)")
    period = read_span("period", spec.period)
    resolution = read_span("resolution", spec.resolution) if spec.HasField("resolution") else SECOND
    anchor = read_moment("anchor_time", spec.anchor_time) if spec.HasField("anchor_time") else 0
    if not 0 <= spec.placement < len(_PLACEMENTS):
        raise unknown_enum_value("placement", spec.placement, "0 to 3, a value of Placement")
    if not 0 <= spec.profile < len(_PROFILES):
        raise unknown_enum_value("profile", spec.profile, "0 to 4, a value of TwisterProfile")
    run_times = [
        read_span(f"kinds[{index}].run_time", kind.run_time) if kind.HasField("run_time") else None
        for index, kind in enumerate(spec.kinds)
    ]
    if not 0 <= spec.kind_spacing <= pb.KIND_SPACING_STABLE:
        allowed = "0 to 2, a value of KindSpacing"
        raise unknown_enum_value("kind_spacing", spec.kind_spacing, allowed)
    has_span = spec.HasField("catch_up_span")
    catch_up_span = read_span("catch_up_span", spec.catch_up_span) if has_span else None

    tick_millis = _check_resolution(resolution)
    period_ticks = _check_period(period, tick_millis)
    anchor_millis = _check_anchor(anchor, tick_millis)
    placement, bucket_count = _check_placement(spec)
    slot_count = _check_slot_count(spec, period_ticks, tick_millis, bucket_count)
    grid = Grid(placement, slot_count, period_ticks // slot_count, spec.salt.encode(), bucket_count)
    if spec.kinds:
        kinds = check_kinds(spec, run_times, catch_up_span, grid, tick_millis)
    else:
        kinds = None
        goes_with_kinds(spec, catch_up_span)
    profile = spec.profile or pb.TWISTER_PROFILE_RUBY if placement == TWISTER else 0
    if placement == TWISTER and profile != _PYTHON:
        raise NeedsSidecar(
            f"the twister of {_PROFILES[profile]} needs a sidecar: Python draws as PYTHON alone"
        )
    text = _canonical_text(spec, grid, period, resolution, anchor, profile, kinds)
    fingerprint = hashlib.sha256(text.encode()).hexdigest()
    resolved = _resolved(spec, grid, resolution, anchor, profile, kinds)
    return LocalSchedule(
        grid=grid,
        tick_millis=tick_millis,
        anchor_millis=anchor_millis,
        profile=profile,
        kinds=kinds,
        canonical_text=text,
        fingerprint=fingerprint,
        spec=resolved,
        run_key_root=fingerprint,
    )


def _check_resolution(resolution: int) -> int:
    millis, rest = divmod(resolution, MILLISECOND)
    if rest or millis <= 0 or 1_000 % millis:
        allowed = f"must be {RESOLUTION}, and divide one second (1000, 500, 250, … 1 ms)"
        raise Rejection(OUT_OF_RANGE, "resolution", span_text(resolution), allowed)
    return millis


def _check_period(period: int, tick_millis: int) -> int:
    millis, rest = divmod(period, MILLISECOND)
    if rest or not PERIOD.allows(millis) or millis % tick_millis:
        tick = span_text(tick_millis * MILLISECOND)
        most = PERIOD.maximum // 1_000
        allowed = f"must be {tick} to {most}s (3660 days), a whole number of ticks of {tick}"
        raise Rejection(OUT_OF_RANGE, "period", span_text(period), allowed)
    return millis // tick_millis


def _check_anchor(anchor: int, tick_millis: int) -> int:
    tick = tick_millis * MILLISECOND
    if anchor % tick:
        allowed = f"must be a whole number of ticks of {span_text(tick)} since the Unix epoch"
        raise Rejection(OUT_OF_RANGE, "anchor_time", moment_text(anchor), allowed)
    return anchor // MILLISECOND


def _check_placement(spec: pb.ScheduleSpec) -> tuple[str, int]:
    """Return the placement, and the bucket count of TWISTER."""
    placement = _PLACEMENTS[spec.placement]

    def contradiction(field: str, value: object, owner: str) -> Rejection:
        allowed = f"must not be set with placement {placement}: only {owner} reads it"
        return Rejection(CONTRADICTORY, field, value, allowed)

    if placement != HASH and spec.salt:
        raise contradiction("salt", quoted(spec.salt), HASH)
    if placement != TWISTER:
        if spec.HasField("bucket_count"):
            raise contradiction("bucket_count", spec.bucket_count, TWISTER)
        if spec.profile:
            raise contradiction("profile", _PROFILES[spec.profile], TWISTER)
        check_salt(spec.salt)
        return placement, 0
    count = spec.bucket_count if spec.HasField("bucket_count") else _DEFAULT_BUCKET_COUNT
    if count not in (_DEFAULT_BUCKET_COUNT, _WIDE_BUCKET_COUNT):
        allowed = "must be 256 or 65536 buckets (the last byte of an ID, or its last two)"
        raise Rejection(OUT_OF_RANGE, "bucket_count", count, allowed)
    return placement, count


def check_salt(salt: str) -> None:
    """Refuse a salt that is too long."""
    size = len(salt.encode())
    if size > SALT.maximum:
        raise Rejection(OUT_OF_RANGE, "salt", f"a salt of {size} bytes", f"must be {SALT}")


def _check_slot_count(
    spec: pb.ScheduleSpec, period_ticks: int, tick_millis: int, bucket_count: int
) -> int:
    """Return the slot count; ``bucket_count`` is 0 except of TWISTER."""
    if not spec.HasField("slot_count"):
        return _default_slot_count(period_ticks * tick_millis)
    count = spec.slot_count
    if not SLOT_COUNT.allows(count):
        raise Rejection(OUT_OF_RANGE, "slot_count", count, f"must be {SLOT_COUNT}")
    if bucket_count and count > bucket_count:
        allowed = (
            f"must be 1 to {bucket_count} slots with {bucket_count} buckets: beyond, slots stay "
            "empty (bucket_count 65536, or placement HASH, take more)"
        )
        raise Rejection(OUT_OF_RANGE, "slot_count", count, allowed)
    if period_ticks % count:
        tick = span_text(tick_millis * MILLISECOND)
        nearest = _nearest_divisors(period_ticks, count)
        allowed = f"must divide the period of {period_ticks} ticks of {tick} ({nearest})"
        raise Rejection(SLOT_COUNT_DOES_NOT_DIVIDE, "slot_count", count, allowed)
    return count


def _default_slot_count(period_millis: int) -> int:
    seconds, rest = divmod(period_millis, 1_000)
    if rest:
        period = span_text(period_millis * MILLISECOND)
        allowed = (
            f"the period {period} is no whole number of seconds, so the slot count must be given"
        )
        raise Rejection(FIELD_MISSING, "slot_count", "nothing", allowed)
    return math.gcd(seconds, _DEFAULT_BUCKET_COUNT)


def _nearest_divisors(period: int, count: int) -> str:
    """Return the divisors next to a count that is none, in words.

    A divisor is found near the count, or by how many times it goes into the period.
    """
    steps, times = 1_024, period // count

    def found(numbers: range) -> int | None:
        return next((number for number in numbers if period % number == 0), None)

    below = found(range(count - 1, max(count - steps, 1) - 1, -1))
    if below is None:
        more = found(range(times + 1, times + steps + 1))
        below = None if more is None else period // more
    above = found(range(count + 1, count + steps + 1))
    if above is None:
        fewer = found(range(times, max(times - steps, 1) - 1, -1))
        above = None if fewer is None else period // fewer
    if above is not None and above > SLOT_COUNT.maximum:
        above = None
    if below is not None and above is not None:
        return f"nearest: {below} and {above} slots"
    only = below if above is None else above
    return "nearest: none within 1024 steps" if only is None else f"nearest: {only} slots"


def _canonical_text(
    spec: pb.ScheduleSpec,
    grid: Grid,
    period: int,
    resolution: int,
    anchor: int,
    profile: int,
    kinds: Kinds | None,
) -> str:
    """Return what the fingerprint is taken of."""
    lines = [
        "offbeat.v1.Schedule",
        f"period={span_text(period)}",
        f"resolution={span_text(resolution)}",
        f"anchor_time={moment_text(anchor)}",
        f"slot_count={grid.slot_count}",
    ]
    if kinds is not None:
        lines.append(f"kind_spacing={kinds.spacing}")
        for kind in kinds.kinds:
            run_time = "" if kind.run_time is None else f" {span_text(kind.run_time)}"
            lines.append(f"kind={kind.name}{run_time}")
        lines.append(f"catch_up_span={span_text(kinds.turns.span)}")
    lines.append(f"placement={grid.placement}")
    if grid.placement == TWISTER:
        lines += [f"bucket_count={grid.bucket_count}", f"profile={_PROFILES[profile]}"]
    if grid.placement == HASH:
        lines.append(f"salt={spec.salt}")  # last: it may hold line feeds
    return "\n".join(lines)


def _resolved(
    spec: pb.ScheduleSpec,
    grid: Grid,
    resolution: int,
    anchor: int,
    profile: int,
    kinds: Kinds | None,
) -> pb.ScheduleSpec:
    """Return the spec with every default filled in."""
    resolved = pb.ScheduleSpec(
        period=spec.period,
        resolution=duration(resolution),
        anchor_time=timestamp(anchor),
        slot_count=grid.slot_count,
        placement=spec.placement or pb.PLACEMENT_HASH,
        profile=pb.TwisterProfile.Name(profile) if profile else None,
        salt=spec.salt,
    )
    if grid.placement == TWISTER:
        resolved.bucket_count = grid.bucket_count
    if kinds is not None:
        resolved.kinds.extend(spec.kinds)
        resolved.kind_spacing = spec.kind_spacing or pb.KIND_SPACING_EVEN
        resolved.catch_up_span.CopyFrom(duration(kinds.turns.span))
    return resolved
