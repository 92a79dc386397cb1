"""What goes wrong with tasks."""

from __future__ import annotations

from ..lanes import PermanentFailure


class LanesExhausted(Exception):
    """A task reached the timeout of its last lane."""

    def __init__(self, message: str) -> None:
        """Say which."""
        super().__init__(message)

    @classmethod
    def of(cls, failure: PermanentFailure) -> LanesExhausted:
        """Return the error of an answer."""
        return cls(failure.message)
