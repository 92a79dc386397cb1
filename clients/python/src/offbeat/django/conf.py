"""The setting ``OFFBEAT``, and the clients that it configures."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed

from ..breaker import Breaker
from ..client import Client
from ..errors import OffbeatError
from ..schedule import AnySchedule, Schedule

#: The keys of ``OFFBEAT``, and their defaults.
DEFAULTS: dict[str, Any] = {
    #: Address of the sidecar; by default the variable ``OFFBEAT_ADDRESS``, else ``127.0.0.1:2328``.
    "ADDRESS": None,
    #: Who decides: ``"auto"``, ``"remote"`` or ``"local"``.
    "MODE": "auto",
    #: Timeout of calls to the sidecar: ``"web"``, ``"worker"``, or seconds.
    "TIMEOUT": "web",
    #: Schedules by name: an :class:`offbeat.Schedule`, or a dictionary of its arguments.
    "SCHEDULES": {},
    #: A file of schedules by name and version, which ``offbeat schedules export`` writes.
    "SCHEDULES_FILE": None,
    #: The database of runs and progress.
    "USING": "default",
    #: The time between two ticks.
    "INTERVAL": timedelta(minutes=1),
    #: Whether a new row's first run is planned when it is saved.
    "PLAN_NEW_ROWS": True,
}

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_SPAN_NAMES = ("period", "resolution", "catch_up_span")


def setting(name: str) -> Any:
    """Return the value of a key of ``OFFBEAT``, or its default."""
    given = getattr(settings, "OFFBEAT", {})
    unknown = sorted(set(given) - set(DEFAULTS))
    if unknown:
        raise ImproperlyConfigured(
            f"OFFBEAT: {unknown[0]!r} is not known: it may have {', '.join(DEFAULTS)}"
        )
    return given.get(name, DEFAULTS[name])


def span(name: str, value: Any) -> timedelta:
    """Return a span that a setting gives as a ``timedelta``, seconds, or text.

    >>> span("INTERVAL", "1h 30m")
    datetime.timedelta(seconds=5400)
    """
    if isinstance(value, timedelta):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return timedelta(seconds=value)
    text = value.strip() if isinstance(value, str) else ""
    parts = _SPAN.findall(text)
    if not parts or _SPAN.sub("", text).strip():
        raise ImproperlyConfigured(
            f"OFFBEAT: {name} is {value!r}: it must be a timedelta, seconds, or text such as '8h'"
        )
    return timedelta(seconds=sum(float(number) * _SECONDS[unit] for number, unit in parts))


def interval() -> timedelta:
    """Return the time between two ticks."""
    return span("INTERVAL", setting("INTERVAL"))


def get_schedule(name: AnySchedule) -> AnySchedule:
    """Return the schedule of a name in ``SCHEDULES``; return any other schedule as it is."""
    if not isinstance(name, str) or "/" in name:
        return name
    schedules = setting("SCHEDULES")
    if name not in schedules:
        known = ", ".join(sorted(schedules)) or "none"
        raise ImproperlyConfigured(
            f"OFFBEAT: there is no schedule {name!r} in SCHEDULES, which has {known}"
        )
    fields = schedules[name]
    if isinstance(fields, Schedule):
        return fields
    given: dict[str, Any] = {
        key: span(f"SCHEDULES[{name!r}][{key!r}]", value) if key in _SPAN_NAMES else value
        for key, value in fields.items()
    }
    try:
        return Schedule(**given)
    except TypeError as error:
        raise ImproperlyConfigured(f"OFFBEAT: SCHEDULES[{name!r}]: {error}") from error


@lru_cache(maxsize=1)
def get_client() -> Client:
    """Return the client of this process; it connects at its first call, if it needs a sidecar."""
    return make_client(setting("TIMEOUT"))


@lru_cache(maxsize=1)
def get_local_client() -> Client:
    """Return a client that asks no sidecar, and refuses what it cannot decide itself."""
    try:
        return Client(mode="local", schedules=setting("SCHEDULES_FILE"))
    except OffbeatError as error:
        raise ImproperlyConfigured(f"OFFBEAT: {error}") from error


def make_client(timeout: Any, breaker: Breaker | None = None) -> Client:
    """Return a new client of the setting, with its own timeout and breaker."""
    try:
        return Client(
            setting("ADDRESS"),
            mode=setting("MODE"),
            timeout=timeout,
            breaker=breaker,
            schedules=setting("SCHEDULES_FILE"),
        )
    except OffbeatError as error:
        raise ImproperlyConfigured(f"OFFBEAT: {error}") from error


def _forget(*, setting: str, **_: Any) -> None:
    if setting == "OFFBEAT":
        get_client.cache_clear()
        get_local_client.cache_clear()


setting_changed.connect(_forget)
