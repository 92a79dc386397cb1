"""Kinds of job that a schedule declares, so that they do not meet on one ID."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ._fields import set_span, set_text
from .errors import refused
from .times import from_duration, from_optional_duration, from_optional_timestamp
from .v1 import schedule_pb2 as pb
from .v1 import slots_pb2 as slots_pb


class KindSpacing(enum.IntEnum):
    """How kinds of job that must not meet are spaced."""

    #: As far apart as possible.
    EVEN = 1
    #: So that adding a kind moves no other kind.
    STABLE = 2


@dataclass(frozen=True)
class Kind:
    """A kind of job of a schedule.

    name: 1 to 64 characters of ``A-Z a-z 0-9 . _ -``; part of the run keys.
    run_time: how long a run takes at most, 0 to the longest cycle; set it for every kind or
        for none. Default: not known.

    >>> Kind("export", timedelta(minutes=10)).name
    'export'
    """

    name: str
    run_time: timedelta | None = None

    def to_message(self, path: str) -> pb.Kind:
        """Turn the kind into its message; ``path`` is its place in the request."""
        message = pb.Kind()
        set_text(message, path, "name", self.name)
        set_span(message, path, "run_time", self.run_time)
        return message

    @classmethod
    def from_message(cls, message: pb.Kind) -> Kind:
        """Read it from a message."""
        return cls(message.name, from_optional_duration(message, "run_time"))


@dataclass(frozen=True)
class DescribedKind:
    """A kind of a schedule: when it runs, and how long its jobs may take."""

    name: str
    #: Slots from kind 0 to this kind, for the same ID.
    offset_slot_count: int
    #: The same as active time; in the shortest month, where months differ.
    offset: timedelta
    #: Slots from this kind to the next one that it must not meet, around the cycle; without
    #: such a kind, the slot count.
    gap_slot_count: int
    #: The shortest time from a run of this kind to the next run of a kind that it must not meet:
    #: queue wait plus run time must stay within it. If changes of the clocks or months shorten
    #: it, this is the worst case from 2020 to 2037.
    run_budget: timedelta
    #: Start of the cycle that makes the budget shorter than the gap; ``None`` if none does.
    worst_cycle_start_time: datetime | None
    #: How long a run takes at most, if the schedule says so.
    run_time: timedelta | None

    @classmethod
    def from_message(cls, message: slots_pb.DescribedKind) -> DescribedKind:
        """Read it from a message."""
        return cls(
            name=message.name,
            offset_slot_count=message.offset_slot_count,
            offset=from_duration(message.offset),
            gap_slot_count=message.gap_slot_count,
            run_budget=from_duration(message.run_budget),
            worst_cycle_start_time=from_optional_timestamp(message, "worst_cycle_start_time"),
            run_time=from_optional_duration(message, "run_time"),
        )


def as_kinds(kinds: Any) -> Any:
    """Return kinds as a tuple, with a ``Kind`` for each name; a non-list is refused later."""
    if not isinstance(kinds, (list, tuple)):
        return kinds
    return tuple(Kind(kind) if isinstance(kind, str) else kind for kind in kinds)


def as_pairs(pairs: Any) -> Any:
    """Return pairs as tuples; a value that is no list of pairs is refused later."""
    if not isinstance(pairs, (list, tuple)):
        return pairs
    return tuple(tuple(pair) if isinstance(pair, list) else pair for pair in pairs)


def add_pairs(spec: pb.ScheduleSpec, path: str, pairs: Sequence[tuple[str, str]]) -> None:
    """Fill the list of kinds that must not meet."""
    at = f"{path}.kind_conflicts"
    if not isinstance(pairs, tuple):
        raise refused(at, pairs, 'must be a list of pairs of kinds, such as [("import", "export")]')
    for index, pair in enumerate(pairs):
        within = f"{at}[{index}]"
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise refused(within, pair, 'must be two kinds, such as ("import", "export")')
        message = spec.kind_conflicts.add()
        set_text(message, within, "first_kind", pair[0])
        set_text(message, within, "second_kind", pair[1])
