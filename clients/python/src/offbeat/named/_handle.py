"""A spread by its name: opened at the first call, and again after a restart."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from .._fields import set_integer
from ..errors import NotFound, refused
from ..times import from_duration, to_duration
from ..v1 import named_spread_pb2 as pb
from ._steps import Call, Steps
from .answers import DeadLetter, NamedSpreadSpec, SpreadDescription
from .jobs import LeasedJob, leased_jobs

_UNKNOWN_SPREAD = "ERROR_REASON_UNKNOWN_SPREAD"

#: A service that restarts again at once loses the spread between its opening and the call.
_OPENINGS = 4


def wait_of(wait: float | timedelta) -> Any:
    """Return how long a call is to wait, as a message."""
    if not isinstance(wait, (int, float, timedelta)):
        raise refused("wait", wait, "must be seconds, or a timedelta")
    span = wait if isinstance(wait, timedelta) else timedelta(milliseconds=round(wait * 1_000))
    return to_duration("wait", span)


class Handle:
    """The name, the parameters, and what the spread was opened under.

    Only producers open a spread before they use it. Whoever else did so would open a spread
    anew that is closed and drained, and wait there for ever.
    """

    def __init__(self, name: str, spec: NamedSpreadSpec) -> None:
        """Open nothing yet."""
        self.name = name
        self.spec = spec.to_message()
        #: What the last opening was answered; none before the first.
        self.receipt: pb.Receipt | None = None

    def open(self) -> Steps[SpreadDescription]:
        """Open the spread, or find it open."""
        request = pb.OpenSpreadRequest(spread=self.name, spec=self.spec)
        response: pb.OpenSpreadResponse = yield Call("OpenSpread", request)
        description = response.description
        self.receipt = pb.Receipt(epoch=description.epoch, lease=description.spec.lease)
        return SpreadDescription.from_message(description)

    def call(self, method: str, request: Any, wait: float = 0.0) -> Steps[Any]:
        """Call a method, and again if the spread is not known and has to be opened."""
        for _ in range(_OPENINGS):
            try:
                return (yield Call(method, request, wait))
            except NotFound as error:
                if error.reason != _UNKNOWN_SPREAD:
                    raise
            yield from self.open()
        return (yield Call(method, request, wait))

    def describe(self) -> Steps[SpreadDescription]:
        """Describe the spread."""
        request = pb.DescribeSpreadRequest(spread=self.name)
        response = yield from self.call("DescribeSpread", request)
        return SpreadDescription.from_message(response.description)

    def pull(
        self, consumer: str, max_jobs: int, wait: float | timedelta
    ) -> Steps[tuple[list[LeasedJob], bool]]:
        """Lend jobs; and say whether the spread has ended."""
        request = pb.PullJobsRequest(spread=self.name, consumer=consumer, wait=wait_of(wait))
        set_integer(request, "", "max_jobs", max_jobs)
        seconds = request.wait.ToTimedelta().total_seconds()
        asked = time.monotonic()
        response = yield from self.call("PullJobs", request, seconds)
        lent = asked + from_duration(response.waited).total_seconds()
        return leased_jobs(response.leased, lent), response.ended

    def settle(self, epoch: int, verdicts: list[pb.JobVerdict]) -> Steps[list[int]]:
        """Say how jobs went. A spread that is not known (any more) knows no leases."""
        request = pb.SettleJobsRequest(spread=self.name, epoch=epoch, verdicts=verdicts)
        try:
            response: pb.SettleJobsResponse = yield Call("SettleJobs", request)
        except NotFound:
            return [pb.SETTLEMENT_STALE] * len(verdicts)
        return list(response.settlements)

    def dead_letters(self, after: int | None) -> Steps[tuple[list[DeadLetter], bool]]:
        """List a page of jobs that were given up; and say whether there are more."""
        request = pb.ListDeadLettersRequest(spread=self.name)
        if after is not None:
            request.after_number = after
        response = yield from self.call("ListDeadLetters", request)
        return [DeadLetter.from_message(letter) for letter in response.dead_letters], (
            response.has_more
        )

    def delete_dead_letters(self, numbers: Iterable[int]) -> Steps[int]:
        """Delete jobs that were given up; return how many there were."""
        request = pb.DeleteDeadLettersRequest(spread=self.name, numbers=numbers)
        if not request.numbers:
            return 0
        response = yield from self.call("DeleteDeadLetters", request)
        count: int = response.deleted_count
        return count

    def close(self, mode: int, wait: float | timedelta) -> Steps[SpreadDescription]:
        """End the spread."""
        request = pb.CloseSpreadRequest(spread=self.name, mode=mode, wait=wait_of(wait))  # type: ignore[arg-type]
        seconds = request.wait.ToTimedelta().total_seconds()
        response = yield from self.call("CloseSpread", request, seconds)
        return SpreadDescription.from_message(response.description)
