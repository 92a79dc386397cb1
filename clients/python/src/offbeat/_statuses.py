"""Statuses of calls, by whichever protocol they come, as exceptions of ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    OffbeatError,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
)

_BY_CODE: Mapping[str, type[OffbeatError]] = {
    "INVALID_ARGUMENT": InvalidArgument,
    "UNAUTHENTICATED": Unauthenticated,
    "PERMISSION_DENIED": PermissionDenied,
    "NOT_FOUND": NotFound,
    "FAILED_PRECONDITION": FailedPrecondition,
    "RESOURCE_EXHAUSTED": ResourceExhausted,
    "UNAVAILABLE": Unavailable,
    "DEADLINE_EXCEEDED": DeadlineExceeded,
}

_OWN_WORDS = {
    "UNAVAILABLE": "the sidecar cannot be reached: is 'offbeat serve' running there, and tls= "
    "as it is there?",
    "DEADLINE_EXCEEDED": "no complete answer in time",
}


def error_of(
    address: str, code: str, message: str, packed: Iterable[tuple[str, bytes]] = ()
) -> OffbeatError:
    """Return the exception of a status: its code, its message, and its details by type."""
    from google.rpc import error_details_pb2 as rpc

    known: dict[str, Any] = {"code": code}
    details = _unpacked(packed)
    for detail in details:
        if isinstance(detail, rpc.ErrorInfo):
            known["reason"] = detail.reason
            for name in ("field", "value", "allowed"):
                known[name] = detail.metadata.get(name, "")
        elif isinstance(detail, rpc.RetryInfo):
            known["retry_delay"] = detail.retry_delay.ToTimedelta()
    if not details:  # words about the way, and not about the question
        message = f"{address}: {_OWN_WORDS.get(code, code)} ({message or code})"
    return _BY_CODE.get(code, OffbeatError)(message or code, details=details, **known)


def _unpacked(packed: Iterable[tuple[str, bytes]]) -> tuple[Any, ...]:
    """Return the details of the types that are known here, and that can be read."""
    from google.protobuf.message import DecodeError
    from google.rpc import error_details_pb2 as rpc

    details = []
    for name, value in packed:
        kind = {
            "google.rpc.ErrorInfo": rpc.ErrorInfo,
            "google.rpc.BadRequest": rpc.BadRequest,
            "google.rpc.RetryInfo": rpc.RetryInfo,
            "google.rpc.QuotaFailure": rpc.QuotaFailure,
        }.get(name)
        if kind is not None:
            try:
                details.append(kind.FromString(value))
            except DecodeError:
                continue
    return tuple(details)
