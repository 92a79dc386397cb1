"""How an app of Celery gets its runner."""

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

#: The task of the runner.
TICK = "offbeat.tick"

#: Ticks that are older, in seconds, are discarded: the workers may have been away for days. Celery
#: compares the clocks of two machines for that, so it is much longer than clocks are wrong.
_TICK_LIFE = 3_600

#: The exit status of a configuration that cannot be: EX_CONFIG of sysexits.h.
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
    """Let the recurring tasks of an app run.

    Any beat sends the tick of the runner every ``interval``, by default a minute, to ``queue``, by
    default that of all tasks. ``store`` keeps the runs: a :class:`~offbeat.runner.RunStore`, or a
    function that makes one in each process. Without one, the setting ``OFFBEAT`` of Django says
    store, client and interval. ``client`` decides; by default without a sidecar where that can be.
    ``lateness`` records how late runs start, under the name of their task.

    A worker or a beat with a configuration that cannot work says what is wrong, and ends.
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
    from ..django import get_store  # when Django has loaded its apps

    return get_store()


def _send_lateness(**_: Any) -> None:
    finish_all()


def _refuse(integration: Integration) -> None:
    integration.app.finalize()
    errors = list(checks.errors(integration))
    for error in errors:
        print(f"offbeat: {error}", file=sys.stderr)
    if errors:
        # Celery only logs an exception of a signal's receiver.
        raise SystemExit(_EX_CONFIG)
