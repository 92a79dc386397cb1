"""Tasks that run by a schedule, or in lanes, or both."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from celery import Task, shared_task
from celery.exceptions import Ignore, Reject, SoftTimeLimitExceeded
from celery.exceptions import Retry as CeleryRetry

from ..due_runs import CatchUpPolicy
from ..lanes import LaneSet
from ..new_ids import FirstRunPolicy
from ..runner import Declaration, PutBack, Retry, RunMessage
from ..schedule import AnySchedule
from . import lanes as lane_routes
from . import leases
from .integration import Integration, integration_of
from .rows import LazyRows, Rows

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Protocol

    P = ParamSpec("P")
    R_co = TypeVar("R_co", covariant=True)

    class TaskFunction(Protocol[P, R_co]):
        """A task: call it like its function, or send it to a worker."""

        name: str

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
            """Call the function in this process."""
            ...

        def delay(self, *args: P.args, **kwargs: P.kwargs) -> Any:
            """Send a call to a worker."""

        def apply_async(self, args: Any = None, kwargs: Any = None, **options: Any) -> Any:
            """Send a call to a worker, with options."""


#: The header of a message that carries its run.
RUN_HEADER = "offbeat_run"


@dataclass(frozen=True)
class Recurrence:
    """What a task declares; the declaration itself is created when it is used."""

    schedule: AnySchedule
    rows: LazyRows
    options: dict[str, Any]

    def declaration(self, name: str) -> Declaration[Any]:
        """Return the declaration of the task."""
        return Declaration(name, named(self.schedule), self.rows, **self.options)


def named(schedule: AnySchedule) -> AnySchedule:
    """Look up a name without a version in Django's settings; return any other schedule as it is."""
    if isinstance(schedule, str) and "/" not in schedule:
        from ..django.conf import get_schedule

        return get_schedule(schedule)
    return schedule


class OffbeatTask(Task):  # type: ignore[misc]
    """The base of tasks that run by a schedule, or in lanes.

    Use it through :func:`recurring_task`, or as ``base=OffbeatTask`` with ``lanes=``.
    """

    abstract = True
    Request = "offbeat.celery.requests:OffbeatRequest"
    #: The schedule and rows of a recurring task.
    recurrence: Recurrence | None = None
    #: The lanes of the task; each has the name of its queue.
    lanes: LaneSet | None = None
    #: Reaching a lane's timeout is not a failure, so it uses up no retry.
    dont_autoretry_for: tuple[type[BaseException], ...] = (SoftTimeLimitExceeded,)

    def apply_async(self, args: Any = None, kwargs: Any = None, **options: Any) -> Any:
        """Send the task, to its first lane unless the caller or a retry names a queue."""
        if self.lanes is not None and not {"queue", "exchange", "routing_key"} & options.keys():
            lane = lane_routes.first_options(self._integration(), self.lanes)
            headers = {**lane["headers"], **(options.get("headers") or {})}
            options = {**lane, **options, "headers": headers}
        return super().apply_async(args, kwargs, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do the job; if the message carries a lease or a run, extend or claim it first."""
        if self.request.called_directly:
            return self._call_in_lane(args, kwargs)
        lease = getattr(self.request, leases.LEASE_HEADER, None)
        if lease is not None:
            with leases.attempt(self.app, lease):
                return self._call_in_lane(args, kwargs)
        header = getattr(self.request, RUN_HEADER, None)
        if header is None:
            return self._call_in_lane(args, kwargs)
        message = RunMessage.from_json(header)
        again: BaseException | None = None
        try:
            with self._integration().worker.attempt(message) as attempt:
                if attempt is None:
                    raise Ignore
                self._integration().record_start(attempt.run)
                try:
                    return self._call_in_lane(args, kwargs)
                except (CeleryRetry, lane_routes.Demoted, Reject) as error:
                    if isinstance(error, Reject) and not error.requeue:
                        raise
                    again = error
                    raise Retry(_time_of(error)) from error
        except PutBack as put_back:
            self.put_back(args, kwargs, put_back.delay)
            raise Ignore from None
        assert again is not None
        raise again

    def put_back(self, args: Any, kwargs: Any, delay: timedelta) -> None:
        """Send the message of the current request again after ``delay``; this uses up no retry."""
        signature = self.signature_from_request(
            self.request, args, kwargs, countdown=delay.total_seconds()
        )
        signature.apply_async()

    def _call_in_lane(self, args: Any, kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except SoftTimeLimitExceeded:
            if self.lanes is None or not lane_routes.lane_of(self.request):
                raise
            lane_routes.demote(self._integration(), self, self.request, args, kwargs)
            raise lane_routes.Demoted from None

    def _integration(self) -> Integration:
        return integration_of(self.app)


def _time_of(error: BaseException) -> datetime | None:
    """Return when the message of a retry is due; ``None`` if it says no time."""
    when = getattr(error, "when", None)
    if isinstance(when, datetime):
        return when if when.tzinfo is not None else when.replace(tzinfo=timezone.utc)
    if isinstance(when, (int, float)):
        return datetime.now(timezone.utc) + timedelta(seconds=when)
    return None


def recurring_task(
    schedule: AnySchedule,
    *,
    rows: Rows,
    id_type: type[Any] | None = None,
    kind: str = "",
    previous_schedule: AnySchedule | None = None,
    min_gap: timedelta | None = None,
    catch_up: CatchUpPolicy | None = None,
    first_run: FirstRunPolicy | None = None,
    first_run_span: timedelta | None = None,
    run_time_limit: timedelta | None = None,
    republish_after: timedelta | None = None,
    keep: timedelta | None = None,
    **task_options: Any,
) -> Callable[[Callable[P, R_co]], TaskFunction[P, R_co]]:
    """Declare a task that runs for each row, once in each cycle of a schedule.

    The function takes the ID of a row. ``rows`` are a Django queryset or model, a
    :class:`~offbeat.runner.RowSource`, IDs, or a function that returns one of these. For the other
    options, see :class:`~offbeat.runner.Declaration`; if the task has a ``time_limit``,
    ``run_time_limit`` is by default one minute longer. ``task_options`` are those of
    ``shared_task``, and may include ``lanes``::

        @recurring_task("bank/1", kind="balance", rows=lambda: Account.objects.filter(active=True))
        def sync_balance(account_id: UUID) -> None: ...
    """
    time_limit = task_options.get("time_limit")
    if run_time_limit is None and time_limit is not None:
        run_time_limit = timedelta(seconds=time_limit) + timedelta(minutes=1)
    given = {
        "kind": kind or None,
        "previous_schedule": previous_schedule,
        "min_gap": min_gap,
        "catch_up": catch_up,
        "first_run": first_run,
        "first_run_span": first_run_span,
        "run_time_limit": run_time_limit,
        "republish_after": republish_after,
        "keep": keep,
    }
    options = {name: value for name, value in given.items() if value is not None}
    recurrence = Recurrence(schedule, LazyRows(rows, id_type), options)
    task_options.setdefault("base", OffbeatTask)
    decorated: Any = shared_task(recurrence=recurrence, **task_options)
    return decorated  # type: ignore[no-any-return]
