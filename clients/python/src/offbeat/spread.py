"""Spreads: the jobs of groups in an order that keeps the jobs of one group apart."""

from __future__ import annotations

import enum
import struct
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any, Callable, Generic, TypeVar

from google.protobuf.message import DecodeError

from ._fields import set_enum, set_integer
from .errors import refused
from .v1 import spread_pb2 as pb

J = TypeVar("J")


class SpreadPolicy(enum.IntEnum):
    """The order in which groups take turns."""

    #: Feeders in turn; sizes need not be known.
    ROUND_ROBIN = 1
    #: The largest rested group first; groups must have a length.
    COOLDOWN = 2


class ShortagePolicy(enum.IntEnum):
    """What ``COOLDOWN`` does when every open group must still rest."""

    #: The group that has rested longest takes the turn.
    EMIT = 1
    #: The turn passes without a job.
    WAIT = 2


class SpreadTurn(Generic[J]):
    """A turn: a job, or none in an idle turn."""

    # Millions are created: a frozen dataclass would take three times as long.
    __slots__ = ("group_index", "job", "sequence")

    def __init__(self, sequence: int, group_index: int | None, job: J | None) -> None:
        #: Index of the turn, from 0.
        self.sequence = sequence
        #: Index of the group in the iterable, from 0; ``None`` in an idle turn.
        self.group_index = group_index
        #: The job; ``None`` in an idle turn.
        self.job = job

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpreadTurn) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        values = zip(("sequence", "group_index", "job"), self._values())
        return f"SpreadTurn({', '.join(f'{name}={value!r}' for name, value in values)})"

    def _values(self) -> tuple[int, int | None, J | None]:
        return self.sequence, self.group_index, self.job


@dataclass(frozen=True)
class SpreadCertificate:
    """How well a spread has kept groups apart. Distances and spans are in turns."""

    job_count: int
    #: Groups that had a job.
    group_count: int
    #: The smallest distance between neighbours of a group; ``None`` if no group had two jobs.
    min_gap_turns: int | None
    #: The largest ``min_gap_turns`` that any order without idle turns has; ``None`` as above.
    best_min_gap_turns: int | None
    #: Pairs of neighbours of a group that are less than ``feeder_count`` turns apart.
    close_pair_count: int
    #: A lower bound of ``close_pair_count`` for any order without idle turns.
    close_pair_lower_bound: int
    #: The most turns from the first job of a group to its last.
    widest_span_turns: int

    @classmethod
    def from_message(cls, message: pb.SpreadCertificate) -> SpreadCertificate:
        """Turn a message into a certificate."""
        return cls(
            job_count=message.job_count,
            group_count=message.group_count,
            min_gap_turns=message.min_gap_turns if message.HasField("min_gap_turns") else None,
            best_min_gap_turns=message.best_min_gap_turns
            if message.HasField("best_min_gap_turns")
            else None,
            close_pair_count=message.close_pair_count,
            close_pair_lower_bound=message.close_pair_lower_bound,
            widest_span_turns=message.widest_span_turns,
        )


class _Progress:
    """The progress of a spread, and its certificate at the end."""

    def __init__(self, dispatcher: Dispatcher[Any]) -> None:
        self._dispatcher = dispatcher
        self._certificate: SpreadCertificate | None = None

    @property
    def resume_token(self) -> bytes:
        """The place after the turns that were taken, for ``resume_spread``."""
        return self._dispatcher.place().to_token()

    @property
    def certificate(self) -> SpreadCertificate:
        """The certificate; raises ``LookupError`` until all turns have been taken."""
        if self._certificate is None:
            raise LookupError("the spread has not ended")
        return self._certificate


class Spread(_Progress, Iterator[SpreadTurn[J]]):
    """An iterator of the turns of a spread; at the end, it has the certificate."""

    def __init__(
        self,
        dispatcher: Dispatcher[J],
        dealt: Callable[[Spread[J]], Generator[SpreadTurn[J], None, None]],
    ) -> None:
        """Store the arguments; no stream is opened yet."""
        super().__init__(dispatcher)
        self._turns = dealt(self)

    def __next__(self) -> SpreadTurn[J]:
        return next(self._turns)

    def close(self) -> None:
        """End the spread before its last turn."""
        self._turns.close()


