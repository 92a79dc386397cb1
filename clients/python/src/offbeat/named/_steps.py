"""Steps of a conversation, without any way to take them.

What a producer or a consumer does is written once, as generators: they yield a step, are
sent what came of it, or have its error raised in them. The client and the client for
asyncio take the steps, each in its own way.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Callable, TypeVar, Union

from ..errors import DeadlineExceeded, OffbeatError, ResourceExhausted, Unavailable

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """Call a method, which may wait for so many seconds before it answers."""

    method: str
    request: Any
    wait: float = 0.0


@dataclass(frozen=True)
class Sleep:
    """Let so many seconds pass."""

    seconds: float


Step = Union[Call, Sleep]
Steps = Generator[Step, Any, T]

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed in a while; what is refused, only if it names a delay."""
    if isinstance(error, ResourceExhausted):
        return error.retry_delay is not None
    return isinstance(error, (Unavailable, DeadlineExceeded))


def patiently(patience: float, attempt: Callable[[], Steps[T]]) -> Steps[T]:
    """Attempt until it succeeds, for so many seconds; then raise the last error."""
    end, pause = time.monotonic() + patience, FIRST_PAUSE
    while True:
        try:
            return (yield from attempt())
        except OffbeatError as error:
            if not is_transient(error) or time.monotonic() + pause > end:
                raise
            yield Sleep(max(pause, _asked(error)))
            pause = min(2 * pause, LONGEST_PAUSE)


def _asked(error: OffbeatError) -> float:
    delay = error.retry_delay
    return min(delay.total_seconds(), LONGEST_PAUSE) if delay else 0.0
