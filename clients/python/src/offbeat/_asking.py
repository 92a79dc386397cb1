"""How questions are asked: by calls that wait, or by calls that are awaited."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Callable, TypeVar

from ._channel import LazyChannel, LoopChannel
from ._questions import Question
from ._settings import to_seconds
from .errors import from_rpc_error

T = TypeVar("T")


class Asking:
    """Asks questions, and waits for the answers."""

    address: str
    timeout: float
    _channel: LazyChannel

    def _ask(self, question: Question[T], timeout: float | timedelta | None) -> T:
        seconds = self.timeout if timeout is None else to_seconds(timeout)
        try:
            method, request = next(question)
            while True:
                method, request = question.send(self._call(method, request, seconds))
        except StopIteration as answered:
            answer: T = answered.value
            return answer

    def _call(self, method: str, request: Any, seconds: float) -> Any:
        import grpc

        call: Callable[..., Any] = getattr(self._channel.stub(), method)
        try:
            return call(request, timeout=seconds)
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from error


class AsyncAsking:
    """Asks questions, and awaits the answers."""

    address: str
    timeout: float
    _channel: LoopChannel

    async def _ask(self, question: Question[T], timeout: float | timedelta | None) -> T:
        seconds = self.timeout if timeout is None else to_seconds(timeout)
        try:
            method, request = next(question)
            while True:
                method, request = question.send(await self._call(method, request, seconds))
        except StopIteration as answered:
            answer: T = answered.value
            return answer

    async def _call(self, method: str, request: Any, seconds: float) -> Any:
        import grpc

        call: Callable[..., Any] = getattr(self._channel.stub(), method)
        try:
            return await call(request, timeout=seconds)
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from error
