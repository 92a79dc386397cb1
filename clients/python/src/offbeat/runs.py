"""Runs, which have the same type in all answers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic

from .ids import IdT_co
from .times import from_optional_timestamp, from_timestamp
from .v1 import slots_pb2 as pb

#: Stands for "no kind" in run keys.
DEFAULT_KIND = "default"


@dataclass(frozen=True)
class Run(Generic[IdT_co]):
    """A run of an ID, or of a piece of it."""

    #: The ID, as it was given.
    id: IdT_co
    #: The kind of job; ``"default"`` if none was named.
    kind: str
    #: Index of the piece of its ID; 0 without weights.
    piece_index: int
    #: Its cycle. Cycle 0 starts at the schedule's anchor time; with a calendar, it is the unit that
    #: holds 1 January 1970. A deferred run keeps the cycle that it belongs to.
    cycle_index: int
    #: When it should start; lateness is measured from here.
    scheduled_time: datetime
    #: When to start it: later than the scheduled time for a run that was missed.
    start_time: datetime
    #: The same for each attempt to enqueue the run; empty for a fraction.
    run_key: str
    #: When it would start without exclusions and without the policy for a new ID, if that differs
    #: from the scheduled time. Set by ``assign_slot`` only.
    nominal_time: datetime | None = None

    @property
    def run_id(self) -> str:
        """A job ID that any queue takes, as long as a UUID; empty if the run key is.

        The first 16 bytes of the run key's SHA-256, as 32 hexadecimal digits.
        """
        return hashlib.sha256(self.run_key.encode()).hexdigest()[:32] if self.run_key else ""

    @property
    def late(self) -> bool:
        """Whether the run was missed, and starts later than it should."""
        return self.start_time > self.scheduled_time

    @classmethod
    def from_message(cls, message: pb.Run, id_value: Any, kind: str, piece_index: int) -> Run[Any]:
        """Turn a message into a run."""
        start_time = from_timestamp(message.start_time)
        return cls(
            id=id_value,
            kind=kind or DEFAULT_KIND,
            piece_index=piece_index,
            cycle_index=message.cycle_index,
            scheduled_time=start_time,
            start_time=start_time,
            run_key=message.run_key,
            nominal_time=from_optional_timestamp(message, "nominal_time"),
        )
