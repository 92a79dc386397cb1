"""Decisions of the local decider, as messages."""

from __future__ import annotations

from typing import Any

from offbeat import OffbeatError
from offbeat._columns import ColumnsResponse
from offbeat.local.decider import Decider
from offbeat.v1 import slots_pb2 as pb


def as_message(response: Any) -> Any:
    """Return a response as its message; columns are converted to one."""
    if not isinstance(response, ColumnsResponse):
        return response
    columns = pb.SlotAssignments(**vars(response.assignments))
    return pb.AssignSlotsResponse(identity=response.identity, assignments=columns)


def decided_locally(decider: Decider, method: str, request: Any) -> Any:
    """Return the answer, or the refusal."""
    try:
        return as_message(decider.decide(method, request))
    except OffbeatError as error:
        return error
