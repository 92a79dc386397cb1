"""How a client reaches the sidecar: unary calls use the Connect protocol, streams use gRPC."""

from __future__ import annotations

from typing import Any

from ._connect import Transport
from ._grpc_channel import ProcessChannel
from ._secret import Unpicklable
from .access import Access


class Channel(Unpicklable):
    """Connects at the first call; streams, which are rare, use a separate connection."""

    def __init__(self, access: Access) -> None:
        """Store the access; nothing connects yet."""
        self._access = access
        self._calls = Transport(access)
        self._streams = ProcessChannel(access)

    def call(self, method: str, request: Any, seconds: float) -> Any:
        """Call a unary method, of any service."""
        return self._calls.call(method, request, seconds)

    def stub(self) -> Any:
        """Return the gRPC stub, for the streaming methods."""
        return self._streams.stub()

    def close(self) -> None:
        """Close the connections; the next call makes new ones."""
        self._calls.close()
        self._streams.close()
