"""Whether jobs of existing schedules are kept apart on each ID."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from ._fields import set_span, set_text
from ._questions import Question
from .errors import refused
from .schedule import AnySchedule, schedule_message
from .times import from_optional_duration
from .v1 import reciprocal_pb2 as pb


class Separation(enum.IntEnum):
    """Whether jobs are kept apart on each ID."""

    #: On every ID, a run of one job has ended before the next run of the other one starts, if
    #: each starts on time and takes no longer than its run time.
    APART = 1
    #: There are IDs on which they meet.
    MEET = 2
    #: Not known; treat it as ``MEET``.
    UNKNOWN = 3


@dataclass(frozen=True)
class ComparedJob:
    """A job that locks the same IDs as others.

    schedule: its current schedule.
    kind: its kind, if the schedule declares kinds.
    run_time: how long a run takes at most, 0 to the longest cycle. Default: the run time of the
        kind in the schedule. Without one, its runs are only kept from starting at the same time as
        others.
    """

    schedule: AnySchedule
    kind: str = ""
    run_time: timedelta | None = None

    def to_message(self, path: str) -> pb.ComparedJob:
        """Turn the job into its message; ``path`` is its place in the request."""
        message = pb.ComparedJob(schedule=schedule_message(self.schedule, f"{path}.schedule"))
        set_text(message, path, "kind", self.kind)
        set_span(message, path, "run_time", self.run_time)
        return message


@dataclass(frozen=True)
class ComparedPair:
    """Whether two jobs are kept apart."""

    #: Index of the first job, from 0.
    first_job_index: int
    #: Index of the second job.
    second_job_index: int
    separation: Separation
    #: Why, in a sentence.
    message: str
    #: The shortest time from a run of the first job to the next run of the second one, on one ID;
    #: ``None`` if it is not known.
    first_to_second: timedelta | None
    #: The shortest time from a run of the second job to the next run of the first one.
    second_to_first: timedelta | None

    @classmethod
    def from_message(cls, message: pb.ComparedPair) -> ComparedPair:
        """Read it from a message."""
        return cls(
            first_job_index=message.first_job_index,
            second_job_index=message.second_job_index,
            separation=Separation(message.separation),
            message=message.message,
            first_to_second=from_optional_duration(message, "first_to_second"),
            second_to_first=from_optional_duration(message, "second_to_first"),
        )


@dataclass(frozen=True)
class Comparison:
    """Whether jobs are kept apart, as a whole and by pair."""

    #: The worst of all pairs: ``MEET`` before ``UNKNOWN`` before ``APART``.
    separation: Separation
    #: One for each pair of jobs: (0, 1), (0, 2), …, (1, 2), ….
    pairs: tuple[ComparedPair, ...]

    @classmethod
    def from_message(cls, message: pb.CompareSchedulesResponse) -> Comparison:
        """Read it from a message."""
        return cls(
            Separation(message.separation), tuple(map(ComparedPair.from_message, message.pairs))
        )


def compare_schedules(jobs: Iterable[ComparedJob]) -> Question[Comparison]:
    """Ask whether jobs are kept apart."""
    request = pb.CompareSchedulesRequest()
    for index, job in enumerate(jobs):
        if not isinstance(job, ComparedJob):
            raise refused(f"jobs[{index}]", job, "must be a ComparedJob")
        request.jobs.append(job.to_message(f"jobs[{index}]"))
    return Comparison.from_message((yield "CompareSchedules", request))
