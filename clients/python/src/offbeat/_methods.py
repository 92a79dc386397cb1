"""The unary methods of all services, by name: their paths and their messages.

No two services have a method of the same name. Each call may be repeated. Most responses are pure
functions of the request. Two services keep state: LatenessService loses its counts when the
server stops, and repeating an operation on a named spread has the same effect as doing it once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Callable

from ._columns import assign_slots_response


@dataclass(frozen=True)
class Method:
    """A method: its path, and how its messages are serialized."""

    path: str
    to_bytes: Callable[[Any], bytes]
    from_bytes: Callable[[bytes], Any]


@cache
def methods() -> dict[str, Method]:
    """Return the methods by name."""
    from .v1 import lanes_pb2, named_spread_pb2, server_info_pb2, slots_pb2, stages_pb2
    from .v1beta1 import lane_planning_pb2, lateness_pb2

    found = {}
    for module in (
        slots_pb2,
        stages_pb2,
        lanes_pb2,
        named_spread_pb2,
        server_info_pb2,
        lane_planning_pb2,
        lateness_pb2,
    ):
        for service in module.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                found[method.name] = Method(
                    f"/{service.full_name}/{method.name}",
                    _serialized,
                    _class_of(method.output_type).FromString,
                )
    # Both read the response's columns from the wire. AssignPacked also takes a request that is
    # already serialized.
    path = found["AssignSlots"].path
    found["AssignSlots"] = Method(path, _serialized, assign_slots_response)
    found["AssignPacked"] = Method(path, _as_it_is, assign_slots_response)
    return found


def _class_of(message: Any) -> Any:
    """Return the generated class of a message, which may be defined in another file."""
    path = message.file.name[len("offbeat/") : -len(".proto")]
    module = import_module("." + path.replace("/", ".") + "_pb2", __package__)
    return getattr(module, message.name)


def _serialized(request: Any) -> bytes:
    message: bytes = request.SerializeToString()
    return message


def _as_it_is(request: bytes) -> bytes:
    return request
