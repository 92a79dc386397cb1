"""Prints golden answers of CompareSchedules, found by running the jobs: see compared_jobs.py.

Run: python3 decisions_of_comparisons.py > ../decisions/comparisons.json
The explanations in words are the program's own, and not part of the answers here.
"""

from __future__ import annotations

from itertools import combinations

from calendars import Dated, Recurring, instant
from compared_jobs import EIGHT, HOUR, Job, shortest
from decisions import duration, print_cases
from declared_kinds import MINUTE, Kinds, three, two
from refusals_of_kinds import refusal

BERLIN = "Europe/Berlin"


def pair(jobs, first, second):
    one, other = jobs[first], jobs[second]
    there, back = shortest(one, other), shortest(other, one)
    told = {"firstJobIndex": first, "secondJobIndex": second}
    if there is None or back is None:
        return {**told, "separation": "SEPARATION_UNKNOWN"}
    meet = there < max(1, one.run_time or 0) or back < max(1, other.run_time or 0)
    told["separation"] = "SEPARATION_MEET" if meet else "SEPARATION_APART"
    return {**told, "firstToSecond": duration(there), "secondToFirst": duration(back)}


def case(*jobs):
    pairs = [pair(jobs, *both) for both in combinations(range(len(jobs)), 2)]
    found = {one["separation"] for one in pairs}
    worst = ["SEPARATION_MEET", "SEPARATION_UNKNOWN", "SEPARATION_APART"]
    return {
        "method": "CompareSchedules",
        "request": {"jobs": [job.json() for job in jobs]},
        "response": {
            "separation": next(one for one in worst if one in found),
            "pairs": pairs,
        },
    }


SEVEN = 7 * MINUTE
SHIFTS = [(0, HOUR), (2 * HOUR, 4 * HOUR)]
NIGHT = [(HOUR, 5 * HOUR)]


def both(make, one, other, *run_times, **more):
    """Two kinds of one schedule."""
    times = [*run_times, None, None]
    return [
        Job(kinds=make(), kind=name, run_time=time, **more)
        for name, time in zip((one, other), times)
    ]


def shifted_cases():
    later = {"anchor": SEVEN}
    yield case(Job(), Job())
    yield case(Job(kind="a"), Job(kind="b"))  # labels move nothing
    yield case(Job(), Job(**later))
    yield case(Job(**later), Job())
    yield case(Job(), Job(anchor=instant("2026-01-01T00:00:00Z") * 1_000))
    yield case(Job(), Job(anchor=instant("2026-01-01T00:07:00Z") * 1_000))
    yield case(Job(), Job(anchor=instant("1900-01-01T05:00:01Z") * 1_000))
    for run_times in [
        (SEVEN, None), (SEVEN + 1, None), (None, EIGHT - SEVEN), (None, EIGHT - SEVEN + 1),
        (SEVEN, EIGHT - SEVEN), (SEVEN + 1, EIGHT - SEVEN + 1), (0, 0), (EIGHT, 0),
    ]:  # fmt: skip
        yield case(Job(run_time=run_times[0]), Job(run_time=run_times[1], **later))
    yield case(Job(run_time=0), Job(run_time=0))
    yield case(Job(slots=48), Job(slots=128, **later))
    yield case(Job(tick=500), Job(tick=500, anchor=500))
    yield case(Job(tick=500, run_time=501), Job(tick=500, anchor=500))
    yield case(Job(salt="v2"), Job(salt="v2", **later))
    stored = {"placement": "FRACTION"}
    yield case(Job(**stored), Job(**stored, slots=15, **later))
    for profile in ["PYTHON", "RUBY", "PHP"]:
        drawn = {"placement": "TWISTER", "profile": profile, "slots": 15}
        yield case(Job(**drawn), Job(**drawn, **later))
    three_jobs = [
        Job(run_time=10 * MINUTE),
        Job(anchor=20 * MINUTE),
        Job(anchor=40 * MINUTE),
    ]
    yield case(*three_jobs)
    yield case(*three_jobs, Job(anchor=41 * MINUTE, salt="x"))
    yield case(*three_jobs, Job(anchor=41 * MINUTE, salt="x"), Job(anchor=EIGHT))


