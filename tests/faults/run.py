"""Disturbs servers and their store, and holds what their clients say against a ledger.

``python3 tests/faults/run.py --fault kill --kills 200``: several worlds side by side, each with
servers and a store of its own, producers and consumers in three languages, and leases of 1 s. A
fault happens at random moments, as often as ``--kills`` says; consumers are killed, stopped for
longer than a lease, and ended. Each fault has worlds of its own, side by side.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import threading
from pathlib import Path

# A program does not have the path of pytest.ini.
sys.path.insert(0, str(Path(__file__).parents[1]))

from disturbances import DISTURBANCES
from world import COMMANDS, World


def report(fault: str, world: World) -> list[str]:
    """Print the figures of a world, and return the violations."""
    ledger = world.ledger
    wrong = list(world.failures)
    for name in world.disturbance.promises:
        found = getattr(ledger, name)()
        wrong += [f"{name}: {one}" for one in found[:5]]
        if len(found) > 5:
            wrong.append(f"{name}: {len(found)} in all")
    if ledger.dead_letters:
        wrong.append(f"{ledger.dead_letters} dead letters")
    jobs, leases = len(ledger.jobs()), sum(map(len, ledger.leases.values()))
    kinds = "+".join(world.producers), "+".join(kind for kind, _ in world.consumers)
    witnessed = ""
    if world.witness:
        states = world.witness.states
        named = [f"{count} {state.split('_')[-1].lower()}" for state, count in states.items()]
        witnessed = f"groups handed over: {', '.join(named)}, "
    print(
        f"{fault}, world {world.number} ({kinds[0]} to {kinds[1]}): "
        f"{len(ledger.disturbances)} times, {jobs} jobs, {leases} leases, "
        f"{len(ledger.overlapping())} overlaps, {witnessed}{world.lives} lives of consumers, "
        f"{ledger.duplicates()} settled again of {ledger.outstanding()} outstanding: "
        f"{'ok' if not wrong else f'FAILED, see {world.folder}'}",
        flush=True,
    )
    if not wrong:
        shutil.rmtree(world.folder)
    return [f"{fault}, world {world.number}: {one}" for one in wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fault", nargs="+", choices=DISTURBANCES, default=["in-memory"])
    parser.add_argument("--kills", type=int, default=200, help="of each fault, in all its worlds")
    parser.add_argument("--worlds", type=int, default=4, help="of each fault")
    parser.add_argument("--languages", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    share = -(-arguments.kills // arguments.worlds)
    worlds = [
        (fault, World(number, share, arguments.seed, arguments.languages, DISTURBANCES[fault]))
        for fault in arguments.fault
        for number in range(arguments.worlds)
    ]
    threads = [threading.Thread(target=world.run) for _, world in worlds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wrong = [one for fault, world in worlds for one in report(fault, world)]
    print("\n".join(wrong) or f"{share * len(worlds)} faults: every promise kept")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
