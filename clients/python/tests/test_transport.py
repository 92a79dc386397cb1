"""Calls over HTTP: deadlines, connections that end, and malformed answers."""

from __future__ import annotations

import base64
import gc
import json
import random
import socket
import threading
import time
from contextlib import contextmanager, suppress
from datetime import timedelta

import pytest
from conftest import SALT, Sidecar, free_port
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from scripted_server import ScriptedServer, http, message, request, saying, serving

import offbeat
from offbeat import AttemptDeadline, AttemptTimedOut, Client, LaneRoute, RouteReason
from offbeat import _asking as asking
from offbeat import _connect as connect
from offbeat import _pool as pool

WHOLE = http(message("whole"))


def version(server, timeout=10.0, **arguments):
    """Return the version of a server, through a new client."""
    with Client(server.address, timeout=timeout, **arguments) as client:
        return client.server_info().version


@contextmanager
def within(seconds):
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


def trickling(*parts, pause=0.05):
    """Return a script that sends the parts, and then single bytes for some seconds."""

    def script(connection):
        request(connection)
        for part in parts:
            connection.sendall(part)
        for _ in range(60):
            connection.sendall(b"1")
            time.sleep(pause)

    return script


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [b"HTTP/1.1 200 OK\r\nx: "],
        [b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: 9999\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1000\r\n"],
        [b"HTTP/1.1 503 Unavailable\r\ncontent-length: 9999\r\n\r\n"],
    ],
)
def test_a_slow_sender_does_not_move_the_deadline(parts):
    with (
        ScriptedServer(trickling(*parts)) as server,
        within(1.0),
        pytest.raises(offbeat.DeadlineExceeded, match="no complete answer in time"),
    ):
        version(server, timeout=0.4)


def test_a_slow_receiver_does_not_move_the_deadline():
    def sipping(connection):
        while connection.recv(64):
            time.sleep(0.05)

    with (
        ScriptedServer(sipping, receive_buffer=4_096) as server,
        Client(server.address, timeout=0.4) as client,
        within(1.0),
        pytest.raises(offbeat.DeadlineExceeded),
    ):
        client.assign_packed(offbeat.Schedule(timedelta(hours=8)), uuids=bytes(16 * 65_536))


def test_a_handshake_does_not_move_the_deadline():
    def half(connection):  # the header of a TLS record without its body
        connection.sendall(b"\x16\x03\x03\x40\x00")
        for _ in range(60):
            connection.sendall(b"\0")
            time.sleep(0.05)

    with (
        ScriptedServer(half) as server,
        within(2.0),
        pytest.raises(offbeat.DeadlineExceeded, match="no connection"),
    ):
        version(server, timeout=0.4, tls=True)


@pytest.mark.parametrize("timeout", [0.02, 0.1, 0.25, 0.5])
def test_a_refused_connection_is_unavailable_whatever_the_timeout(timeout):
    with (
        Client(f"127.0.0.1:{free_port()}", timeout=timeout) as client,
        within(timeout + 0.3),
        pytest.raises(offbeat.Unavailable, match="Connection refused"),
    ):
        client.server_info()


def test_silence_behind_a_refusal_is_late():
    port = free_port()
    listeners = []
    late = threading.Timer(0.1, lambda: listeners.append(socket.create_server(("127.0.0.1", port))))
    late.start()
    with (
        Client(f"127.0.0.1:{port}", timeout=0.6) as client,
        pytest.raises(offbeat.DeadlineExceeded),
    ):
        client.server_info()
    listeners[0].close()


def test_connections_are_kept():
    with ScriptedServer(serving) as server, Client(server.address) as client:
        for _ in range(5):
            assert client.server_info().version == "whole"
        assert server.connections == 1
        client.close()
        assert client.server_info().version == "whole"
        assert server.connections == 2


