"""HTTP as text and as frames, with any Host, token and body."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from support import headers as hpack
from support.frames import END_HEADERS, END_STREAM, HEADERS, Answer, Peer, body, frame, prefixed

SLOTS = "/offbeat.v1.SlotService/"
NAMED = "/offbeat.v1.NamedSpreadService/"
ASSIGN_SLOT, ASSIGN_SLOTS = SLOTS + "AssignSlot", SLOTS + "AssignSlots"
HEALTH = "/grpc.health.v1.Health/Check"
TOKEN = "a-token-of-sixteen-or-more"
GRPC, JSON = "application/grpc", "application/json"
SCHEDULE = {"spec": {"period": "86400s", "slotCount": 24}}
ONE_ID = json.dumps({"schedule": SCHEDULE, "id": {"text": "acme"}}).encode()


@dataclass
class Reply:
    """An HTTP/1.1 response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The code of a refusal in JSON."""
        return json.loads(self.body).get("code", "")


def connect(address: int | str, seconds: float = 5) -> socket.socket:
    """Connects to a port of the loopback, or to a Unix socket, as `listening` names it."""
    if isinstance(address, int):
        return socket.create_connection(("127.0.0.1", address), seconds)
    if not address.startswith("unix:"):
        return connect(int(address.rsplit(":", 1)[1]), seconds)
    wire = socket.socket(socket.AF_UNIX)
    wire.settimeout(seconds)
    wire.connect(address.removeprefix("unix:"))
    return wire


def text(
    path: str,
    content: bytes | None = b"{}",
    *headers: str,
    host: str | None = "localhost",
    token: str | None = None,
    kind: str = JSON,
    length: int | None = None,
    method: str | None = None,
) -> bytes:
    """A request; `length` overrides the real length of the content."""
    lines = [f"{method or ('GET' if content is None else 'POST')} {path} HTTP/1.1"]
    lines += [f"Host: {host}"] if host is not None else []
    lines += [f"Authorization: Bearer {token}"] if token else []
    if content is not None:
        lines += [f"Content-Type: {kind}"]
        if not any(header.lower().startswith("transfer-encoding") for header in headers):
            lines += [f"Content-Length: {len(content) if length is None else length}"]
    return "\r\n".join([*lines, *headers]).encode("latin-1") + b"\r\n\r\n" + (content or b"")


def reply(wire: socket.socket, seconds: float = 5) -> Reply:
    """The next response; raises ConnectionError if the connection ends instead."""
    limit, received = time.monotonic() + seconds, b""

    def more() -> bytes:
        wire.settimeout(max(0.001, limit - time.monotonic()))
        data = wire.recv(1 << 16)
        if not data:
            raise ConnectionResetError(f"closed after {received[:200]!r}")
        return received + data

    while b"\r\n\r\n" not in received:
        received = more()
    head = received.partition(b"\r\n\r\n")[0]
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.split(":", 1) for line in lines)
    fields = {name.lower(): value.strip() for name, value in pairs}
    length = int(fields.get("content-length", 0))
    size = len(head) + 4 + length
    while len(received) < size:
        received = more()
    return Reply(int(first.split()[1]), fields, received[len(head) + 4 : size])


def ask(address: int | str, *of: object, seconds: float = 5, **how: object) -> Reply:
    """The response to a request on a connection of its own; see :func:`text`."""
    with connect(address, seconds) as wire:
        wire.sendall(text(*of, **how))
        return reply(wire, seconds)


def block(
    path: str,
    *more: tuple[str, str],
    authority: str = "localhost",
    kind: str = GRPC,
    token: str | None = None,
    method: str = "POST",
) -> bytes:
    """The header block of an HTTP/2 call."""
    fields = [(":method", method), (":scheme", "http"), (":path", path), (":authority", authority)]
    fields += [("content-type", kind), ("te", "trailers")]
    fields += [("authorization", f"Bearer {token}")] if token else []
    return hpack.encode([*fields, *more])


def begun(stream: int, path: str, *more: tuple[str, str], flags: int = 0, **how: object) -> bytes:
    """HEADERS of a call whose body follows."""
    return frame(HEADERS, END_HEADERS | flags, stream, block(path, *more, **how))


def ask2(
    port: int,
    path: str,
    message: bytes | None,
    *more: tuple[str, str],
    seconds: float = 5,
    **how: object,
) -> Answer:
    """An HTTP/2 call on a connection of its own, with JSON or a gRPC message."""
    with Peer(port) as peer:
        if message is None:
            return peer.ask(1, begun(1, path, *more, flags=END_STREAM, **how), seconds)
        is_grpc = str(how.get("kind", GRPC)).startswith(GRPC)
        content = prefixed(message) if is_grpc else message
        return peer.ask(1, begun(1, path, *more, **how) + body(1, content), seconds)


def took(work: Callable[[], object]) -> float:
    """The seconds that the work takes."""
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def at_once(count: int, work: Callable[[int], None]) -> None:
    """Runs the work `count` times, each on its own thread; raises the first failure."""
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def beside(program: str, *arguments: object) -> subprocess.Popen:
    """Starts a Python program beside a test; the program prints `ready`."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def ended(process: subprocess.Popen) -> None:
    process.kill()
    process.wait(timeout=10)
    assert process.stdout
    process.stdout.close()


def all_of(sockets: Iterable[socket.socket]) -> None:
    for one in sockets:
        one.close()
