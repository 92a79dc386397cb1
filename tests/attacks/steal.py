"""When the machine itself stood still: steal, the time for which its host ran something else.

``python steal.py CPU`` is a process that wakes each millisecond on that CPU, before anything else
that may run there; when it wakes late, the host ran something else (or the kernel was at what it
does not interrupt). Each line on standard input asks for when that was since the line before.
Neither a busy server nor a busy attacker makes it late; where it may not go before them, nobody
looks.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

#: How often a CPU is looked at, in seconds.
TICK = 0.001
#: Later than this is no jitter of a timer.
LATE = 0.0005
#: Before the victim, who goes before the server.
PRIORITY = 2

Gap = tuple[float, float]


class StealWatch:
    """A process on each CPU."""

    def __init__(self) -> None:
        self.processes = [self._on(cpu) for cpu in os.sched_getaffinity(0) if may_go_first()]

    def _on(self, cpu: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, Path(__file__), str(cpu)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def gaps(self) -> list[Gap]:
        """When a CPU stood still since the last time, from and to, by ``time.monotonic``."""
        found: list[Gap] = []
        for process in self.processes:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            found += [(since, until) for since, until in json.loads(process.stdout.readline())]
        return sorted(found)

    def stop(self) -> None:
        """Ends them."""
        for process in self.processes:
            process.kill()
            process.wait(timeout=10)
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()


def may_go_first() -> bool:
    """Whether this user may have processes that go before all ordinary ones."""
    before = os.sched_getscheduler(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:
        return False
    os.sched_setscheduler(0, before, os.sched_param(0))
    return True


class Sentinel:
    """Watches the CPU that it runs on."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.gaps: list[Gap] = []

    def watch(self) -> None:
        """Looks at it for ever."""
        while True:  # until it is killed
            asleep = time.monotonic()
            time.sleep(TICK)
            awake = time.monotonic()
            if awake - asleep > TICK + LATE:
                with self.lock:
                    self.gaps.append((asleep, awake))

    def lap(self) -> list[Gap]:
        """What was seen since the last time."""
        with self.lock:
            seen, self.gaps = self.gaps, []
        return seen


def main() -> None:
    """The process."""
    os.sched_setaffinity(0, {int(sys.argv[1])})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    gc.disable()
    sentinel = Sentinel()
    threading.Thread(target=sentinel.watch, daemon=True).start()
    for _ in sys.stdin:
        print(json.dumps(sentinel.lap()), flush=True)


if __name__ == "__main__":
    main()
