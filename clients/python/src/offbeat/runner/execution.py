"""How a worker handles a message: it claims the run, does the job, and ends the run."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .declarations import Declaration
from .records import Claim, ClaimOutcome, RunMessage, RunState, StoredRun
from .rows import parse_row_id
from .store import RunStore

_log = logging.getLogger("offbeat.runner")

#: The longest delay of a message that is put back: the worker of its run may die, or end early.
_LONGEST_DELAY = timedelta(minutes=5)

_current: ContextVar[StoredRun | None] = ContextVar("offbeat_run", default=None)


def current_run() -> StoredRun | None:
    """Return the run of the calling job; ``None`` if it was not called for a run."""
    return _current.get()


class PutBack(Exception):
    """A message is early, or another worker has its run: the queue must deliver it again later."""

    def __init__(self, delay: timedelta) -> None:
        """Set after how long to deliver the message again."""
        super().__init__(f"the message is to come again in {delay.total_seconds():g} s")
        self.delay = delay


class Retry(Exception):
    """Raised by integrations inside :meth:`Worker.attempt`: the job will be tried again."""

    def __init__(self, until: datetime | None = None) -> None:
        """Set when its message is delivered again; ``None`` is now."""
        super().__init__("the job is tried again")
        self.until = until


@dataclass(frozen=True)
class Attempt:
    """A run that a worker has claimed."""

    run: StoredRun
    #: The ID of its row, in the type of the declaration's rows.
    row_id: Any


@dataclass(frozen=True)
class Worker:
    """Claims and ends runs for the workers of a queue."""

    declarations: Mapping[str, Declaration[Any]]
    store: RunStore

    @contextmanager
    def attempt(self, message: RunMessage) -> Iterator[Attempt | None]:
        """Hold a run while its job is done; yields ``None`` if there is nothing to do.

        The run becomes ``DONE`` when the job returns, and ``FAILED`` when it raises an exception;
        a :class:`Retry` releases it. Raises :class:`PutBack` if the message must be delivered
        again.
        """
        claim = self._claim(message)
        attempt = self._attempt(message, claim)
        if attempt is None:
            yield None
            return
        token = _current.set(attempt.run)
        try:
            yield attempt
        except Retry as retry:
            self._release(message, retry.until)
        except BaseException:
            self._finish(message, RunState.FAILED)
            raise
        else:
            self._finish(message, RunState.DONE)
        finally:
            _current.reset(token)

    def _claim(self, message: RunMessage) -> Claim:
        declaration = self.declarations.get(message.declaration)
        if declaration is None:
            # In a rolling deploy, this may be an older worker: a newer one knows the declaration.
            _log.warning("%s is not declared here", message.declaration)
            raise PutBack(timedelta(seconds=30))
        claim = self.store.claim(message.run_id, message.publication, declaration.run_time_limit)
        if claim.outcome in (ClaimOutcome.EARLY, ClaimOutcome.HELD):
            raise PutBack(min(claim.retry_delay, _LONGEST_DELAY))
        return claim

    def _attempt(self, message: RunMessage, claim: Claim) -> Attempt | None:
        if claim.run is None or claim.outcome is not ClaimOutcome.GRANTED:
            _log.info("the message of run %s is obsolete", message.run_id)
            return None
        declaration = self.declarations[message.declaration]
        if message.publication > declaration.max_publication_count:
            _log.error(
                "run %s of %s has failed: it was published too often",
                message.run_id,
                message.declaration,
            )
            self._finish(message, RunState.FAILED)
            return None
        rows = declaration.rows
        row_id = parse_row_id(rows.id_type, message.row_id)
        if not rows.contains(row_id):
            self._finish(message, RunState.SKIPPED)
            return None
        return Attempt(claim.run, row_id)

    def _release(self, message: RunMessage, until: datetime | None) -> None:
        now = self.store.now()
        after = self.declarations[message.declaration].republish_after
        self.store.release(message.run_id, message.publication, max(now, until or now) + after)

    def _finish(self, message: RunMessage, state: RunState) -> None:
        if not self.store.finish(message.run_id, message.publication, state):
            _log.warning(
                "run %s of %s took longer than run_time_limit, and may run again",
                message.run_id,
                message.declaration,
            )
