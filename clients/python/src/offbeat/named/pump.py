"""A consumer that hands jobs over to another queue, and keeps that queue short."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Callable

from ..errors import OffbeatError, refused
from ._consuming import CALL_JOBS
from .answers import EmptyReason, SettleAction, SettleOutcome
from .jobs import LeasedJob
from .tokens import LeaseToken

if TYPE_CHECKING:
    from .sync import NamedSpread

_log = logging.getLogger("offbeat.pump")

#: Jobs of one pull. If the pump is killed, up to this many wait for the end of their leases.
_PULLED_JOBS = 16

#: How long a pull waits for a job, in seconds. The pump stops within this time.
_WAIT = 1.0

#: Leases are extended every third of their duration, but at least once in this many seconds: until
#: then, the pump keeps jobs that have already been settled elsewhere.
_LONGEST_ROUND = 5.0

#: The pauses after errors, in seconds.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


@dataclass
class _HandedOver:
    token: LeaseToken
    until: float


class Pump:
    """Hands the jobs of a spread over in its order, and extends their leases. For one thread.

    ``hand_over`` puts a job into the other queue, with its :attr:`~LeasedJob.token`. The worker
    that does the job settles it by the token, from any process: see :meth:`NamedSpread.settle`. At
    most ``max_consumer_lease_count`` jobs, a limit of the spread, are handed over and not settled;
    a good number is twice its ``feeder_count``.

    A job that is not settled ``hold_for`` after it was handed over (default: one hour) counts as
    lost: its lease ends, and it is handed over again as its next attempt.
    """

    def __init__(
        self,
        spread: NamedSpread,
        consumer_id: str,
        hand_over: Callable[[LeasedJob], None],
        *,
        hold_for: timedelta | None = None,
    ) -> None:
        """Pull nothing yet. No other consumer may use the ``consumer_id``."""
        hold_for = timedelta(hours=1) if hold_for is None else hold_for
        if hold_for <= timedelta(0):
            raise refused("hold_for", hold_for, "must be longer than 0")
        self._spread, self._consumer_id, self._hand_over = spread, consumer_id, hand_over
        self._hold_for = hold_for.total_seconds()
        self._held: list[_HandedOver] = []
        self._round, self._next_round = _LONGEST_ROUND, 0.0

    def step(self) -> bool:
        """Hand over ready jobs, within about a second; ``False`` when the spread has ended.

        An exception of ``hand_over`` is raised; its job and the jobs after it are released.
        """
        if time.monotonic() >= self._next_round:
            self._extend_leases()
        wait = max(0.0, min(_WAIT, self._next_round - time.monotonic()))
        pulled = self._spread.pull(self._consumer_id, _PULLED_JOBS, wait=wait)
        now = time.monotonic()
        for index, job in enumerate(pulled.jobs):
            if job.expired:
                continue  # handing over the jobs before it took too long: another may have it
            try:
                self._hand_over(job)
            except BaseException:
                rest = [(left, SettleAction.RELEASE) for left in pulled.jobs[index:]]
                # If the sidecar is unreachable too, the leases end by themselves. The error of the
                # queue is the one to raise.
                with suppress(OffbeatError):
                    self._spread.settle(rest, delay=timedelta(seconds=1))
                raise
            self._held.append(_HandedOver(job.token, now + self._hold_for))
            self._round = min(job.lease_duration.total_seconds() / 3, _LONGEST_ROUND)
            self._next_round = min(self._next_round, now + self._round)
        return pulled.empty_reason is not EmptyReason.SPREAD_CLOSED

    def run(self, stop: threading.Event | None = None) -> None:
        """Hand jobs over until ``stop`` is set or the spread has ended. Errors are logged.

        When it stops, jobs that were handed over stay so, and running this pump again continues to
        extend their leases. Another pump does not know them: unless the worker of a job extends
        its lease, the job is delivered again.
        """
        stop = stop or threading.Event()
        pause = _FIRST_PAUSE
        while not stop.is_set():
            try:
                if not self.step():
                    return
                pause = _FIRST_PAUSE
            except Exception as error:
                _log.warning("%s: %s; again in %s s", self._spread.name, error, pause)
                stop.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _extend_leases(self) -> None:
        """Extend the leases of jobs that were handed over, and forget those without a lease."""
        now = time.monotonic()
        held = [one for one in self._held if one.until > now]
        self._held = []
        kept: list[_HandedOver] = []
        for batch in _batches(held):
            try:
                results = self._spread.settle(
                    [(one.token, SettleAction.EXTEND_LEASE) for one in batch]
                )
            except OffbeatError:
                self._held = held
                raise
            kept += [
                one
                for one, result in zip(batch, results)
                if result.outcome is SettleOutcome.EXTENDED
            ]
        self._held, self._next_round = kept, now + self._round


def _batches(held: list[_HandedOver]) -> list[list[_HandedOver]]:
    """Divide jobs into calls, each for one epoch."""
    batches: list[list[_HandedOver]] = []
    for one in held:
        last = batches[-1] if batches else None
        if last is None or len(last) == CALL_JOBS or last[0].token.epoch != one.token.epoch:
            batches.append([one])
        else:
            last.append(one)
    return batches
