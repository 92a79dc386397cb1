"""gRPC channels, for streams and for asyncio. The package is an extra: ``offbeat[grpc]``."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from types import SimpleNamespace
from typing import Any, Callable

from ._columns import assign_slots_response
from ._forks import ForkLock
from ._http import MAX_ANSWER_BYTES
from ._secret import Unpicklable
from ._statuses import error_of
from ._tls import grpc_credentials_of
from .access import Access, Token
from .errors import OffbeatError

#: The services whose calls may be repeated, as ``_methods`` explains. (Without a retry policy,
#: grpc 1.51 would never connect again after a failed attempt: only calls that wait let it try.)
_RETRIED_SERVICES = (
    "offbeat.v1.LaneService",
    "offbeat.v1.NamedSpreadService",
    "offbeat.v1.ServerInfoService",
    "offbeat.v1.SlotService",
    "offbeat.v1.StageService",
    "offbeat.v1beta1.LanePlanningService",
    "offbeat.v1beta1.LatenessService",
)

#: Few retries with short pauses: a sidecar runs beside its caller, or is about to start.
_RETRIES = {
    "methodConfig": [
        {
            "name": [{"service": name} for name in _RETRIED_SERVICES],
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.05s",
                "maxBackoff": "0.4s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        },
        # No retries: the consumer reopens the stream, because it knows which jobs it holds.
        {"name": [{"service": "offbeat.v1.NamedSpreadService", "method": "StreamJobs"}]},
    ]
}

#: How much of a call grpc buffers for retries: more than the largest message that a sidecar takes.
#: With grpc's default, 256 KiB, a large batch would have only one attempt, and grpc 1.51 does not
#: connect within it.
_RETRY_BUFFER_BYTES = 8 << 20

#: With this message, grpc.aio sometimes reports a lost connection as INTERNAL.
_LOST_IN_AIO = "Internal error from Core"

_STATUS_DETAILS = "grpc-status-details-bin"


def import_grpc() -> Any:
    """Return the package ``grpc``; if it is missing, raise an error that says how to install it."""
    # Without this setting, grpc aborts or hangs in a child that was forked after a stream. grpc
    # reads it at its first import, so the import is here and not at the top of the file.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "1")
    try:
        import grpc
    except ImportError as error:
        message = "streams and AsyncClient need grpcio: pip install 'offbeat[grpc]'"
        raise ImportError(message, name="grpc") from error
    return grpc


class ProcessChannel(Unpicklable):
    """Holds one channel for each process that uses it.

    Nothing connects before the first stream. A forked child opens its own channel and
    never closes the one that it inherited.
    """

    def __init__(self, access: Access) -> None:
        """Store the access; nothing connects yet."""
        self._access = access
        self._lock = ForkLock(self._disown)
        self._channel: Any = None
        self._stub: Any = None
        self._inherited: list[Any] = []

    def stub(self) -> Any:
        """Return the stub of this process, with the methods of all services."""
        with self._lock:
            if self._channel is None:
                grpc = import_grpc()
                _let_greenlets_run()
                self._channel = _open(grpc, self._access)
                self._stub = _stub(self._channel, self._access.token)
            return self._stub

    def close(self) -> None:
        """Close the channel of this process; the next stream makes a new one."""
        with self._lock:
            channel, self._channel, self._stub = self._channel, None, None
        if channel is not None:
            channel.close()

    def _disown(self) -> None:
        if self._channel is not None:
            # Kept from the garbage collector, which would close the parent's channel.
            self._inherited.append(self._channel)
        self._channel, self._stub = None, None


class LoopChannel(Unpicklable):
    """Holds one channel for the event loop that uses it.

    A channel of grpc.aio belongs to the event loop that created it: another loop, such as
    that of a second ``asyncio.run``, gets a new channel.
    """

    def __init__(self, access: Access) -> None:
        """Store the access; nothing connects yet."""
        self._access = access
        self._loop: asyncio.AbstractEventLoop | None = None
        self._channel: Any = None
        self._stub: Any = None

    def stub(self) -> Any:
        """Return the stub of the running loop, with the methods of all services."""
        self._ensure()
        return self._stub

    def _ensure(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            import_grpc()
            import grpc.aio

            self._channel = _open(grpc.aio, self._access)
            self._stub = _stub(self._channel, self._access.token)
            self._loop = loop

    def is_unreachable(self) -> bool:
        """Say whether the last attempt to connect failed and none has succeeded since."""
        import grpc

        if self._channel is None:
            return False  # closed meanwhile
        return bool(self._channel.get_state() is grpc.ChannelConnectivity.TRANSIENT_FAILURE)

    async def close(self) -> None:
        """Close the channel of the running loop; the next call makes a new one."""
        channel, loop = self._channel, self._loop
        self._loop, self._channel, self._stub = None, None, None
        if channel is not None and loop is asyncio.get_running_loop():
            await channel.close()


def _let_greenlets_run() -> None:
    """Make grpc use gevent if that has patched sockets: a stream would block all greenlets."""
    monkey = sys.modules.get("gevent.monkey")
    if monkey is not None and monkey.is_module_patched("socket"):
        from grpc.experimental import gevent

        gevent.init_gevent()


def _open(grpc: Any, access: Access) -> Any:
    """Open a channel with ``grpc``, which is the package or its ``grpc.aio``."""
    options = _channel_options(access)
    if access.tls is None:
        return grpc.insecure_channel(access.address, options=options)
    credentials = grpc_credentials_of(access.tls)
    return grpc.secure_channel(access.address, credentials, options=options)


def _stub(channel: Any, token: Token | None) -> Any:
    """Return one stub with the methods of all services; their names are unique."""
    from .v1.lanes_pb2_grpc import LaneServiceStub
    from .v1.named_spread_pb2_grpc import NamedSpreadServiceStub
    from .v1.server_info_pb2_grpc import ServerInfoServiceStub
    from .v1.slots_pb2 import AssignSlotsRequest
    from .v1.slots_pb2_grpc import SlotServiceStub
    from .v1.spread_pb2_grpc import SpreadServiceStub
    from .v1.stages_pb2_grpc import StageServiceStub
    from .v1beta1.lane_planning_pb2_grpc import LanePlanningServiceStub
    from .v1beta1.lateness_pb2_grpc import LatenessServiceStub

    methods: dict[str, Any] = {}
    for service in (
        SlotServiceStub,
        SpreadServiceStub,
        NamedSpreadServiceStub,
        StageServiceStub,
        LaneServiceStub,
        LanePlanningServiceStub,
        LatenessServiceStub,
        ServerInfoServiceStub,
    ):
        methods.update(vars(service(channel)))
    # Both read the response's columns from the wire. AssignPacked also takes a request that is
    # already serialized.
    methods["AssignSlots"] = _assigning(channel, AssignSlotsRequest.SerializeToString)
    methods["AssignPacked"] = _assigning(channel, None)
    if token is not None:
        methods = {name: _bearing(token, method) for name, method in methods.items()}
    return SimpleNamespace(**methods)


def _assigning(channel: Any, serializer: Callable[[Any], bytes] | None) -> Any:
    return channel.unary_unary(
        "/offbeat.v1.SlotService/AssignSlots",
        request_serializer=serializer,
        response_deserializer=assign_slots_response,
    )


def _bearing(token: Token, method: Any) -> Callable[..., Any]:
    """Return a method that gets the current token for each call and sends it.

    grpc's own call credentials require TLS, so they do not work on loopback.
    """

    def call(request: Any, timeout: float | None = None) -> Any:
        return method(request, timeout=timeout, metadata=token.metadata())

    return call


def _channel_options(access: Access) -> list[tuple[str, Any]]:
    options: list[tuple[str, Any]] = [
        ("grpc.service_config", json.dumps(_RETRIES)),
        ("grpc.initial_reconnect_backoff_ms", 50),
        ("grpc.min_reconnect_backoff_ms", 2_000),  # also limits the time of an attempt to connect
        ("grpc.max_reconnect_backoff_ms", 500),
        ("grpc.per_rpc_retry_buffer_size", _RETRY_BUFFER_BYTES),
        ("grpc.max_receive_message_length", MAX_ANSWER_BYTES),
        ("grpc.enable_http_proxy", 0),
    ]
    if access.tls is not None and access.tls.server_name is not None:
        options.append(("grpc.ssl_target_name_override", access.tls.server_name))
    if access.address.startswith("unix:"):
        # grpc would send the socket's path as the authority, which HTTP/2 servers refuse.
        options.append(("grpc.default_authority", "localhost"))
    return options


def is_rpc_error(error: BaseException) -> bool:
    """Say whether the error is one of grpc; it is not if the package is not loaded."""
    grpc = sys.modules.get("grpc")
    return grpc is not None and isinstance(error, grpc.RpcError)


def from_rpc_error(error: Any, address: str, unreachable: bool = False) -> OffbeatError:
    """Turn a grpc error into an ``OffbeatError`` with its details.

    ``unreachable`` says that the deadline passed while grpc tried to connect: the error is then
    ``Unavailable``.
    """
    from google.rpc import status_pb2

    packed = [
        (detail.type_url.rpartition("/")[2], detail.value)
        for key, value in error.trailing_metadata() or ()
        if key == _STATUS_DETAILS
        for detail in status_pb2.Status.FromString(value).details
    ]
    code, message = error.code().name, error.details() or ""
    was_lost = code == "INTERNAL" and not packed and message == _LOST_IN_AIO
    if was_lost or (code == "DEADLINE_EXCEEDED" and unreachable):
        code = "UNAVAILABLE"
    return error_of(address, code, message, packed)
