"""The server is replaced under load from three languages, and no call fails.

Only failures that reach the application count, with the default retries of clients, producers
and consumers. ``OFFBEAT_RESTARTS`` says how often the server is replaced, 3 by default.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from load import CHECK, GROUPS, Connection, Load
from sidecar import PANIC, Sidecar
from support.http1 import post
from support.ports import free_port

RESTARTS = int(os.environ.get("OFFBEAT_RESTARTS", "3"))
#: Seconds between two restarts, and before and after them.
QUIET = 0.4
#: Seconds without a server, in turn, in addition to the time to stop and start.
AWAY = (0.0, 0.0, 1.0)
#: The least number of calls for a meaningful result.
FEWEST = 30
#: An incomplete request, for which the server waits while it drains.
HALF = post("/offbeat.v1.SlotService/AssignSlot", b"x" * 99, "expect: 100-continue")[:-99]


class Site:
    """The address of the server, and the way it is replaced."""

    FLAGS: tuple[str, ...] = ()

    def __init__(self, start: Callable[..., Sidecar], folder: Path) -> None:
        self.start, self.folder = start, folder
        self.address = self.choose()
        self.server = start(*self.FLAGS, listen=self.address)
        self.ends: list[float] = []

    def choose(self) -> str:
        """The address for all servers."""
        return f"127.0.0.1:{free_port()}"

    def replace(self, away: float) -> None:
        """Ends the server, and starts the next one."""
        self.end(self.server)
        time.sleep(away)
        self.server = self.start(*self.FLAGS, listen=self.address)

    def end(self, server: Sidecar) -> None:
        """Shuts a server down, and waits for its end."""
        server.terminate()
        self.check_end(server)

    def check_end(self, server: Sidecar) -> None:
        """The server must have ended successfully."""
        code, took = server.ended(15)
        self.ends.append(took)
        assert (code, PANIC.search(server.logs())) == (0, None), server.logs()


class UnixSite(Site):
    """The same on a Unix socket."""

    def choose(self) -> str:
        return f"unix:{self.folder}/sock"


class SharedPort(Site):
    """The next server takes the address while the one before still drains."""

    FLAGS = ("--grace-period", "10")

    def replace(self, away: float) -> None:
        old = self.server
        asking = Connection(self.address)
        asking.connect()
        asking.sock.sendall(HALF)
        assert b" 100 " in asking.sock.recv(1_000), "the request has not begun"
        old.terminate()
        self.server = self.follow()
        assert old.is_alive(), "they did not overlap"
        asking.close()
        self.check_end(old)

    def follow(self) -> Sidecar:
        """A server that starts as soon as the address is free."""
        for _ in range(200):
            server = self.start(*self.FLAGS, listen=self.address, wait=False)
            if server.begins():
                return server
        raise AssertionError(server.logs())


class SharedSocket(SharedPort, UnixSite):
    """The same on a Unix socket."""

    choose = UnixSite.choose


class LinkedSocket(Site):
    """The next server starts before the old one stops; a symbolic link moves to its socket."""

    def __init__(self, start: Callable[..., Sidecar], folder: Path) -> None:
        self.start, self.folder, self.turn = start, folder, 0
        self.address = f"unix:{folder}/current"
        self.ends = []
        self.server = self.next()

    def next(self) -> Sidecar:
        """A server on a socket of its own, to which the link then leads."""
        self.turn += 1
        path = self.folder / f"sock-{self.turn}"
        server = self.start(listen=f"unix:{path}")
        link = self.folder / "next"
        link.symlink_to(path)
        link.replace(self.folder / "current")
        return server

    def replace(self, away: float) -> None:
        old, self.server = self.server, self.next()
        self.end(old)


@pytest.fixture
def loads(tmp_path: Path) -> Iterator[Callable[..., Load]]:
    """Starts loads, and ends those that are left."""
    begun: list[Load] = []

    def begin(address: str, seconds: float) -> Load:
        begun.append(Load(address, tmp_path, seconds))
        begun[-1].await_beginning()
        return begun[-1]

    yield begin
    for load in begun:
        load.discard()


@pytest.mark.parametrize(
    ("site", "is_away"),
    [
        (Site, True),
        (UnixSite, True),
        (SharedPort, False),
        (SharedSocket, False),
        (LinkedSocket, False),
    ],
    ids=["tcp", "unix", "tcp-overlapping", "unix-overlapping", "unix-linked"],
)
def test_no_call_fails(
    start: Callable[..., Sidecar],
    loads: Callable[..., Load],
    figures: Callable[[str], None],
    tmp_path: Path,
    site: type[Site],
    is_away: bool,
) -> None:
    """No job is lost, or leased to two consumers at the same time."""
    place = site(start, tmp_path)
    load = loads(place.address, RESTARTS * (QUIET + 0.5))
    time.sleep(QUIET)
    for turn in range(RESTARTS):
        load.note_restart()
        place.replace(AWAY[turn % len(AWAY)])
        load.note_restart()
        time.sleep(QUIET)
    load.end()
    place.end(place.server)

    figures(
        f"{RESTARTS} restarts, ended after {min(place.ends):.2f} to {max(place.ends):.2f} s; "
        f"without retries {load.naive.failures} of {load.naive.calls} calls failed"
    )
    wrong = []
    for kind, tally in load.tallies.items():
        figures(f"{kind:3} {tally.line()}")
        ledger = tally.ledger
        wrong += [f"{kind}: {failure}" for failure in tally.failures[:5]]
        wrong += [f"{kind}: lost: {one}" for one in ledger.lost()[:5]]
        wrong += [f"{kind}: leased to two: {one}" for one in ledger.overlapping()[:5]]
        assert tally.calls >= FEWEST, f"{kind}: too few calls to say anything"
        assert len(ledger.submitted) == GROUPS
    assert wrong == []
    assert load.naive.failures > 0 or not is_away, "nobody was away: nothing was tried"


def test_a_successor_keeps_its_socket(start: Callable[..., Sidecar], tmp_path: Path) -> None:
    """The next server's socket is renamed to where clients look for it, as files are replaced."""
    path = tmp_path / "sock"
    old, new = start(listen=f"unix:{path}"), start(listen=f"unix:{tmp_path}/next")
    (tmp_path / "next").rename(path)
    old.terminate()
    assert old.ended(10)[0] == 0
    assert Connection(f"unix:{path}").ask(CHECK, {}) == {"status": "SERVING"}
    assert new.is_alive()
