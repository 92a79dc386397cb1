"""Bytes over the loopback to a peer who throws them away: as busy as an attack, and no attack.

``python sink.py`` is that peer; it prints its port. What a victim sees beside it is what the
machine does to those who share its cores, and its loopback, with a flood.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

#: What is sent at once: as much as the floods do.
PIECE = b"\0" * (64 << 10)


class Sink:
    """Drives the process."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__)], stdout=subprocess.PIPE, text=True
        )
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, self.process.pid, -10)  # as the server
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def flood(self, seconds: float) -> None:
        """Keeps it busy."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            # Again and again, as an attacker who is cut off comes back.
            with socket.create_connection(("127.0.0.1", self.port)) as peer:
                for _ in range(16):
                    peer.sendall(PIECE)

    def stop(self) -> None:
        """Ends it."""
        self.process.kill()
        self.process.wait(timeout=10)
        assert self.process.stdout is not None
        self.process.stdout.close()


def main() -> None:
    """The process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:  # until it is killed
            peer, _ = listener.accept()
            with peer:
                while peer.recv(16 << 10):
                    pass


if __name__ == "__main__":
    main()
