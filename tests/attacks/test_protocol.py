"""Peers that violate the protocol are refused or cut off, and other callers do not notice."""

from __future__ import annotations

import random
import time

from support.frames import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    GOAWAY,
    HEADERS,
    PING,
    PREFACE,
    PRIORITY,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    Peer,
    Wire,
    begin,
    body,
    frame,
    prefixed,
    settings,
    window_update,
)
from support.headers import encode
from support.http1 import post
from support.questions import ASSIGN_SLOT, HEALTH, one_slot
from trial import Trial

SOON = 5
#: The timeout of the first byte is 10 s; and a margin.
FIRST_BYTES = 10 + 3

METHOD, SCHEME, PATH = (":method", "POST"), (":scheme", "http"), (":path", ASSIGN_SLOT)
AUTHORITY, KIND = (":authority", "x"), ("content-type", "application/grpc")

#: Malformed requests (RFC 9113, 8.1.1): no handler may answer them with success.
HEADS = {
    "no path": [METHOD, SCHEME, AUTHORITY, KIND],
    "no method": [SCHEME, PATH, AUTHORITY, KIND],
    "no scheme": [METHOD, PATH, AUTHORITY, KIND],
    "nothing at all": [],
    "two paths": [METHOD, SCHEME, PATH, (":path", HEALTH), AUTHORITY, KIND],
    "two methods": [METHOD, METHOD, SCHEME, PATH, AUTHORITY, KIND],
    "an empty path": [METHOD, SCHEME, (":path", ""), AUTHORITY, KIND],
    "a path without slash": [METHOD, SCHEME, (":path", ASSIGN_SLOT[1:]), AUTHORITY, KIND],
    "a path with spaces": [METHOD, SCHEME, (":path", "/a b"), AUTHORITY, KIND],
    "a path with NUL": [METHOD, SCHEME, (":path", ASSIGN_SLOT + "\0"), AUTHORITY, KIND],
    "an absolute URI": [METHOD, SCHEME, (":path", "http://x" + ASSIGN_SLOT), AUTHORITY, KIND],
    "an asterisk": [METHOD, SCHEME, (":path", "*"), AUTHORITY, KIND],
    "a pseudo-header behind others": [METHOD, SCHEME, AUTHORITY, KIND, PATH],
    "an unknown pseudo-header": [METHOD, SCHEME, PATH, AUTHORITY, (":cow", "moo"), KIND],
    "a status": [METHOD, SCHEME, PATH, AUTHORITY, (":status", "200"), KIND],
    "an upper-case name": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("X-Cow", "moo")],
    "an empty name": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("", "moo")],
    "a name with spaces": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("a b", "moo")],
    "a value with a line feed": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("a", "b\r\nc: d")],
    "connection": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("connection", "close")],
    "transfer-encoding": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("transfer-encoding", "chunked")],
    "keep-alive": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("keep-alive", "5")],
    "upgrade": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("upgrade", "h2c")],
    "te other than trailers": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("te", "gzip")],
    "CONNECT": [(":method", "CONNECT"), AUTHORITY],
    "CONNECT with a path": [(":method", "CONNECT"), SCHEME, PATH, AUTHORITY, KIND],
    "extended CONNECT": [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        SCHEME,
        PATH,
        AUTHORITY,
    ],
    "a method of nonsense": [(":method", "P\0ST"), SCHEME, PATH, AUTHORITY, KIND],
    "an authority of nonsense": [METHOD, SCHEME, PATH, (":authority", "a b@\x01"), KIND],
    "a length of nonsense": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("content-length", "cow")],
    "a length too short": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("content-length", "3")],
    "a length too long": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("content-length", "99999")],
    "two lengths": [
        METHOD,
        SCHEME,
        PATH,
        AUTHORITY,
        KIND,
        ("content-length", "27"),
        ("content-length", "28"),
    ],
    "a timeout of nonsense": [METHOD, SCHEME, PATH, AUTHORITY, KIND, ("grpc-timeout", "cow")],
    "a path of 60 KB": [METHOD, SCHEME, (":path", "/" + "p" * 60_000), AUTHORITY, KIND],
}
#: h2 accepts these, and they are harmless: no handler depends on them.
HARMLESS = ("te other than trailers", "an authority of nonsense")


