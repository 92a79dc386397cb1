"""Clients for tests: they decide without a sidecar, by a clock that the test sets.

    from offbeat.testing import FakeClient

    client = FakeClient(now=datetime(2026, 1, 1, tzinfo=timezone.utc))
    client.clock.travel(timedelta(hours=2))

For pytest there is the fixture ``offbeat_client``, with ``pytest_plugins =
["offbeat.testing.pytest_plugin"]`` in ``conftest.py``. What needs a sidecar raises
:class:`~offbeat.NeedsSidecar`.
"""

from .clients import FakeAsyncClient, FakeClient
from .clocks import Clock

__all__ = ["Clock", "FakeAsyncClient", "FakeClient"]
