"""A client that behaves: 200 calls a second on one connection, in a process of its own.

``python victim.py PORT`` is that process; each line on standard input asks for what it has seen
since the line before. A call's time counts from when it was due, so that one call that is stuck
also counts for those that wait behind it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steal import Gap

RATE = 200
#: A call that takes longer has failed.
PATIENCE = 10
#: So many seconds late, it gives those up that were due.
LATEST = 5


@dataclass
class Lap:
    """What the victim saw: when each call was due and when it was answered."""

    calls: list[tuple[float, float]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    #: Calls that were left out.
    stolen: int = 0

    def __add__(self, other: Lap) -> Lap:
        return Lap(
            self.calls + other.calls, self.failures + other.failures, self.stolen + other.stolen
        )

    def without(self, gaps: list[Gap]) -> Lap:
        """Without the calls during which a CPU stood still, and those that waited behind them."""
        kept, held_up = [], 0.0
        for due, answered in self.calls:
            if due < held_up or any(due < until and since < answered for since, until in gaps):
                held_up = answered
            else:
                kept.append((due, answered))
        return Lap(kept, self.failures, self.stolen + len(self.calls) - len(kept))

    @property
    def times(self) -> list[float]:
        """The seconds that each call took."""
        return [answered - due for due, answered in self.calls]

    @property
    def p99(self) -> float:
        """The time that one call in a hundred takes."""
        return sorted(self.times)[int(len(self.times) * 0.99)] if self.times else 0.0

    @property
    def worst(self) -> float:
        """The longest time."""
        return max(self.times, default=0.0)


class Victim:
    """Drives the process."""

    def __init__(self, port: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__), str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.lap()

    def lap(self) -> Lap:
        """What it has seen since the last time."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return Lap(**json.loads(self.process.stdout.readline()))

    def watch(self, seconds: float) -> Lap:
        """What it sees within so long."""
        self.lap()
        time.sleep(seconds)
        return self.lap()

    def stop(self) -> None:
        """Ends it."""
        self.process.kill()
        self.process.wait(timeout=10)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


class Caller:
    """Calls, and keeps the record."""

    def __init__(self, port: int) -> None:
        self.port, self.peer = port, None
        self.lock = threading.Lock()
        self.calls: list[tuple[float, float]] = []
        self.failures: list[str] = []

    def note(self, due: float, failure: str | None) -> None:
        with self.lock:
            self.calls.append((due, time.monotonic()))
            if failure:
                self.failures.append(failure)

    def lap(self) -> Lap:
        with self.lock:
            seen, self.calls, self.failures = Lap(self.calls, self.failures[:20]), [], []
        return seen

    def call(self) -> str | None:
        """One call; what went wrong with it."""
        from frames import Peer, call
        from questions import ASSIGN_SLOT, one_slot

        if self.peer is None or self.peer.ended or self.stream > 1 << 30:
            try:
                self.peer, self.stream, self.request = Peer(self.port), 1, one_slot()
            except OSError as error:
                return f"cannot connect: {error}"
        stream, self.stream = self.stream, self.stream + 2
        answer = self.peer.ask(stream, call(stream, ASSIGN_SLOT, self.request), PATIENCE)
        del self.peer.answers[stream]
        if answer.status == "0" and answer.ended and answer.size > 5:
            return None
        seen = f"status {answer.status}, reset {answer.reset}, GOAWAY {self.peer.goaway}"
        self.peer.close()
        self.peer = None
        return f"no answer: {seen}"

    def run(self) -> None:
        """Calls for ever, whoever is behind."""
        due = time.monotonic()
        while True:  # until it is killed
            due += 1 / RATE
            late = time.monotonic() - due
            if late < 0:
                time.sleep(-late)
            elif late > LATEST:
                due += late
            self.note(due, self.call())


def main() -> None:
    """The process."""
    with contextlib.suppress(PermissionError):
        # It is the server that is measured, not how long an attacker who takes a whole core
        # keeps this process from looking at the answer: ticks of 4 ms, on many kernels.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    gc.disable()
    caller = Caller(int(sys.argv[1]))
    threading.Thread(target=caller.run, daemon=True).start()
    for _ in sys.stdin:
        print(json.dumps(vars(caller.lap())), flush=True)


if __name__ == "__main__":
    main()
