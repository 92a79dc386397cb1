"""For tests of applications: no sidecar, and a clock that the test sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from unittest import mock

from ..testing import FakeClient
from . import checks, conf, jobs, querysets


@contextmanager
def override_offbeat(now: datetime | None = None) -> Iterator[FakeClient]:
    """Decide locally, without a sidecar.

    The test can set the client's ``clock``, which the store uses too::

        with override_offbeat(now=datetime(2026, 1, 1, tzinfo=timezone.utc)) as client:
            client.clock.travel(timedelta(hours=1))
    """
    from .store import DjangoStore

    client = FakeClient(now=now, schedules=conf.setting("SCHEDULES_FILE"))

    def now_of_clock(store: DjangoStore) -> datetime:
        return client.clock.now

    with ExitStack() as patches:
        for module in (checks, conf, jobs, querysets):
            patches.enter_context(mock.patch.object(module, "get_client", return_value=client))
        patches.enter_context(mock.patch.object(DjangoStore, "now", now_of_clock))
        yield client
    client.close()
