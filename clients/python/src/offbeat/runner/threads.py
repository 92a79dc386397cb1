"""A queue in the process of the runner, for scripts and first steps."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, Callable

from .declarations import Declaration
from .execution import PutBack, Worker
from .records import RunMessage, StoredRun
from .store import RunStore

_log = logging.getLogger("offbeat.runner")

_DAY = timedelta(days=1).total_seconds()


class ThreadQueue:
    """Calls a function for each run, on one of ``thread_count`` threads, when the run starts.

    ``jobs`` has the function of each declaration, which is called with the ID of a row. Runs that
    a process had not done when it ended are published again by the next process, if the store
    outlives it.
    """

    def __init__(
        self,
        store: RunStore,
        jobs: Mapping[Declaration[Any], Callable[[Any], object]],
        *,
        thread_count: int = 4,
    ) -> None:
        """Start no thread yet."""
        self._store = store
        self._jobs = {declaration.name: job for declaration, job in jobs.items()}
        self._worker = Worker({declaration.name: declaration for declaration in jobs}, store)
        self._pool = ThreadPoolExecutor(thread_count, "offbeat-job")
        self._waiting: list[tuple[datetime, int, RunMessage]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def publish(self, runs: Sequence[StoredRun]) -> None:
        """Keep runs until they start."""
        for run in runs:
            self._put(run.start_time, RunMessage.of(run))

    def close(self) -> None:
        """Let running jobs end, and discard those that wait."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
        self._pool.shutdown()

    def _put(self, at: datetime, message: RunMessage) -> None:
        with self._changed:
            heapq.heappush(self._waiting, (at, next(self._numbers), message))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="offbeat-queue", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._closed:
                    return
                delay = _DAY
                if self._waiting:
                    delay = (self._waiting[0][0] - self._store.now()).total_seconds()
                if delay > 0:
                    self._changed.wait(min(delay, _DAY))
                    continue
                message = heapq.heappop(self._waiting)[2]
            self._pool.submit(self._do, message)

    def _do(self, message: RunMessage) -> None:
        try:
            with self._worker.attempt(message) as attempt:
                if attempt is not None:
                    self._jobs[message.declaration](attempt.row_id)
        except PutBack as put_back:
            self._put(self._store.now() + put_back.delay, message)
        except Exception:  # no caller could handle it
            _log.exception("run %s of %s failed", message.run_id, message.declaration)
