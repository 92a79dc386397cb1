"""A spread by its name: opened at the first call, and again after a restart."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from .._fields import set_integer
from ..errors import NotFound, refused
from ..times import from_duration, to_duration
from ..v1 import named_spread_pb2 as pb
from ._steps import Call, Steps
from .answers import (
    DeadLetter,
    EmptyReason,
    NamedSpreadSpec,
    SettleOutcome,
    SettleResult,
    SpreadDescription,
    SpreadLimits,
)
from .jobs import PulledJobs, leased_jobs

_UNKNOWN_SPREAD = "ERROR_REASON_UNKNOWN_SPREAD"

#: The most dead letters in one call.
_CALL_LETTERS = 4_096

#: How often a call opens the spread again: a service that restarts repeatedly may lose it between
#: its opening and the call.
_OPENINGS = 4


def wait_of(wait: float | timedelta) -> Any:
    """Return how long a call may wait, as a message."""
    path = "max_wait_duration"
    if not isinstance(wait, (int, float, timedelta)):
        raise refused(path, wait, "must be seconds, or a timedelta")
    span = wait if isinstance(wait, timedelta) else timedelta(milliseconds=round(wait * 1_000))
    return to_duration(path, span)


class Handle:
    """The name and the spec of a spread, and the last receipt.

    Only producers reopen a spread that was closed and drained. A consumer that reopened it would
    wait for jobs forever.
    """

    def __init__(self, name: str, spec: NamedSpreadSpec) -> None:
        """Open nothing yet."""
        self.name = name
        self.spec = spec.to_message()
        #: The receipt of the last opening or submission; ``None`` before the first.
        self.receipt: pb.Receipt | None = None

    def open(self, *, leave_closed: bool = False) -> Steps[SpreadDescription]:
        """Open the spread, or find it open; with ``leave_closed``, a closed one stays closed."""
        request = pb.OpenSpreadRequest(
            spread_name=self.name, spec=self.spec, leave_closed=leave_closed
        )
        response: pb.OpenSpreadResponse = yield Call("OpenSpread", request)
        description = response.description
        lease_duration = description.spec.lease_duration
        self.receipt = pb.Receipt(epoch=description.epoch, lease_duration=lease_duration)
        return SpreadDescription.from_message(description)

    def call(self, method: str, request: Any, wait: float = 0.0) -> Steps[Any]:
        """Call a method; if the service does not know the spread, open it and call again."""
        for _ in range(_OPENINGS):
            try:
                return (yield Call(method, request, wait))
            except NotFound as error:
                if error.reason != _UNKNOWN_SPREAD:
                    raise
            yield from self.open(leave_closed=True)
        return (yield Call(method, request, wait))

    def describe(self) -> Steps[SpreadDescription]:
        """Describe the spread."""
        request = pb.DescribeSpreadRequest(spread_name=self.name)
        response = yield from self.call("DescribeSpread", request)
        return SpreadDescription.from_message(response.description)

    def update(self, limits: SpreadLimits) -> Steps[SpreadDescription]:
        """Change limits of the spread."""
        request = pb.UpdateSpreadRequest(spread_name=self.name, limits=limits.to_message("limits"))
        response = yield from self.call("UpdateSpread", request)
        return SpreadDescription.from_message(response.description)

    def pull(
        self, consumer_id: str, max_pulled_job_count: int, wait: float | timedelta
    ) -> Steps[PulledJobs]:
        """Lease jobs."""
        request = pb.PullJobsRequest(
            spread_name=self.name, consumer_id=consumer_id, max_wait_duration=wait_of(wait)
        )
        set_integer(request, "", "max_pulled_job_count", max_pulled_job_count)
        seconds = request.max_wait_duration.ToTimedelta().total_seconds()
        asked = time.monotonic()
        response: pb.PullJobsResponse = yield from self.call("PullJobs", request, seconds)
        start = asked + from_duration(response.waited_duration).total_seconds()
        reason = response.empty_reason
        return PulledJobs(
            leased_jobs(response.leased, start), EmptyReason(reason) if reason else None
        )

    def settle(self, epoch: int, settlements: list[pb.JobSettlement]) -> Steps[list[SettleResult]]:
        """Settle jobs; if the service does not know the spread, all leases are stale."""
        request = pb.SettleJobsRequest(spread_name=self.name, epoch=epoch, settlements=settlements)
        try:
            response: pb.SettleJobsResponse = yield Call("SettleJobs", request)
        except NotFound:
            return [SettleResult(SettleOutcome.STALE)] * len(settlements)
        return list(map(SettleResult.from_message, response.results))

    def dead_letters(self, page_token: str) -> Steps[tuple[list[DeadLetter], str]]:
        """List a page of dead letters, and return the token of the next one."""
        request = pb.ListDeadLettersRequest(spread_name=self.name, page_token=page_token)
        response: pb.ListDeadLettersResponse = yield from self.call("ListDeadLetters", request)
        letters = [
            DeadLetter.from_message(letter, response.epoch) for letter in response.dead_letters
        ]
        return letters, response.next_page_token

    def redrive_dead_letters(self, letters: Iterable[DeadLetter]) -> Steps[int]:
        """Put dead letters back; return how many of them existed."""
        count = 0
        for epoch, numbers in _numbers_by_epoch(letters):
            request = pb.RedriveDeadLettersRequest(
                spread_name=self.name, epoch=epoch, numbers=numbers
            )
            response: pb.RedriveDeadLettersResponse = yield from self.call(
                "RedriveDeadLetters", request
            )
            count += response.redriven_count
        return count

    def delete_dead_letters(self, letters: Iterable[DeadLetter]) -> Steps[int]:
        """Delete dead letters; return how many of them existed."""
        count = 0
        for epoch, numbers in _numbers_by_epoch(letters):
            request = pb.DeleteDeadLettersRequest(
                spread_name=self.name, epoch=epoch, numbers=numbers
            )
            response: pb.DeleteDeadLettersResponse = yield from self.call(
                "DeleteDeadLetters", request
            )
            count += response.deleted_count
        return count

    def close(self, mode: int, wait: float | timedelta) -> Steps[SpreadDescription]:
        """Close the spread."""
        request = pb.CloseSpreadRequest(
            spread_name=self.name,
            mode=mode,  # type: ignore[arg-type]
            max_wait_duration=wait_of(wait),
        )
        seconds = request.max_wait_duration.ToTimedelta().total_seconds()
        response = yield from self.call("CloseSpread", request, seconds)
        return SpreadDescription.from_message(response.description)


def _numbers_by_epoch(letters: Iterable[DeadLetter]) -> Iterator[tuple[int, list[int]]]:
    """Yield the epoch and the numbers for each call.

    All letters are checked before the first call, so that a refusal changes none of them.
    """
    if isinstance(letters, DeadLetter):
        raise refused("letters", letters, "must be an iterable of dead letters, not a single one")
    numbers: dict[int, list[int]] = {}
    for index, letter in enumerate(letters):
        if not isinstance(letter, DeadLetter):
            allowed = "must be a DeadLetter, as dead_letters() lists them"
            raise refused(f"letters[{index}]", letter, allowed)
        numbers.setdefault(letter.epoch, []).append(letter.number)
    for epoch, of_epoch in numbers.items():
        for first in range(0, len(of_epoch), _CALL_LETTERS):
            yield epoch, of_epoch[first : first + _CALL_LETTERS]
