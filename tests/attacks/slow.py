"""Peers that send a byte per second (Slowloris), at every point where a peer can send.

Each form runs ten times, all concurrently.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from support.frames import (
    DATA,
    END_HEADERS,
    HEADERS,
    PREFACE,
    RST_STREAM,
    Wire,
    begin,
    frame,
    head,
    settings,
)
from support.questions import ASSIGN_SLOT, SUBMIT_GROUPS
from trial import Trial

TIMES = 10
#: Seconds that are added to upper bounds, for a busy machine.
MARGIN = 3
FIRST_BYTES = 10 + MARGIN
#: The timeout of unary calls in seconds, set by a flag to keep the tests short.
UNARY = 5
HTTP1_HEADERS = 60 + MARGIN
#: 20 s of silence, and 10 s for the answer to a ping.
SILENCE = 30 + MARGIN
LONGEST = HTTP1_HEADERS + 1

POST = b"POST /offbeat.v1.SlotService/AssignSlot HTTP/1.1\r\nhost: x\r\n"
JSON = POST + b"content-type: application/json\r\n"
GREETING = PREFACE + settings()


@dataclass
class Form:
    """The bytes sent at once, those sent one per second, and the seconds until it must end."""

    at_once: bytes
    trickle: bytes
    seconds: float


FORMS = {
    "before the preface": Form(b"", b"", FIRST_BYTES),
    "within the preface": Form(b"", PREFACE, FIRST_BYTES),
    "one byte": Form(b"P", b"", FIRST_BYTES),
    "within the first line of HTTP/1.1": Form(b"", b"POST /" + b"p" * 80, FIRST_BYTES),
    "behind the preface": Form(PREFACE, b"", SILENCE),
    "within the first SETTINGS": Form(PREFACE + b"\0\0\x06\x04\0", b"\0" * 80, SILENCE),
    "deaf to pings": Form(GREETING, b"", SILENCE),
    "within the headers of HTTP/1.1": Form(POST, b"a: b\r\n" * 20, HTTP1_HEADERS),
    "between requests of HTTP/1.1": Form(JSON + b"content-length: 2\r\n\r\n{}", b"", HTTP1_HEADERS),
    "within HEADERS": Form(
        GREETING + b"\0\x40\0\x01\x04\0\0\0\x01" + head(ASSIGN_SLOT), b"\0" * 80, SILENCE
    ),
    "between HEADERS and CONTINUATION": Form(
        GREETING + frame(HEADERS, 0, 1, head(ASSIGN_SLOT)), b"", SILENCE
    ),
    "in CONTINUATION": Form(
        GREETING + frame(HEADERS, 0, 1, head(ASSIGN_SLOT)),
        b"".join(frame(9, 0, 1, b"\0\x01a\x01b") for _ in range(80)),
        SILENCE,
    ),
    "within the header of a frame": Form(GREETING, b"\0\0\x08\x06\0", SILENCE),
    "within a body of HTTP/1.1": Form(
        JSON + b"content-length: 1000\r\n\r\n", b" " * 80, UNARY + MARGIN
    ),
    "within chunks of HTTP/1.1": Form(
        JSON + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n" * 20, UNARY + MARGIN
    ),
    "within the size of a chunk": Form(
        JSON + b"transfer-encoding: chunked\r\n\r\n", b"0" * 80, UNARY + MARGIN
    ),
    "within a body of HTTP/2": Form(
        GREETING + begin(1, SUBMIT_GROUPS) + frame(DATA, 0, 1, b"\0\0\0\x80\0"),
        b"".join(frame(DATA, 0, 1, b"\0") for _ in range(20)),
        UNARY + MARGIN,
    ),
    "no body at all, on HTTP/2": Form(GREETING + begin(1, SUBMIT_GROUPS), b"", UNARY + MARGIN),
    "within a frame of DATA": Form(
        GREETING
        + frame(HEADERS, END_HEADERS, 1, head(SUBMIT_GROUPS))
        + b"\0\x40\0\0\0\0\0\0\x01\0\0\0\x80\0",
        b"\0" * 80,
        UNARY + MARGIN,
    ),
}


class Slow:
    """A slow peer."""

    def __init__(self, port: int, form: Form) -> None:
        self.form, self.wire = form, Wire(port)
        self.at = 0
        self.answered: float | None = None
        self.wire.say(form.at_once)

    def say(self) -> None:
        """Sends the next byte, and reads received bytes."""
        piece = self.form.trickle[self.at : self.at + 1]
        self.at += 1
        self.wire.pump(0.001, piece)
        if self.answered is None and self._is_answered():
            self.answered = time.monotonic() - self.wire.opened

    def _is_answered(self) -> bool:
        received = self.wire.received
        if not self.form.at_once.startswith(PREFACE):
            return received.startswith(b"HTTP/1.1 ")
        return any(kind in (HEADERS, RST_STREAM) for kind in kinds(received))

    def took(self) -> float | None:
        """Seconds until the server ended the connection or the request."""
        life = self.wire.lifetime()
        unary = self.form.seconds == UNARY + MARGIN
        return self.answered if unary and self.answered is not None else life


def kinds(received: bytes) -> list[int]:
    """The types of the frames received on streams."""
    found, at = [], 0
    while at + 9 <= len(received):  # each iteration consumes a frame
        if int.from_bytes(received[at + 5 : at + 9], "big"):
            found.append(received[at + 3])
        at += 9 + int.from_bytes(received[at : at + 3], "big")
    return found


class SlowPeers(threading.Thread):
    """All slow peers beside a well-behaved caller, in a thread beside other tests."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.trial = Trial("test_slow_peers", "--unary-timeout", str(UNARY))
        self.lives: dict[str, list[float | None]] = {}
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self.trial.withstands(self.attack)
        except BaseException as failure:
            self.failure = failure

    def attack(self) -> None:
        """Lets every peer send a byte per second."""
        crowds = {
            name: [Slow(self.trial.port, form) for _ in range(TIMES)]
            for name, form in FORMS.items()
        }
        started = time.monotonic()
        for second in range(LONGEST):
            for slow in (one for crowd in crowds.values() for one in crowd):
                slow.say()
            time.sleep(max(0.0, started + second + 1 - time.monotonic()))
        for name, crowd in crowds.items():
            self.lives[name] = [slow.took() for slow in crowd]
            for slow in crowd:
                slow.wire.close()
        self.trial.note(f"{len(FORMS) * TIMES} peers")
