"""The addresses of a host, looked up within a deadline."""

from __future__ import annotations

import socket
import threading
from typing import Any

from ._deadline import Deadline, TimeIsUp


def addresses_of(host: str, port: int, deadline: Deadline) -> list[tuple[int, Any]]:
    """Return the addresses of a host; a literal needs no lookup, which a fork may disturb."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except (OSError, ValueError):
            continue
        return [(family, (host, port))]
    return [(family, address) for family, _, _, _, address in _looked_up(host, port, deadline)]


def _looked_up(host: str, port: int, deadline: Deadline) -> list[Any]:
    """Ask the system in a thread, because its lookup takes no deadline."""
    found: list[Any] = []
    errors: list[Exception] = []

    def look_up() -> None:
        try:
            found.extend(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=look_up, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # an interpreter that shuts down starts no threads
        look_up()
    else:
        thread.join(deadline.left())
        if thread.is_alive():
            raise TimeIsUp
    if errors and isinstance(errors[0], UnicodeError):
        raise OSError(f"no host has such a name: {errors[0]}")
    if errors:
        raise errors[0]
    return found
