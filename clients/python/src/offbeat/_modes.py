"""Modes: which questions go to the sidecar, and which the client decides itself."""

from __future__ import annotations

import os
from collections.abc import Generator
from datetime import datetime
from typing import Any, Callable, Literal, TypeVar, Union

from ._questions import NOW, Question
from ._rows import BadIds
from .errors import InvalidArgument, NeedsSidecar, NoAnswer, NotFound, OffbeatError, refused
from .local.catalog import Catalog
from .local.channel import LocalChannel
from .local.decider import Decider
from .schedule import AnySchedule, schedule_message
from .v1 import slots_pb2 as pb

T = TypeVar("T")

Mode = Literal["remote", "auto", "local"]

#: A file of schedules, by its path.
SchedulesFile = Union[str, "os.PathLike[str]"]

#: A call of the transport: the method, the request, and whether to try again patiently.
Call = tuple[str, Any, bool]

#: In the mode "auto", batches of at least this many IDs go to the sidecar, which is faster.
_BULK_IDS = 1_000


class Decisions:
    """Answers questions, locally or by calls to the sidecar."""

    def __init__(
        self, mode: str | None, schedules: SchedulesFile | None, clock: Callable[[], datetime]
    ) -> None:
        """Set the mode and the schedules file, by default from the environment."""
        self.mode = _resolve_mode(mode)
        path = schedules if schedules is not None else os.environ.get("OFFBEAT_SCHEDULES") or None
        self.clock = clock
        self._decider = Decider(None if path is None else Catalog(path), clock)

    def answer(self, question: Question[T]) -> Generator[Call, Any, T]:
        """Answer a question; yields the calls that need a sidecar, and is sent their responses."""
        asked = self.mode == "remote"
        try:
            method, request = next(question)
            while True:
                try:
                    response, by_sidecar = yield from self._step(method, request)
                    asked = asked or by_sidecar
                except InvalidArgument as error:  # the question may have another way to its answer
                    method, request = question.throw(error)
                else:
                    method, request = question.send(response)
        except StopIteration as answered:
            answer: T = answered.value
        except BadIds as bad:
            _stamp(bad.answer, asked)
            raise
        _stamp(answer, asked)
        return answer

    def _step(self, method: str, request: Any) -> Generator[Call, Any, tuple[Any, bool]]:
        """Return a response, and whether it came from the sidecar."""
        if method == NOW:
            return self.clock(), False
        if self.mode == "remote":
            return (yield method, request, True), True
        if self.mode == "auto" and self._decider.is_bulk(method, request, _BULK_IDS):
            try:
                return (yield method, request, False), True
            except (NoAnswer, NotFound):  # the sidecar may not know a name that the file has
                return self._decider.decide(method, request), False
        try:
            return self._decider.decide(method, request), False
        except OffbeatError as error:
            # The sidecar may know a name that the file does not have.
            if self.mode == "local" or isinstance(error, InvalidArgument):
                raise
        return (yield method, request, True), True

    def local_refusal(self, schedule: AnySchedule) -> str | None:
        """Say why a schedule needs a sidecar; ``None`` if it does not."""
        request = pb.DescribeScheduleRequest(schedule=schedule_message(schedule))
        request.at_time.SetInParent()  # the Unix epoch, an instant that every schedule has
        try:
            self._decider.decide("DescribeSchedule", request)
        except NeedsSidecar as needs:
            return needs.message
        return None

    @property
    def streams_by(self) -> str:
        """Who decides streams, whose number of IDs is unknown: the sidecar, except in "local"."""
        return "local" if self.mode == "local" else "sidecar"

    def channel(self, channel: T) -> T | LocalChannel:
        """Return the channel of a client; in the mode "local", one that decides locally."""
        return LocalChannel(self._decider) if self.mode == "local" else channel


def _resolve_mode(mode: str | None) -> str:
    field = "mode" if mode is not None else "OFFBEAT_MODE"
    word = (os.environ.get(field) or "remote") if mode is None else mode
    if word not in ("remote", "auto", "local"):
        raise refused(field, word, "must be remote, auto or local")
    return word


def _stamp(answer: object, asked: bool) -> None:
    """Mark an answer as decided locally if the sidecar was not asked."""
    if not asked and hasattr(answer, "decided_by"):
        object.__setattr__(answer, "decided_by", "local")
