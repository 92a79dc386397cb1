"""Functions that are declared as jobs; shared by the integrations with small queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Union

from .._forks import PerProcess
from ..client import Client
from ..errors import refused
from ..schedule import AnySchedule
from .declarations import Declaration
from .execution import Worker
from .patience import make_client
from .records import StoredRun
from .rows import IdList, RowSource
from .runner import Runner
from .store import StoreSource, store_of

#: A source of rows, IDs, or a function that returns IDs.
Rows = Union[RowSource[Any], Iterable[Any], Callable[[], Iterable[Any]]]


class Jobs:
    """Declared functions, and the runner that plans them; ``send`` enqueues a run."""

    def __init__(
        self,
        store: StoreSource,
        send: Callable[[StoredRun], None],
        client: Client | None,
        interval: timedelta,
    ) -> None:
        """Store the settings; the runner is created in each process at its first use."""
        self.interval = interval
        self._source, self._send = store, send
        self._client = client or make_client(interval)
        self._declarations: dict[str, Declaration[Any]] = {}
        self._process_runner = PerProcess(self._make_runner)

    def declare(
        self,
        name: str,
        schedule: AnySchedule,
        rows: Rows,
        id_type: type[Any] | None,
        options: dict[str, Any],
    ) -> Declaration[Any]:
        """Declare a job; the name must be new."""
        if name in self._declarations:
            raise refused("name", name, "must not be declared twice")
        source: Any = rows
        if not hasattr(rows, "sql_target"):
            source = IdList(source, id_type)
        declaration = Declaration(name, schedule, source, **options)
        self._declarations[name] = declaration
        return declaration

    def declaration(self, name: str) -> Declaration[Any]:
        """Return the declaration of a name."""
        return self._declarations[name]

    def publish(self, runs: Sequence[StoredRun]) -> None:
        """Hand runs to the queue."""
        for run in runs:
            self._send(run)

    @property
    def runner(self) -> Runner:
        """The runner of this process."""
        return self._process_runner()

    def _make_runner(self) -> Runner:
        declarations = self._declarations.values()
        store = store_of(self._source)
        return Runner(declarations, store, self, client=self._client, interval=self.interval)

    @property
    def worker(self) -> Worker:
        """The worker that claims the runs of messages."""
        return Worker(self._declarations, self.runner.store)
