"""Runs jobs of rows by a schedule, over any queue; the integrations are built on it.

A :class:`Declaration` says which job runs for which rows. A :class:`Runner` plans the runs, tick
by tick, in a :class:`RunStore`, and a :class:`Publisher` hands them to a queue. A :class:`Worker`
of the queue claims the run of each message, so that each run is done once, even if workers die or
messages are lost or delivered twice.
"""

from .declarations import Declaration
from .execution import Attempt, PutBack, Retry, Worker, current_run
from .memory import MemoryStore
from .records import (
    Claim,
    ClaimOutcome,
    Counts,
    Pass,
    PlannedPage,
    Progress,
    RunMessage,
    RunState,
    StoredRun,
)
from .rows import IdList, RowSource
from .runner import Runner, Tick
from .store import Publisher, RunStore
from .threads import ThreadQueue

__all__ = [
    "Attempt",
    "Claim",
    "ClaimOutcome",
    "Counts",
    "Declaration",
    "IdList",
    "MemoryStore",
    "Pass",
    "PlannedPage",
    "Progress",
    "Publisher",
    "PutBack",
    "Retry",
    "RowSource",
    "RunMessage",
    "RunState",
    "RunStore",
    "Runner",
    "StoredRun",
    "ThreadQueue",
    "Tick",
    "Worker",
    "current_run",
]
