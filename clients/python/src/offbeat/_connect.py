"""Unary calls by the Connect protocol over HTTP/1.1: <https://connectrpc.com/docs/protocol>."""

from __future__ import annotations

import binascii
import json
import math
import time
from typing import Any

from ._deadline import Deadline, TimeIsUp
from ._endpoint import Endpoint
from ._http import BROKEN, MAX_ANSWER_BYTES, Answer, Connection, TooLarge, what_broke
from ._methods import methods
from ._pool import NotConnected, Pool
from ._secret import Unpicklable
from ._statuses import error_of
from .access import Access
from .errors import OffbeatError, Unavailable

#: Pauses between the attempts of a call that does not reach the sidecar, in seconds: as in the
#: retry policy of the gRPC channel.
_PAUSES = (0.05, 0.1, 0.2)

#: The protocol allows timeouts of at most ten digits, in milliseconds.
_LONGEST_MILLIS = 9_999_999_999

#: Codes by HTTP status, for responses outside the Connect protocol, such as those of a proxy.
_BY_HTTP_STATUS = {
    400: "INTERNAL",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "UNIMPLEMENTED",
    429: "UNAVAILABLE",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "UNAVAILABLE",
}

_CODES = {
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
}


class Transport(Unpicklable):
    """Makes unary calls over connections that it keeps."""

    def __init__(self, access: Access) -> None:
        """Store the address; nothing connects yet."""
        self._address, self._token = access.address, access.token
        self._endpoint = Endpoint(access)
        self._pool = Pool(self._endpoint)

    def call(self, name: str, request: Any, seconds: float) -> Any:
        """Call a method and return its response within ``seconds``, or raise ``OffbeatError``."""
        deadline = Deadline(seconds)
        method = methods()[name]
        body = method.to_bytes(request)
        credentials = self._token.metadata() if self._token is not None else ()
        answer = self._call(method.path, body, credentials, deadline)
        try:
            return method.from_bytes(answer)
        except Exception as error:  # the bytes are not a valid message
            raise self._error("INTERNAL", f"the answer is no message: {error}") from error

    def close(self) -> None:
        """Close the connections; the next call makes a new one."""
        self._pool.close()

    def _call(self, path: str, body: bytes, credentials: Any, deadline: Deadline) -> bytes:
        """Attempt a call up to four times, until it reaches the sidecar."""
        lost: OffbeatError | None = None
        for pause in (*_PAUSES, None):
            try:
                return self._attempt(path, body, credentials, deadline)
            except NotConnected as error:
                late = f"no connection within {deadline.seconds:.3g} s"
                raise lost or self._error("DEADLINE_EXCEEDED", late) from error
            except TimeIsUp as error:
                late = f"within {deadline.seconds:.3g} s"
                raise self._error("DEADLINE_EXCEEDED", late) from error
            except TooLarge as error:
                message = f"an answer of more than {MAX_ANSWER_BYTES} bytes"
                raise self._error("RESOURCE_EXHAUSTED", message) from error
            except BROKEN as error:
                lost = self._error("UNAVAILABLE", what_broke(error))
                lost.__cause__ = error
            except Unavailable as error:
                lost = error
            if pause is None or not deadline.allows(pause):
                break
            time.sleep(pause)
        assert lost is not None
        raise lost

    def _attempt(self, path: str, body: bytes, credentials: Any, deadline: Deadline) -> bytes:
        kept = self._pool.take()
        if kept is not None:
            try:
                return self._exchange(kept, path, body, credentials, deadline)
            except BROKEN:
                pass  # the sidecar may just have closed it: try a new one
        connection = self._pool.connect(deadline)
        return self._exchange(connection, path, body, credentials, deadline)

    def _exchange(
        self, connection: Connection, path: str, body: bytes, credentials: Any, deadline: Deadline
    ) -> bytes:
        try:
            head = self._head(path, len(body), credentials, deadline)
            answer = connection.exchange(head, body, deadline)
        except BaseException:  # even from a signal handler: the response may still arrive
            self._pool.drop(connection)
            raise
        self._pool.give_back(connection)
        return self._body_of(answer)

    def _head(self, path: str, size: int, credentials: Any, deadline: Deadline) -> bytes:
        millis = min(math.ceil(deadline.left() * 1_000), _LONGEST_MILLIS)
        lines = [
            f"POST {path} HTTP/1.1",
            f"host: {self._endpoint.host}",
            "content-type: application/proto",
            "accept-encoding: identity",
            "connect-protocol-version: 1",
            f"connect-timeout-ms: {millis}",
            f"content-length: {size}",
            *(f"{name}: {value}" for name, value in credentials),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")

    def _body_of(self, answer: Answer) -> bytes:
        kind = answer.content_type.partition(";")[0].strip().lower()
        if answer.status == 200:
            if kind == "application/proto":
                return answer.body
            raise self._error("INTERNAL", f"the answer is {kind or 'of no type'}, no message")
        if kind == "application/json":
            code, message, details = _parse(answer.body)
            if code:
                raise error_of(self._address, code, message, details)
        code = _BY_HTTP_STATUS.get(answer.status, "UNKNOWN")
        raise self._error(code, f"the answer is no sidecar's: HTTP status {answer.status}")

    def _error(self, code: str, message: str) -> OffbeatError:
        return error_of(self._address, code, message)


def _parse(body: bytes) -> tuple[str, str, list[tuple[str, bytes]]]:
    """Return the code, message and details of an error; an empty code if ``body`` is no error."""
    try:
        error = json.loads(body)
        code = str(error["code"]).upper().replace("CANCELED", "CANCELLED")
        details = [
            (str(detail["type"]), binascii.a2b_base64(detail["value"] + "=="))
            for detail in error.get("details", ())
        ]
        return code if code in _CODES else "", str(error.get("message", "")), details
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return "", "", []
