"""Lanes of tasks: each is a queue with a time limit; a task that exceeds it moves to the next."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from celery.exceptions import Ignore

from ..lanes import LaneRoute, LaneSet, PermanentFailure
from .errors import LanesExhausted

if TYPE_CHECKING:
    from .integration import Integration

#: Headers of a message: its lane, and the lanes whose timeout its task has exceeded.
LANE_HEADER, TIMED_OUT_HEADER = "offbeat_lane", "offbeat_timed_out_lanes"

#: How long a task may take to end after its soft time limit: half the limit, within these bounds.
_SHORTEST_GRACE, _LONGEST_GRACE = timedelta(seconds=1), timedelta(seconds=10)


class Demoted(Ignore):  # type: ignore[misc]
    """The attempt has ended, and the same task continues in a slower lane."""


def first_options(integration: Integration, lanes: LaneSet) -> dict[str, Any]:
    """Return the options that send a task that has not run yet to its first lane."""
    route = integration.client.route_job(lanes)
    if isinstance(route, PermanentFailure):
        raise LanesExhausted.of(route)
    return _options(route, [])


def lane_of(request: Any) -> str:
    """Return the lane of a request; empty if it was sent without one."""
    return getattr(request, LANE_HEADER, None) or ""


def demote(integration: Integration, task: Any, request: Any, args: Any, kwargs: Any) -> None:
    """Send a request again, to the next lane; raises ``LanesExhausted`` if there is none."""
    timed_out = [*(getattr(request, TIMED_OUT_HEADER, None) or ()), lane_of(request)]
    route = integration.client.route_job(task.lanes, timed_out_lane_names=timed_out)
    if isinstance(route, PermanentFailure):
        raise LanesExhausted.of(route)
    options = _options(route, timed_out)
    # The other headers of the request, such as that of a run, stay.
    headers = {**(request.headers or {}), **options.pop("headers")}
    signature = task.signature_from_request(
        request, args, kwargs, countdown=0, headers=headers, **options
    )
    signature.apply_async()


def _options(route: LaneRoute, timed_out: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {
        "queue": route.lane_name,
        "headers": {LANE_HEADER: route.lane_name, TIMED_OUT_HEADER: timed_out},
        "soft_time_limit": None,
        "time_limit": None,
    }
    timeout = route.attempt_timeout
    if timeout is not None:
        grace = min(max(timeout / 2, _SHORTEST_GRACE), _LONGEST_GRACE)
        options.update(route.celery_options(grace=grace))
    return options
