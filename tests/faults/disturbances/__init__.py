"""Disturbances of servers and their store, by name, each with the promises that must hold."""

from .answers import Cut, Pause
from .changes import Flush, Memory
from .clocks import Clock, StoreClock
from .disturbance import Disturbance
from .failovers import AnyReplica, EachReplica, Failover, LaterClock
from .kills import EverySecond, InMemory, Kill, NoFile

DISTURBANCES: dict[str, type[Disturbance]] = {
    "in-memory": InMemory,
    "kill": Kill,
    "everysec": EverySecond,
    "none": NoFile,
    "pause": Pause,
    "cut": Cut,
    "flush": Flush,
    "memory": Memory,
    "clock": Clock,
    "store-clock": StoreClock,
    "sentinel": Failover,
    "sentinel-each": EachReplica,
    "sentinel-any": AnyReplica,
    "time": LaterClock,
}
