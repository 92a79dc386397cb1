"""Tests of the connections that the attacks use."""

from __future__ import annotations

import socket
import threading

from support.frames import PING, Peer, frame

#: So many that their acknowledgements exceed the buffers of both sockets.
COUNT = 400_000
PINGS = frame(PING, payload=b"8bytes..") * COUNT
LONG = b"x" * (1 << 20)
END = b"the end"


def test_all_is_said_before_one_goes_on() -> None:
    """Even with many replies pending: acknowledgements do not count as sent data."""
    heard = []
    begins = threading.Event()

    def hear(listener: socket.socket) -> None:
        server, _ = listener.accept()
        with server:
            server.sendall(PINGS)
            begins.wait(30)  # until then the replies stay in the queue
            pinging = threading.Thread(target=server.sendall, args=(PINGS,))
            pinging.start()
            while piece := server.recv(1 << 16):  # until the other end is closed
                heard.append(piece)
            pinging.join()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        hearing = threading.Thread(target=hear, args=(listener,))
        hearing.start()
        with Peer(listener.getsockname()[1]) as peer:
            peer.pump(20, done=lambda: peer.counts[PING] == COUNT)
            assert peer.queue, "the replies are all sent: there is nothing to confuse"
            begins.set()
            assert peer.say(LONG + END, 30)
            peer.pump(20, done=lambda: peer.counts[PING] == 2 * COUNT)
            said = peer.queue.tobytes() + b"".join(peer.replies)
            assert END not in said, f"it is still among {len(said)} bytes that are not sent"
        hearing.join(30)
    assert END in b"".join(heard)
