"""Schedules whose cycle is a period: checks, defaults, canonical text and fingerprint."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ..errors import NeedsSidecar
from ..v1 import schedule_pb2 as pb
from .checks import (
    PLACEMENTS,
    PROFILES,
    check_anchor,
    check_period,
    check_placement,
    check_resolution,
    check_slot_count,
)
from .ids import PlainId, check_part
from .kinds import Kinds, check_kinds, goes_with_kinds
from .limits import KIND_NAME
from .placement import HASH, TWISTER, Grid
from .rejections import missing, unknown_enum_value
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

_PYTHON = 3

#: Fields that need a sidecar, and why. (A weight without a quantum is refused.)
_REASONS = {
    "calendar": "a calendar cycle needs a sidecar: clients decide elapsed periods alone",
    "active_windows": "active windows need a sidecar: clients decide whole cycles alone",
    "exclusions": "exclusions need a sidecar: clients decide runs in every cycle alone",
    "weight_quantum": "weights need a sidecar: clients decide IDs of one piece alone",
    "kind_conflicts": "conflicts between kinds need a sidecar, which searches where kinds stand",
}

#: How many checked schedules are cached: a program has few.
_KEPT_SCHEDULES = 256


@dataclass(frozen=True)
class LocalSchedule:
    """A checked schedule; if it declares kinds, it may be the schedule of one kind."""

    grid: Grid
    tick_millis: int
    anchor_millis: int
    profile: int
    kinds: Kinds | None
    canonical_text: str
    fingerprint: str
    #: With every default filled in.
    spec: pb.ScheduleSpec
    #: ``name/version`` of a named schedule, else the fingerprint.
    run_key_root: str
    #: Index of the kind, if this is the schedule of one kind.
    kind: int | None = None
    #: How many ticks the kind runs after kind 0.
    rotation_ticks: int = 0
    #: The schedules of the kinds, by name.
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
        """Return the schedule of a kind; without kinds, any name is only a label."""
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
        """Return the same schedule with run keys that begin with a name."""
        return replace(self, run_key_root=name)

    def span_of_ticks(self, ticks: int) -> int:
        """Return a number of ticks in nanoseconds."""
        return ticks * self.tick_millis * MILLISECOND


def check_spec(spec: pb.ScheduleSpec) -> LocalSchedule:
    """Check a spec; the results are cached."""
    return _checked(spec.SerializeToString())


def needs_sidecar(spec: pb.ScheduleSpec) -> str | None:
    """Say why a spec cannot be decided here, by its fields alone; ``None`` if it can."""
    if spec.WhichOneof("cycle") == "calendar":
        return _REASONS["calendar"]
    for name in ("active_windows", "exclusions", "kind_conflicts"):
        if getattr(spec, name):
            return _REASONS[name]
    return _REASONS["weight_quantum"] if spec.HasField("weight_quantum") else None


@lru_cache(maxsize=_KEPT_SCHEDULES)
def _checked(data: bytes) -> LocalSchedule:
    spec = pb.ScheduleSpec.FromString(data)
    reason = needs_sidecar(spec)
    if reason is not None:
        raise NeedsSidecar(reason)
    return _check(spec)


def _check(spec: pb.ScheduleSpec) -> LocalSchedule:
    """Check the fields in the sidecar's order: malformed ones first, then invalid ones."""
    if spec.WhichOneof("cycle") is None:
        raise missing("period", "must be 1 ms to 316224000 s (3660 days)")
    period = read_span("period", spec.period)
    resolution = read_span("resolution", spec.resolution) if spec.HasField("resolution") else SECOND
    anchor = read_moment("anchor_time", spec.anchor_time) if spec.HasField("anchor_time") else 0
    if not 0 <= spec.placement < len(PLACEMENTS):
        raise unknown_enum_value("placement", spec.placement, "0 to 3, a value of Placement")
    if not 0 <= spec.profile < len(PROFILES):
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

    tick_millis = check_resolution(resolution)
    period_ticks = check_period(period, tick_millis)
    anchor_millis = check_anchor(anchor, tick_millis)
    placement, bucket_count = check_placement(spec)
    slot_count = check_slot_count(spec, period_ticks, tick_millis, bucket_count)
    grid = Grid(placement, slot_count, period_ticks // slot_count, spec.salt.encode(), bucket_count)
    if spec.kinds:
        kinds = check_kinds(spec, run_times, catch_up_span, grid, tick_millis)
    else:
        kinds = None
        goes_with_kinds(spec, catch_up_span)
    profile = spec.profile or pb.TWISTER_PROFILE_RUBY if placement == TWISTER else 0
    if placement == TWISTER and profile != _PYTHON:
        raise NeedsSidecar(
            f"the twister of {PROFILES[profile]} needs a sidecar: Python draws as PYTHON alone"
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


def _canonical_text(
    spec: pb.ScheduleSpec,
    grid: Grid,
    period: int,
    resolution: int,
    anchor: int,
    profile: int,
    kinds: Kinds | None,
) -> str:
    """Return the text whose SHA-256 is the fingerprint."""
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
        lines += [f"bucket_count={grid.bucket_count}", f"profile={PROFILES[profile]}"]
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
