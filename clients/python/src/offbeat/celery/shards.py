"""A router that spreads tenants over a fixed number of queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

from ..errors import refused
from ..ids import IdValue
from ..shards import shard


class ShardRouter:
    """Sends all tasks of a tenant to the same one of ``shard_count`` queues.

    ``tenant`` returns the tenant of a call from its positional and named arguments; by default the
    first argument. The name of a queue is ``prefix`` followed by the shard, from 0. ``tasks`` are
    the names of the tasks to route::

        app.conf.task_routes = (ShardRouter(8, tasks=["bank.tasks.export"]),)

    >>> ShardRouter(8, tasks=["export"])("export", ("acme",), {}, {})
    {'queue': 'shard-2'}
    """

    def __init__(
        self,
        shard_count: int,
        *,
        tasks: Sequence[str],
        tenant: Callable[[Sequence[Any], Mapping[str, Any]], IdValue] | None = None,
        prefix: str = "shard-",
        salt: str = "",
    ) -> None:
        """Check ``tasks``, ``shard_count`` and ``salt``."""
        if isinstance(tasks, str):
            raise refused("tasks", tasks, "must be a list of names of tasks")
        self._count, self._tasks, self._prefix, self._salt = shard_count, set(tasks), prefix, salt
        self._tenant = tenant or (lambda args, kwargs: args[0])
        shard("", shard_count, salt=salt)

    @property
    def queue_names(self) -> list[str]:
        """The queues, for the ``-Q`` of workers."""
        return [f"{self._prefix}{index}" for index in range(self._count)]

    def __call__(
        self,
        name: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: Mapping[str, Any],
        task: Any = None,
        **more: Any,
    ) -> dict[str, str] | None:
        """Return the queue of a call; ``None`` if its task is not one of ``tasks``."""
        if name not in self._tasks:
            return None
        tenant = self._tenant(args or (), kwargs or {})
        return {"queue": f"{self._prefix}{shard(tenant, self._count, salt=self._salt)}"}
