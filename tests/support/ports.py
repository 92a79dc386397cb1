"""Ports of the loopback."""

from __future__ import annotations

import contextlib
import random
import socket
from pathlib import Path


def free_port() -> int:
    """A free port below the ephemeral range.

    From the ephemeral range, a client that connects while no server is running could be given the
    port itself, and the next server could not listen on it.
    """
    lowest, _ = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    while True:
        port = random.randrange(10_000, max(int(lowest), 11_000))
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
