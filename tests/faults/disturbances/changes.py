"""A Redis that is administered while it is in use."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from .disturbance import Disturbance

if TYPE_CHECKING:
    from world import World


class Flush(Disturbance):
    """Redis forgets its scripts all the time."""

    def start(self) -> None:
        super().start()
        self.is_over = threading.Event()
        threading.Thread(target=self._flush, daemon=True).start()

    def _flush(self) -> None:
        while not self.is_over.is_set():
            # A hundred times, with pauses in which calls can succeed.
            self.redis.command("-r", "100", "-i", "0.002", "SCRIPT", "FLUSH")

    def disturb(self, world: World) -> None:
        time.sleep(self.random.uniform(0, 0.2))

    def calm(self) -> None:
        self.is_over.set()


class Memory(Disturbance):
    """The memory limit of Redis becomes too small, and is raised again."""

    mean_seconds = 1

    def disturb(self, world: World) -> None:
        used = self.redis.command("INFO", "memory").split("used_memory:")[1].split()[0]
        # Below the memory that it uses, or slightly above.
        most = max(1, int(used) + self.random.randint(-200_000, 50_000))
        self.redis.command("CONFIG", "SET", "maxmemory", str(most))
        time.sleep(self.random.uniform(0.1, 2))
        self.redis.command("CONFIG", "SET", "maxmemory", "0")
