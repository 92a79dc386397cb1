"""Failovers of Redis to a replica, by Sentinel."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from engines import ALWAYS, Redis, Sentinel
from support.ports import free_port
from support.waiting import wait_until

from .clocks import WrongClock
from .disturbance import Disturbance

if TYPE_CHECKING:
    from world import World

#: A primary must not delay a sync to wait for further replicas.
FLAGS = (*ALWAYS, "--repl-diskless-sync-delay", "0")


class Failover(Disturbance):
    """The primary is killed or replaced; the only replica has every answered write."""

    replicas = 1
    #: The number of replicas that must acknowledge a write.
    wanted = 1
    mean_seconds = 5.0

    def start(self) -> None:
        self.nodes: dict[int, Redis] = {}
        self.primary = free_port()
        for port in [self.primary, *(free_port() for _ in range(self.replicas))]:
            self.nodes[port] = Redis(self.folder / f"redis-{port}", FLAGS, port)
            self._start(port)
        self.sentinels = [
            Sentinel(self.folder / f"sentinel-{number}", self.primary) for number in range(3)
        ]
        self._wait_for_replicas()

    def _start(self, port: int) -> None:
        replica = () if port == self.primary else ("--replicaof", "127.0.0.1", str(self.primary))
        self.nodes[port].start(*replica)

    def store(self) -> list[str]:
        sentinels = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        url = f"redis+sentinel://{sentinels}/offbeat"
        return ["--spread-store", url, "--spread-store-replicas", str(self.wanted)]

    def disturb(self, world: World) -> None:
        old = self.primary
        is_kill = self.random.randrange(2) == 0
        if is_kill:
            self.nodes[old].kill()
        else:
            sentinel = self.random.choice(self.sentinels)
            begins = lambda: sentinel.command("FAILOVER", "offbeat") == "OK"  # noqa: E731
            wait_until(60, begins, "Sentinel fails over")
        knows = lambda: self._primary() not in (None, old)  # noqa: E731
        wait_until(60, knows, "all Sentinels know the new primary")
        self.primary = self._primary()
        # A primary that is still alive acts as a second primary until it is demoted.
        time.sleep(self.random.uniform(0, 2))
        if is_kill:
            self._start(old)
        for port in self.nodes:
            if port != self.primary:
                self._follow(port)
        self._wait_for_replicas()

    def _follow(self, port: int) -> None:
        """Demotes a node, which Sentinel would do after some ten seconds."""
        self.nodes[port].command("REPLICAOF", "127.0.0.1", str(self.primary))

    def _primary(self) -> int | None:
        """The primary, if all Sentinels agree."""
        primaries = {sentinel.primary() for sentinel in self.sentinels}
        return primaries.pop() if len(primaries) == 1 else None

    def _wait_for_replicas(self) -> None:
        def all_online() -> bool:
            # On a busy machine, Sentinel may take the primary for dead.
            if (primary := self._primary()) not in (None, self.primary):
                self.primary = primary
                for port in self.nodes.keys() - {primary}:
                    self._follow(port)
            said = self.nodes[self.primary].command("INFO", "replication")
            return said.count("state=online") == self.replicas

        def all_known() -> bool:
            fine = f"num-slaves\n{self.replicas}\nnum-other-sentinels\n2\n"
            masters = [sentinel.command("MASTER", "offbeat") for sentinel in self.sentinels]
            replicas = [sentinel.command("REPLICAS", "offbeat") for sentinel in self.sentinels]
            return all(fine in said for said in masters) and not any(
                word in said
                for said in replicas
                for word in ("s_down", "disconnected", "link-status\nerr")
            )

        wait_until(60, all_online, "all replicas are online")
        wait_until(60, all_known, "all Sentinels know all replicas")

    def stop(self) -> None:
        for process in [*self.sentinels, *self.nodes.values()]:
            process.kill()


class AnyReplica(Failover):
    """Two replicas, and none of them is sure to have an answered write."""

    replicas = 2
    wanted = 0
    #: Unreplicated writes are lost, including leases. Producers resubmit lost groups.
    promises = ("lost",)
    keeps_groups = False


class EachReplica(Failover):
    """Two replicas, which both have every answered write."""

    replicas = 2
    wanted = 2


class LaterClock(Failover):
    """The clock of each primary is an hour or more ahead of the one before."""

    def start(self) -> None:
        self.clocks: dict[int, WrongClock] = {}
        self.hours = 0
        super().start()

    def _start(self, port: int) -> None:
        if port not in self.clocks:
            self.clocks[port] = WrongClock(self.folder / f"clock-{port}")
            self.nodes[port].environment = self.clocks[port].environment()
        self._advance(port)
        super()._start(port)

    def _advance(self, port: int) -> None:
        self.clocks[port].set(self.hours * 3_600)
        self.hours += 1

    def _follow(self, port: int) -> None:
        super()._follow(port)
        self._advance(port)
