"""Exceptions of tasks."""

from __future__ import annotations

from ..lanes import PermanentFailure


class LanesExhausted(Exception):
    """A task exceeded the timeout of its last lane."""

    def __init__(self, message: str) -> None:
        super().__init__(message)

    @classmethod
    def of(cls, failure: PermanentFailure) -> LanesExhausted:
        """Return the exception for a permanent failure."""
        return cls(failure.message)
