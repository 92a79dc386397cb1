"""The base class of disturbances."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

from engines import ALWAYS, Redis

if TYPE_CHECKING:
    from world import World

#: All violations that a ledger can find.
ALL = ("lost", "overlapping", "settled_twice", "surplus")


class Disturbance:
    """One kind of fault, and the store that has it: a Redis that writes each change to disk."""

    #: How many servers answer for the spread.
    servers = 3
    #: The violations that must not occur.
    promises = ALL
    #: Whether a group is safe once its submission was answered.
    keeps_groups = True
    #: The mean duration of a disturbance, in seconds.
    mean_seconds = 0.1
    redis_flags = ALWAYS

    def __init__(self, chance: random.Random, folder: Path) -> None:
        self.random, self.folder = chance, folder

    def start(self) -> None:
        """Start the store."""
        self.redis = Redis(self.folder / "redis", self.redis_flags)
        self.redis.start()

    def store(self) -> list[str]:
        """The servers' flags for the store."""
        return self.redis.store()

    def environment(self, place: int) -> dict[str, str]:
        """Variables of a server."""
        return {}

    def disturb(self, world: World) -> None:
        """Disturb once, and return when the disturbance is over."""
        raise NotImplementedError

    def calm(self) -> None:
        """End lasting effects, after the last disturbance."""

    def stop(self) -> None:
        """End the store."""
        self.redis.kill()
