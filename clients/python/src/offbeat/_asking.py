"""How questions are asked: by calls that wait, or by calls that are awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any, Callable, TypeVar

from ._channel import LazyChannel, LoopChannel
from ._modes import Decisions
from ._questions import Question
from ._settings import to_seconds
from .breaker import Circuit
from .errors import CircuitOpen, OffbeatError, Unavailable, from_rpc_error
from .local.channel import LocalChannel
from .schedule import AnySchedule

T = TypeVar("T")

#: For so many seconds a question that did not reach the sidecar is asked again: a restart takes
#: less. grpc alone gives up sooner, as it makes five attempts at most.
_PATIENCE = 4.0

#: How long grpc's own attempts take at most, in seconds, when nobody is there.
_GRPC_ATTEMPTS = 0.5

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.4


class _Attempts:
    """The attempts to ask one question, within the deadline of its call."""

    def __init__(self, seconds: float) -> None:
        """Begin with the first."""
        self._end = time.monotonic() + seconds
        self._patient_until: float | None = None
        self._pause = _FIRST_PAUSE

    def left(self) -> float:
        """Return the timeout of the next attempt."""
        return max(self._end - time.monotonic(), 0.0)

    def pause(self) -> float | None:
        """Return how long to wait after a failed attempt; none if it was the last."""
        now, pause = time.monotonic(), self._pause
        if self._patient_until is None:
            self._patient_until = min(now + _PATIENCE, self._end - _GRPC_ATTEMPTS)
        if now + pause >= self._patient_until:
            return None
        self._pause = min(2 * pause, _LONGEST_PAUSE)
        return pause


class Deciding:
    """What both clients know of schedules without asking."""

    _decisions: Decisions

    @property
    def mode(self) -> str:
        """Who decides: ``"remote"``, ``"auto"`` or ``"local"``."""
        return self._decisions.mode

    def local_refusal(self, schedule: AnySchedule) -> str | None:
        """Say why a schedule needs a sidecar; ``None`` if it does not. In any mode.

        For a check at start, of what else ``NeedsSidecar`` would say when it is first used. A
        schedule that cannot be is refused. By name, it must stand in the file of ``schedules``.
        """
        return self._decisions.local_refusal(schedule)


class Asking(Deciding):
    """Asks questions, and waits for the answers."""

    address: str
    timeout: float
    _channel: LazyChannel | LocalChannel
    _circuit: Circuit

    def _ask(self, question: Question[T], timeout: float | timedelta | None) -> T:
        seconds = self.timeout if timeout is None else to_seconds(timeout)
        calls = self._decisions.answer(question)
        try:
            method, request, patient = next(calls)
            while True:
                call = self._call_until_reached if patient else self._call
                try:
                    response = call(method, request, seconds)
                except OffbeatError as error:  # there may be another way to the answer
                    method, request, patient = calls.throw(error)
                else:
                    method, request, patient = calls.send(response)
        except StopIteration as answered:
            answer: T = answered.value
            return answer

    def _call_until_reached(self, method: str, request: Any, seconds: float) -> Any:
        attempts = _Attempts(seconds)
        while True:
            try:
                return self._call(method, request, attempts.left())
            except CircuitOpen:
                raise
            except Unavailable:
                pause = attempts.pause()
                if pause is None:
                    raise
            time.sleep(pause)

    def _call(self, method: str, request: Any, seconds: float) -> Any:
        import grpc

        call: Callable[..., Any] = getattr(self._channel.stub(), method)
        with self._circuit.call():
            try:
                return call(request, timeout=seconds)
            except grpc.RpcError as error:
                late = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
                unreachable = late and self._channel.is_unreachable()
                raise from_rpc_error(error, self.address, unreachable) from error


class AsyncAsking(Deciding):
    """Asks questions, and awaits the answers."""

    address: str
    timeout: float
    _channel: LoopChannel | LocalChannel
    _circuit: Circuit

    async def _ask(self, question: Question[T], timeout: float | timedelta | None) -> T:
        seconds = self.timeout if timeout is None else to_seconds(timeout)
        calls = self._decisions.answer(question)
        try:
            method, request, patient = next(calls)
            while True:
                call = self._call_until_reached if patient else self._call
                try:
                    response = await call(method, request, seconds)
                except OffbeatError as error:  # there may be another way to the answer
                    method, request, patient = calls.throw(error)
                else:
                    method, request, patient = calls.send(response)
        except StopIteration as answered:
            answer: T = answered.value
            return answer

    async def _call_until_reached(self, method: str, request: Any, seconds: float) -> Any:
        attempts = _Attempts(seconds)
        while True:
            try:
                return await self._call(method, request, attempts.left())
            except CircuitOpen:
                raise
            except Unavailable:
                pause = attempts.pause()
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    async def _call(self, method: str, request: Any, seconds: float) -> Any:
        import grpc

        call: Callable[..., Any] = getattr(self._channel.stub(), method)
        with self._circuit.call():
            try:
                return await call(request, timeout=seconds)
            except grpc.RpcError as error:
                late = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
                unreachable = late and self._channel.is_unreachable()
                raise from_rpc_error(error, self.address, unreachable) from error


def catching(requests: Iterator[Any], failures: list[BaseException]) -> Iterator[Any]:
    """Pass requests on; keep what their making raised, which grpc would only log."""
    try:
        yield from requests
    except Exception as error:  # not GeneratorExit: that is grpc's, when the call has failed
        failures.append(error)
        raise


def translated(call: Any, failures: list[BaseException], address: str) -> Iterator[Any]:
    import grpc

    try:
        yield from call
    except grpc.RpcError as error:
        if failures:
            raise failures[0] from None
        raise from_rpc_error(error, address) from error


async def async_catching(
    requests: AsyncIterator[Any], failures: list[BaseException]
) -> AsyncIterator[Any]:
    """Pass requests on; keep what their making raised, which grpc would only log."""
    try:
        async for request in requests:
            yield request
    except Exception as error:
        failures.append(error)
        raise


async def async_translated(
    call: Any, failures: list[BaseException], address: str
) -> AsyncIterator[Any]:
    import grpc

    try:
        async for response in call:
            yield response
    except asyncio.CancelledError:
        if failures:  # grpc cancels a call whose requests fail
            raise failures[0] from None
        raise
    except grpc.RpcError as error:
        if failures:
            raise failures[0] from None
        raise from_rpc_error(error, address) from error
