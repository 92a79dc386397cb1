"""Requests about kinds that must be refused, with the refusals, written by hand."""

from __future__ import annotations

from decisions_in_sql import column


def refusal(name, method, request, reason, field, **more):
    return {"name": name, "method": method, "request": request, "reason": reason, "field": field, **more}


def refusals():
    names = [{"name": "import"}, {"name": "export"}]
    plain = {"period": "28800s", "slotCount": 128}
    spec = {**plain, "kinds": names}

    def described(name, reason, field, spec, **more):
        request = {"schedule": {"spec": spec}}
        return refusal(name, "DescribeSchedule", request, reason, f"schedule.spec.{field}", **more)

    def of(name, method, field, reason, more, **words):
        request = {"schedule": {"spec": spec}, **more}
        return refusal(name, method, request, reason, field, **words)

    known = ["import", "export"]
    ids, at = {"texts": ["a"]}, {"nowTime": "2026-01-01T03:00:00Z", "kind": "import"}
    due = {"ids": ids, "watermarkTime": "2026-01-01T00:00:00Z", **at}
    window = {
        "startTime": "2026-01-01T00:00:00Z",
        "endTime": "2026-01-01T00:01:00Z",
        "sqlTarget": column("SQLITE", "HASH_DIGITS", column="hash"),
    }
    listed = {"startTime": "2026-01-01T00:00:00Z", "sqlTarget": window["sqlTarget"]}
    for method, more in [
        ("AssignSlot", {"id": {"text": "a"}}),
        ("AssignSlots", {"ids": ids}),
        ("ListDueRuns", {**due, "kind": ""}),
        ("GetWindowPredicate", window),
        ("ListSlots", listed),
    ]:
        more = {key: value for key, value in more.items() if key != "kind"}
        yield of(f"{method} of no kind", method, "kind", "FIELD_MISSING", more, allowed=known)
        more = {**more, "kind": "imports"}
        unknown = ("kind", "OUT_OF_RANGE")
        yield of(
            f"{method} of another kind", method, *unknown, more, value='"imports"', allowed=known
        )
    contradictory = "CONTRADICTORY"
    yield described(
        "weights with two kinds", contradictory, "weight_quantum", {**spec, "weightQuantum": "10"},
        value="10",
    )  # fmt: skip
    deferred = {
        "dated": {"startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-02T00:00:00Z"},
        "policy": "EXCLUSION_POLICY_DEFER",
    }
    skipped = {**deferred, "policy": "EXCLUSION_POLICY_SKIP"}
    yield described(
        "deferring with two kinds", contradictory, "exclusions[1].policy",
        {**spec, "exclusions": [skipped, deferred]}, allowed=["SKIP", "active_windows"],
    )  # fmt: skip
    yield described("a kind twice", contradictory, "kinds[1].name", {**plain, "kinds": names[:1] * 2})
    yield described("a kind without a name", "OUT_OF_RANGE", "kinds[1].name", {**plain, "kinds": [names[0], {}]})
    yield described("a slash in a kind", "OUT_OF_RANGE", "kinds[0].name", {**plain, "kinds": [{"name": "a/b"}]})
    long = {"name": "x" * 65}
    yield described("a kind's name too long", "OUT_OF_RANGE", "kinds[0].name", {**plain, "kinds": [long]}, allowed=["64"])
    some = [{"name": "import", "runTime": "60s"}, {"name": "export"}]
    yield described("a run time for some", contradictory, "kinds[1].run_time", {**plain, "kinds": some})
    both = [{"name": "import", "runTime": "60s"}, {"name": "export", "runTime": "60s"}]
    stable = {"kindSpacing": "KIND_SPACING_STABLE"}
    yield described("run times with STABLE", contradictory, "kind_spacing", {**plain, "kinds": both, **stable})
    pairs = {"kindConflicts": [{"firstKind": "import", "secondKind": "export"}]}
    yield described("run times with conflicts", contradictory, "kind_conflicts", {**plain, "kinds": both, **pairs})
    yield described("STABLE with conflicts", contradictory, "kind_conflicts", {**spec, **pairs, **stable})
    yield described("a spacing of no kinds", contradictory, "kind_spacing", {**plain, **stable})
    yield described("conflicts of no kinds", contradictory, "kind_conflicts", {**plain, **pairs})
    yield described("a catch-up of no kinds", contradictory, "catch_up_span", {**plain, "catchUpSpan": "60s"}, value="60s")
    stranger = {"kindConflicts": [{"firstKind": "import", "secondKind": "exports"}]}
    yield described(
        "a conflict with a stranger", "OUT_OF_RANGE", "kind_conflicts[0].second_kind",
        {**spec, **stranger}, value='"exports"',
    )  # fmt: skip
    yield described("a conflict twice", contradictory, "kind_conflicts", {**spec, "kindConflicts": pairs["kindConflicts"] * 2})
    full = {"period": "8s", "kinds": [{"name": f"k{number}"} for number in range(9)]}
    yield described("more kinds than slots", "KINDS_DO_NOT_FIT", "kinds", full)
    hours = [{"name": "import", "runTime": "14400s"}, {"name": "export", "runTime": "14401s"}]
    yield described("run times above the cycle", "KINDS_DO_NOT_FIT", "kinds", {**plain, "kinds": hours})
    # Kinds an hour apart meet where the clock skips an hour.
    berlin = {"unit": "CALENDAR_UNIT_DAY", "timeZone": "Europe/Berlin"}
    hourly = [{"name": f"k{number}"} for number in range(24)]
    yield described(
        "kinds that a change of the clocks lets meet", "KINDS_DO_NOT_FIT", "kinds[0]",
        {"calendar": berlin, "slotCount": 24, "kinds": hourly}, allowed=["2020", "2037", "-03-2"],
    )  # fmt: skip
    longest = "7200s"  # the 2k-th part
    yield described(
        "a catch-up span too long", "OUT_OF_RANGE", "catch_up_span", {**spec, "catchUpSpan": "7200.001s"},
        value="7200.001s", allowed=[longest],
    )  # fmt: skip
    yield described("no catch-up span", "OUT_OF_RANGE", "catch_up_span", {**spec, "catchUpSpan": "0s"})
    times = [{"name": "import", "runTime": "1800s"}, {"name": "export", "runTime": "60s"}]
    short = {**plain, "kinds": times, "catchUpSpan": "1800s"}
    yield described("a catch-up span too short for run times", "OUT_OF_RANGE", "catch_up_span", short, value="1800s")
    yield of(
        "a smear of due runs of kinds", "ListDueRuns", "catch_up_policy.smear_span", contradictory,
        {**due, "catchUpPolicy": {"smearSpan": "60s"}}, value="60s", allowed=["catch_up_span"],
    )  # fmt: skip
    new_id = {"createTime": "2026-01-01T00:00:00Z", "policy": "FIRST_RUN_POLICY_NOW_SMEARED", "smearSpan": "60s"}
    asked = {"id": {"text": "a"}, "kind": "import", "fromTime": "2026-01-01T00:00:00Z", "newId": new_id}
    yield of("a smear of a new ID of kinds", "AssignSlot", "new_id.smear_span", contradictory, asked, value="60s")
    yield of(
        "a tolerance above the run budget", "ListDueRuns", "catch_up_policy.on_time_tolerance",
        "OUT_OF_RANGE", {**due, "catchUpPolicy": {"onTimeTolerance": "14401s"}}, value="14401s",
        allowed=["14400s"],
    )  # fmt: skip
    policy = {"catchUpPolicy": {"onTimeTolerance": "14341s"}}
    timed = {"schedule": {"spec": {**plain, "kinds": both}}, **due, **policy}
    yield refusal(
        "a tolerance above what run times leave", "ListDueRuns", timed, "OUT_OF_RANGE",
        "catch_up_policy.on_time_tolerance", value="14341s", allowed=["0s to "],
    )  # fmt: skip
