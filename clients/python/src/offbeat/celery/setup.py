"""How an app of Celery gets its runner."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from celery import signals
from celery.utils.log import get_logger

from ..client import Client
from ..lateness import LatenessRecorder
from ..runner.registry import add_source
from . import checks
from .integration import Integration, StoreSource, register

if TYPE_CHECKING:
    from celery import Celery

_log = get_logger(__name__)

#: The task of the runner.
TICK = "offbeat.tick"

#: The exit status of a configuration that cannot be: EX_CONFIG of sysexits.h.
_EX_CONFIG = 78


def setup(
    app: Celery,
    *,
    store: StoreSource | None = None,
    client: Client | None = None,
    interval: timedelta = timedelta(minutes=1),
    queue: str | None = None,
    lateness: LatenessRecorder | None = None,
) -> Integration:
    """Let the recurring tasks of an app run.

    Any beat sends the tick of the runner every ``interval``, to ``queue``, by default that of all
    tasks. ``store`` keeps the runs: a :class:`~offbeat.runner.RunStore`, or a function that makes
    one in each process; by default that of ``offbeat.django``. ``client`` decides; by default
    without a sidecar where that can be. ``lateness`` records how late runs start.

    A worker or a beat with a configuration that cannot work says what is wrong, and ends.
    """
    if store is None or client is None:
        store, client = _defaults(store, client)
    integration = Integration(app, store, client, interval, lateness)
    register(app, integration)
    add_source(integration.declarations)

    def tick() -> None:
        integration.runner.tick()
        integration.runner.prune()

    seconds = interval.total_seconds()
    # A tick that waits behind others is of no use when the next one has come.
    app.task(name=TICK, ignore_result=True, expires=seconds)(tick)
    entry: dict[str, Any] = {"task": TICK, "schedule": seconds, "options": {"expires": seconds}}
    if queue is not None:
        entry["options"]["queue"] = queue
    app.conf.beat_schedule = {**(app.conf.beat_schedule or {}), TICK: entry}

    def check(sender: Any = None, **_: Any) -> None:
        pool = getattr(sender, "pool_cls", None)
        _check(integration, "" if pool is None else getattr(pool, "__module__", str(pool)))

    signals.worker_init.connect(check, weak=False)
    signals.beat_init.connect(check, weak=False)
    return integration


def _defaults(store: StoreSource | None, client: Client | None) -> tuple[StoreSource, Client]:
    """Return what Django's settings say, where there is no other."""
    if store is None:
        from ..django import get_client, get_store

        return get_store, client or get_client()
    return store, client or Client(mode="auto", timeout="worker")


def _check(integration: Integration, pool: str) -> None:
    integration.app.finalize()
    for warning in checks.warnings(integration, pool):
        _log.warning("offbeat: %s", warning)
    errors = list(checks.errors(integration))
    for error in errors:
        print(f"offbeat: {error}", file=sys.stderr)
    if errors:
        # Celery only logs an exception of a signal's receiver.
        raise SystemExit(_EX_CONFIG)
