"""No request within the limits takes more than two CPU seconds, or delays others."""

from __future__ import annotations

import cases_of_schedules
import cases_of_slots
import cases_of_spreads
import cases_of_stages_and_lanes
import pytest
from measure import Beside, Case
from offbeat.v1 import (
    lanes_pb2,
    named_spread_pb2,
    server_info_pb2,
    slots_pb2,
    spread_pb2,
    stages_pb2,
)
from offbeat.v1beta1 import lane_planning_pb2, lateness_pb2, simulation_pb2

CASES = [
    *cases_of_slots.CASES,
    *cases_of_schedules.CASES,
    *cases_of_stages_and_lanes.CASES,
    *cases_of_spreads.CASES,
]
PROTOS = (
    lane_planning_pb2,
    lanes_pb2,
    lateness_pb2,
    named_spread_pb2,
    server_info_pb2,
    simulation_pb2,
    slots_pb2,
    spread_pb2,
    stages_pb2,
)


def test_each_method_has_an_expensive_request() -> None:
    methods = {
        f"{service.full_name.removeprefix('offbeat.').removeprefix('v1.')}/{method.name}"
        for proto in PROTOS
        for service in proto.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }
    assert methods == {case.method for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_expensive_request(beside: Beside, case: Case) -> None:
    faults = beside.measure(case)
    assert not faults, f"{case}: {'; '.join(faults)}"
