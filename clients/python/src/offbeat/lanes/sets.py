"""Lanes, and the rule by which they take jobs."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from .._fields import set_enum, set_integer, set_number, set_span, set_text
from .._keywords import positional
from ..times import from_micros, from_optional_duration
from ..v1 import lanes_pb2 as pb

if TYPE_CHECKING:
    from dataclasses import KW_ONLY


class LanePolicy(enum.IntEnum):
    """Which jobs a free worker takes; slow lanes choose first."""

    #: The express lane takes untried jobs. Other lanes first take jobs that were demoted to them,
    #: then less demoted ones, and untried jobs last.
    EXPRESS_FIRST = 1
    #: Slower lanes take jobs in the order of the queue, except that untried jobs with a
    #: ``slow_probability`` come after demoted ones. Faster lanes take the remaining jobs.
    SLOW_FIRST = 2


class TimeoutAction(enum.IntEnum):
    """What happens to a job at its timeout."""

    #: It is aborted, and starts again in the next lane.
    ABORT = 1
    #: It is suspended, and continues in the next lane: no work is lost, its memory stays in use.
    SUSPEND = 2


@dataclass(frozen=True)
class Lane:
    """A lane: its name, its workers, and how long an attempt may run.

    The timeout must be longer than that of the lane before; only the last lane may have none.
    """

    name: str
    worker_count: int
    attempt_timeout: timedelta | None = None

    @classmethod
    def from_message(cls, message: pb.Lane) -> Lane:
        """Read it from a message."""
        timeout = from_optional_duration(message, "attempt_timeout")
        return cls(message.name, message.worker_count, timeout)


@positional(2)
@dataclass(frozen=True)
class LaneSet:
    """Lanes, fastest first. ``None`` means the sidecar's default.

    lanes: 2 to 16; the first is the express lane, the last the slow lane.
    policy: which jobs a free worker takes. Default: ``LanePolicy.EXPRESS_FIRST``.
    on_timeout: what happens to a job at its timeout. Default: ``TimeoutAction.ABORT``.
    max_express_slow_probability: an untried job whose ``slow_probability`` is above this does not
        start in the express lane. Default: 1, which excludes no job.

    >>> from datetime import timedelta
    >>> LaneSet([Lane("express", 3, timedelta(minutes=1)), Lane("slow", 1)]).lane("slow")
    Lane(name='slow', worker_count=1, attempt_timeout=None)
    """

    lanes: Sequence[Lane]
    policy: LanePolicy | None = None
    if TYPE_CHECKING:
        _: KW_ONLY
    on_timeout: TimeoutAction | None = None
    max_express_slow_probability: float | None = None

    def __post_init__(self) -> None:
        """Convert the lanes to a tuple, so that any iterable equals the lanes of an answer."""
        object.__setattr__(self, "lanes", tuple(self.lanes))

    def lane(self, name: str) -> Lane:
        """Return the lane with that name; raises ``LookupError`` if there is none."""
        for lane in self.lanes:
            if lane.name == name:
                return lane
        raise LookupError(f"there is no lane {name!r}")

    def to_message(self) -> pb.LaneSet:
        """Turn it into a message."""
        message = pb.LaneSet()
        for index, lane in enumerate(self.lanes):
            path = f"lane_set.lanes[{index}]"
            added = message.lanes.add()
            set_text(added, path, "name", lane.name)
            set_integer(added, path, "worker_count", lane.worker_count)
            set_span(added, path, "attempt_timeout", lane.attempt_timeout)
        if self.policy is not None:
            set_enum(message, "lane_set", "policy", self.policy, LanePolicy)
        if self.on_timeout is not None:
            set_enum(message, "lane_set", "on_timeout", self.on_timeout, TimeoutAction)
        probability = self.max_express_slow_probability
        if probability is not None:
            set_number(message, "lane_set", "max_express_slow_probability", probability)
        return message

    @classmethod
    def from_message(cls, message: pb.LaneSet) -> LaneSet:
        """Read it from a message."""
        known = message.HasField("max_express_slow_probability")
        return cls(
            lanes=tuple(map(Lane.from_message, message.lanes)),
            policy=LanePolicy(message.policy) if message.policy else None,
            on_timeout=TimeoutAction(message.on_timeout) if message.on_timeout else None,
            max_express_slow_probability=message.max_express_slow_probability if known else None,
        )


@positional(2)
@dataclass(frozen=True)
class LaneState:
    """The state of a lane.

    lane_name: the lane.
    backlog_count: jobs that wait for it: a job waits for the fastest lane that may take it.
    mean_run_time: how long an attempt takes there on average. Default: derived from
        ``longest_wait``; without it, the lane's timeout; without one, ten times the timeout of
        the lane before.
    longest_wait: how long the job that has waited longest has waited.
    busy_worker_count: workers that run a job, and stay.
    """

    lane_name: str
    backlog_count: int = 0
    if TYPE_CHECKING:
        _: KW_ONLY
    mean_run_time: timedelta | None = None
    longest_wait: timedelta | None = None
    busy_worker_count: int = 0


@dataclass(frozen=True)
class LaneWorkload:
    """The work that waits for a lane."""

    lane_name: str
    #: The backlog times the mean run time.
    workload: timedelta

    @classmethod
    def from_message(cls, message: pb.LaneWorkload) -> LaneWorkload:
        """Read it from a message."""
        return cls(message.lane_name, from_micros(message.workload_micros))


@dataclass(frozen=True)
class WorkerSplit:
    """How to split the workers among the lanes."""

    #: The lanes, with the workers that they should have.
    lane_set: LaneSet
    #: The work that waits for each lane, in their order.
    workloads: tuple[LaneWorkload, ...]

    @classmethod
    def from_message(cls, message: pb.SplitWorkersResponse) -> WorkerSplit:
        """Read it from a message."""
        workloads = tuple(map(LaneWorkload.from_message, message.workloads))
        return cls(LaneSet.from_message(message.lane_set), workloads)


def add_states(request: pb.SplitWorkersRequest, states: Iterable[LaneState]) -> None:
    """Add the state of each lane."""
    for index, state in enumerate(states):
        path, message = f"states[{index}]", request.states.add()
        set_text(message, path, "lane_name", state.lane_name)
        set_integer(message, path, "backlog_count", state.backlog_count)
        set_integer(message, path, "busy_worker_count", state.busy_worker_count)
        set_span(message, path, "mean_run_time", state.mean_run_time)
        set_span(message, path, "longest_wait", state.longest_wait)
