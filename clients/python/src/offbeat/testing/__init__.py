"""Clients for tests, which decide without a sidecar and by a clock that the test sets.

    from offbeat.testing import FakeClient

    client = FakeClient(now=datetime(2026, 1, 1, tzinfo=timezone.utc))
    client.clock.travel(timedelta(hours=2))

For pytest, the fixture ``offbeat_client`` is available with ``pytest_plugins =
["offbeat.testing.pytest_plugin"]`` in ``conftest.py``. Calls that need a sidecar raise
:class:`~offbeat.NeedsSidecar`.
"""

from .clients import FakeAsyncClient, FakeClient
from .clocks import Clock

__all__ = ["Clock", "FakeAsyncClient", "FakeClient"]