def test_malformed_heads(shared: Trial) -> None:
    content = body(1, prefixed(one_slot()))

    def attack() -> None:
        wrong = []
        for name, fields in HEADS.items():
            with Peer(shared.port) as peer:
                block = encode(fields)
                pieces = [block[at : at + 16_384] for at in range(0, len(block), 16_384)] or [b""]
                kinds = [HEADERS] + [CONTINUATION] * (len(pieces) - 1)
                flags = [0] * (len(pieces) - 1) + [END_HEADERS]
                out = b"".join(map(frame, kinds, flags, [1] * len(pieces), pieces))
                answer = peer.ask(1, out + content, SOON)
                refused = peer.ended or answer.reset is not None
                refused = refused or (answer.ended and answer.status not in ("0", "200"))
                if not refused and name not in HARMLESS:
                    wrong.append(f"{name}: {answer}")
        assert not wrong, "\n".join(wrong)

    shared.withstands(attack)


OPEN = begin(1, ASSIGN_SLOT)
#: Frames that are connection or stream errors (RFC 9113): the connection or stream must end.
FRAMES = {
    "DATA on stream 0": frame(DATA, 0, 0, b"x"),
    "DATA on an idle stream": frame(DATA, 0, 9, b"x"),
    "HEADERS on stream 0": frame(HEADERS, END_HEADERS, 0, b""),
    "HEADERS on an even stream": begin(2, ASSIGN_SLOT),
    "HEADERS on an older stream": begin(9, ASSIGN_SLOT) + begin(5, ASSIGN_SLOT),
    "CONTINUATION on its own": frame(CONTINUATION, END_HEADERS, 1, b""),
    "CONTINUATION of another stream": frame(HEADERS, 0, 1, b"") + frame(CONTINUATION, 4, 3, b""),
    "DATA within headers": frame(HEADERS, 0, 1, b"") + frame(DATA, 0, 1, b"x"),
    "PING within headers": frame(HEADERS, 0, 1, b"") + frame(PING, payload=b"8bytes.."),
    "PUSH_PROMISE": frame(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\2"),
    "a short PING": frame(PING, payload=b"7bytes."),
    "PING on a stream": frame(PING, 0, 1, b"8bytes.."),
    "a short SETTINGS": frame(SETTINGS, payload=b"12345"),
    "SETTINGS on a stream": frame(SETTINGS, 0, 1),
    "SETTINGS acknowledged with a payload": frame(SETTINGS, 1, 0, b"123456"),
    "a window of 2 GiB": settings({4: 1 << 31}),
    "frames of 1 byte": settings({5: 1}),
    "push of 2": settings({2: 2}),
    "a short WINDOW_UPDATE": frame(WINDOW_UPDATE, 0, 0, b"123"),
    "WINDOW_UPDATE of 0": window_update(0, 0),
    "WINDOW_UPDATE beyond 2 GiB": window_update(0, 2**31 - 1),
    "WINDOW_UPDATE of an idle stream": window_update(99, 1),
    "RST_STREAM on stream 0": frame(RST_STREAM, 0, 0, b"1234"),
    "RST_STREAM of an idle stream": frame(RST_STREAM, 0, 99, b"1234"),
    "a short RST_STREAM": OPEN + frame(RST_STREAM, 0, 1, b"123"),
    "GOAWAY on a stream": frame(GOAWAY, 0, 1, b"\0" * 8),
    "a short GOAWAY": frame(GOAWAY, 0, 0, b"\0" * 7),
    "padding longer than DATA": OPEN + frame(DATA, 8, 1, b"\xffx"),
    "padding longer than HEADERS": frame(HEADERS, 8 | END_HEADERS, 1, b"\xffx"),
    "a frame of 16 MiB": frame(DATA, 0, 1, b"x" * 16_385),
    "an announced frame of 16 MiB": b"\xff\xff\xff\0\0\0\0\0\1",
    "PRIORITY on stream 0": frame(PRIORITY, 0, 0, b"12345"),
    "an index of HPACK beyond the table": frame(HEADERS, 4, 1, b"\xff\xff\x03"),
    "an index of 0": frame(HEADERS, 4, 1, b"\x80"),
    "an integer of HPACK without end": frame(HEADERS, 4, 1, b"\xff" * 40),
    "a string beyond its block": frame(HEADERS, 4, 1, b"\0\x7f\xff\xff\x03a"),
    "a table of 4 GiB": frame(HEADERS, 4, 1, b"\x3f\xe1\xff\xff\xff\x0f"),
    "Huffman padding of zeros": frame(HEADERS, 4, 1, b"\0\x81\x00\x81\x00"),
    "a window that is overrun": OPEN
    + b"".join(frame(DATA, 0, 1, b"\0" * 16_384) for _ in range(200)),
}
#: Frames that are errors by RFC 9113 and that h2 ignores, without consequences.
IGNORED = ("PRIORITY on stream 0", "GOAWAY on a stream", "a short GOAWAY")


def test_broken_frames(shared: Trial) -> None:
    def attack() -> None:
        wrong = []
        for name, out in FRAMES.items():
            with Peer(shared.port) as peer:
                refused = lambda peer=peer: bool(peer.ended) or peer.answer(1).reset is not None  # noqa: E731
                peer.pump(SOON if name not in IGNORED else 0.1, out, done=refused)
                if not refused() and name not in IGNORED:
                    wrong.append(f"{name}: goes on; GOAWAY {peer.goaway}, {peer.answers}")
        assert not wrong, "\n".join(wrong)

    shared.withstands(attack)


CLIENT_HELLO = bytes.fromhex(
    "16030100c8010000c40303"
    + "5a" * 32
    + "20"
    + "a5" * 32
    + "0006130113021303"
    + "01000075"
    + "0000000e000c0000096c6f63616c686f7374"
    + "000b000403000102000a000c000a001d0017001e00190018"
)
PREFACES = {
    "TLS": CLIENT_HELLO,
    "HTTP/2.1": PREFACE.replace(b"2.0", b"2.1"),
    "a preface that ends otherwise": PREFACE[:-6] + b"XX\r\n\r\n",
    "a preface in lower case": PREFACE.lower(),
    "line feeds before": b"\n" * 5_000 + PREFACE,
    "two prefaces": PREFACE + PREFACE,
    "a frame first": settings() + PREFACE,
    "DATA before SETTINGS": PREFACE + frame(DATA, 0, 1, b"x"),
    "SSH": b"SSH-2.0-OpenSSH_9.2\r\n",
    "SMTP": b"EHLO localhost\r\n",
    "Redis": b"*1\r\n$4\r\nPING\r\n",
    "the PROXY protocol": b"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
    "the PROXY protocol 2": b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + b"\1" * 12,
    "a path in another world": post("/../../etc/passwd", b"{}"),
    "CONNECT": b"CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n",
    "an absolute URI": post("http://example.org" + HEALTH + "?x", b"{"),
    "TRACE": b"TRACE / HTTP/1.1\r\nhost: x\r\n\r\n",
    "an upgrade": b"GET / HTTP/1.1\r\nhost: x\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n",
    "HTTP/1.0": b"GET / HTTP/1.0\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
}


def test_other_protocols(shared: Trial) -> None:
    def attack() -> None:
        wires = {name: Wire(shared.port) for name in PREFACES}
        for name, wire in wires.items():
            wire.say(PREFACES[name])
        until, wrong = time.monotonic() + FIRST_BYTES, []
        for name, wire in wires.items():
            refused = lambda wire=wire: any(one.status >= 400 for one in wire.answers1())  # noqa: E731
            wire.pump(max(0.05, until - time.monotonic()), done=refused)
            if not wire.ended and not refused():
                wrong.append(f"{name}: {wire.received[:100]!r}")
            wire.close()
        assert not wrong, "\n".join(wrong)

    shared.withstands(attack)


def test_random_bytes(shared: Trial) -> None:
    """500 connections of noise, half of them after a valid preface."""

    def attack() -> None:
        chance, wires = random.Random(2328), []
        for number in range(500):
            wire = Wire(shared.port)
            noise = chance.randbytes(chance.randint(24, 3_000))
            wire.say(PREFACE + settings() + noise if number % 2 else noise)
            wires.append((noise, wire))
        started = time.monotonic()
        left = []
        for number, (noise, wire) in enumerate(wires):
            # After a preface, noise may be an incomplete frame, which ends only by the timeout.
            rest = max(0.01, FIRST_BYTES - (time.monotonic() - started))
            if number % 2:
                wire.pump(0.01)
            elif not wire.ends(rest):
                left.append(noise[:40])
            wire.close()
        assert not left, f"{len(left)} connections of noise are open: {left[:3]}"

    shared.withstands(attack)


def test_old_http(shared: Trial) -> None:
    """HTTP/1.0 is answered, and its connection is closed."""

    def attack() -> None:
        out = post(HEALTH, b"{}").replace(b"HTTP/1.1", b"HTTP/1.0")
        with Wire(shared.port) as wire:
            assert wire.pump(SOON, out), "no end"
            assert b"200 OK" in wire.received, wire.received[:200]

    shared.withstands(attack)
