"""A well-behaved caller in a process of its own: AssignSlot by JSON every 5 ms on one connection.

``python bystander.py HOST PORT [TOKEN]`` is that process; each line on its standard input asks for
its record since the previous line. A call is measured from when it was due, so that a delayed call
also counts for those that wait behind it.
"""

from __future__ import annotations

import contextlib
import gc
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

INTERVAL = 0.005
#: A call that takes longer has failed.
LONGEST = 30
PATH = "/offbeat.v1.SlotService/AssignSlot"
QUESTION = json.dumps(
    {"schedule": {"spec": {"period": "86400s", "slotCount": 24}}, "id": {"text": "acme"}}
)


@dataclass
class Seen:
    """The duration of each call from when it was due, and the errors."""

    seconds: list[float]
    failures: list[str]

    @property
    def worst(self) -> float:
        """The longest time."""
        return max(self.seconds, default=0.0)

    @property
    def p90(self) -> float:
        """The time that one call in ten exceeds."""
        return sorted(self.seconds)[len(self.seconds) * 9 // 10] if self.seconds else 0.0


class Bystander:
    def __init__(self, port: int, token: str | None = None) -> None:
        command = [sys.executable, Path(__file__), "127.0.0.1", str(port), *filter(None, [token])]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.seen()

    def seen(self) -> Seen:
        """The record since the last call; a call that still waits counts with its time so far."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return Seen(**json.loads(self.process.stdout.readline()))

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(timeout=10)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            pipe.close()


class Caller:
    """Calls, and keeps the record."""

    def __init__(self, host: str, port: int, token: str | None) -> None:
        self.connection = http.client.HTTPConnection(host, port, timeout=LONGEST)
        self.headers = {"content-type": "application/json"}
        if token:
            self.headers["authorization"] = f"Bearer {token}"
        self.lock = threading.Lock()
        self.due = 0.0
        self.seconds: list[float] = []
        self.failures: list[str] = []

    def seen(self) -> Seen:
        """The data for :meth:`Bystander.seen`."""
        with self.lock:
            waiting = time.monotonic() - self.due
            now = [waiting] if waiting > INTERVAL else []
            seen = Seen(self.seconds + now, self.failures[:5])
            self.seconds, self.failures = [], []
        return seen

    def call(self) -> str | None:
        """Makes a call, and returns the error, if any."""
        try:
            self.connection.request("POST", PATH, QUESTION, self.headers)
            answer = self.connection.getresponse()
            text = answer.read()
            return None if answer.status == 200 else f"{answer.status} {text[:200]!r}"
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            return f"{type(error).__name__}: {error}"

    def run(self) -> None:
        """Calls until it is killed."""
        self.due = time.monotonic()
        while True:
            time.sleep(max(0.0, self.due - time.monotonic()))
            failure = self.call()
            with self.lock:
                self.seconds.append(time.monotonic() - self.due)
                self.failures.extend([failure] if failure else [])
                # Calls that were due meanwhile waited for the same reason: one is enough.
                self.due = max(self.due + INTERVAL, time.monotonic())


def main() -> None:
    """The entry point of the process."""
    host, port, *token = sys.argv[1:]
    caller = Caller(host, int(port), token[0] if token else None)
    with contextlib.suppress(PermissionError):
        # The server is measured, not how long other processes keep this one from a core.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    gc.disable()
    threading.Thread(target=caller.run, daemon=True).start()
    for _ in sys.stdin:
        print(json.dumps(vars(caller.seen())), flush=True)


if __name__ == "__main__":
    main()
