"""The requests that are decided locally, by method."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Callable

from ..errors import NeedsSidecar
from ..v1 import slots_pb2 as pb
from .assign import assign_slot, assign_slots
from .catalog import Catalog
from .context import Context
from .due import check_policy, list_due_runs
from .ids import check_part, count_ids
from .lanes import route_job
from .limits import SCHEDULE_NAME
from .rejections import Rejection
from .slots import describe_schedule, list_slots, window_predicate

_DECISIONS: dict[str, Callable[[Any, Context], Any]] = {
    "AssignSlot": assign_slot,
    "AssignSlots": assign_slots,
    "DescribeSchedule": describe_schedule,
    "GetWindowPredicate": window_predicate,
    "ListDueRuns": list_due_runs,
    "ListSlots": list_slots,
    "RouteJob": route_job,
}


class Decider:
    """Decides requests without a sidecar."""

    def __init__(self, catalog: Catalog | None, clock: Callable[[], datetime]) -> None:
        """Set the named schedules, and the clock for requests that name no instant."""
        self._catalog = catalog
        self.context = Context(catalog, clock)

    def decide(self, method: str, request: Any) -> Any:
        """Return the response; raise ``NeedsSidecar``, or the same refusal as the sidecar."""
        method, request = _unpacked(method, request)
        if method == "ListSchedules" and self._catalog is not None:
            decide: Callable[[Any, Context], Any] = self._list_schedules
        elif method in _DECISIONS:
            decide = _DECISIONS[method]
        else:
            raise needs_sidecar(method)
        try:
            return decide(request, self.context)
        except Rejection as rejection:
            raise rejection.error() from None

    def is_bulk(self, method: str, request: Any, least: int) -> bool:
        """Say whether a request has at least ``least`` IDs, and can be decided here."""
        method, request = _unpacked(method, request)
        if method not in ("AssignSlots", "ListDueRuns") or count_ids(request.ids) < least:
            return False
        try:
            if method == "ListDueRuns":
                check_policy(request)
            self.context.without_zones(request.ids)
            self.context.schedule(request)
        except (NeedsSidecar, Rejection):
            return False  # it needs a sidecar in any case, or is refused at once
        return True

    def _list_schedules(self, request: pb.ListSchedulesRequest, _: Context) -> Any:
        """List the schedules of the file, all on one page."""
        if request.name:
            check_part("name", request.name, SCHEDULE_NAME)
        assert self._catalog is not None
        return pb.ListSchedulesResponse(schedules=self._catalog.listed(request.name))


def needs_sidecar(method: str) -> NeedsSidecar:
    """Return the refusal of a method that is not decided locally."""
    return NeedsSidecar(f"{method} needs a sidecar: clients do not decide it alone")


def _unpacked(method: str, request: Any) -> tuple[str, Any]:
    """Return a request as a message: that of packed IDs is already serialized."""
    if method == "AssignPacked":
        return "AssignSlots", pb.AssignSlotsRequest.FromString(request)
    return method, request
