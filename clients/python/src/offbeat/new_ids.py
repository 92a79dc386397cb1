"""IDs that are new to a schedule."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ._fields import set_enum, set_span, set_time
from ._keywords import positional
from .v1 import slots_pb2 as pb

if TYPE_CHECKING:
    from dataclasses import KW_ONLY

_FIELD = "new_id"


class FirstRunPolicy(enum.IntEnum):
    """When a new ID runs first if its time in the current cycle has passed."""

    #: At its time in the next cycle.
    NEXT_CYCLE = 1
    #: Within ``smear_span`` of its creation, or at its time in the next cycle if that comes first.
    NOW_SMEARED = 2


@positional(3)
@dataclass(frozen=True)
class NewId:
    """Marks an ID as new, so that the answer has its first run.

    create_time: when the ID was created; at most ``max_clock_skew`` after the ``from_time`` of
        the call.
    policy: when it runs first, if its time in that cycle has passed. Default: ``NEXT_CYCLE``.
    smear_span: with ``NOW_SMEARED`` only, where it must be set: 1 tick to the shortest cycle.
        Refused if the schedule declares kinds: its ``catch_up_span`` decides instead.
    max_clock_skew: how far ``create_time`` may lie after ``from_time``, for example because it
        comes from a machine whose clock is fast: 0 to the shortest cycle. Default: 60 s, or the
        shortest cycle if that is shorter.
    """

    create_time: datetime
    policy: FirstRunPolicy | None = None
    smear_span: timedelta | None = None
    if TYPE_CHECKING:
        _: KW_ONLY
    max_clock_skew: timedelta | None = None

    def to_message(self) -> pb.NewId:
        """Turn the new ID into its message."""
        message = pb.NewId()
        set_time(message, _FIELD, "create_time", self.create_time)
        if self.policy is not None:
            set_enum(message, _FIELD, "policy", self.policy, FirstRunPolicy)
        set_span(message, _FIELD, "smear_span", self.smear_span)
        set_span(message, _FIELD, "max_clock_skew", self.max_clock_skew)
        return message
