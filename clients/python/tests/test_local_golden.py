"""The golden decisions, without a sidecar."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from typing import Any

from google.protobuf import json_format
from local_decisions import decided_locally
from test_golden import NOT_FOUND, SERVICES, decisions, filled

import offbeat
from offbeat.local.decider import Decider

DECIDER = Decider(None, lambda: datetime.now(timezone.utc))


def decided(case: Any) -> Any:
    method = case["method"]
    ((service, _),) = [pair for pair in SERVICES.items() if method in pair[0].methods_by_name]
    request_class = service.methods_by_name[method].input_type._concrete_class
    return decided_locally(DECIDER, method, json_format.ParseDict(filled(case), request_class()))


def test_golden_answers_are_the_same_or_need_a_sidecar():
    outcomes: Counter[str] = Counter()
    reasons = set()
    for case in decisions("response"):
        response = decided(case)
        if isinstance(response, offbeat.NeedsSidecar):
            reasons.add(str(response))
            outcomes["needs a sidecar"] += 1
            continue
        expected = json_format.ParseDict(case["response"], type(response)())
        if "bucket_share" in response.DESCRIPTOR.fields_by_name:
            response.ClearField("bucket_share")
        assert response == expected, case["request"]
        outcomes[case["method"]] += 1
    assert sum(outcomes.values()) - outcomes["needs a sidecar"] > 330
    for method, count in [
        ("AssignSlot", 100),
        ("AssignSlots", 60),
        ("DescribeSchedule", 15),
        ("GetWindowPredicate", 35),
        ("ListDueRuns", 75),
        ("ListSlots", 15),
        ("RouteJob", 15),
    ]:
        assert outcomes[method] >= count, outcomes
    assert len(reasons) > 15
    assert all("sidecar" in reason for reason in reasons)


def test_golden_refusals_are_the_same_or_need_a_sidecar():
    same = 0
    for case in decisions("reason"):
        if case.get("json_only"):
            continue
        error = decided(case)
        if isinstance(error, offbeat.NeedsSidecar):
            continue
        kind = offbeat.NotFound if case["reason"] in NOT_FOUND else offbeat.InvalidArgument
        assert isinstance(error, kind), case["name"]
        assert error.reason == f"ERROR_REASON_{case['reason']}", case["name"]
        assert error.field == case["field"], case["name"]
        assert error.value == case.get("value", error.value), case["name"]
        assert all(words in error.allowed for words in case.get("allowed", [])), case["name"]
        same += 1
    assert same >= 155
