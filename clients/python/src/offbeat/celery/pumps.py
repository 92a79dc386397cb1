"""Task calls of many tenants in a fair order: a named spread feeds a queue that stays short."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from kombu.utils import json

from ..errors import refused
from ..named import GroupStatus, LeasedJob, NamedSpread
from .leases import LEASE_HEADER, header_of, register
from .tasks import OffbeatTask

if TYPE_CHECKING:
    import threading

    from celery import Celery
    from celery.canvas import Signature


class TaskPump:
    """Feeds a queue with calls in the order of a spread, and keeps few messages in it.

    Create it in the module of the app, so that all processes have it; one of them runs it::

        exports = TaskPump(app, client.named_spread("exports", 8, max_consumer_lease_count=16),
                           queue="exports")

        exports.submit("tenant-7", [export.s(account) for account in accounts])   # a producer
        exports.run("pump-1")                                                     # a process

    Tasks must have the base :class:`~offbeat.celery.OffbeatTask`. A call that succeeds is
    acknowledged. A call that fails, and that Celery does not retry, becomes a dead letter. A call
    whose process was killed is sent again, until ``max_attempt_count`` of the spread is reached. A
    message whose lease has ended is ignored: its job has another message.
    """

    def __init__(
        self, app: Celery, spread: NamedSpread, *, queue: str, hold_for: timedelta | None = None
    ) -> None:
        """Register the spread; nothing is sent yet.

        ``hold_for`` is how long a call may wait in the queue and run. After that, it counts as
        lost and is sent again. Default: 1 h.
        """
        self.spread, self.queue = spread, queue
        self._app, self._hold_for = app, hold_for
        register(app, spread)

    def payload(self, call: Signature) -> bytes:
        """Return a call as the payload of a job, for producers that keep their own groups."""
        task = self._app.tasks.get(call.task)
        if task is not None and not isinstance(task, OffbeatTask):
            raise refused("call", call.task, "must be a task with base=OffbeatTask")
        message = [call.task, call.args, call.kwargs, call.options]
        text: str = json.dumps(message)  # type: ignore[no-untyped-call]
        return text.encode()

    def submit(self, group_id: str, calls: Iterable[Signature]) -> GroupStatus:
        """Submit the calls of a group, such as all calls of a tenant. Repeating it has no effect.

        The calls are then in the memory of the sidecar. If they must survive its restart, keep a
        producer of the spread, submit each :meth:`payload` with it, and wait until the group is
        settled.
        """
        return self.spread.producer().submit(group_id, [self.payload(call) for call in calls])

    def run(self, consumer_id: str, stop: threading.Event | None = None) -> None:
        """Send messages until ``stop`` is set or the spread has ended.

        At most ``max_consumer_lease_count`` of the spread's calls are sent and not done. Several
        processes may run, each with its own ``consumer_id`` and up to that many calls.
        """
        self.spread.pump(consumer_id, self._send, hold_for=self._hold_for).run(stop)

    def _send(self, job: LeasedJob) -> None:
        message: list[Any] = json.loads(job.payload)  # type: ignore[no-untyped-call]
        name, args, kwargs, options = message
        headers = {**options.get("headers", {}), LEASE_HEADER: header_of(self.spread, job.token)}
        options = {"queue": self.queue, **options, "headers": headers}
        options["task_id"] = f"{self.spread.name}-{job.token}"
        self._app.send_task(name, args, kwargs, **options)
