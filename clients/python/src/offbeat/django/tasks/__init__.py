"""For Django 6's own ``django.tasks``: recurring tasks, and a backend that defers tasks.

This module can be imported with any version of Django; its contents need Django 6.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import OffbeatBackend as OffbeatBackend
    from .recurrence import recurring as recurring

#: The module of each name, imported on access: Django's autodiscovery of ``tasks`` modules imports
#: this one in every version.
_MODULES = {"OffbeatBackend": "backend", "recurring": "recurrence"}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
