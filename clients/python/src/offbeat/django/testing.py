"""Tests of applications: no sidecar, and a clock that the test sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from unittest import mock

from ..testing import FakeClient
from . import checks, conf, jobs, querysets


@contextmanager
def override_offbeat(now: datetime | None = None) -> Iterator[FakeClient]:
    """Decide here, without a sidecar.

    The ``clock`` of the client can be set, and is the store's::

    with override_offbeat(now=datetime(2026, 1, 1, tzinfo=timezone.utc)) as client:
        client.clock.travel(timedelta(hours=1))
    """
    from .store import DjangoStore

    client = FakeClient(now=now, schedules=conf.setting("SCHEDULES_FILE"))
    with ExitStack() as patches:
        for module in (checks, conf, jobs, querysets):
            patches.enter_context(mock.patch.object(module, "get_client", lambda: client))
        patches.enter_context(mock.patch.object(DjangoStore, "now", lambda store: client.clock.now))
        yield client
    client.close()
