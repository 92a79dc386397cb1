"""What every attack is held against."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from victim import Lap, Victim

from server import Server, within

#: How much more memory an attack may take than an idle server.
MEMORY = 64 << 20
#: Below this, the slowest hundredth of the victim's calls is noise of the machine.
FLOOR = 0.005
#: An attack that is over sooner is begun again: its time would be too short to judge.
SHORTEST = 0.75
#: So often the victim's times are measured, should the machine be noisy.
MEASURES = 3
#: Attackers that come back, come back so often at most.
TURNS = 10_000
QUIET = 0.5
#: So often, should the machine be noisy while nobody attacks.
LISTENS = 6
FIGURES: list[str] = []


class Siege:
    """A server and its victim; an attack is made, and judged, by ``stand``."""

    def __init__(self, name: str, *flags: str, files: int | None = None) -> None:
        self.name, self.server = name, Server(*flags, files=files)
        self.port = self.server.port
        self.notes: list[str] = []
        # What is made when it is first used belongs to an idle server.
        assert self.server.is_serving(), self.server.logs()
        self.victim = Victim(self.port)
        assert within(10, lambda: self.victim.watch(0.1).calls > 0), "the victim does not call"

    def note(self, text: str) -> None:
        """Puts a figure of the attacker's into the table."""
        self.notes.append(text)

    def stand(self, attack: Callable[[], None], measures: int = MEASURES) -> None:
        """Makes the attack, and checks what every attack is held against."""
        for measure in range(measures):
            self.notes, turns = [], 0
            quiet = self.quiet()
            files, idle = self.server.files(), self.server.memory()
            self.server.forget_peak()
            started = time.monotonic()
            self.victim.lap()
            try:
                for _ in range(TURNS):
                    attack()
                    turns += 1
                    if time.monotonic() - started > SHORTEST:
                        break
            finally:
                under, took = self.victim.lap(), time.monotonic() - started
                grown = self.server.peak_memory() - idle if self.server.is_alive() else -1
                allowed = max(2 * quiet.p99, FLOOR)
                FIGURES.append(
                    f"{self.name:56} {took:5.1f} s  p99 {quiet.p99 * 1e3:5.2f} -> "
                    f"{under.p99 * 1e3:8.2f} ms  worst {under.worst * 1e3:8.2f} ms  "
                    f"{under.calls:5} calls {len(under.failures):3} failed  "
                    f"memory +{grown / (1 << 20):7.1f} MB  {turns:5} x  {self.notes[-1:]}"
                )
            self.survived(files)
            assert not under.failures, f"the victim's calls failed: {under.failures[:3]}"
            assert grown <= MEMORY, (
                f"{grown / (1 << 20):.1f} MB more than idle, {MEMORY >> 20} are allowed"
            )
            if under.p99 <= allowed:
                return
            assert measure + 1 < measures, (
                f"the victim's p99 is {under.p99 * 1e3:.2f} ms in {measures} of {measures} "
                f"measures, {allowed * 1e3:.2f} are allowed"
            )

    def quiet(self) -> Lap:
        """What the victim sees without an attack, once the machine is quiet."""
        laps = []
        for _ in range(LISTENS):
            laps.append(self.victim.watch(QUIET))
            assert not laps[-1].failures, laps[-1]
            if laps[-1].p99 <= 2 * FLOOR:
                break
        return min(laps, key=lambda lap: lap.p99)

    def survived(self, files: int) -> None:
        """Whether the server lives, says nothing alarming, and has closed what it opened."""
        assert self.server.is_alive(), self.server.logs()[-2_000:]
        assert self.server.is_serving(), "health does not answer on a new connection"
        alarming = re.search(r"panick|overflow|RUST_BACKTRACE|ERROR", self.server.logs())
        assert alarming is None, self.server.logs()[-2_000:]
        assert within(5, lambda: self.server.files() <= files), (
            f"{self.server.files()} files are open, idle were {files}"
        )

    def stop(self) -> None:
        """Ends both."""
        self.victim.stop()
        self.server.stop()
