"""A Redis that does not answer, or whose answers are lost."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from proxy import MODES, Proxy

from .disturbance import Disturbance

if TYPE_CHECKING:
    from world import World


class Pause(Disturbance):
    """Redis is stopped, sometimes for longer than servers wait for it, and continues."""

    mean_seconds = 2.5

    def disturb(self, world: World) -> None:
        # Half of them are shorter than a lease.
        self.redis.pause(
            self.random.choice([self.random.uniform(0.2, 1), self.random.uniform(1, 7)])
        )


class Cut(Disturbance):
    """Connections end in the middle of requests and answers; others are delayed or dropped."""

    mean_seconds = 1.2

    def start(self) -> None:
        super().start()
        self.proxy = Proxy(self.redis.socket, self.random)

    def store(self) -> list[str]:
        return ["--spread-store", f"redis://127.0.0.1:{self.proxy.port}"]

    def disturb(self, world: World) -> None:
        mode = self.random.choice(MODES)
        self.proxy.set_mode(mode)
        time.sleep(self.random.uniform(0.05, 0.5) if "cut" in mode else self.random.uniform(0.2, 3))
        self.proxy.set_mode(None)
        if "drop" in mode and self.random.randrange(2):
            self.proxy.cut()  # otherwise the servers must find out themselves
