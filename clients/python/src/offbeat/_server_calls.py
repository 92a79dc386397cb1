"""Calls about the server itself."""

from __future__ import annotations

from datetime import timedelta

from . import server as questions
from ._asking import Asking, AsyncAsking
from .server import ServerInfo


class ServerCalls(Asking):
    """The calls of ``ServerInfoService``."""

    def server_info(self, *, timeout: float | timedelta | None = None) -> ServerInfo:
        """Return the server's version, its time-zone database and its limits."""
        return self._ask(questions.server_info(), timeout)


class AsyncServerCalls(AsyncAsking):
    """The calls of ``ServerInfoService``, as coroutines."""

    async def server_info(self, *, timeout: float | timedelta | None = None) -> ServerInfo:
        """See :meth:`offbeat.Client.server_info`."""
        return await self._ask(questions.server_info(), timeout)
