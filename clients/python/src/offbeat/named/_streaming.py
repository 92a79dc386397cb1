"""A consumer whose jobs come over one stream."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Callable

from .._grpc_channel import from_rpc_error, is_rpc_error
from ..errors import NotFound, OffbeatError, refused
from ..times import from_duration
from ..v1 import named_spread_pb2 as pb
from ._consuming import Consuming
from ._handle import Handle
from ._steps import FIRST_PAUSE, LONGEST_PAUSE, Steps, is_transient, patiently
from .answers import SettleAction, SettleOutcome, SettleResult
from .jobs import LeasedJob, leased_jobs

#: How long the start of a stream may take, in seconds, and how often a slow start is repeated.
_LONG_BEGINNING, _BEGINNINGS = 0.1, 3


class StreamConsumer(Iterator[LeasedJob]):
    """Takes jobs over a stream, until the spread is closed and drained. For one thread at a time.

    It works like :class:`~offbeat.Consumer`, but jobs arrive as soon as there are any, and
    settlements are sent over the same stream. If the stream breaks, it starts another one.
    """

    def __init__(
        self,
        handle: Handle,
        consumer_id: str,
        window: int,
        patience: float,
        run: Callable[[Steps[Any]], Any],
        stub: Callable[[], Any],
        address: str,
    ) -> None:
        """Start no stream yet."""
        if not isinstance(window, int) or not 1 <= window <= 65_536:
            raise refused("window", window, "must be 1 to 65536 jobs")
        self._handle, self._consumer_id, self._window = handle, consumer_id, window
        self._patience, self._run, self._stub, self._address = patience, run, stub, address
        # Without a stream, settlements are sent by unary calls.
        self._unary = Consuming(handle, consumer_id, 1, 0.0, patience, self)
        self._ready: deque[LeasedJob] = deque()
        self._call: Any = None
        self._outgoing: SimpleQueue[Any] = SimpleQueue()
        #: Settlements that were sent and not answered yet, in order.
        self._sent: deque[tuple[LeasedJob, pb.JobSettlement]] = deque()
        self._settled: list[tuple[LeasedJob, SettleOutcome]] = []
        #: Jobs handed out since credit was granted.
        self._used = 0
        #: When the stream was requested, and the zero of the service's clock, by the local clock.
        self._asked = 0.0
        self._clock: float | None = None
        self._slow_beginnings = 0
        #: Since when streams have failed without a message, and the pause before the next one.
        self._failing_since: float | None = None
        self._next_pause = FIRST_PAUSE
        self._ended = False

    @property
    def stale_count(self) -> int:
        """How many settlements came too late: those jobs may be done twice."""
        return self._unary.settlements.stale_count

    def __enter__(self) -> StreamConsumer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __next__(self) -> LeasedJob:
        while True:
            while self._ready:
                job = self._ready.popleft()
                self._used += 1
                if job.expired:
                    self._unary.settlements.give_back(job)  # another consumer may have it by now
                    continue
                if self._unary.settlements.are_due():
                    self._send()
                return job
            if self._ended:
                self.flush()
                raise StopIteration
            self._send()
            self._receive()

    def flush(self) -> list[tuple[LeasedJob, SettleOutcome]]:
        """Send the pending settlements; return the outcomes of all since the last call."""
        self._send()
        while self._sent and self._call is not None:
            self._receive()
        if self._call is None and self._unary.settlements.waiting:
            self._settled += self._run(self._unary.flush())
        settled, self._settled = self._settled, []
        return settled

    def close(self) -> None:
        """Send the settlements, end the stream, and release jobs that were not handed out."""
        self._send()
        self._outgoing.put(None)  # from here on nothing more is leased
        while self._call is not None and not self._ended:
            self._receive()
        self._ended = True
        while self._ready:
            self._unary.settlements.give_back(self._ready.popleft())
        self.flush()
        self._unary.settlements.closed = True

    def _settle(self, job: LeasedJob, action: SettleAction, delay: timedelta | None) -> None:
        self._unary.settlements.add(job, action, delay)

    def _extend_lease(self, job: LeasedJob) -> datetime | None:
        end_time: datetime | None = self._run(self._unary.extend_lease(job))
        return end_time

    def _send(self) -> None:
        """Send settlements and credit on the stream, if there is one."""
        if self._call is None:
            return
        while taken := self._unary.settlements.take():
            self._sent.extend(taken)
            settlements = pb.JobSettlements(epoch=taken[0][0].epoch)
            settlements.settlements.extend([message for _, message in taken])
            self._outgoing.put(pb.StreamJobsRequest(settlements=settlements))
        if self._used * 2 >= self._window and self._clock is not None:
            self._outgoing.put(pb.StreamJobsRequest(credit=pb.JobCredit(job_count=self._used)))
            self._used = 0

    def _receive(self) -> None:
        """Receive one message; start a stream if there is none."""
        if self._call is None:
            self._run(self._begin())
        assert self._call is not None
        try:
            message = next(self._call)
        except StopIteration:
            self._ended = True
            self._hang_up()
        except Exception as error:
            if not is_rpc_error(error):
                raise
            self._hang_up()
            self._pause(from_rpc_error(error, self._address))
        else:
            self._failing_since, self._next_pause = None, FIRST_PAUSE
            self._take(message)

    def _begin(self) -> Steps[None]:
        """Start a stream, after sending the settlements that an earlier one left."""
        if self._unary.settlements.waiting:
            self._settled += yield from self._unary.flush()
        self._outgoing, self._used, self._clock = SimpleQueue(), 0, None
        start = pb.StreamJobsStart(spread_name=self._handle.name, consumer_id=self._consumer_id)
        self._outgoing.put(pb.StreamJobsRequest(start=start))
        self._asked = time.monotonic()
        self._call = self._stub().StreamJobs(iter(self._outgoing.get, None))

    def _take_start(self, message: pb.StreamJobsStarted) -> None:
        """Relate the clock of the service to the local one, and ask for jobs.

        The service's ``message.uptime`` was not before ``_asked``. So a lease never seems longer
        than it is; it seems shorter by the time that the start took. If that was long, as when
        a connection had to be made, the stream is started again, up to three times.
        """
        took = time.monotonic() - self._asked
        if took > _LONG_BEGINNING and self._slow_beginnings < _BEGINNINGS:
            self._slow_beginnings += 1
            self._hang_up()
            return
        self._slow_beginnings = 0
        self._clock = self._asked - from_duration(message.uptime).total_seconds()
        self._outgoing.put(pb.StreamJobsRequest(credit=pb.JobCredit(job_count=self._window)))

    def _pause(self, error: OffbeatError) -> None:
        """Pause after an error that a restart may cause; raise any other error."""
        if isinstance(error, NotFound):
            reopen = partial(self._handle.open, leave_closed=True)
            self._run(patiently(self._patience, reopen))
        elif not is_transient(error):
            raise error
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        if now - self._failing_since > self._patience:
            raise error
        time.sleep(self._next_pause)
        self._next_pause = min(2 * self._next_pause, LONGEST_PAUSE)

    def _take(self, message: pb.StreamJobsResponse) -> None:
        if message.HasField("started"):
            self._take_start(message.started)
        elif message.HasField("leased") and self._clock is not None:
            start = self._clock + from_duration(message.leased.lease_start_uptime).total_seconds()
            # Not later than now, even if one of the two clocks runs faster.
            self._ready.extend(leased_jobs(message.leased, min(start, time.monotonic()), self))
        else:
            results = list(map(SettleResult.from_message, message.settle_results.results))
            taken = [self._sent.popleft() for _ in results]
            self._settled += self._unary.settlements.note(taken, results)

    def _hang_up(self) -> None:
        """End the stream; unanswered settlements are sent again later, which is idempotent."""
        if self._call is not None:
            self._outgoing.put(None)
            self._call.cancel()
            self._call = None
        self._unary.settlements.waiting[:0] = self._sent
        self._sent.clear()
