"""Ticks once, and stops at a point: `stopping_runner.py URL TIME page|send`."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from hourly import declared, store_of
from offbeat.runner import Runner
from offbeat.testing import FakeClient


def stand_still() -> None:
    """Report the point, and wait to be killed."""
    print("here", flush=True)
    time.sleep(600)


class Queue:
    """A queue that stops instead of sending messages."""

    def publish(self, runs: Any) -> None:
        """Stop when runs are published in the store, but not sent."""
        stand_still()


def main(url: str, now: str, point: str) -> None:
    """Tick."""
    store = store_of(url, lambda: datetime.fromisoformat(now))
    plan = store.plan

    def plan_one_page(*arguments: Any) -> bool:
        planned = plan(*arguments)
        if point == "page":
            stand_still()
        return planned

    store.plan = plan_one_page
    Runner([declared()], store, Queue(), client=FakeClient()).tick()


main(*sys.argv[1:])
