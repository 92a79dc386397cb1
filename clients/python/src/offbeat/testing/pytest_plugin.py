"""Fixtures for pytest: ``pytest_plugins = ["offbeat.testing.pytest_plugin"]``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .clients import FakeAsyncClient, FakeClient
from .clocks import Clock


@pytest.fixture
def offbeat_client() -> Iterator[FakeClient]:
    """Return a client without a sidecar; its ``clock`` starts at the time of the machine."""
    client = FakeClient()
    yield client
    client.close()


@pytest.fixture
def offbeat_clock(offbeat_client: FakeClient) -> Clock:
    """Return the clock of ``offbeat_client``."""
    return offbeat_client.clock


@pytest.fixture
def offbeat_async_client(offbeat_clock: Clock) -> FakeAsyncClient:
    """Return a client for asyncio with the same clock; it has nothing to close."""
    client = FakeAsyncClient()
    client.clock = offbeat_clock
    return client
