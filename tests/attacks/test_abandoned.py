"""Work for callers that have left."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from google.protobuf.duration_pb2 import Duration
from offbeat.v1beta1 import lane_planning_pb2 as lanes
from offbeat.v1beta1 import simulation_pb2 as simulation
from support.frames import Peer, begin, prefixed, reset
from support.questions import ASSIGN_SLOTS, PLAN_LANES, SIMULATE, many_slots
from trial import Trial

#: Seconds until the server is idle: work that has begun may end, queued work must not begin.
SOON = 4
#: CPU seconds after which work counts as begun.
BEGUN = 0.1
#: Share of a core below which the server counts as idle: 200 calls per second use some of it.
IDLE = 0.25

WEEK = """
name = "Week"
duration = "7d"
workers = 15
[users]
count = 29000
cycle = "8h"
[[kinds]]
name = "sync"
run_time = { exponential = "9s" }
[[strategies]]
kind = "slots"
[[strategies]]
kind = "at_once"
[[strategies]]
kind = "random_smear"
"""


def plan() -> bytes:
    """The most expensive PlanLanes request."""
    times = lanes.RunTimePercentiles(p50=Duration(seconds=1), p90=Duration(seconds=2))
    request = lanes.PlanLanesRequest(
        percentiles=times, arrival_rate=600, worker_count=1_000, max_lane_count=3
    )
    return request.SerializeToString()


ASKED = {
    "AssignSlots": lambda: (ASSIGN_SLOTS, many_slots(twisted=True)),
    "Simulate": lambda: (SIMULATE, simulation.SimulateRequest(scenario=WEEK).SerializeToString()),
    "PlanLanes": lambda: (PLAN_LANES, plan()),
}


@pytest.mark.parametrize("method", ASKED)
@pytest.mark.parametrize("leaves", ["with a reset", "without a word"])
def test_abandoned_work(trial: Trial, method: str, leaves: str) -> None:
    path, message = ASKED[method]()

    def attack() -> None:
        before = trial.server.cpu_seconds()
        with Peer(trial.port, keep=False) as peer:
            for stream in range(1, 101, 2):  # 50 times
                peer.say(begin(stream, path))
                peer.upload(stream, prefixed(message))
            begun = lambda: trial.server.cpu_seconds() - before > BEGUN  # noqa: E731
            peer.pump(0.2)
            peer.pump(10, done=begun)
            assert begun(), "the work is never begun"
            if leaves == "with a reset":
                peer.say(b"".join(map(reset, range(1, 101, 2))))
                peer.pump(0.2)
            else:
                peer.abort()
        left = time.monotonic()
        used = lambda: trial.server.cpu_share(0.5)  # noqa: E731
        share = used()
        for _ in range(SOON * 2 - 1):
            if share <= IDLE:
                break
            share = used()
        worked = trial.server.cpu_seconds() - before
        trial.note(f"idle {time.monotonic() - left:.1f} s after, {worked:.1f} s of CPU in all")
        assert share <= IDLE, f"{share:.0%} of a core is used {SOON} s after everybody has left"

    trial.withstands(attack)


def test_work_that_is_begun_again_and_again(start_trial: Callable[..., Trial]) -> None:
    """Simulations that are cancelled as soon as they have begun, for two seconds."""
    trial = start_trial()
    path, message = ASKED["Simulate"]()

    def attack() -> None:
        with Peer(trial.port, keep=False) as peer:
            until = time.monotonic() + 2
            for stream in range(1, 20_001, 2):
                peer.say(begin(stream, path))
                peer.upload(stream, prefixed(message))
                peer.pump(0.03)
                peer.say(reset(stream))
                if time.monotonic() > until or peer.ended:
                    break
        time.sleep(SOON / 2)
        share = trial.server.cpu_share(0.5)
        trial.note(f"{stream // 2 + 1} simulations, then {share:.0%} of a core")
        assert share <= IDLE, f"{share:.0%} of a core is used {SOON / 2} s after the last was left"

    trial.withstands(attack)
