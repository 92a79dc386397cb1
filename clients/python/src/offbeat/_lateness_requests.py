"""Messages that say how late runs started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import islice

from ._fields import set_text
from .errors import InvalidArgument
from .schedule import ScheduleReference
from .times import to_micros
from .v1beta1 import lateness_pb2 as pb

#: How many values one message takes.
BATCH = 65_536


def schedule_name(schedule: str | ScheduleReference) -> str:
    """Return the name of a schedule, without its version."""
    if isinstance(schedule, ScheduleReference):
        return schedule.name
    if isinstance(schedule, str):
        with suppress(InvalidArgument):  # a name without a version must not make a job fail
            return ScheduleReference.parse(schedule).name
    return schedule


def lateness_requests(
    schedule: str | ScheduleReference, lateness: Iterable[timedelta], kind: str
) -> Iterator[pb.RecordLatenessRequest]:
    """Turn lateness into messages of up to 65,536 values each."""
    values = iter(lateness)
    index = 0
    while batch := list(islice(values, BATCH)):
        request = pb.RecordLatenessRequest()
        set_text(request, "", "schedule_name", schedule_name(schedule))
        set_text(request, "", "kind", kind)
        request.lateness_millis.extend(
            [
                to_micros(f"lateness_millis[{index + offset}]", late) // 1_000
                for offset, late in enumerate(batch)
            ]
        )
        index += len(batch)
        yield request
