"""How late runs start: recorded in the worker's metrics, or in the sidecar's."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections import deque
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Union
from weakref import WeakKeyDictionary

from ._lateness_requests import BATCH, schedule_name
from ._settings import to_seconds
from .assignments import Row
from .errors import ResourceExhausted, Unavailable, refused
from .runs import DEFAULT_KIND, Run
from .schedule import ScheduleReference
from .times import to_timestamp

if TYPE_CHECKING:
    from .client import Client

#: When a run should have started: a time, a run, or a row with its next run.
Scheduled = Union[datetime, Run[Any], Row[Any]]

_METRIC = "offbeat_run_lateness_seconds"
_HELP = "From the scheduled to the real start of runs."

#: Upper bounds in seconds, the same as in the sidecar: from polling delays to a one-day outage.
_BUCKETS = (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400)

#: How many values are kept while the sidecar is unreachable: what one message takes.
_KEPT = BATCH

#: The largest lateness that the sidecar accepts: a larger one would refuse the whole message.
_LATEST = timedelta(days=366)

#: Timeout of a message, and how long the end of a process waits for the last ones, in seconds.
_PATIENCE = 2.0

_log = logging.getLogger("offbeat")


class LatenessRecorder:
    """Records how late runs start, from the scheduled to the real start, and never below 0.

    If ``prometheus_client`` can be imported, it fills the histogram
    ``offbeat_run_lateness_seconds``, with the labels ``schedule`` and ``kind``, in ``registry``
    (default: the library's own). With a ``client``, it also fills the sidecar's metrics: a thread
    sends the values every ``interval`` seconds, so that no job waits for that or fails because of
    it. Values that could not be sent are kept for the next time, at most the latest 65,536. One
    recorder is enough for a process and its forked children. In asyncio, give it its own
    :class:`~offbeat.Client`: :meth:`record` does not block.
    """

    def __init__(
        self,
        *,
        client: Client | None = None,
        registry: Any = None,
        interval: float | timedelta = 5,
    ) -> None:
        """Create the metric; nothing is sent yet."""
        self._histogram = _histogram(registry)
        seconds = to_seconds(interval)
        if client is not None and client.mode == "local":
            client = None  # there is no sidecar whose metrics could be filled
        self._sender = None if client is None else _Sender(client, seconds)

    def record(
        self,
        schedule: str | ScheduleReference,
        scheduled: Scheduled,
        *,
        kind: str | None = None,
        started_time: datetime | None = None,
    ) -> timedelta:
        """Record the start of a run, and return how late it is.

        ``schedule`` is the name for the label; a ``ScheduleReference``, or its text, counts
        without its version. ``scheduled`` is the run of an answer, or the time when it should
        have started. ``kind`` is by default the kind of the run, else ``"default"``;
        ``started_time`` is by default now.
        """
        if isinstance(scheduled, Row):
            scheduled = scheduled.next_run
        kind = _kind(scheduled) if kind is None else kind
        name = schedule_name(schedule)
        started = datetime.now(timezone.utc) if started_time is None else started_time
        to_timestamp("started_time", started)  # refused without a time zone
        late = max(started - _scheduled_time(scheduled), timedelta(0))
        if self._histogram is not None:
            self._histogram.labels(name, kind).observe(late.total_seconds())
        if self._sender is not None:
            self._sender.add(name, kind, min(late, _LATEST))
        return late

    def flush(self) -> None:
        """Send all pending values to the sidecar, and wait until that is done."""
        if self._sender is not None:
            self._sender.send()


def _kind(scheduled: datetime | Run[Any]) -> str:
    return scheduled.kind if isinstance(scheduled, Run) else DEFAULT_KIND


def _scheduled_time(scheduled: datetime | Run[Any]) -> datetime:
    if isinstance(scheduled, Run):
        return scheduled.scheduled_time
    to_timestamp("scheduled", scheduled)  # refused if it is no instant
    return scheduled


_histograms: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_histograms_lock = threading.Lock()


def _histogram(registry: Any) -> Any:
    """Return the metric of a registry, created only once; ``None`` without the library."""
    try:
        import prometheus_client
    except ImportError:
        if registry is not None:
            allowed = "must be left out: prometheus_client cannot be imported"
            raise refused("registry", registry, allowed) from None
        return None
    registry = prometheus_client.REGISTRY if registry is None else registry
    with _histograms_lock:
        if registry not in _histograms:
            _histograms[registry] = prometheus_client.Histogram(
                _METRIC, _HELP, ["schedule", "kind"], buckets=_BUCKETS, registry=registry
            )
        return _histograms[registry]


class _Sender:
    """Sends lateness to the sidecar in batches, from a thread that lives while values wait."""

    def __init__(self, client: Client, interval: float) -> None:
        """Start no thread before the first value."""
        self._client = client
        self._interval = interval
        self._failing = False
        self._begin()
        _senders.append(self)
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        # Also runs in a forked child: the pending values and the thread belong to the parent.
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._wake = threading.Event()
        self._pending: deque[tuple[str, str, timedelta]] = deque(maxlen=_KEPT)
        self._thread: threading.Thread | None = None

    def add(self, schedule: str, kind: str, late: timedelta) -> None:
        with self._lock:
            self._pending.append((schedule, kind, late))
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="offbeat-lateness", daemon=True)
                with suppress(RuntimeError):  # out of threads, or at exit: the next value retries
                    thread.start()
                    self._thread = thread

    def _run(self) -> None:
        while True:
            self._wake.wait(self._interval)
            self.send()
            with self._lock:
                if self._wake.is_set() or not self._pending:
                    self._thread = None
                    return

    def send(self) -> None:
        with self._sending:
            with self._lock:
                values = list(self._pending)
                self._pending.clear()
            late: dict[tuple[str, str], list[timedelta]] = {}
            for schedule, kind, value in values:
                late.setdefault((schedule, kind), []).append(value)
            kept, reached = [], True
            for (schedule, kind), batch in late.items():
                reached = reached and self._sent(schedule, kind, batch)
                if not reached:
                    kept += [(schedule, kind, value) for value in batch]
            with self._lock:
                newer = list(self._pending)
                self._pending.clear()
                self._pending.extend([*kept, *newer])

    def _sent(self, schedule: str, kind: str, batch: list[timedelta]) -> bool:
        """Send a batch; returns whether to forget it. It raises nothing: it runs in a thread."""
        try:
            self._client.record_lateness(schedule, batch, kind=kind, timeout=_PATIENCE)
        except (Unavailable, ResourceExhausted) as error:
            if not self._failing:
                _log.warning("the lateness of runs cannot be sent, and is kept: %s", error)
            self._failing = True
            return False
        except Exception as error:  # after a timeout it may have been counted: not twice
            _log.warning("the lateness of %d runs was lost: %s", len(batch), error)
            return True
        self._failing = False
        return True

    def finish(self) -> None:
        """Make the thread send the pending values, and wait at most 2 s for that."""
        thread = self._thread
        if thread is not None:
            self._wake.set()
            thread.join(_PATIENCE)


#: All senders. They live as long as the process, because their fork hooks do.
_senders: list[_Sender] = []


@atexit.register
def finish_all() -> None:
    """Send pending values when a process ends; children of billiard and multiprocessing skip it."""
    for sender in _senders:
        sender.finish()