def unknown_cases():
    later = {"anchor": SEVEN}
    for other in [
        {"period": 2 * EIGHT}, {"period": EIGHT * 3 // 2}, {"period": EIGHT // 2}, {"tick": 500},
        {"salt": "x"}, {"placement": "FRACTION"}, {"placement": "TWISTER"},
        {"unit": "DAY", "zone": "UTC"}, {"windows": SHIFTS, "slots": 90}, {"quantum": 5},
    ]:  # fmt: skip
        yield case(Job(), Job(**{**other, **({} if "unit" in other else later)}))
        yield case(Job(run_time=MINUTE), Job(**other, run_time=0))
    drawn = {"placement": "TWISTER", "profile": "PYTHON"}
    for other in [
        {**drawn, "profile": "PHP"}, {**drawn, "profile": "RUBY"}, {**drawn, "slots": 48},
        {**drawn, "buckets": 65_536}, {"placement": "FRACTION"},
    ]:  # fmt: skip
        yield case(Job(**drawn), Job(**other))
    yield case(Job(quantum=5), Job(quantum=5, **later))
    deferred = [Dated("2026-03-25T00:00:00Z", "2026-03-25T05:00:00Z")]
    yield case(Job(exclusions=deferred), Job())
    yield case(Job(exclusions=deferred), Job(**later))
    yield case(Job(windows=SHIFTS, slots=90), Job(windows=SHIFTS[1:], slots=90))
    days = {"unit": "DAY", "zone": BERLIN}
    yield case(Job(**days), Job(**{**days, "zone": "America/New_York"}))
    yield case(Job(**days), Job(**{**days, "zone": "Asia/Kolkata"}))
    yield case(Job(**days), Job(**{**days, "unit": "WEEK"}))
    yield case(Job(**days), Job(**days, windows=NIGHT))
    yield case(Job(**days), Job(**days, salt="x"))


def kinds_cases():
    ring = [("a", "b"), ("c", "b"), ("c", "d"), ("d", "a")]
    times = [10 * MINUTE, 22 * MINUTE + 1, 0]
    four, long = (
        (lambda: Kinds(list("abcd"), conflicts=ring)),
        (lambda: three(run_times=times)),
    )
    yield case(*both(two, "import", "export"))
    yield case(*both(two, "export", "import", EIGHT // 2, EIGHT // 2))
    yield case(*both(two, "import", "export", EIGHT // 2 + 1))
    yield case(*both(two, "import", "import"))
    yield case(*both(three, "import", "a.b_c-1", slots=128))
    yield case(*both(lambda: three(spacing="STABLE"), "export", "a.b_c-1"))
    yield case(*both(four, "a", "b", slots=20, period=10 * HOUR * 1_000))
    yield case(*both(four, "a", "c", slots=20, period=10 * HOUR * 1_000))  # these may meet
    yield case(*both(long, "import", "export"))
    yield case(*both(long, "export", "import", 4 * HOUR * 1_000))
    yield case(*(Job(kinds=long(), kind=name) for name in ["import", "export", "a.b_c-1"]))
    # Of a schedule with kinds, and one of today.
    yield case(Job(kinds=long(), kind="import"), Job(anchor=10 * MINUTE))
    yield case(Job(kinds=long(), kind="import"), Job(anchor=10 * MINUTE - 1_000))
    yield case(
        Job(kinds=long(), kind="import", run_time=MINUTE),
        Job(anchor=10 * MINUTE - 1_000),
    )
    yield case(Job(kinds=two(), kind="export"), Job())
    yield case(Job(kinds=two(), kind="export"), Job(anchor=EIGHT // 2))
    yield case(Job(kinds=two(), kind="export"), Job(anchor=EIGHT // 2 - 1_000, run_time=1_000))
    yield case(Job(kinds=two(), kind="export"), Job(kinds=three(), kind="export", slots=144))
    yield case(Job(kinds=two(), kind="export", salt="x"), Job())
    drawn = {"placement": "TWISTER", "profile": "PYTHON", "slots": 16}
    yield case(*both(two, "import", "export", **drawn))
    stored = {"placement": "FRACTION"}
    yield case(*both(three, "export", "import", **stored))


def window_cases():
    shifts = {"windows": SHIFTS, "slots": 90}
    yield case(Job(**shifts), Job(**shifts))
    yield case(Job(**shifts), Job(**shifts, anchor=SEVEN))
    yield case(*both(two, "import", "export", **shifts))
    # Within neither window: the time between them is longer.
    for one, other in [
        ("import", "a.b_c-1"),
        ("a.b_c-1", "import"),
        ("import", "export"),
    ]:
        yield case(*both(three, one, other, **shifts))
    yield case(*both(three, "import", "a.b_c-1", 3 * HOUR * 1_000, **shifts))
    yield case(*both(three, "import", "a.b_c-1", 3 * HOUR * 1_000 + 1, **shifts))
    skipped = [Dated("2026-03-25T00:00:00Z", "2026-03-25T05:00:00Z", "SKIP")]
    lunch = [Recurring("DAY", BERLIN, 12 * HOUR, 13 * HOUR, "SKIP")]
    yield case(Job(exclusions=skipped), Job(anchor=SEVEN))
    yield case(Job(exclusions=skipped), Job(exclusions=skipped))
    yield case(*both(two, "import", "export", exclusions=skipped))
    days = {"unit": "DAY", "zone": BERLIN, "slots": 24}
    yield case(*both(three, "import", "export", **days, exclusions=lunch))
    yield case(Job(**days, exclusions=lunch), Job(**days))


def calendar_cases():
    days = {"unit": "DAY", "zone": BERLIN, "slots": 24}
    yield case(Job(**days), Job(**days))
    for zone in [
        BERLIN,
        "UTC",
        "Australia/Lord_Howe",
        "America/Santiago",
        "Africa/Cairo",
    ]:
        yield case(*both(three, "import", "export", **{**days, "zone": zone}))
    yield case(*both(three, "import", "export", 7 * HOUR * 1_000, **days))
    yield case(*both(three, "import", "export", 7 * HOUR * 1_000 + 1, **days))
    yield case(*both(three, "export", "import", 15 * HOUR * 1_000, 7 * HOUR * 1_000, **days))
    yield case(Job(kinds=two(), kind="export", **days), Job(**days, run_time=11 * HOUR * 1_000))
    yield case(
        Job(kinds=two(), kind="export", **days),
        Job(kinds=three(), kind="export", **days),
    )
    # The clock is changed between the windows of two days.
    early_and_late = [(4 * HOUR, 6 * HOUR), (22 * HOUR, 24 * HOUR)]
    yield case(*both(two, "import", "export", **{**days, "slots": 16, "windows": early_and_late}))
    # An hour or less apart: on the day of a change they meet, or their order changes.
    for needs in [[90 * MINUTE, 0], [150 * MINUTE, 0]]:
        near = {**days, "slots": 48}
        late = Job(kinds=two(run_times=needs), kind="export", **near)
        yield case(Job(kinds=two(), kind="export", **near), late)
    yield case(*both(two, "import", "export", **{**days, "slots": 16, "windows": NIGHT}))
    yield case(*both(three, "export", "import", unit="WEEK", zone="America/New_York", slots=28))
    for zone in ["UTC", "America/Santiago"]:
        months = {"unit": "MONTH", "zone": zone, "slots": 4}
        yield case(*both(two, "import", "export", **months))
        yield case(*both(three, "export", "import", **months))
    yield case(Job(unit="MONTH", zone=BERLIN, slots=4), Job(unit="MONTH", zone=BERLIN, slots=8))


def refusals():
    plain = {"schedule": {"spec": {"period": "28800s"}}}
    declared = Job(kinds=two(), kind="import").json()

    def refused(name, field, reason, jobs, **more):
        return refusal(name, "CompareSchedules", {"jobs": jobs}, reason, field, **more)

    yield refused("no jobs to compare", "jobs", "OUT_OF_RANGE", [], allowed=["2 to 32"])
    yield refused("one job to compare", "jobs", "OUT_OF_RANGE", [plain], allowed=["2 to 32"])
    yield refused("33 jobs to compare", "jobs", "OUT_OF_RANGE", [plain] * 33, allowed=["2 to 32"])
    yield refused("a job of no schedule", "jobs[1].schedule", "FIELD_MISSING", [plain, {}])
    known = ["import", "export"]
    nameless = {key: value for key, value in declared.items() if key != "kind"}
    yield refused(
        "a job of no kind",
        "jobs[0].kind",
        "FIELD_MISSING",
        [nameless, plain],
        allowed=known,
    )
    other = {**declared, "kind": "imports"}
    yield refused(
        "a job of another kind", "jobs[1].kind", "OUT_OF_RANGE", [plain, other], value='"imports"',
        allowed=known,
    )  # fmt: skip
    for time in ["-1s", "28800.001s"]:
        long = {**plain, "runTime": time}
        yield refused(
            f"a run time of {time}", "jobs[1].run_time", "OUT_OF_RANGE", [plain, long], value=time,
            allowed=["28800s"],
        )  # fmt: skip


def cases():
    yield from shifted_cases()
    yield from unknown_cases()
    yield from kinds_cases()
    yield from window_cases()
    yield from calendar_cases()
    yield from refusals()


if __name__ == "__main__":
    print_cases(list(cases()))
