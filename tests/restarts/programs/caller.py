"""Calls about one ID and about many, in turn, until a file exists; then reports the results."""

import json
import sys
import time
from datetime import timedelta
from pathlib import Path

import offbeat


def main():
    address, pause, stop = sys.argv[1:]
    schedule = offbeat.Schedule(timedelta(hours=8))
    attempts = 0

    def token():  # called at each attempt; the server requires no token
        nonlocal attempts
        attempts += 1
        return "counts-the-attempts"

    client = offbeat.Client(address, token=token)
    expected = client.assign_slot(schedule, "acme").slot_index
    print("ready", flush=True)
    calls, failures, slowest, attempts = 0, [], 0.0, 0
    while not Path(stop).exists():
        begun = time.monotonic()
        try:
            if calls % 2 == 0:
                given = [client.assign_slot(schedule, "acme").slot_index]
            else:
                given = list(client.assign_slots(schedule, ["acme"] * 500).slot_indexes)
            if set(given) != {expected}:
                failures.append(f"a wrong answer: {given[:5]}")
        except offbeat.OffbeatError as error:
            failures.append(f"{type(error).__name__}: {error}")
        calls += 1
        slowest = max(slowest, time.monotonic() - begun)
        time.sleep(float(pause))
    said = {"calls": calls, "retries": attempts - calls, "slowest": slowest, "failures": failures}
    print(json.dumps(said))


main()
