"""Steps of producers and consumers, independent of how they are executed.

What a producer or a consumer does is written once, as generators: they yield a step, and are
sent its result or thrown its error. The blocking client and the asyncio client execute the
steps, each in its own way.
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
    """Call a method, which may wait up to ``wait`` seconds before it answers."""

    method: str
    request: Any
    wait: float = 0.0


@dataclass(frozen=True)
class Sleep:
    """Pause for some seconds."""

    seconds: float


Step = Union[Call, Sleep]
Steps = Generator[Step, Any, T]

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


def is_transient(error: BaseException) -> bool:
    """Say whether the same call may succeed later; after a refusal, only if it names a delay."""
    if isinstance(error, ResourceExhausted):
        return error.retry_delay is not None
    return isinstance(error, (Unavailable, DeadlineExceeded))


def patiently(patience: float, attempt: Callable[[], Steps[T]]) -> Steps[T]:
    """Attempt until it succeeds, for up to ``patience`` seconds; then raise the last error."""
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
