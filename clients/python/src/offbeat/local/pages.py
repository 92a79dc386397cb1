"""Page tokens in the sidecar's format: client and sidecar can continue each other's pages.

A token holds the number of its format, four bytes of a digest against typing errors, a digest of
the request of the first page, its ``now_time``, and the first row of the next page.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from typing import Callable

from ..v1 import due_runs_pb2 as pb
from .rejections import CONTRADICTORY, MALFORMED, Rejection
from .times import MAX_MOMENT, MIN_MOMENT, SECOND, moment_text

_FORM = b"\x01"
_CHECK_BYTES = 4
_CONTENT = struct.Struct(">8sqiQ")


class Page:
    """The page that a request asks for."""

    def __init__(self, request: pb.ListDueRunsRequest, id_count: int) -> None:
        """Read the token of a request, if it has one."""
        self._digest = _digest(request, id_count)
        self._now: int | None = None
        self.first_row = 0
        if request.page_token:
            self._read(request.page_token)

    def _read(self, token: str) -> None:
        allowed = "must be next_page_token of an answer, unchanged"
        padded = token + "=" * (-len(token) % 4)
        try:
            data = base64.b64decode(padded.encode(), b"-_", validate=True)
            malformed = Rejection(MALFORMED, "page_token", f"{len(data)} bytes", allowed)
        except (binascii.Error, ValueError):
            shown = f"{len(token.encode())} bytes"
            raise Rejection(MALFORMED, "page_token", shown, allowed) from None
        content = data[1 + _CHECK_BYTES :]
        if data[:1] != _FORM or data[1 : 1 + _CHECK_BYTES] != _check(content):
            raise malformed
        malformed = Rejection(MALFORMED, "page_token", f"{len(token.encode())} bytes", allowed)
        if len(content) != _CONTENT.size:
            raise malformed
        of, seconds, nanos, self.first_row = _CONTENT.unpack(content)
        if of != self._digest:
            allowed = "must come with the request that it was answered to"
            raise Rejection(CONTRADICTORY, "page_token", "a token", allowed)
        now: int = seconds * SECOND + nanos
        if not 0 <= nanos < SECOND or not MIN_MOMENT <= now <= MAX_MOMENT:
            raise malformed
        self._now = now

    def now(self, given: int | None, clock: Callable[[], int]) -> int:
        """Return the ``now_time`` of all pages, which the first page sets."""
        if self._now is None:
            return clock() if given is None else given
        if given not in (None, self._now):
            allowed = f"must be {moment_text(self._now)}, as for the first page, or left out"
            assert given is not None
            raise Rejection(CONTRADICTORY, "now_time", moment_text(given), allowed)
        return self._now

    def token(self, now: int, first_row: int) -> str:
        """Return the token of the page that begins with ``first_row``."""
        content = _CONTENT.pack(self._digest, now // SECOND, now % SECOND, first_row)
        data = _FORM + _check(content) + content
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _check(content: bytes) -> bytes:
    return hashlib.sha256(_FORM + content).digest()[:_CHECK_BYTES]


def _digest(request: pb.ListDueRunsRequest, id_count: int) -> bytes:
    """Return a digest that identifies a request; of its columns, only the lengths count."""
    lengths = (id_count, len(request.weights), len(request.watermark_unix_millis))
    same = pb.ListDueRunsRequest(schedule=request.schedule, kind=request.kind)
    for field in ("watermark_time", "catch_up_policy", "max_clock_skew", "look_ahead"):
        if request.HasField(field):
            getattr(same, field).CopyFrom(getattr(request, field))
    return hashlib.sha256(same.SerializeToString() + struct.pack(">3Q", *lengths)).digest()[:8]
