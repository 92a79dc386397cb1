"""What all requests have in common: a schedule, and optional instants."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Callable

from ..errors import NeedsSidecar
from ..times import to_timestamp
from ..v1.id_pb2 import IdBatch
from .catalog import Catalog
from .checks import check_reference
from .rejections import Rejection, missing
from .schedules import LocalSchedule, check_spec
from .times import read_moment


class Context:
    """The schedules by name, and the clock."""

    def __init__(self, catalog: Catalog | None, clock: Callable[[], datetime]) -> None:
        self.catalog = catalog
        self._clock = clock

    def schedule(self, request: Any) -> LocalSchedule:
        """Return the schedule of a request: its spec, or a named one from the file."""
        if not request.HasField("schedule"):
            raise missing("schedule", "it must be set")
        which = request.schedule.WhichOneof("schedule")
        if which is None:
            raise missing("schedule", "spec or reference must be set")
        try:
            if which == "spec":
                return check_spec(request.schedule.spec)
            return self._named(request.schedule.reference)
        except Rejection as rejection:
            raise rejection.under(f"schedule.{which}") from None

    def schedule_of_kind(self, request: Any) -> LocalSchedule:
        """Return the schedule for the kind of the request."""
        return self.schedule(request).of_kind(request.kind)

    def moment_or_now(self, request: Any, field: str) -> int:
        """Return an instant of a request in nanoseconds; the present one if it is not set."""
        if request.HasField(field):
            return read_moment(field, getattr(request, field))
        return self.now(field)

    def now(self, field: str) -> int:
        """Return the time of the clock in nanoseconds."""
        return read_moment(field, to_timestamp(field, self._clock()))

    def without_zones(self, ids: IdBatch) -> None:
        """Raise ``NeedsSidecar`` for IDs with time zones of their own."""
        if ids.time_zones or ids.time_zone_indexes:
            raise NeedsSidecar("IDs with time zones of their own need a sidecar")

    def _named(self, reference: Any) -> LocalSchedule:
        check_reference(reference.name, reference.version)
        if self.catalog is None:
            raise NeedsSidecar("a schedule by name needs a sidecar, or a file of schedules")
        return self.catalog.get(reference.name, reference.version)
