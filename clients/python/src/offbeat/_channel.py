"""The connection: made at the first call, kept, and made anew after a fork."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from types import SimpleNamespace
from typing import Any, Callable

from ._columns import assign_slots_response
from ._secret import Unpicklable
from .access import Access, Token

#: Those whose answers are pure functions of the question: asking twice changes nothing. And two
#: that keep something: what counts of lateness a server had is gone with it, and what is done to
#: a named spread comes to the same if it is done twice. (Without a policy, grpc 1.51 would never
#: connect again, once that failed: only calls that wait let it try.)
_RETRIED_SERVICES = (
    "offbeat.v1.LaneService",
    "offbeat.v1.NamedSpreadService",
    "offbeat.v1.ServerInfoService",
    "offbeat.v1.SlotService",
    "offbeat.v1.StageService",
    "offbeat.v1beta1.LanePlanningService",
    "offbeat.v1beta1.LatenessService",
)

#: Small and quick: a sidecar is beside its caller, or about to be.
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
        # A stream is opened anew by the consumer, who knows what it has.
        {"name": [{"service": "offbeat.v1.NamedSpreadService", "method": "StreamJobs"}]},
    ]
}

#: What grpc keeps of a call to send it again: more than the largest message of a sidecar takes.
#: By its own 256 KiB a batch would have one attempt, in which grpc 1.51 does not get to connect.
_RETRY_BUFFER_BYTES = 8 << 20

#: How long grpc may take to tell its state, which it knows.
_STATE_SECONDS = 0.1

#: A batch of 65,536 IDs that are all refused, with what is wrong about each.
_MAX_ANSWER_BYTES = 64 << 20


class LazyChannel(Unpicklable):
    """Holds one channel for each process that uses it.

    Nothing connects before the first call. A forked child makes a channel of
    its own; that of its parent stays the parent's, and is never closed here.
    """

    def __init__(self, access: Access) -> None:
        """Remember whom to connect to."""
        self._access = access
        self._lock = threading.Lock()
        self._pid = 0
        self._channel: Any = None
        self._stub: Any = None
        self._inherited: list[Any] = []
        os.register_at_fork(after_in_child=self._forget_lock)

    def stub(self) -> Any:
        """Return the stub of this process, with the methods of all services."""
        self._ensure()
        return self._stub

    def _ensure(self) -> None:
        if self._pid != os.getpid():
            with self._lock:
                if self._pid != os.getpid():
                    self._connect()

    def is_unreachable(self) -> bool:
        """Say whether the last attempt to connect has failed, and none has come through since."""
        import grpc

        channel, told, states = self._channel, threading.Event(), []

        def tell(state: Any) -> None:
            states.append(state)
            told.set()

        if channel is None:
            return False  # closed meanwhile
        # grpc tells its state on another thread, and at once.
        channel.subscribe(tell)
        told.wait(_STATE_SECONDS)
        channel.unsubscribe(tell)
        return states[:1] == [grpc.ChannelConnectivity.TRANSIENT_FAILURE]

    def close(self) -> None:
        """Close the channel of this process; the next call makes a new one."""
        with self._lock:
            if self._channel is not None and self._pid == os.getpid():
                self._channel.close()
            self._pid, self._channel, self._stub = 0, None, None

    def _connect(self) -> None:
        # Without it, grpc aborts or hangs in a child that was forked after a call. It is
        # read when grpc is first imported, which is why that happens here and not above.
        os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "1")
        import grpc

        _let_greenlets_run()
        if self._channel is not None:
            self._inherited.append(self._channel)  # collecting it would close the parent's
        self._channel = _open(grpc, self._access)
        self._stub = _stub(self._channel, self._access.token)
        self._pid = os.getpid()

    def _forget_lock(self) -> None:
        self._lock = threading.Lock()  # another thread may have held it at the fork


class LoopChannel(Unpicklable):
    """Holds one channel for the event loop that uses it.

    A channel of grpc's asyncio belongs to the loop in which it was made: another loop
    (a second ``asyncio.run``) has one of its own.
    """

    def __init__(self, access: Access) -> None:
        """Remember whom to connect to."""
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
            os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "1")
            import grpc.aio

            self._channel = _open(grpc.aio, self._access)
            self._stub = _stub(self._channel, self._access.token)
            self._loop = loop

    def is_unreachable(self) -> bool:
        """Say whether the last attempt to connect has failed, and none has come through since."""
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
    """Let grpc wait by gevent, if that has patched sockets: else a call stops all greenlets."""
    monkey = sys.modules.get("gevent.monkey")
    if monkey is not None and monkey.is_module_patched("socket"):
        from grpc.experimental import gevent

        gevent.init_gevent()


def _open(grpc: Any, access: Access) -> Any:
    """Return a channel of grpc, or of its asyncio."""
    options = _channel_options(access)
    if access.tls is None:
        return grpc.insecure_channel(access.address, options=options)
    return grpc.secure_channel(access.address, access.tls.credentials(), options=options)


def _stub(channel: Any, token: Token | None) -> Any:
    """Return one stub with the methods of all services, whose names all differ."""
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
    # Both read the answer's columns as they are on the wire; the second writes its IDs so, too.
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
    """Return a method whose calls carry the token of the time of the call.

    grpc's own credentials of calls want TLS, and so would not do on loopback.
    """

    def call(request: Any, timeout: float | None = None) -> Any:
        return method(request, timeout=timeout, metadata=token.metadata())

    return call


def _channel_options(access: Access) -> list[tuple[str, Any]]:
    """Return the options of a channel."""
    options: list[tuple[str, Any]] = [
        ("grpc.service_config", json.dumps(_RETRIES)),
        ("grpc.initial_reconnect_backoff_ms", 50),
        ("grpc.min_reconnect_backoff_ms", 2_000),  # the time to connect, too
        ("grpc.max_reconnect_backoff_ms", 500),
        ("grpc.per_rpc_retry_buffer_size", _RETRY_BUFFER_BYTES),
        ("grpc.max_receive_message_length", _MAX_ANSWER_BYTES),
        ("grpc.enable_http_proxy", 0),
    ]
    if access.tls is not None and access.tls.server_name is not None:
        options.append(("grpc.ssl_target_name_override", access.tls.server_name))
    if access.address.startswith("unix:"):
        # grpc would send the socket's path as the authority, which HTTP/2 servers refuse.
        options.append(("grpc.default_authority", "localhost"))
    return options
