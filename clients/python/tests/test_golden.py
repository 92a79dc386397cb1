"""The golden decisions through the generated code alone, and refusals by both protocols."""

from __future__ import annotations

import json

import grpc
import pytest
from conftest import VECTORS
from google.protobuf import json_format

import offbeat
from offbeat._connect import Transport
from offbeat._grpc_channel import from_rpc_error
from offbeat.access import Access
from offbeat.v1 import (
    lanes_pb2,
    lanes_pb2_grpc,
    named_spread_pb2,
    named_spread_pb2_grpc,
    server_info_pb2,
    server_info_pb2_grpc,
    slots_pb2,
    slots_pb2_grpc,
    stages_pb2,
    stages_pb2_grpc,
)
from offbeat.v1beta1 import (
    lane_planning_pb2,
    lane_planning_pb2_grpc,
    lateness_pb2,
    lateness_pb2_grpc,
)

DECISIONS = VECTORS / "decisions"
SERVICES = {
    messages.DESCRIPTOR.services_by_name[name]: getattr(stubs, f"{name}Stub")
    for messages, stubs, name in [
        (slots_pb2, slots_pb2_grpc, "SlotService"),
        (stages_pb2, stages_pb2_grpc, "StageService"),
        (lanes_pb2, lanes_pb2_grpc, "LaneService"),
        (named_spread_pb2, named_spread_pb2_grpc, "NamedSpreadService"),
        (server_info_pb2, server_info_pb2_grpc, "ServerInfoService"),
        (lane_planning_pb2, lane_planning_pb2_grpc, "LanePlanningService"),
        (lateness_pb2, lateness_pb2_grpc, "LatenessService"),
    ]
}
#: Reasons of status NOT_FOUND; all others are about the request itself.
NOT_FOUND = {"UNKNOWN_SCHEDULE"}


@pytest.fixture(scope="module")
def channel(sidecar):
    with grpc.insecure_channel(sidecar.address) as channel:
        yield channel


def ask(channel, method, request):
    """Call the method; its name alone determines the service."""
    service, stub = service_of(method)
    return getattr(stub(channel), method)(message_of(service, method, request), timeout=10)


def service_of(method):
    (pair,) = [pair for pair in SERVICES.items() if method in pair[0].methods_by_name]
    return pair


def message_of(service, method, request):
    request_class = service.methods_by_name[method].input_type._concrete_class
    return json_format.ParseDict(request, request_class())


def decisions(field):
    """Return the cases of all files that have a field: `response`, or `reason` for refusals."""
    files = sorted(DECISIONS.glob("*.json"))
    assert len(files) >= 4
    cases = [case for file in files for case in json.loads(file.read_text())]
    return [case for case in cases if field in case]


def filled(case):
    """Return the request, with texts and lists filled in that are too long to write out."""
    request = case["request"]
    for fill in ("fill_text", "fill_list"):
        if fill in case:
            *parents, name = case[fill]["path"]
            place = request
            for parent in parents:
                place = place[parent]
            length = case[fill]["length"]
            element = case[fill].get("element")
            place[name] = "x" * length if fill == "fill_text" else [element] * length
    return request


def test_golden_answers(channel):
    cases = decisions("response")
    assert len(cases) > 250
    for case in cases:
        response = ask(channel, case["method"], case["request"])
        expected = json_format.ParseDict(case["response"], type(response)())
        for estimate in ("bucket_share", "slot_load", "second_load"):
            if estimate in response.DESCRIPTOR.fields_by_name:
                response.ClearField(estimate)
        for pair in getattr(response, "pairs", ()):  # of a comparison
            assert pair.message
            pair.ClearField("message")
        assert response == expected, case["request"]


def refused_by_both(channel, transport, case):
    """Return the exceptions for a refusal, by gRPC and by the Connect protocol."""
    method, request = case["method"], filled(case)
    with pytest.raises(grpc.RpcError) as caught:
        ask(channel, method, request)
    yield from_rpc_error(caught.value, "address")
    with pytest.raises(offbeat.OffbeatError) as caught:
        transport.call(method, message_of(service_of(method)[0], method, request), 10)
    yield caught.value


def test_refusals_become_exceptions(channel, sidecar):
    transport = Transport(Access(sidecar.address))
    # Some mistakes can be made only in JSON, and not in messages.
    refused = [case for case in decisions("reason") if not case.get("json_only")]
    assert len(refused) > 90
    for case in refused:
        first, second = refused_by_both(channel, transport, case)
        kinds = [[type(detail) for detail in error.details] for error in (first, second)]
        assert (first.code, kinds[0]) == (second.code, kinds[1]), case["name"]
        for error in (first, second):
            kind = offbeat.NotFound if case["reason"] in NOT_FOUND else offbeat.InvalidArgument
            assert isinstance(error, kind), case["name"]
            assert error.reason == f"ERROR_REASON_{case['reason']}", case["name"]
            assert error.field == case["field"], case["name"]
            assert error.value == case.get("value", error.value), case["name"]
            assert all(words in error.allowed for words in case.get("allowed", [])), case["name"]