class AsyncSpread(_Progress, AsyncIterator[SpreadTurn[J]]):
    """An iterator of the turns of a spread; at the end, it has the certificate."""

    def __init__(
        self,
        dispatcher: Dispatcher[J],
        dealt: Callable[[AsyncSpread[J]], AsyncGenerator[SpreadTurn[J], None]],
    ) -> None:
        """Store the arguments; no stream is opened yet."""
        super().__init__(dispatcher)
        self._turns = dealt(self)

    async def __anext__(self) -> SpreadTurn[J]:
        return await self._turns.__anext__()

    async def aclose(self) -> None:
        """End the spread before its last turn."""
        await self._turns.aclose()


#: The head of a token: format, whether groups need a size, sequence. The request follows.
_HEAD, _FORM = struct.Struct(">BBQ"), 1


@dataclass(frozen=True)
class SpreadPlace:
    """The place where a spread starts or continues."""

    #: The first request of the stream.
    request: pb.SpreadRequest
    #: Whether the sizes of groups must be sent.
    sized: bool
    #: The first turn that was not taken before.
    sequence: int = 0

    @classmethod
    def from_token(cls, token: bytes) -> SpreadPlace:
        """Parse a token."""
        try:
            form, sized, sequence = _HEAD.unpack_from(token)
            request = pb.SpreadRequest.FromString(bytes(token[_HEAD.size :]))
        except (DecodeError, TypeError, struct.error):
            form, sized, sequence, request = 0, 0, 0, pb.SpreadRequest()
        if form != _FORM or not request.WhichOneof("message"):
            raise refused("resume_token", token, "must be the bytes of a spread's resume_token")
        return cls(request, bool(sized), sequence)

    def to_token(self) -> bytes:
        """Return the place as a token."""
        head = _HEAD.pack(_FORM, self.sized, self.sequence)
        return head + self.request.SerializeToString()

    def after(self, turns: pb.SpreadTurns, taken: int) -> SpreadPlace:
        """Return the place after the first ``taken`` turns of a message."""
        resume = pb.SpreadResume(
            resume_token=turns.resume_token, taken_group_indexes=turns.group_indexes[:taken]
        )
        sequence = turns.first_turn_index + taken
        return SpreadPlace(pb.SpreadRequest(resume=resume), self.sized, sequence)


