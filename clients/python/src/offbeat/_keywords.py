"""Keyword-only arguments in the constructors of dataclasses.

``KW_ONLY`` exists from Python 3.10 on. Here only type checkers see it; :func:`positional` has the
same effect at run time.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, TypeVar

T = TypeVar("T")


def positional(count: int) -> Callable[[type[T]], type[T]]:
    """Let a dataclass take its first ``count`` arguments by position, and no more."""

    def decorate(kind: type[T]) -> type[T]:
        init: Callable[..., None] = kind.__init__

        @functools.wraps(init)
        def checked(self: T, *arguments: Any, **named: Any) -> None:
            if len(arguments) > count:
                places = f"{len(arguments)} arguments by position where {count} may be"
                raise TypeError(f"{kind.__name__}: {places}: name the others")
            init(self, *arguments, **named)

        signature = inspect.signature(init)
        parameters = [
            parameter.replace(kind=parameter.KEYWORD_ONLY) if place > count else parameter
            for place, parameter in enumerate(signature.parameters.values())  # self is the first
        ]
        checked.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        kind.__init__ = checked  # type: ignore[assignment]
        return kind

    return decorate
