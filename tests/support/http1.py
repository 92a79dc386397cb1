"""HTTP/1.1 as text: requests, and their responses."""

from __future__ import annotations

import time

from support.frames import Reply, Wire

CONTENT = "content-type: application/json"


def post(path: str, content: bytes, *headers: str, framed: bool = True) -> bytes:
    """A request; with ``framed`` it has a content-length."""
    lines = [f"POST {path} HTTP/1.1", "host: x", CONTENT, *headers]
    if framed:
        lines.append(f"content-length: {len(content)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content


def exchange(
    port: int, out: bytes, seconds: float = 3, replies: int = 1
) -> tuple[list[Reply], bool]:
    """The responses on a new connection, and whether the server ended it."""
    with Wire(port) as wire:
        wire.pump(seconds, out, done=lambda: len(wire.answers1()) >= replies)
        wire.pump(0.05)  # further bytes, and the end
        return wire.answers1(), wire.ended is not None


def settled(port: int, out: bytes, seconds: float) -> str | None:
    """None if nonsense is refused or cut off; otherwise what happened instead."""
    with Wire(port) as wire:
        started = time.monotonic()
        wire.pump(seconds, out, done=lambda: bool(wire.answers1()))
        replies, took = wire.answers1(), time.monotonic() - started
        if wire.ended or any(reply.status >= 400 for reply in replies):
            return None
        if replies:
            return f"was answered with {replies[0].status} {replies[0].body[:80]!r}"
        return f"nothing came in {took:.1f} s; {wire.received[:80]!r}"
