"""What all disturbances have in common."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

from engines import ALWAYS, Redis

if TYPE_CHECKING:
    from world import World

#: All that a ledger can find wrong.
ALL = ("lost", "overlapping", "settled_twice", "surplus")


class Disturbance:
    """One kind of fault, and the store that has it: a Redis that writes each change to disk."""

    #: How many servers answer for the spread.
    servers = 3
    #: What the ledger must not find.
    promises = ALL
    #: Whether a group whose submission was answered is not lost.
    keeps_groups = True
    #: How long one lasts, about, in seconds.
    mean_seconds = 0.1
    redis_flags = ALWAYS

    def __init__(self, chance: random.Random, folder: Path) -> None:
        self.random, self.folder = chance, folder

    def start(self) -> None:
        """Start the store."""
        self.redis = Redis(self.folder / "redis", self.redis_flags)
        self.redis.start()

    def store(self) -> list[str]:
        """Flags of the servers about it."""
        return self.redis.store()

    def environment(self, place: int) -> dict[str, str]:
        """Variables of a server."""
        return {}

    def disturb(self, world: World) -> None:
        """Do it once, and return when it is over."""
        raise NotImplementedError

    def calm(self) -> None:
        """Disturbances are over: the rest must end."""

    def stop(self) -> None:
        """End the store."""
        self.redis.kill()
