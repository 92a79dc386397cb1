"""How questions are asked: by blocking calls, or by coroutines."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Any, Callable, TypeVar

from ._channel import Channel
from ._grpc_channel import LoopChannel, from_rpc_error
from ._modes import Decisions
from ._questions import Question
from ._settings import to_seconds
from .breaker import Circuit
from .errors import CircuitOpen, OffbeatError, Unavailable
from .local.channel import LocalChannel
from .schedule import AnySchedule

T = TypeVar("T")

#: How long to retry, in seconds from the first attempt that did not reach the sidecar. A restart
#: of the sidecar takes less. The transports themselves give up sooner, after a few attempts.
_PATIENCE = 4.0

#: How long a transport's own attempts take at most, in seconds, when nothing listens.
_TRANSPORT_ATTEMPTS = 0.5

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.4


class _Attempts:
    """The attempts to ask one question, within the deadline of its call."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._patient_until: float | None = None
        self._pause = _FIRST_PAUSE

    def left(self) -> float:
        """Return the timeout of the next attempt, in seconds."""
        return max(self._end - time.monotonic(), 0.0)

    def pause(self) -> float | None:
        """Return the seconds to wait after a failed attempt; ``None`` if it was the last."""
        now, pause = time.monotonic(), self._pause
        if self._patient_until is None:
            self._patient_until = min(now + _PATIENCE, self._end - _TRANSPORT_ATTEMPTS)
        if now + pause >= self._patient_until:
            return None
        self._pause = min(2 * pause, _LONGEST_PAUSE)
        return pause


class Deciding:
    """What both clients have that needs no sidecar."""

    _decisions: Decisions

    @property
    def mode(self) -> str:
        """Who decides: ``"remote"``, ``"auto"`` or ``"local"``."""
        return self._decisions.mode

    def local_refusal(self, schedule: AnySchedule) -> str | None:
        """Say why a schedule needs a sidecar; ``None`` if it does not.

        Use it at start to find a schedule that would otherwise raise ``NeedsSidecar`` at its
        first use. The result does not depend on the mode. Raises an exception for an invalid
        schedule, and for a name that the ``schedules`` file does not have.
        """
        return self._decisions.local_refusal(schedule)


class Asking(Deciding):
    """Asks questions, and waits for the answers."""

    address: str
    timeout: float
    _channel: Channel | LocalChannel
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
                except OffbeatError as error:  # the question may have another way to its answer
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
        with self._circuit.call():
            return self._channel.call(method, request, seconds)


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
                except OffbeatError as error:  # the question may have another way to its answer
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
        call: Callable[..., Any] = getattr(self._channel.stub(), method)
        import grpc

        with self._circuit.call():
            try:
                return await call(request, timeout=seconds)
            except grpc.RpcError as error:
                late = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
                unreachable = late and self._channel.is_unreachable()
                raise from_rpc_error(error, self.address, unreachable) from error
