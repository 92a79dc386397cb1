"""Servers whose clocks are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .disturbance import Disturbance

if TYPE_CHECKING:
    from world import World

#: Seconds by which they are wrong at most.
MOST = 12 * 3_600


def wrong_clock(**setting: str) -> dict[str, str]:
    """Variables for a process whose time of day, and nothing else, is wrong."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if library is None:
        raise AssertionError("there is no libfaketime: install Debian's package faketime")
    named = {f"FAKETIME{name}": value for name, value in setting.items()}
    return {"LD_PRELOAD": str(library), "FAKETIME_DONT_FAKE_MONOTONIC": "1", **named}


class Clock(Disturbance):
    """The clock of each server is wrong by hours, and jumps."""

    def start(self) -> None:
        super().start()
        for place in range(self.servers):
            self._set(place)

    def environment(self, place: int) -> dict[str, str]:
        # It looks at its file each second.
        return wrong_clock(_TIMESTAMP_FILE=str(self._file(place)), _CACHE_DURATION="1")

    def _file(self, place: int) -> Path:
        return self.folder / f"clock-{place}"

    def _set(self, place: int) -> None:
        new = self.folder / "clock.new"
        new.write_text(f"{self.random.randint(-MOST, MOST):+d}\n")
        new.rename(self._file(place))

    def disturb(self, world: World) -> None:
        self._set(self.random.randrange(self.servers))
