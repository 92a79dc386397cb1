"""The criteria for every attack: the budget of ``docs/decisions/0021-budgets.md``.

The attacker is cut off or bounded, which each attack checks itself. Every call of a well-behaved
caller is answered within a second, the admin port answers too, and memory grows by at most 64 MB.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from caller import Caller
from support.questions import one_slot
from support.waiting import within

from server import Server

#: Seconds within which every call and every probe is answered.
ANSWERED = 1.0
#: Bytes by which an attack may make an idle server grow.
MEMORY = 64 << 20
#: Seconds for which shorter attacks are repeated, so that some 200 calls run beside them.
SHORTEST = 1.0
FIGURES: list[str] = []


class Trial:
    """A server and a well-behaved caller; ``withstands`` runs an attack and checks the criteria."""

    def __init__(
        self, name: str, *flags: str, files: int | None = None, probed: bool = True
    ) -> None:
        self.name, self.server = name, Server(*flags, files=files)
        self.port = self.server.port
        self.notes: list[str] = []
        # Memory that is allocated at first use counts as idle memory.
        assert self.server.is_serving(), self.server.text()
        self.caller = Caller(one_slot(), self.port, self.server.admin_port if probed else None)
        seen = self.caller.record()
        assert not seen.failures, seen.failures

    def note(self, text: str) -> None:
        """Adds a figure of the attacker's to the table."""
        self.notes.append(text)

    def withstands(self, attack: Callable[[], None]) -> None:
        """Runs the attack, and checks the criteria."""
        self.notes, turns = [], 0
        files, idle = self.server.files(), self.server.memory()
        self.server.forget_peak()
        self.caller.record()
        started = time.monotonic()
        try:
            while turns == 0 or time.monotonic() - started < SHORTEST:
                attack()
                turns += 1
        except BaseException:
            FIGURES.append(f"{self.name:56} failed  {self.notes[-1:]}")
            raise
        took, seen = time.monotonic() - started, self.caller.record()
        grown = self.server.peak_memory() - idle if self.server.is_alive() else 0
        FIGURES.append(
            f"{self.name:56} {took:5.1f} s {turns:5} x  {seen.calls:5} calls, slowest "
            f"{seen.slowest_call * 1e3:6.1f} ms  {seen.probes:3} probes, slowest "
            f"{seen.slowest_probe * 1e3:6.1f} ms  memory +{grown / (1 << 20):5.1f} MB  "
            f"{self.notes[-1:]}"
        )
        self.check_survived(files)
        assert not seen.failures, f"{len(seen.failures)} failures, as {seen.failures[:3]}"
        assert seen.slowest_call <= ANSWERED, f"a call took {seen.slowest_call:.2f} s"
        assert seen.slowest_probe <= ANSWERED, f"a probe took {seen.slowest_probe:.2f} s"
        assert grown <= MEMORY, (
            f"{grown / (1 << 20):.1f} MB more than idle, {MEMORY >> 20} are allowed"
        )

    def check_survived(self, files: int) -> None:
        """Checks that the server is alive, logged nothing alarming, and closed its connections."""
        assert self.server.is_alive(), self.server.text()[-2_000:]
        assert within(10, self.server.is_serving), "a new connection is not served"
        alarming = re.search(r"panick|overflow|RUST_BACKTRACE|ERROR", self.server.text())
        assert alarming is None, self.server.text()[-2_000:]
        assert within(10, lambda: self.server.files() <= files), (
            f"{self.server.files()} files are open, idle were {files}"
        )

    def stop(self) -> None:
        self.caller.stop()
        self.server.kill()  # tests/restarts covers the graceful shutdown
