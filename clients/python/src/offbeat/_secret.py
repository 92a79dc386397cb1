"""What is secret, and what holds a connection: in no log, no file and no other process."""

from __future__ import annotations

from typing import Any, Callable, Generic, NoReturn, TypeVar

T = TypeVar("T")


class Unpicklable:
    """Refuses to be pickled, and what holds it with it."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an offbeat client cannot be pickled or copied: make another")


class Secret(Unpicklable, Generic[T]):
    """Holds a value that nothing shows: in a closure, as what writes objects reads attributes."""

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
