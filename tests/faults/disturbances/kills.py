"""Servers and a Redis that are killed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from .disturbance import Disturbance

if TYPE_CHECKING:
    from world import World


class InMemory(Disturbance):
    """One server keeps the spread, and is killed."""

    servers = 1
    keeps_groups = False

    def start(self) -> None:
        pass

    def store(self) -> list[str]:
        return []

    def disturb(self, world: World) -> None:
        world.kill_server()

    def stop(self) -> None:
        pass


class Kill(Disturbance):
    """A server is killed, or Redis, which writes each change to disk."""

    def disturb(self, world: World) -> None:
        if self.random.randrange(3) == 0:
            self.redis.restart()
        else:
            world.kill_server()


class EverySecond(Disturbance):
    """Redis is killed, and has lost the end of its file, as after a loss of power."""

    redis_flags = ("--appendonly", "yes", "--appendfsync", "everysec")
    keeps_groups = False
    mean_seconds = 0.9

    def disturb(self, world: World) -> None:
        file = self.redis.append_only_file()
        on_disk = file.stat().st_size
        time.sleep(self.random.uniform(0, 1.5))
        self.redis.kill()
        if file == self.redis.append_only_file():
            os.truncate(file, self.random.randint(on_disk, file.stat().st_size))
        self.redis.start()


class NoFile(Disturbance):
    """Redis keeps nothing on disk, and is killed."""

    redis_flags = ("--appendonly", "no")
    keeps_groups = False

    def disturb(self, world: World) -> None:
        self.redis.restart()
