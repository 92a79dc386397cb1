"""Declarations: which job runs for which rows, by which schedule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Generic

from .._keywords import positional
from ..due_runs import CatchUpPolicy
from ..errors import refused
from ..new_ids import FirstRunPolicy
from ..runs import DEFAULT_KIND
from ..schedule import AnySchedule, Schedule, ScheduleReference
from .rows import RowId, RowSource

if TYPE_CHECKING:
    from dataclasses import KW_ONLY

    from ..client import Client

_NAME = re.compile(r"[A-Za-z0-9._:-]{1,200}")
_LONGEST = timedelta(days=366)
_LONGEST_KEPT = timedelta(days=3_660)


@positional(3)
@dataclass(frozen=True)
class Declaration(Generic[RowId]):
    """A job that runs for each row, once in each cycle of a schedule.

    name: 1 to 200 characters of ``A-Z a-z 0-9 . _ : -``, for example the name of a task. It
        identifies the declaration in the store: a renamed declaration is a new one, which starts
        now.
    schedule: the schedule, or its ``name/version``.
    rows: the source of the IDs; see :class:`RowSource`.
    kind: the kind of job; one of the schedule's kinds, if it declares any.
    previous_schedule: the former schedule, during a change to another.
    min_gap: after a change of schedule, a row's first new run is dropped if it comes less than
        this after its last old one: 0 to 366 days. Default: 0.
    catch_up: what happens to missed runs. Default: the latest of each row runs.
    first_run: when a new row runs first if its time in the cycle has passed, as in
        :class:`~offbeat.NewId`. Default: ``NEXT_CYCLE``.
    first_run_span: over how long ``NOW_SMEARED`` spreads first runs; for schedules without kinds.
    run_time_limit: how long a worker has a run before another may claim it, 1 s to 366 days. It
        must be longer than any run takes. Default: 30 minutes.
    max_publication_count: a run that was published more often than this without ending has failed,
        for example because its job kills the worker. 1 to 1,000. Default: 10.
    republish_after: after how long a run that no worker has claimed is published again, 1 s to
        366 days; doubled each time, up to six times. Default: 10 minutes.
    keep: how long runs are kept after they have ended: 1 s to 3,660 days. With two cycles or more,
        each row shows its last run. Default: two cycles.
    """

    name: str
    schedule: AnySchedule
    rows: RowSource[RowId]
    if TYPE_CHECKING:
        _: KW_ONLY
    kind: str = ""
    previous_schedule: AnySchedule | None = None
    min_gap: timedelta = timedelta(0)
    catch_up: CatchUpPolicy | None = None
    first_run: FirstRunPolicy = FirstRunPolicy.NEXT_CYCLE
    first_run_span: timedelta | None = None
    run_time_limit: timedelta = timedelta(minutes=30)
    max_publication_count: int = 10
    republish_after: timedelta = timedelta(minutes=10)
    keep: timedelta | None = None

    def __post_init__(self) -> None:
        """Refuse invalid values; :func:`check` checks the schedule."""
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise refused("name", self.name, "must be 1 to 200 characters of A-Z a-z 0-9 . _ : -")
        spans = [
            ("min_gap", timedelta(0), _LONGEST),
            ("run_time_limit", timedelta(seconds=1), _LONGEST),
            ("republish_after", timedelta(seconds=1), _LONGEST),
        ]
        if self.keep is not None:
            spans.append(("keep", timedelta(seconds=1), _LONGEST_KEPT))
        for name, least, longest in spans:
            span = getattr(self, name)
            if not isinstance(span, timedelta) or not least <= span <= longest:
                seconds, days = least.total_seconds(), f"{longest.days:,} days"
                raise refused(name, span, f"must be {seconds:g} s to {days}, as a timedelta")
        if not 1 <= self.max_publication_count <= 1_000:
            count = self.max_publication_count
            raise refused("max_publication_count", count, "must be 1 to 1000 publications")

    @property
    def kind_name(self) -> str:
        """The kind of the runs; ``"default"`` if none is named."""
        return self.kind or DEFAULT_KIND


def schedule_identity(client: Client, schedule: AnySchedule) -> str:
    """Return what identifies a schedule: its ``name/version``, or its fingerprint."""
    if isinstance(schedule, Schedule):
        return client.describe_schedule(schedule).fingerprint
    if isinstance(schedule, str):
        schedule = ScheduleReference.parse(schedule)
    return f"{schedule.name}/{schedule.version}"


def check(declaration: Declaration[RowId], client: Client, look_ahead: timedelta) -> None:
    """Raise an error if the schedule is unknown or invalid, or does not have the kind.

    ``look_ahead`` is how far ahead ticks plan; it must be at most a cycle.
    """
    for schedule in (declaration.schedule, declaration.previous_schedule):
        if schedule is not None:
            cycle = longest_cycle(client, schedule)
            if look_ahead > cycle:
                interval, most = (span.total_seconds() * 2 / 3 for span in (look_ahead, cycle))
                allowed = f"must be at most two thirds of the cycle, {most:g} s, as a timedelta"
                raise refused("interval", f"{interval:g} s", allowed)
            client.list_due_runs(
                schedule, [], catch_up_policy=declaration.catch_up, kind=declaration.kind
            )
            _check_kind(declaration, client, schedule)


def _check_kind(declaration: Declaration[RowId], client: Client, schedule: AnySchedule) -> None:
    """Refuse a kind that the schedule does not declare, which a call without IDs does not check."""
    declared = client.describe_schedule(schedule).schedule.kinds or ()
    kinds = [kind if isinstance(kind, str) else kind.name for kind in declared]
    if kinds and declaration.kind not in kinds:
        allowed = f"must be a kind of the schedule: {', '.join(kinds)}"
        raise refused("kind", declaration.kind, allowed)


def longest_cycle(client: Client, schedule: AnySchedule) -> timedelta:
    """Return how long a cycle of a schedule is at most; with any calendar, 32 days."""
    period = client.describe_schedule(schedule).schedule.period
    return timedelta(days=32) if period is None else period
