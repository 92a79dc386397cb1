"""Kinds never meet, even when they are late: random worlds, and a ledger of all starts.

A world is a schedule with kinds, IDs, and for each kind a poller with an interval of its own,
with outages, a clock that goes back, and restarts of the sidecar. OFFBEAT_SALT (by default the
day) is the seed, CASE=n repeats the n-th world alone.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from datetime import date

import pytest
from conftest import Sidecar
from ledger import Ledger
from worlds import (
    DAY,
    Schedule,
    World,
    a_world,
    a_world_of_unequal_kinds,
    at_millis,
    duration,
    from_json,
    millis_of,
)

SALT = os.environ.get("OFFBEAT_SALT", date.today().isoformat())
SECONDS = float(os.environ.get("OFFBEAT_KINDS_SECONDS", "20"))
#: The least number of worlds, even on a slow machine.
FEWEST = 12

Ask = Callable[[str, dict], dict]


def learn(ask: Ask, world: World, rng: random.Random) -> list[int]:
    """Checks how the schedule is resolved, and returns the run budget of each kind."""
    schedule = world.schedule
    told = ask("DescribeSchedule", {"schedule": {"spec": schedule.spec()}})
    kinds = told["kinds"]
    assert [kind["name"] for kind in kinds] == schedule.names
    schedule.places = [kind.get("offsetSlotCount", 0) for kind in kinds]
    assert schedule.places == (schedule.own_places() or schedule.places)
    assert [kind["gapSlotCount"] for kind in kinds] == [
        schedule.gap(kind) for kind in range(len(kinds))
    ]
    again = ask("DescribeSchedule", {"schedule": {"spec": told["spec"]}})
    assert again["identity"] == told["identity"], "the resolved schedule is another one"
    schedule.span = millis_of(told["spec"]["catchUpSpan"])
    budgets = [millis_of(kind["runBudget"]) for kind in kinds]
    slot = schedule.ticks // schedule.slots * 1_000
    for kind, budget in enumerate(budgets):
        assert budget <= schedule.gap(kind) * slot
        assert schedule.zone or budget == schedule.gap(kind) * slot
    times = schedule.run_times or [0] * len(kinds)
    most = min(budget - time for budget, time in zip(budgets, times))
    lead = max(1_000, max(schedule.lead(kind) for kind in range(len(kinds))))
    world.tolerance = min(most, max(20_000, rng.randrange(lead // 2, lead)))
    if world.lateness:
        world.tolerance = int(most * world.lateness)
    assert world.tolerance >= 20_000
    return budgets


def outages(rng: random.Random, world: World) -> list[tuple[int, int]]:
    whole = world.schedule.cycle * 1_000
    lengths = [3 * world.tolerance, whole // 3, whole * 8 // 7, 3 * whole]
    starts = (rng.randrange(world.begin, world.end - 3 * whole) for _ in range(2))
    return sorted((start, start + rng.choice(lengths)) for start in starts)


def live(ask: Ask, world: World, rng: random.Random) -> Ledger:
    """Polls every kind from the beginning of a world to its end."""
    ledger = Ledger(world, learn(ask, world, rng))
    common = outages(rng, world)
    for kind in range(len(world.schedule.names)):
        down = common if rng.random() < 0.6 else outages(rng, world)
        rhythm = max(1, round(world.tolerance * rng.uniform(0.3, 1)))
        # Usually waits until a run is due, and always if polls would be very frequent.
        waits = rng.random() < 0.8 or world.schedule.cycle * 1_000 > 100 * rhythm
        backs = sorted(rng.randrange(world.begin, world.end) for _ in range(rng.randrange(4)))
        watermark = clock = world.begin
        due = 0
        while clock < world.end:
            clock += rng.randrange(rhythm // 2, rhythm) + 1
            for start, end in down:
                if start <= clock < end:
                    clock = end + rng.randrange(5_000)
            if world.skew and backs and clock > backs[0]:
                backs.pop(0)
                clock = max(world.begin, clock - rng.randrange(world.skew + 1))
            # A watermark may be up to look_ahead plus the skew after now.
            clock = max(clock, watermark - world.look_ahead - world.skew)
            if waits and clock + world.look_ahead < due:
                continue
            answer = listed(ask, request(world, kind, watermark, clock), rng)
            following = from_json(answer["nextWatermarkTime"])
            assert following == max(watermark, clock + world.look_ahead)
            ledger.enter(kind, watermark, clock, answer, following)
            watermark = following
            due = from_json(answer["nextDueTime"]) if "nextDueTime" in answer else clock
    return ledger


def listed(ask: Ask, question: dict, rng: random.Random) -> dict:
    """The answer, sometimes fetched in pages."""
    if rng.random() < 0.9:
        return ask("ListDueRuns", question)
    question["pageSize"] = rng.randrange(1, 5)
    columns: dict[str, list] = {}
    answer = ask("ListDueRuns", question)
    while True:
        for name, cells in answer["runs"].items():
            if isinstance(cells, list):
                columns[name] = columns.get(name, []) + cells
                assert len(cells) <= question["pageSize"]
        if not answer.get("nextPageToken"):
            return {**answer, "runs": columns}
        assert "nextWatermarkTime" not in answer
        answer = ask("ListDueRuns", {**question, "pageToken": answer["nextPageToken"]})


def request(world: World, kind: int, watermark: int, now: int) -> dict:
    return {
        "schedule": {"spec": world.schedule.spec()},
        "ids": {"texts": world.texts},
        "kind": world.schedule.names[kind],
        "watermarkTime": at_millis(watermark),
        "nowTime": at_millis(now),
        "catchUpPolicy": {
            "missedRunPolicy": f"MISSED_RUN_POLICY_{world.policy}",
            "onTimeTolerance": duration(world.tolerance),
            "horizon": duration(max(world.horizon, world.tolerance)),
            "minGap": duration(world.min_gap),
        },
        "maxClockSkew": duration(world.skew),
        "lookAhead": duration(world.look_ahead),
    }


def worlds(
    check: Callable[[World, random.Random], None],
    seconds: float,
    name: str,
    make: Callable[[random.Random], World] = a_world,
) -> int:
    until, number = time.monotonic() + seconds, 0
    only = os.environ.get("CASE")
    while number < FEWEST or time.monotonic() < until:
        index = int(only or number)
        rng = random.Random(f"{SALT}/{index}")
        try:
            check(make(rng), rng)
        except Exception:
            print(f"OFFBEAT_SALT={SALT} CASE={index} pytest -k {name}", file=sys.stderr)
            raise
        number += 1
        if only:
            break
    print(f"{number} worlds of salt {SALT}")
    return number


def test_kinds_never_meet(sidecar: Sidecar) -> None:
    listed = late = 0

    def check(world: World, rng: random.Random) -> None:
        nonlocal listed, late

        def ask(method: str, question: dict) -> dict:
            if rng.random() < 0.001:
                sidecar.stop()
                sidecar.start()
            return sidecar.ask(method, question)

        ledger = live(ask, world, rng)
        wrong = ledger.close()
        assert not wrong, f"{len(wrong)} wrong in {world}, the first: {wrong[:3]}"
        runs = [run for known in ledger.runs.values() for run in known.values()]
        listed += len(runs)
        late += sum(run.is_late for run in runs)

    worlds(check, SECONDS, "never_meet")
    assert late > 20 or "CASE" in os.environ
    assert listed > 5 * late


def test_late_runs_keep_clear_of_runs_on_time_of_other_lengths(sidecar: Sidecar) -> None:
    """Kinds of unequal run times: a short run that starts within the tolerance may start last."""
    near = 0

    def check(world: World, rng: random.Random) -> None:
        nonlocal near
        ledger = live(sidecar.ask, world, rng)
        wrong = ledger.close()
        assert not wrong, f"{len(wrong)} wrong in {world}, the first: {wrong[:3]}"
        near += ledger.near

    worlds(check, SECONDS, "of_other_lengths", a_world_of_unequal_kinds)
    # The worlds must contain late runs that are close to late starts of on-time runs.
    assert near > 20 or "CASE" in os.environ


#: Days on which the clock skips an hour or half an hour, and days on which it goes back.
CHANGES = [
    ("Europe/Berlin", "2026-03-29T00:00:00Z"),
    ("Europe/Berlin", "2026-10-24T23:00:00Z"),
    ("Australia/Lord_Howe", "2024-10-05T14:30:00Z"),
    ("America/Santiago", "2024-09-08T03:00:00Z"),
]


@pytest.mark.parametrize(("zone", "now"), CHANGES)
@pytest.mark.parametrize("count", [2, 3])
def test_turns_shorter_than_what_a_clock_skips(
    sidecar: Sidecar, zone: str, now: str, count: int
) -> None:
    """Skipped places move by the length of the gap, and may then be those of other kinds."""
    texts, end = [f"user-{number}" for number in range(24)], from_json(now)
    for seconds in [1_000, 1_500, 1_700, 2_600, 3_000]:
        names = ["import", "export", "mail"][:count]
        schedule = Schedule(24, DAY, names, zone, span=seconds * 1_000)
        schedule.places = schedule.own_places() or []
        world = World(schedule, texts, end - 30 * DAY * 1_000, end, "RUN_ALL")
        world.horizon = 30 * DAY * 1_000
        ledger = Ledger(world, [0] * count)
        for kind in range(count):
            answer = sidecar.ask("ListDueRuns", request(world, kind, world.begin, end))
            ledger.enter(kind, world.begin, end, answer, end)
        wrong = ledger.close()
        assert not wrong, f"{len(wrong)} wrong with turns of {schedule.turn} ms: {wrong[:3]}"
        assert sum(map(len, ledger.runs.values())) > 20 * len(texts)


def all_of_one_kind(method: str, question: dict, ask: Ask) -> dict:
    """Spoils the question as if kinds were only labels."""
    first = question["schedule"]["spec"]["kinds"][0]["name"]
    return ask(method, {**question, "kind": first} if "kind" in question else question)


def late_at_once(method: str, question: dict, ask: Ask) -> dict:
    answer = ask(method, question)
    if method == "ListDueRuns" and "startUnixMillis" in answer["runs"]:
        now = from_json(question["nowTime"])
        runs = answer["runs"]
        runs["startUnixMillis"] = [str(min(int(one), now)) for one in runs["startUnixMillis"]]
    return answer


def first_row_lost(method: str, question: dict, ask: Ask) -> dict:
    answer = ask(method, question)
    if method == "ListDueRuns":
        for name, cells in answer["runs"].items():
            if isinstance(cells, list):
                answer["runs"][name] = cells[1:]
    return answer


def listed_again(method: str, question: dict, ask: Ask) -> dict:
    """Sometimes forgets the watermark, so that half an hour is listed twice."""
    watermark = from_json(question.get("watermarkTime", at_millis(0)))
    if method == "ListDueRuns" and watermark <= from_json(question["nowTime"]):
        watermark -= 1_800_000
        question = {**question, "watermarkTime": at_millis(watermark)}
    return ask(method, question)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (all_of_one_kind, "promised"),
        (late_at_once, "promised"),
        (first_row_lost, "scheduled"),
        (first_row_lost, "was on time"),
        (listed_again, "listed twice"),
    ],
)
def test_the_ledger_notices(sidecar: Sidecar, spoil: Callable, words: str) -> None:
    """A ledger that finds no violations must be able to find some."""
    rng = random.Random(f"{SALT}/{spoil.__name__}")
    for _ in range(12):
        world = a_world(rng)
        world.schedule.exclusions, world.policy = [], "RUN_ONCE"
        ledger = live(lambda *asked: spoil(*asked, sidecar.ask), world, rng)
        if any(words in text for text in ledger.close()):
            return
    raise AssertionError(f"salt {SALT}")