class Dispatcher(Generic[J]):
    """The groups of a spread: read on demand, with their jobs kept until their turns."""

    def __init__(self, groups: Iterable[Iterable[J]], start: SpreadPlace) -> None:
        """Store the groups; none is read yet."""
        self.start = start
        self._groups = iter(groups)
        #: The last message of turns, and how many of them were taken.
        self._message: pb.SpreadTurns | None = None
        self._taken = 0
        self._open: dict[int, _OpenGroup[J]] = {}
        self._next_index = 0

    def answer(self, demand: pb.SpreadDemand) -> pb.SpreadInput:
        """Read the demanded groups and jobs, and return how many there were."""
        answer = pb.SpreadInput()
        for _ in range(demand.group_count):
            group = next(self._groups, None)
            if group is None:
                answer.no_more_groups = True
                break
            index, self._next_index = self._next_index, self._next_index + 1
            if not answer.groups and isinstance(group, Sized):
                length = len(group)
                if length <= demand.jobs_per_group:
                    self._take_whole(index, group, length)
                    answer.whole_group_sizes.append(length)
                    continue
            message = answer.groups.add(group_index=index)
            size = _size(index, group) if self.start.sized else None
            if size is not None:
                message.size = size
            self._open[index] = _OpenGroup(index, group, size)
            self._pull(message, demand.jobs_per_group)
        for asked in demand.groups:
            known = self._open.get(asked.group_index)
            if known is None or known.ended:
                continue  # the group ended while the demand was in transit
            self._pull(answer.groups.add(group_index=asked.group_index), asked.job_count)
        return answer

    def turns(self, message: pb.SpreadTurns) -> Iterator[SpreadTurn[J]]:
        """Give each turn its job; skip turns that were taken before."""
        indexes, first = message.group_indexes, message.first_turn_index
        if first + len(indexes) > self.start.sequence:
            self._message = message
        for taken, index in enumerate(indexes, 1):
            sequence = first + taken - 1
            turn: SpreadTurn[J] = SpreadTurn(sequence, None, None)
            if index >= 0:
                group = self._open[index]
                turn = SpreadTurn(sequence, index, group.ready.popleft())
                if group.ended and not group.ready:
                    del self._open[index]
            if sequence >= self.start.sequence:
                self._taken = taken
                yield turn

    def place(self) -> SpreadPlace:
        """Return the place after the last turn that was taken."""
        if self._message is None:
            return self.start
        return self.start.after(self._message, self._taken)

    def _take_whole(self, index: int, jobs: Iterable[J], size: int) -> None:
        group = _OpenGroup(index, jobs, size)
        group.pull(size)
        if group.has_more():
            allowed = "must have no more jobs than its length says"
            raise refused(f"groups[{index}]", "a longer group", allowed)
        if group.ready:
            self._open[index] = group

    def _pull(self, message: Any, count: int) -> None:
        group = self._open[message.group_index]
        message.job_count = group.pull(count)
        message.last = group.ended
        if group.ended and not group.ready:
            del self._open[message.group_index]


class _OpenGroup(Generic[J]):
    def __init__(self, index: int, jobs: Iterable[J], size: int | None) -> None:
        self._index = index
        self._jobs = iter(jobs)
        self._left = size
        self.ready: deque[J] = deque()
        self.ended = size == 0

    def has_more(self) -> bool:
        """Say whether there are more jobs; the next one is lost."""
        return any(True for _ in self._jobs)

    def pull(self, count: int) -> int:
        """Read up to ``count`` jobs; return how many there were."""
        for pulled in range(count):
            try:
                self.ready.append(next(self._jobs))
            except StopIteration:
                if self._left:
                    allowed = "must have as many jobs as its length says"
                    raise refused(f"groups[{self._index}]", "a shorter group", allowed) from None
                self.ended = True
                return pulled
            if self._left is not None:
                self._left -= 1
                self.ended = self._left == 0
        return count


def spread_start(
    feeder_count: int,
    policy: SpreadPolicy | None,
    max_open_group_count: int | None,
    on_shortage: ShortagePolicy | None,
    job_window: int | None,
    group_window: int | None,
) -> SpreadPlace:
    """Return the start of a spread."""
    spec = pb.SpreadSpec()
    set_order(spec.order, feeder_count, policy, max_open_group_count)
    if on_shortage is not None:
        set_enum(spec, "spec", "on_shortage", on_shortage, ShortagePolicy)
    for name, count in (("job_window", job_window), ("group_window", group_window)):
        if count is not None:
            set_integer(spec, "spec", name, count)
    sized = spec.order.policy == pb.SPREAD_POLICY_COOLDOWN
    return SpreadPlace(pb.SpreadRequest(spec=spec), sized)


def set_order(
    order: pb.SpreadOrder,
    feeder_count: int,
    policy: SpreadPolicy | None,
    max_open_group_count: int | None,
) -> None:
    """Set the order in which groups are spread."""
    path = "spec.order"
    set_integer(order, path, "feeder_count", feeder_count)
    if policy is not None:
        set_enum(order, path, "policy", policy, SpreadPolicy)
    if max_open_group_count is not None:
        set_integer(order, path, "max_open_group_count", max_open_group_count)


def _size(index: int, group: Iterable[Any]) -> int:
    if not isinstance(group, Sized):
        allowed = "must have a length (a list, not a generator) with SpreadPolicy.COOLDOWN"
        raise refused(f"groups[{index}]", group, allowed)
    return len(group)
