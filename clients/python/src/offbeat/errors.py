"""One tree of exceptions.

A refusal carries its reason, field, value, what is allowed, and the details as
messages; an exception about the way to the sidecar has none of them. Match on
the class, or on ``reason``; never on the text.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any


class OffbeatError(Exception):
    """The root of all exceptions of the client; itself, where the server failed."""

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
        """Keep what the sidecar said."""
        super().__init__(message)
        self.message = message
        #: A name of ``offbeat.v1.ErrorReason``, such as ``ERROR_REASON_OUT_OF_RANGE``.
        self.reason = reason
        #: The path of the field that was refused, such as ``schedule.spec.slot_count``.
        self.field = field
        #: The value of the field, shortened.
        self.value = value
        #: The allowed values, with range and unit.
        self.allowed = allowed
        #: When to try again, if the sidecar said so.
        self.retry_delay = retry_delay
        #: The gRPC status code, such as ``INVALID_ARGUMENT``; empty for refusals by the client.
        self.code = code
        #: The ``google.rpc`` messages that came with the status.
        self.details = details


class InvalidArgument(OffbeatError, ValueError):
    """A field is out of range, unparsable or contradictory; asking again does not help."""


def refused(
    field: str, value: object, allowed: str, reason: str = "ERROR_REASON_MALFORMED"
) -> InvalidArgument:
    """Refuse a value before it is sent, in the sidecar's own words."""
    shown = ascii(value)[:80]
    return InvalidArgument(
        f"{field}: {shown} is refused: {allowed}",
        reason=reason,
        field=field,
        value=shown,
        allowed=allowed,
    )


def refused_unseen(field: str, allowed: str) -> InvalidArgument:
    """Refuse a value that must not be shown."""
    return InvalidArgument(
        f"{field} is refused: {allowed}",
        reason="ERROR_REASON_MALFORMED",
        field=field,
        allowed=allowed,
    )


class Unauthenticated(OffbeatError):
    """The call carried no token of the server: give the client another ``token``."""


class PermissionDenied(OffbeatError):
    """The caller's user may not call over this Unix socket: the server allows only some UIDs."""


class NotFound(OffbeatError):
    """The requested object does not exist."""


class FailedPrecondition(OffbeatError):
    """Asked in the wrong state."""


class ResourceExhausted(OffbeatError):
    """A limit is reached: try again after ``retry_delay``, or with a smaller message."""


class NoAnswer(OffbeatError):
    """There is no answer: catch this to continue without one. One of the two below."""


class Unavailable(NoAnswer):
    """The sidecar cannot be reached, or shuts down; retries have been made."""


class CircuitOpen(Unavailable):
    """The sidecar was not asked: too many calls in a row had no answer. See ``Breaker``."""


class DeadlineExceeded(NoAnswer, TimeoutError):
    """The answer was not complete in time."""


class NeedsSidecar(OffbeatError):
    """What was asked cannot be decided without a sidecar; the message says why.

    In the mode ``"local"`` only: in ``"auto"``, the sidecar is asked instead.
    """
