"""Local decisions equal those of a real sidecar in every field, including refusals.

The seed of the requests is today's date, or ``OFFBEAT_SALT``. It is printed.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from typing import Any

import pytest
from conftest import SALT
from local_decisions import as_message, decided_locally
from random_requests import Requests

import offbeat
from offbeat._connect import Transport
from offbeat.access import Access
from offbeat.local.decider import Decider

REQUESTS = 6_000


@pytest.fixture(scope="module")
def transport(sidecar):
    return Transport(Access(sidecar.address))


def asked(transport: Transport, method: str, request: Any) -> Any:
    """Return the sidecar's answer, or the client's exception for its refusal."""
    try:
        return as_message(transport.call(method, request, 10))
    except offbeat.OffbeatError as error:
        return error


def told(outcome: Any) -> Any:
    """Return what a caller can see of an answer or a refusal."""
    if not isinstance(outcome, offbeat.OffbeatError):
        return outcome
    error = outcome
    fields = (error.reason, error.field, error.value, error.allowed, error.code)
    return (type(error), str(error), *fields)


def test_every_field_is_the_sidecars(transport):
    requests, decider = Requests(SALT), Decider(None, lambda: datetime.now(timezone.utc))
    outcomes: Counter[str] = Counter()
    for number in range(REQUESTS):
        method, request = requests.request()
        local = decided_locally(decider, method, request)
        if isinstance(local, offbeat.NeedsSidecar):
            outcomes["needs a sidecar"] += 1
            continue
        remote = asked(transport, method, request)
        kind = "refused" if isinstance(remote, offbeat.OffbeatError) else "answered"
        outcomes[f"{kind} {method}"] += 1
        case = f"OFFBEAT_SALT={SALT}: request {number}, {method}: {request}"
        assert told(local) == told(remote), case
        while getattr(remote, "next_page_token", ""):
            request.page_token = remote.next_page_token
            local, remote = (
                decided_locally(decider, method, request),
                asked(transport, method, request),
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
