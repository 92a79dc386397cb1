"""Checks of an app's configuration, when a worker or beat starts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from ..errors import NoAnswer, OffbeatError
from ..runner.declarations import check as check_declaration
from .integration import Integration

#: Default visibility timeouts of Celery's brokers: one hour for Redis, half an hour for SQS.
_VISIBILITY = {
    "redis": timedelta(hours=1),
    "rediss": timedelta(hours=1),
    "sqs": timedelta(minutes=30),
}


def errors(integration: Integration) -> Iterator[str]:
    """Yield the errors that must keep the process from starting."""
    for declaration in integration.declarations():
        try:
            check_declaration(declaration, integration.client, integration.look_ahead)
        except NoAnswer as error:  # an unreachable sidecar is no reason to exit
            # Celery sets up its log later, so this is printed.
            print(f"offbeat: {declaration.name} is not checked: {error}", file=sys.stderr)
        except OffbeatError as error:
            yield f"{declaration.name}: {error}"
        task = integration.app.tasks[declaration.name]
        limit = task.time_limit or integration.app.conf.task_time_limit
        if limit is not None and timedelta(seconds=limit) > declaration.run_time_limit:
            yield (
                f"{declaration.name}: its time_limit of {limit:g} s is longer than its "
                f"run_time_limit of {declaration.run_time_limit.total_seconds():g} s, after which "
                "another worker may have the run: set run_time_limit to more"
            )
    visibility = visibility_timeout(integration.app)
    ahead = integration.look_ahead
    if visibility is not None and visibility <= ahead:
        yield (
            f"the broker's visibility_timeout of {visibility.total_seconds():g} s must be more "
            f"than the {ahead.total_seconds():g} s that runs are published ahead: it delivers "
            "their messages again and again. Set visibility_timeout in broker_transport_options "
            "to more, or interval to less"
        )


def warnings(integration: Integration, pool: str) -> Iterator[str]:
    """Yield settings that are allowed, but work otherwise than intended."""
    app = integration.app
    tasks = [task for task in app.tasks.values() if getattr(task, "recurrence", None) is not None]
    lanes = [task for task in app.tasks.values() if getattr(task, "lanes", None) is not None]
    visibility = visibility_timeout(app)
    for task in tasks:
        declaration = task.recurrence.declaration(task.name)
        late = app.conf.task_acks_late if task.acks_late is None else task.acks_late
        if late and visibility is not None and visibility < declaration.run_time_limit:
            yield (
                f"{task.name}: acks_late, and its run_time_limit is longer than the broker's "
                f"visibility_timeout of {visibility.total_seconds():g} s: messages of long runs "
                "come again while they run. They wait, but set visibility_timeout to more"
            )
    if lanes and app.conf.worker_prefetch_multiplier != 1:
        yield (
            f"worker_prefetch_multiplier is {app.conf.worker_prefetch_multiplier}: short tasks "
            "wait behind long ones that a process has fetched. Set it to 1, and take -O fair"
        )
    if lanes and any(name in pool for name in ("gevent", "eventlet", "solo", "thread")):
        yield f"the pool {pool} has no time limits, and so lanes demote nothing: take prefork"
    if "gevent" in pool and not _is_patched():
        yield "gevent has not patched sockets: start with the celery command, or patch first"


def visibility_timeout(app: Any) -> timedelta | None:
    """Return when the broker redelivers an unacknowledged message; ``None`` if it does not."""
    transport = str(app.conf.broker_url or "").partition(":")[0].partition("+")[0]
    seconds = (app.conf.broker_transport_options or {}).get("visibility_timeout")
    if transport not in _VISIBILITY:
        return None
    return _VISIBILITY[transport] if seconds is None else timedelta(seconds=seconds)


def _is_patched() -> bool:
    try:
        from gevent.monkey import is_module_patched
    except ImportError:
        return False
    return bool(is_module_patched("socket"))
