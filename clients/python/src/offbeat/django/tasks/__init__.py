"""Django's own tasks, ``django.tasks`` of Django 6: recurring ones, and a backend that defers.

This module can be imported with any Django; what it has needs Django 6.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import OffbeatBackend as OffbeatBackend
    from .recurrence import recurring as recurring

#: Where each name is: Django's autodiscovery of ``tasks.py`` imports this module everywhere.
_MODULES = {"OffbeatBackend": "backend", "recurring": "recurrence"}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
