"""Requests of workers: what happens to a task whose process was killed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from billiard.einfo import ExceptionInfo, ExceptionWithTraceback
from celery.exceptions import WorkerLostError
from celery.utils.log import get_logger
from celery.worker.request import Request
from celery.worker.state import task_ready

from ..named import SettleAction
from ..runner import RunMessage, RunState, RunStore
from . import leases
from .errors import LanesExhausted
from .integration import integration_of
from .lanes import demote, lane_of

_log = get_logger(__name__)


class OffbeatRequest(Request):  # type: ignore[misc]
    """Runs in the worker's main process, because the process of the task is gone."""

    def on_timeout(self, soft: bool, timeout: float) -> None:
        """Demote a task that was killed at the hard limit of its lane; fail any other run."""
        if not soft and self.task.lanes is not None and lane_of(self._context):
            integration = integration_of(self.task.app)
            try:
                demote(integration, self.task, self._context, self.args, self.kwargs)
            except LanesExhausted as exhausted:
                _log.error("%s[%s] %s", self.name, self.id, exhausted)
            else:
                _log.warning(
                    "%s[%s] was killed after %s s in lane %s, and goes on in the next",
                    self.name,
                    self.id,
                    timeout,
                    lane_of(self._context),
                )
                self._release_run()
                task_ready(self)
                if self.task.acks_late:
                    self.acknowledge()
                return
        if not soft:
            self._finish_run(RunState.FAILED)
            self._settle_lease(SettleAction.DEAD_LETTER)
        super().on_timeout(soft, timeout)

    def on_failure(
        self, exc_info: ExceptionInfo, send_failed_event: bool = True, return_ok: bool = False
    ) -> Any:
        """Release the run and the lease of a process that died, so that they are tried again."""
        error = exc_info.exception
        if isinstance(error, ExceptionWithTraceback):
            error = error.exc
        if isinstance(error, WorkerLostError):
            self._release_run()
            self._settle_lease(SettleAction.NACK)
        return super().on_failure(exc_info, send_failed_event, return_ok)

    def _settle_lease(self, action: SettleAction) -> None:
        header = self._request_dict.get(leases.LEASE_HEADER)
        if header is not None:
            leases.settle(self.task.app, header, action)

    def _run_message(self) -> RunMessage | None:
        header = self._request_dict.get("offbeat_run")
        return None if header is None else RunMessage.from_json(header)

    def _finish_run(self, state: RunState) -> None:
        self._change_run(lambda store, run: store.finish(run.run_id, run.publication, state))

    def _release_run(self) -> None:
        self._change_run(lambda store, run: store.release(run.run_id, run.publication, store.now()))

    def _change_run(self, change: Callable[[RunStore, RunMessage], object]) -> None:
        """Change the run of the message; if that fails, Celery still handles the request."""
        message = self._run_message()
        if message is None:
            return
        store = integration_of(self.task.app).runner.store
        # Celery closes Django's connections after tasks, but this process runs no tasks.
        close = getattr(store, "close_old_connection", lambda: None)
        try:
            close()
            change(store, message)
        except Exception:  # no database: the run is published again when its claim ends
            _log.exception("%s[%s]: its run is left as it is", self.name, self.id)
        finally:
            close()
