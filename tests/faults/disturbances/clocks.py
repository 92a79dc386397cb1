"""Clocks that are wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from engines import Redis

from .disturbance import Disturbance

if TYPE_CHECKING:
    from world import World

#: The most seconds by which a clock is wrong.
MOST = 12 * 3_600


class WrongClock:
    """Controls the time of day of a single process."""

    def __init__(self, folder: Path) -> None:
        self.file, self.library = folder / "offset", folder / "wrong_clock.so"
        folder.mkdir()
        source = Path(__file__).with_name("wrong_clock.c")
        flags = ["-O2", "-Wall", "-Werror", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, "-o", self.library, source], check=True)
        self.set(0)

    def set(self, seconds: int) -> None:
        """Sets the error of the clock, in seconds."""
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            file.write(seconds.to_bytes(8, "little", signed=True))

    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "CLOCK_OFFSET_FILE": str(self.file)}


class Clock(Disturbance):
    """The clock of each server is wrong by hours, and jumps."""

    def start(self) -> None:
        super().start()
        self.clocks = [WrongClock(self.folder / f"clock-{place}") for place in range(self.servers)]
        for clock in self.clocks:
            clock.set(self.random.randint(-MOST, MOST))

    def environment(self, place: int) -> dict[str, str]:
        return self.clocks[place].environment()

    def disturb(self, world: World) -> None:
        self.random.choice(self.clocks).set(self.random.randint(-MOST, MOST))


class StoreClock(Disturbance):
    """The clock of Redis is set forward; leases end early, and two consumers may have one job."""

    promises = ("lost",)

    def start(self) -> None:
        self.clock, self.hours = WrongClock(self.folder / "clock"), 0
        environment = self.clock.environment()
        self.redis = Redis(self.folder / "redis", self.redis_flags, environment=environment)
        self.redis.start()

    def disturb(self, world: World) -> None:
        self.hours += 1
        self.clock.set(self.hours * 3_600)
