"""Sets up Offbeat in a Celery app."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from celery import signals
from celery.utils.log import get_logger

from ..client import Client
from ..lateness import LatenessRecorder, finish_all
from ..runner.patience import breaker_of, make_client, timeout_of
from ..runner.registry import add_source
from ..runner.store import StoreSource
from . import checks
from .integration import Integration, register

if TYPE_CHECKING:
    from celery import Celery

_log = get_logger(__name__)

#: The name of the task that runs the runner's tick.
TICK = "offbeat.tick"

#: Ticks older than this many seconds are discarded: workers may have been down for days. Celery
#: compares the clocks of two machines for this, so the span is much longer than clocks differ.
_TICK_LIFE = 3_600

#: The exit status for an invalid configuration: EX_CONFIG of sysexits.h.
_EX_CONFIG = 78


def setup(
    app: Celery,
    *,
    store: StoreSource | None = None,
    client: Client | None = None,
    interval: timedelta | None = None,
    queue: str | None = None,
    lateness: LatenessRecorder | None = None,
) -> Integration:
    """Set up an app so that its recurring tasks run.

    Any beat sends the runner's tick every ``interval`` (default: one minute) to ``queue``
    (default: the queue of all tasks). ``store`` keeps the runs: a
    :class:`~offbeat.runner.RunStore`, or a function that creates one in each process. Without a
    ``store``, Django's ``OFFBEAT`` setting gives the store, and the defaults of client and
    interval. ``client`` decides; the default one decides locally where it can. ``lateness``
    records how late runs start, under the name of their task.

    A worker or beat whose configuration cannot work prints what is wrong, and exits.
    """
    if store is None:
        from ..django import conf

        store = _django_store
        interval = interval or conf.interval()
        tick_client = client or conf.make_client(timeout_of(interval), breaker_of(interval))
        client = client or conf.make_client("worker")
    else:
        interval = interval or timedelta(minutes=1)
        tick_client = client or make_client(interval)
        client = client or Client(mode="auto", timeout="worker")
    integration = Integration(app, store, client, tick_client, interval, lateness)
    register(app, integration)
    add_source(integration.declarations)

    def tick() -> None:
        integration.runner.tick()
        integration.runner.prune()

    seconds = interval.total_seconds()
    app.task(name=TICK, ignore_result=True, expires=_TICK_LIFE)(tick)
    entry: dict[str, Any] = {"task": TICK, "schedule": seconds, "options": {"expires": _TICK_LIFE}}
    if queue is not None:
        entry["options"]["queue"] = queue
    app.conf.beat_schedule = {**(app.conf.beat_schedule or {}), TICK: entry}

    def check(**_: Any) -> None:
        _refuse(integration)

    def warn(sender: Any = None, **_: Any) -> None:
        pool = type(getattr(sender, "pool", None)).__module__
        for warning in checks.warnings(integration, pool.rpartition(".")[2]):
            _log.warning("offbeat: %s", warning)

    signals.worker_init.connect(check, weak=False)
    signals.beat_init.connect(check, weak=False)
    signals.worker_ready.connect(warn, weak=False)
    if lateness is not None:
        signals.worker_process_shutdown.connect(_send_lateness, weak=False)
    return integration


def _django_store() -> Any:
    from ..django import get_store  # needs Django's loaded apps

    return get_store()


def _send_lateness(**_: Any) -> None:
    finish_all()


def _refuse(integration: Integration) -> None:
    integration.app.finalize()
    errors = list(checks.errors(integration))
    for error in errors:
        print(f"offbeat: {error}", file=sys.stderr)
    if errors:
        # Celery only logs an `Exception` of a signal's receiver.
        raise SystemExit(_EX_CONFIG)
