"""Compares decisions that the Python client makes itself with those of a sidecar.

alone.py ADDRESS UNIX_ADDRESS [TURNS]
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from datetime import datetime, timedelta, timezone
from uuid import UUID

import offbeat

addresses = {"sidecar, TCP": sys.argv[1], "sidecar, Unix socket": sys.argv[2]}
turns = int(sys.argv[3]) if len(sys.argv) > 3 else 15

#: Decisions per round, one after another, as request handlers make them.
DECISIONS = 200

source = random.Random(8)
ids = [UUID(int=source.getrandbits(128)) for _ in range(DECISIONS)]
cycle = timedelta(hours=8)
questions = {
    "HASH": (offbeat.Schedule(cycle), ""),
    "HASH, two kinds": (offbeat.Schedule(cycle, kinds=["import", "export"]), "export"),
    "TWISTER": (
        offbeat.Schedule(
            cycle, placement=offbeat.Placement.TWISTER, profile=offbeat.TwisterProfile.PYTHON
        ),
        "",
    ),
}
clients = {"alone": offbeat.Client(mode="local")} | {
    name: offbeat.Client(address, mode="remote") for name, address in addresses.items()
}

# All clients must give the same answer.
when = datetime(2026, 1, 1, tzinfo=timezone.utc)
for name, (schedule, kind) in questions.items():
    for each in ids:
        runs = {
            str(client.assign_slot(schedule, each, kind=kind, from_time=when).next_runs)
            for client in clients.values()
        }
        assert len(runs) == 1, (name, each, runs)

# Alternate, so that other load on the machine affects all contenders alike.
took: dict[str, list[float]] = {}
for _ in range(turns):
    for name, (schedule, kind) in questions.items():
        for who, client in clients.items():
            begun = time.perf_counter()
            for each in ids:
                client.assign_slot(schedule, each, kind=kind)
            passed = time.perf_counter() - begun
            took.setdefault(f"{name}, {who}", []).append(1e6 * passed / DECISIONS)
for name, measured in took.items():
    print(f"{name}\t{statistics.median(measured):.1f}")
