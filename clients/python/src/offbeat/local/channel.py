"""The transport in the mode "local": decides streams of assignments, and refuses other calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any, NoReturn

from .._secret import Unpicklable
from ..v1 import slots_pb2 as pb
from .assign import Batch
from .context import Context
from .decider import Decider, needs_sidecar
from .ids import count_ids
from .rejections import Rejection


class LocalChannel(Unpicklable):
    """A channel without a connection."""

    def __init__(self, decider: Decider) -> None:
        self._stub = _LocalStub(decider.context)

    def stub(self) -> Any:
        """Return a stub that decides ``StreamSlotAssignments`` and refuses all other methods."""
        return self._stub

    def call(self, method: str, request: Any, seconds: float) -> NoReturn:
        raise needs_sidecar(method)

    def is_unreachable(self) -> bool:
        return False

    def close(self) -> _Closed:
        """Do nothing; the result may be awaited."""
        return _Closed()


class _Closed:
    def __await__(self) -> Generator[None, None, None]:
        yield from ()


class _LocalStub:
    """Decides streams of assignments; all other methods need a sidecar."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def __getattr__(self, method: str) -> NoReturn:
        raise needs_sidecar(method)

    def StreamSlotAssignments(self, requests: Any, timeout: float | None = None) -> _LocalStream:
        """Answer requests as they come; ``timeout`` has no effect, because nothing waits."""
        return _LocalStream(requests, self._context)


class _LocalStream:
    """The answers to a stream, one message after another."""

    def __init__(self, requests: Any, context: Context) -> None:
        self._requests, self._context = requests, context
        self._batch: Batch | None = None
        self._id_count = 0

    def __iter__(self) -> Iterator[pb.StreamSlotAssignmentsResponse]:
        for request in self._requests:
            response = self._answer(request)
            if response is not None:
                yield response

    async def __aiter__(self) -> AsyncIterator[pb.StreamSlotAssignmentsResponse]:
        async for request in self._requests:
            response = self._answer(request)
            if response is not None:
                yield response

    def cancel(self) -> None:
        """Do nothing: there is no call to cancel."""

    def _answer(
        self, request: pb.StreamSlotAssignmentsRequest
    ) -> pb.StreamSlotAssignmentsResponse | None:
        try:
            return self._decide(request)
        except Rejection as rejection:
            raise rejection.error() from None

    def _decide(
        self, request: pb.StreamSlotAssignmentsRequest
    ) -> pb.StreamSlotAssignmentsResponse | None:
        """Answer a message; a first message without IDs has no answer."""
        response = pb.StreamSlotAssignmentsResponse(first_id_index=self._id_count)
        if self._batch is None:
            self._batch = Batch(request, self._context)
            if not request.HasField("ids"):
                return None
        if self._id_count == 0:
            response.identity.CopyFrom(self._batch.schedule.identity())
        self._context.without_zones(request.ids)
        columns = vars(self._batch.assign(request.ids, request.weights))
        response.assignments.CopyFrom(pb.SlotAssignments(**columns))
        self._id_count += count_ids(request.ids)
        return response
