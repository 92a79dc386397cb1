"""Answers cases line by line with the Python client alone, without a sidecar: see run.py."""

from __future__ import annotations

import json
import sys
from datetime import datetime, timezone
from typing import Any

from google.protobuf import json_format
from offbeat import InvalidArgument, NeedsSidecar, NotFound
from offbeat._columns import ColumnsResponse
from offbeat.local.decider import Decider
from offbeat.v1 import due_runs_pb2, lanes_pb2, slots_pb2

DECIDER = Decider(None, lambda: datetime.now(timezone.utc))


def message_type(method: str) -> Any:
    """Return the type of a method's request, if the client can decide it."""
    for module in (slots_pb2, due_runs_pb2, lanes_pb2):
        if hasattr(module, f"{method}Request"):
            return getattr(module, f"{method}Request")
    raise NeedsSidecar(method)


def answer(method: str, request: Any) -> dict[str, Any]:
    """Return the answer as an object for one line."""
    try:
        response = DECIDER.decide(method, json_format.ParseDict(request, message_type(method)()))
    except NeedsSidecar as needs:
        return {"unsupported": str(needs)}
    except (InvalidArgument, NotFound) as error:
        return {
            "reason": error.reason.removeprefix("ERROR_REASON_"),
            "field": error.field,
            "value": error.value,
            "allowed": error.allowed,
        }
    if isinstance(response, ColumnsResponse):  # columns are converted to a message
        columns = slots_pb2.SlotAssignments(**vars(response.assignments))
        identity = response.identity
        response = slots_pb2.AssignSlotsResponse(identity=identity, assignments=columns)
    return {"response": json_format.MessageToDict(response)}


for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps(answer(case["method"], case["request"])), flush=True)
