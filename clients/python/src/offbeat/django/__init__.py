"""Django models whose rows have jobs that run by a schedule.

Add ``"offbeat.django"`` to ``INSTALLED_APPS``, and the options that you need to ``OFFBEAT`` in the
settings; ``docs/frameworks/django.md`` starts from scratch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .conf import get_client as get_client
    from .conf import get_schedule as get_schedule
    from .hashes import OffbeatHashField as OffbeatHashField
    from .indexes import OffbeatIndex as OffbeatIndex
    from .jobs import recurring as recurring
    from .querysets import OffbeatManager as OffbeatManager
    from .querysets import OffbeatQuerySet as OffbeatQuerySet
    from .rows import QuerySetRows as QuerySetRows
    from .store import DjangoStore as DjangoStore
    from .store import get_store as get_store

#: The module of each name, imported on access: Django must load its apps before models.
_MODULES = {
    "DjangoStore": "store",
    "OffbeatHashField": "hashes",
    "OffbeatIndex": "indexes",
    "OffbeatManager": "querysets",
    "OffbeatQuerySet": "querysets",
    "QuerySetRows": "rows",
    "get_client": "conf",
    "get_schedule": "conf",
    "get_store": "store",
    "recurring": "jobs",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