@pytest.fixture
def once(monkeypatch):
    """Disable retries."""
    monkeypatch.setattr(connect, "_PAUSES", ())
    monkeypatch.setattr(asking, "_PATIENCE", 0.0)


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("is_late", [False, True])  # late: just when the next request arrives
@pytest.mark.parametrize("goodbye", [b"", b"HTTP/1.1 408 Request Timeout\r\n\r\n"])
def test_a_kept_connection_that_was_closed_is_no_failure(is_late, goodbye):
    def closing(connection):
        request(connection)
        connection.sendall(WHOLE)
        if is_late:
            request(connection)
        else:
            connection.sendall(goodbye)

    with (
        ScriptedServer(closing, serving) as server,
        Client(server.address, timeout=5) as client,
    ):
        assert client.server_info().version == "whole"
        if not is_late:
            time.sleep(0.1)
        assert client.server_info().version == "whole"
        assert server.connections == 2


def ask_together(client, count):
    """Call from several threads at once, each with a connection of its own."""
    threads = [threading.Thread(target=client.server_info) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.usefixtures("once")
def test_a_restart_closes_all_that_were_kept():
    barrier = threading.Barrier(8)

    def closing(connection):
        request(connection)
        barrier.wait(10)
        connection.sendall(WHOLE)
        request(connection)

    with ScriptedServer(*[closing] * 8, serving) as server, Client(server.address) as client:
        ask_together(client, 8)
        for _ in range(8):
            assert client.server_info().version == "whole"


def test_what_came_after_an_answer_is_no_answer():
    def talkative(connection):
        request(connection)
        connection.sendall(WHOLE + http(message("of no question")))
        request(connection)

    with ScriptedServer(talkative, serving) as server, Client(server.address) as client:
        assert [client.server_info().version for _ in range(3)] == ["whole"] * 3


def test_an_answer_to_a_call_that_was_interrupted_is_no_answer():
    released = threading.Event()

    def slow(connection):
        request(connection)
        released.wait(10)
        connection.sendall(http(message("too late")))
        request(connection)

    route = LaneRoute("a", 1, timedelta(seconds=0.1), None, RouteReason.UNTRIED, False)
    with ScriptedServer(slow, serving) as server, Client(server.address) as client:
        with pytest.raises(AttemptTimedOut), AttemptDeadline(route):
            client.server_info()
        released.set()
        assert client.server_info().version == "whole"


def test_a_connection_is_kept_only_if_the_server_keeps_it():
    with (
        ScriptedServer(saying(http(message("whole"), more="connection: close\r\n"))) as server,
        Client(server.address) as client,
    ):
        assert [client.server_info().version for _ in range(3)] == ["whole"] * 3
        assert server.connections == 3


def test_connections_are_neither_old_nor_many(monkeypatch):
    monkeypatch.setattr(pool, "_KEPT", 3)
    barrier = threading.Barrier(6)

    def together(connection):
        request(connection)
        barrier.wait(10)
        connection.sendall(WHOLE)
        serving(connection)

    with ScriptedServer(*[together] * 6, serving) as server, Client(server.address) as client:
        ask_together(client, 6)
        kept = client._channel._calls._pool
        assert (len(kept._idle), len(kept._open)) == (3, 3)
        client.server_info()
        assert server.connections == 6
        monkeypatch.setattr(pool, "_KEPT_SECONDS", -1.0)
        client.server_info()
        assert server.connections == 7
        assert (len(kept._idle), len(kept._open)) == (0, 0)


def refusal(code="unavailable", status="503 Service Unavailable", details=()):
    body = json.dumps({"code": code, "message": "it says so", "details": list(details)})
    return http(body.encode(), status, "application/json")


def detail(of):
    name, value = of.DESCRIPTOR.full_name, base64.b64encode(of.SerializeToString())
    return {"type": name, "value": value.decode().rstrip("=")}


def test_a_server_that_is_not_ready_is_asked_again():
    after = detail(RetryInfo(retry_delay=Duration(seconds=2)))
    unready = refusal(details=[after])
    with ScriptedServer(saying(unready), saying(unready), serving) as server:
        assert version(server, timeout=5) == "whole"
    with ScriptedServer(saying(unready)) as server:
        with pytest.raises(offbeat.Unavailable) as caught:
            version(server, timeout=2)
        assert server.connections > 1
    assert (str(caught.value), caught.value.retry_delay) == ("it says so", timedelta(seconds=2))


PROTO = "HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\n"
TOO_LONG = "x" * 70_000


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize(
    ("answer", "kind", "code", "words"),
    [
        (b"", "Unavailable", "UNAVAILABLE", "offbeat serve"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "Unavailable", "UNAVAILABLE", "no HTTP"),
        (b"\x15\x03\x03\x00\x02\x02\x32", "Unavailable", "UNAVAILABLE", "no HTTP"),
        (b"HTTP/1.1 2", "Unavailable", "UNAVAILABLE", "no HTTP"),
        (b"HTTP/9.9 200 OK\r\n\r\n", "Unavailable", "UNAVAILABLE", "no HTTP"),
        (f"HTTP/1.1 200 {TOO_LONG}", "Unavailable", "UNAVAILABLE", "no HTTP"),
        (PROTO + f"x: {TOO_LONG}\r\n\r\n", "Unavailable", "UNAVAILABLE", "no HTTP"),
        (PROTO + "x: y\r\n" * 200, "Unavailable", "UNAVAILABLE", "no HTTP"),
        (PROTO + "\r\n", "Unavailable", "UNAVAILABLE", "where it ends"),
        (PROTO + "content-length: -1\r\n\r\n", "Unavailable", "UNAVAILABLE", "where it ends"),
        (PROTO + "content-len", "Unavailable", "UNAVAILABLE", "where it ends"),
        (PROTO + "content-length: 3\r\n\r\n\n", "Unavailable", "UNAVAILABLE", "broke off"),
        (PROTO + "transfer-encoding: chunked\r\n\r\n", "Unavailable", "UNAVAILABLE", "broke off"),
        (
            PROTO + "transfer-encoding: chunked\r\n\r\n5\r\nab",
            "Unavailable",
            "UNAVAILABLE",
            "broke off",
        ),
        (
            PROTO + "transfer-encoding: chunked\r\n\r\nzz\r\nab",
            "Unavailable",
            "UNAVAILABLE",
            "broke off",
        ),
        (
            PROTO + f"content-length: {(64 << 20) + 1}\r\n\r\n",
            "ResourceExhausted",
            "RESOURCE_EXHAUSTED",
            "more than 67108864 bytes",
        ),
        (http(b"\xff\xff"), "OffbeatError", "INTERNAL", "no message"),
        (http(b"", kind="text/html"), "OffbeatError", "INTERNAL", "text/html"),
        (http(b"<p>", "404 Not Found", "text/html"), "OffbeatError", "UNIMPLEMENTED", "404"),
        (http(b"<p>", "302 Found", "text/html"), "OffbeatError", "UNKNOWN", "302"),
        (http(b"<p>", "500 Oops", "text/html"), "OffbeatError", "UNKNOWN", "500"),
        (http(b"<p>", "502 Bad Gateway", "text/html"), "Unavailable", "UNAVAILABLE", "502"),
        (http(b"", "403 Forbidden", "text/html"), "PermissionDenied", "PERMISSION_DENIED", "403"),
        (http(b"{", "500 Oops", "application/json"), "OffbeatError", "UNKNOWN", "500"),
        (http(b"[1]", "500 Oops", "application/json"), "OffbeatError", "UNKNOWN", "500"),
        (http(b"[" * 5000, "500 Oops", "application/json"), "OffbeatError", "UNKNOWN", "500"),
        (refusal("of its own", "500 Oops"), "OffbeatError", "UNKNOWN", "500"),
        (refusal("internal", "500 Oops", [7]), "OffbeatError", "UNKNOWN", "500"),
        (
            refusal("internal", "500 Oops", [{"type": "google.rpc.RetryInfo", "value": "/w"}]),
            "OffbeatError",
            "INTERNAL",
            "it says so",
        ),
        (refusal("canceled", "499 Closed"), "OffbeatError", "CANCELLED", "it says so"),
    ],
)
def test_what_is_no_answer_is_an_error_of_ours(answer, kind, code, words):
    answer = answer.encode() if isinstance(answer, str) else answer
    with ScriptedServer(saying(answer)) as server, pytest.raises(offbeat.OffbeatError) as caught:
        version(server)
    error = caught.value
    assert (type(error).__name__, error.code) == (kind, code), error
    assert words in str(error)
    assert server.address in str(error)


def test_whatever_comes_is_an_answer_or_an_error_of_ours():
    generator = random.Random(SALT)
    answers = [WHOLE, refusal(), http(b"<p>", "404 Not Found", "text/html")]
    answers.append((PROTO + "transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n").encode())
    sent = bytearray()
    with ScriptedServer(lambda connection: saying(bytes(sent))(connection)) as server:
        for _ in range(300):
            sent[:] = generator.choice(answers)
            for _ in range(generator.randrange(1, 4)):
                sent[generator.randrange(len(sent))] = generator.choice(b"\0\n\r 19:;{\xff")
            del sent[generator.randrange(len(sent), 2 * len(sent)) :]
            with suppress(offbeat.OffbeatError):
                version(server, timeout=0.02)


def test_an_answer_in_chunks_is_read_to_its_end(monkeypatch):
    monkeypatch.setattr("offbeat._http._PIECE", 7)
    body = message("a whole answer that comes in chunks")
    chunks = b"".join(b"3\r\n" + body[at : at + 3] + b"\r\n" for at in range(0, len(body) - 2, 3))
    rest = body[len(body) - len(body) % 3 :]
    chunks += b"%x\r\n%s\r\n" % (len(rest), rest) if rest else b""
    head = PROTO + "transfer-encoding: chunked\r\n\r\n"
    with ScriptedServer(saying(head.encode() + chunks + b"0\r\n\r\n")) as server:
        assert version(server) == "a whole answer that comes in chunks"
    monkeypatch.setattr("offbeat._http.MAX_ANSWER_BYTES", 20)
    with (
        ScriptedServer(saying(head.encode() + chunks + b"0\r\n\r\n")) as server,
        pytest.raises(offbeat.ResourceExhausted),
    ):
        version(server)


def test_what_is_sent(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("all_proxy", "http://127.0.0.1:1")
    seen = []

    def noting(connection):
        seen.append(request(connection))
        connection.sendall(WHOLE)

    with ScriptedServer(noting) as server:
        version(server, timeout=2.5, token="secret-0123456789")
    head, _, body = seen[0].decode().partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    headers = dict(line.split(": ") for line in lines)
    assert first == "POST /offbeat.v1.ServerInfoService/GetServerInfo HTTP/1.1"
    assert 2_000 < int(headers.pop("connect-timeout-ms")) <= 2_500
    assert headers == {
        "host": server.address,
        "content-type": "application/proto",
        "accept-encoding": "identity",
        "connect-protocol-version": "1",
        "content-length": "0",
        "authorization": "Bearer secret-0123456789",
    }
    assert body == ""


@pytest.mark.parametrize("over_unix", [False, True])
def test_an_answer_that_comes_before_all_was_sent_is_heard(tmp_path, over_unix):
    sidecar = Sidecar(f"unix:{tmp_path}/sock" if over_unix else f"127.0.0.1:{free_port()}")
    with Client(sidecar.address) as client:
        for size in (5 << 20, 60 << 20):
            with pytest.raises(offbeat.ResourceExhausted, match="4194304"):
                client._channel.call("AssignPacked", bytes(size), 10)
            assert client.server_info().version == offbeat.__version__
    assert sidecar.stop() == 0


def test_a_name_is_looked_up_and_each_address_is_tried(sidecar):
    port = sidecar.address.rpartition(":")[2]
    with Client(f"localhost:{port}") as client:  # tries ::1 first, where nothing listens
        assert client.server_info().version == offbeat.__version__
    for host in ("nobody.invalid", "a" * 64, "ü" * 64):
        with pytest.raises(offbeat.Unavailable, match="offbeat serve"):
            Client(f"{host}:1", timeout=1).server_info()


def test_a_slow_lookup_does_not_move_the_deadline(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(2))
    with within(1.0), pytest.raises(offbeat.DeadlineExceeded, match="no connection"):
        Client("localhost:1", timeout=0.3).server_info()


def test_a_path_may_begin_with_slashes(tmp_path):
    sidecar = Sidecar(f"unix:{tmp_path}/sock")
    with Client(f"unix://{tmp_path}/sock") as client:
        assert client.server_info().version == offbeat.__version__
    assert sidecar.stop() == 0


def test_a_client_that_is_dropped_closes_its_connections():
    ended = threading.Event()

    def watched(connection):
        serving(connection)
        ended.set()

    with ScriptedServer(watched) as server:
        Client(server.address).server_info()
        gc.collect()
        assert ended.wait(5)
