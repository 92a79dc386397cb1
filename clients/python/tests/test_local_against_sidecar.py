"""Local decisions and those of a real sidecar: every field equal, refusals too.

The requests are those of a salt: the day's date, or ``OFFBEAT_SALT``. It is printed.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from typing import Any

import grpc
import pytest
from conftest import SALT
from local_decisions import decided_locally
from random_requests import Requests
from test_golden import SERVICES

import offbeat
from offbeat.local.decider import Decider

REQUESTS = 6_000


@pytest.fixture(scope="module")
def channel(sidecar):
    with grpc.insecure_channel(sidecar.address) as channel:
        yield channel


def asked(channel: Any, method: str, request: Any) -> Any:
    """Return the sidecar's answer, or what the client makes of its refusal."""
    ((_, stub),) = [pair for pair in SERVICES.items() if method in pair[0].methods_by_name]
    try:
        return getattr(stub(channel), method)(request, timeout=10)
    except grpc.RpcError as error:
        return offbeat.errors.from_rpc_error(error, "address")


def told(outcome: Any) -> Any:
    """Return what a caller can see of an answer or a refusal."""
    if not isinstance(outcome, offbeat.OffbeatError):
        return outcome
    error = outcome
    fields = (error.reason, error.field, error.value, error.allowed, error.code)
    return (type(error), str(error), *fields)


def test_every_field_is_the_sidecars(channel):
    requests, decider = Requests(SALT), Decider(None, lambda: datetime.now(timezone.utc))
    outcomes: Counter[str] = Counter()
    for number in range(REQUESTS):
        method, request = requests.request()
        local = decided_locally(decider, method, request)
        if isinstance(local, offbeat.NeedsSidecar):
            outcomes["needs a sidecar"] += 1
            continue
        remote = asked(channel, method, request)
        kind = "refused" if isinstance(remote, offbeat.OffbeatError) else "answered"
        outcomes[f"{kind} {method}"] += 1
        case = f"OFFBEAT_SALT={SALT}: request {number}, {method}: {request}"
        assert told(local) == told(remote), case
        while getattr(remote, "next_page_token", ""):
            request.page_token = remote.next_page_token
            local, remote = (
                decided_locally(decider, method, request),
                asked(channel, method, request),
            )
            outcomes["pages"] += 1
            assert told(local) == told(remote), case

    assert outcomes["needs a sidecar"] < REQUESTS / 4, outcomes
    assert outcomes["pages"] > REQUESTS / 100, outcomes
    for method in ("AssignSlot", "AssignSlots", "ListDueRuns", "RouteJob", "DescribeSchedule"):
        assert outcomes[f"answered {method}"] > REQUESTS / 30, outcomes
        assert outcomes[f"refused {method}"] > REQUESTS / 300, outcomes
    for method in ("ListSlots", "GetWindowPredicate"):
        assert outcomes[f"answered {method}"] > REQUESTS / 60, outcomes
