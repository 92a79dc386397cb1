"""Leases of jobs that a pump has put into a queue: the worker that does the job settles it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from celery.exceptions import Ignore, Reject
from celery.exceptions import Retry as CeleryRetry
from celery.utils.log import get_logger

from ..errors import OffbeatError
from ..named import LeaseToken, NamedSpread, SettleAction, SettleOutcome

if TYPE_CHECKING:
    from celery import Celery

_log = get_logger(__name__)

#: The header of a message that carries the lease of its job: the token, and the spread's name.
LEASE_HEADER = "offbeat_lease"

#: The spreads of an app that feed queues, by name.
_spreads: WeakKeyDictionary[Celery, dict[str, NamedSpread]] = WeakKeyDictionary()


def register(app: Celery, spread: NamedSpread) -> None:
    """Store a spread whose jobs are sent as messages."""
    _spreads.setdefault(app, {})[spread.name] = spread


def header_of(spread: NamedSpread, token: LeaseToken) -> str:
    """Return the lease header of a message."""
    return f"{token}/{spread.name}"


def settle(app: Celery, header: str, action: SettleAction) -> SettleOutcome | None:
    """Settle the lease of a message, and return the outcome.

    Returns ``None`` if the call fails. The lease then ends by itself, and the job is delivered
    again.
    """
    app = getattr(app, "_get_current_object", lambda: app)()
    token, _, name = header.partition("/")
    spread = _spreads.get(app, {}).get(name)
    if spread is None:
        raise RuntimeError(f"the app {app.main!r} has no TaskPump of the spread {name!r}")
    try:
        (result,) = spread.settle([(LeaseToken.parse(token), action)])
    except OffbeatError as error:
        _log.warning("the lease of %s could not be settled: %s", header, error)
        return None
    return result.outcome


@contextmanager
def attempt(app: Celery, header: str) -> Iterator[None]:
    """Extend the lease of a job, and settle it afterwards; raises ``Ignore`` for a stale lease."""
    if settle(app, header, SettleAction.EXTEND_LEASE) is SettleOutcome.STALE:
        _log.info("%s is done, or there is another message of it", header)
        raise Ignore
    try:
        yield
    except (CeleryRetry, Ignore):
        raise  # the same job continues in another message, with the same lease
    except Reject as rejected:
        if not rejected.requeue:
            settle(app, header, SettleAction.DEAD_LETTER)
        raise
    except Exception:
        settle(app, header, SettleAction.DEAD_LETTER)
        raise
    settle(app, header, SettleAction.ACK)
