"""Turns the statuses of calls, of either protocol, into exceptions."""

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
    """Return the exception for a status: a code, a message, and serialized details by type."""
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
    if not details:  # the message is about the transport, not about the request
        message = f"{address}: {_OWN_WORDS.get(code, code)} ({message or code})"
    return _BY_CODE.get(code, OffbeatError)(message or code, details=details, **known)


def _unpacked(packed: Iterable[tuple[str, bytes]]) -> tuple[Any, ...]:
    """Return the details that have a known type and can be decoded."""
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
