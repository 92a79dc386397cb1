"""Functions that are declared as jobs: what integrations with small queues share."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Union

from ..client import Client
from ..errors import refused
from ..schedule import AnySchedule
from .declarations import Declaration
from .execution import Worker
from .records import StoredRun
from .rows import IdList, RowSource
from .runner import Runner
from .store import RunStore

#: A store, or what makes one: it is called once in each process.
StoreSource = Union[RunStore, Callable[[], RunStore]]

#: A source of rows, IDs, or a function that returns IDs.
Rows = Union[RowSource[Any], Iterable[Any], Callable[[], Iterable[Any]]]


class Jobs:
    """Declared functions, and the runner that plans them; ``send`` hands a run to the queue."""

    def __init__(
        self,
        store: StoreSource,
        send: Callable[[StoredRun], None],
        client: Client | None,
        interval: timedelta,
    ) -> None:
        """Make nothing yet."""
        self.interval = interval
        self._source, self._send = store, send
        self._client = client or Client(mode="auto", timeout="worker")
        self._declarations: dict[str, Declaration[Any]] = {}
        self._runner: Runner | None = None
        self._pid = 0
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget_lock)

    def _forget_lock(self) -> None:
        self._lock = threading.Lock()  # another thread may have held it at the fork

    def declare(
        self,
        name: str,
        schedule: AnySchedule,
        rows: Rows,
        id_type: type[Any] | None,
        options: dict[str, Any],
    ) -> Declaration[Any]:
        """Declare a job."""
        if name in self._declarations:
            raise refused("name", name, "must not be declared twice")
        source: Any = rows if hasattr(rows, "sql_target") else IdList(rows, id_type)
        declaration = Declaration(name, schedule, source, **options)
        self._declarations[name] = declaration
        return declaration

    def declaration(self, name: str) -> Declaration[Any]:
        """Return a declaration."""
        return self._declarations[name]

    def publish(self, runs: Sequence[StoredRun]) -> None:
        """Hand runs to the queue."""
        for run in runs:
            self._send(run)

    @property
    def runner(self) -> Runner:
        """The runner of this process."""
        with self._lock:
            if self._runner is None or self._pid != os.getpid():
                source = self._source
                store: Any = source() if callable(source) else source
                declarations = self._declarations.values()
                self._runner = Runner(
                    declarations, store, self, client=self._client, interval=self.interval
                )
                self._pid = os.getpid()
            return self._runner

    @property
    def worker(self) -> Worker:
        """Who claims the runs of messages."""
        return Worker(self._declarations, self.runner.store)
