"""The declarations of this process: integrations add sources, and commands read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable

from .declarations import Declaration

_sources: list[Callable[[], Iterable[Declaration[Any]]]] = []


def add_source(source: Callable[[], Iterable[Declaration[Any]]]) -> None:
    """Add a function that returns declarations; it is called when they are needed."""
    _sources.append(source)


def all_declarations() -> dict[str, Declaration[Any]]:
    """Return the declarations of all sources, by name."""
    return {declaration.name: declaration for source in _sources for declaration in source()}
