"""Secrets and connections: kept out of logs, files and other processes."""

from __future__ import annotations

from typing import Any, Callable, Generic, NoReturn, TypeVar

T = TypeVar("T")


class Unpicklable:
    """Refuses to be pickled or copied, and so does any object that holds it."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an offbeat client cannot be pickled or copied: make another")


class Secret(Unpicklable, Generic[T]):
    """Hides a value in a closure, because code that prints objects reads their attributes."""

    __slots__ = ("reveal",)

    #: Returns the value.
    reveal: Callable[[], T]

    def __init__(self, value: T) -> None:
        self.reveal = lambda: value

    def __repr__(self) -> str:
        return "[redacted]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and bool(self.reveal() == other.reveal())

    def __hash__(self) -> int:
        return hash(self.reveal())

    def __copy__(self) -> Secret[T]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Secret[T]:
        return self
