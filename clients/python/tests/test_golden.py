"""The golden decisions, through the generated code alone."""

from __future__ import annotations

import json

import grpc
import pytest
from conftest import VECTORS
from google.protobuf import json_format

import offbeat
from offbeat.v1 import slots_pb2, slots_pb2_grpc

DECISIONS = VECTORS / "decisions"


@pytest.fixture(scope="module")
def stub(sidecar):
    with grpc.insecure_channel(sidecar.address) as channel:
        yield slots_pb2_grpc.SlotServiceStub(channel)


def ask(stub, method, request):
    message = json_format.ParseDict(request, getattr(slots_pb2, f"{method}Request")())
    return getattr(stub, method)(message, timeout=10)


def test_golden_answers(stub):
    cases = json.loads((DECISIONS / "answers.json").read_text())
    for case in cases:
        response = ask(stub, case["method"], case["request"])
        expected = json_format.ParseDict(case["response"], type(response)())
        for estimate in ("bucket_share", "slot_load", "second_load"):
            if estimate in response.DESCRIPTOR.fields_by_name:
                response.ClearField(estimate)
        assert response == expected, case["request"]


def test_refusals_become_exceptions(stub):
    cases = json.loads((DECISIONS / "refusals.json").read_text())
    refused = [case for case in cases if not {"json_only", "fill_text", "fill_list"} & set(case)]
    for case in refused:
        with pytest.raises(grpc.RpcError) as caught:
            ask(stub, case["method"], case["request"])
        error = offbeat.errors.from_rpc_error(caught.value, "address")
        assert isinstance(error, offbeat.InvalidArgument), case["name"]
        assert error.reason == f"ERROR_REASON_{case['reason']}", case["name"]
        assert error.field == case["field"], case["name"]
        assert error.value == case.get("value", error.value), case["name"]
        assert all(words in error.allowed for words in case.get("allowed", [])), case["name"]
