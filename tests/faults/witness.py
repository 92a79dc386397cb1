"""A producer that submits its groups once, and does not keep them."""

from __future__ import annotations

import base64
import hashlib
import random
import threading
import time
import urllib.error
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from world import World

JOBS_PER_GROUP = 3


class Witness(threading.Thread):
    """Submits a group until it is answered, and never again, so that only the store has it.

    Other producers resubmit lost groups, which hides the loss.
    """

    def __init__(self, world: World) -> None:
        super().__init__(daemon=True)
        self.world, self.random = world, random.Random(world.number)
        self.is_over = threading.Event()
        #: How many groups were answered with which state.
        self.states: Counter[str] = Counter()
        self.groups: list[str] = []

    def run(self) -> None:
        while not self.is_over.wait(self.random.uniform(0, 0.3)):
            self.submit(f"witness-{len(self.groups)}")

    def submit(self, group: str) -> None:
        jobs = [f"{group}/{index}".encode() for index in range(JOBS_PER_GROUP)]
        digest = hashlib.sha256()
        for job in jobs:
            digest.update(len(job).to_bytes(8) + job)
        part = {
            "groupId": group,
            "firstJobIndex": 0,
            "jobs": [{"payload": base64.b64encode(job).decode()} for job in jobs],
            "commit": {
                "jobCount": JOBS_PER_GROUP,
                "sha256": base64.b64encode(digest.digest()).decode(),
            },
        }
        self.note({"event": "submitting", "group": group, "jobs": JOBS_PER_GROUP})
        self.groups.append(group)
        address = self.random.choice(self.world.addresses)
        end = time.monotonic() + 120
        while True:
            try:
                answer = self.world.call(
                    "SubmitGroups", {"spreadName": "faults", "groups": [part]}, address
                )
                self.states[answer["groups"][0]["state"]] += 1
                return
            except (OSError, urllib.error.HTTPError) as error:
                is_final = isinstance(error, urllib.error.HTTPError) and error.code == 400
                if is_final or time.monotonic() > end:
                    said = error.read() if isinstance(error, urllib.error.HTTPError) else error
                    self.world.failures.append(f"{group} was not taken: {said!r}")
                    return
                time.sleep(0.05)

    def note(self, event: dict) -> None:
        with self.world.lock:
            self.world.ledger.note(event, time.time() * 1_000)

    def await_done(self) -> None:
        """Wait until all submitted jobs are done; the ledger reports those that are not."""
        self.is_over.set()
        self.join()
        end = time.monotonic() + 60
        for group in self.groups:
            while not self.is_done(group) and time.monotonic() < end:
                time.sleep(0.05)
            if self.is_done(group):
                self.note({"event": "settled", "group": group, "dead_letters": 0})

    def is_done(self, group: str) -> bool:
        with self.world.lock:
            leases = self.world.ledger.leases
            jobs = [(group, index) for index in range(JOBS_PER_GROUP)]
            return all(any(lease.acked for lease in leases.get(job, ())) for job in jobs)
