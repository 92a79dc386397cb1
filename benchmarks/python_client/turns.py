"""Compares two versions of the Python client: the same calls, alternating between processes.

python benchmarks/python_client/turns.py ADDRESS BEFORE/clients/python/src AFTER/clients/python/src
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys

TURNS = 7

MEASURED = """
import json, os, statistics, sys, time
from datetime import timedelta
from uuid import UUID
import offbeat

client = offbeat.Client(sys.argv[1], mode="remote", timeout=30)
schedule = offbeat.Schedule(timedelta(hours=8))
packed = os.urandom(16 * 65_536)
uuids = [UUID(bytes=packed[at : at + 16]) for at in range(0, len(packed), 16)]

def median(question, times):
    question()
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        question()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)

print(json.dumps({
    "assign_slot, us": 1e6 * median(lambda: client.assign_slot(schedule, 42), 1_000),
    "assign_slots, ms": 1e3 * median(lambda: client.assign_slots(schedule, uuids), 7),
    "assign_packed, ms": 1e3 * median(lambda: client.assign_packed(schedule, uuids=packed), 15),
}))
"""


def measure(address: str, source: str) -> dict[str, float]:
    """Return the medians of one process, with the client in the folder `source`."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, address],
        env={**os.environ, "PYTHONPATH": source},
        check=True,
        capture_output=True,
    )
    medians: dict[str, float] = json.loads(done.stdout)
    return medians


def main() -> None:
    address, *sources = sys.argv[1:]
    turns = [[measure(address, source) for source in sources] for _ in range(TURNS)]
    for name in turns[0][0]:
        columns = zip(*([medians[name] for medians in turn] for turn in turns))
        typical = [statistics.median(column) for column in columns]
        figures = [f"{one:.1f}" for one in typical]
        print(name, *figures, f"{typical[0] / typical[-1]:.2f}", sep="\t")


if __name__ == "__main__":
    main()
