"""One tree of exceptions.

A refusal has a reason, a field, its value, what is allowed, and the details as
messages; an exception about the transport has none of these. Match on the
class or on ``reason``, never on the text.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any


class OffbeatError(Exception):
    """The base class of all exceptions of the client; raised itself if the server failed."""

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        field: str = "",
        value: str = "",
        allowed: str = "",
        retry_delay: timedelta | None = None,
        code: str = "",
        details: tuple[Any, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        #: A name of ``offbeat.v1.ErrorReason``, such as ``ERROR_REASON_OUT_OF_RANGE``.
        self.reason = reason
        #: The path of the refused field, such as ``schedule.spec.slot_count``.
        self.field = field
        #: The value of the field, shortened.
        self.value = value
        #: The allowed values, with range and unit.
        self.allowed = allowed
        #: How long to wait before trying again, if the sidecar says so.
        self.retry_delay = retry_delay
        #: The gRPC status code, such as ``INVALID_ARGUMENT``; empty for refusals by the client.
        self.code = code
        #: The ``google.rpc`` messages that came with the status.
        self.details = details


class InvalidArgument(OffbeatError, ValueError):
    """A field is out of range, malformed or contradictory; a retry does not help."""


def refused(
    field: str, value: object, allowed: str, reason: str = "ERROR_REASON_MALFORMED"
) -> InvalidArgument:
    """Return the refusal of a value before it is sent, worded as the sidecar's refusals are."""
    shown = ascii(value)[:80]
    return InvalidArgument(
        f"{field}: {shown} is refused: {allowed}",
        reason=reason,
        field=field,
        value=shown,
        allowed=allowed,
    )


def refused_unseen(field: str, allowed: str) -> InvalidArgument:
    """Return the refusal of a value that must not be shown."""
    return InvalidArgument(
        f"{field} is refused: {allowed}",
        reason="ERROR_REASON_MALFORMED",
        field=field,
        allowed=allowed,
    )


class Unauthenticated(OffbeatError):
    """The call had no token that the server accepts: pass another ``token`` to the client."""


class PermissionDenied(OffbeatError):
    """The caller's user may not call over this Unix socket: the server allows only some UIDs."""


class NotFound(OffbeatError):
    """The requested object does not exist."""


class FailedPrecondition(OffbeatError):
    """The call is not possible in the present state."""


class ResourceExhausted(OffbeatError):
    """A limit is reached: try again after ``retry_delay``, or with a smaller message."""


class NoAnswer(OffbeatError):
    """There is no answer; catch this to continue without one. See the subclasses below."""


class Unavailable(NoAnswer):
    """The sidecar cannot be reached, or is shutting down; the call has been retried."""


class CircuitOpen(Unavailable):
    """The sidecar was not asked: too many calls in a row had no answer. See ``Breaker``."""


class DeadlineExceeded(NoAnswer, TimeoutError):
    """The answer was not complete in time."""


class NeedsSidecar(OffbeatError):
    """The request cannot be decided without a sidecar; the message says why.

    Raised in the mode ``"local"`` only: in ``"auto"``, the sidecar is asked instead.
    """
