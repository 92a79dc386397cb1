"""Which rows a pass reads: those of a window, by an index, or page by page all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic

from ..client import Client
from ..errors import InvalidArgument, NeedsSidecar, NoAnswer
from ..schedule import AnySchedule, Placement
from ..sql import SqlPredicate, SqlTarget
from .declarations import Declaration
from .records import Pass
from .rows import RowId, parse_row_id

#: Rows of a page that is read in the order of the IDs.
_PAGE_ROWS = 1_000

#: A window is read in pages of this part of a cycle: 1,000 rows of 200,000.
_PAGES_OF_CYCLE = 200

#: A calendar's window up to this is shorter than any of its cycles, and is read at once.
_SHORT_WINDOW = timedelta(hours=1)


@dataclass(frozen=True)
class Page(Generic[RowId]):
    """Rows, and where the next page begins; ``None`` if there is none."""

    ids: Sequence[RowId]
    cursor: str | None


def pages(
    declaration: Declaration[RowId],
    schedule: AnySchedule,
    watermark: datetime,
    opened: Pass,
    client: Client,
) -> Iterator[Page[RowId]]:
    """Yield all rows that may have a run in the pass, after its cursor.

    Each row is in one page, and so is decided at once. A pass that began with windows goes on with
    windows: its cursor says which way it goes.
    """
    windows = None
    if not opened.cursor.startswith(_BY_ROW):
        windows = _windows(declaration, schedule, watermark, opened, client)
    if windows is None:
        yield from _all_rows(declaration, opened.cursor)
        return
    for index, (start, end) in enumerate(windows):
        predicates = _predicates(declaration, schedule, start, end, client)
        if predicates is None:
            # Rows of a window that was planned are planned again, which changes nothing.
            yield from _all_rows(declaration, "")
            return
        ids: dict[RowId, None] = {}  # slots beside each other, each row once
        for predicate in predicates:
            matching = declaration.rows.matching(predicate)
            if matching is None:
                yield from _all_rows(declaration, "")
                return
            ids.update(dict.fromkeys(matching))
        last = index == len(windows) - 1
        yield Page(list(ids), None if last else _BY_WINDOW + end.isoformat())


_BY_ROW, _BY_WINDOW = "row:", "window:"


def _all_rows(declaration: Declaration[RowId], cursor: str) -> Iterator[Page[RowId]]:
    rows = declaration.rows
    after = None
    if cursor:
        after = parse_row_id(rows.id_type, cursor[len(_BY_ROW) :])
    while True:
        ids = rows.page(after, _PAGE_ROWS)
        if len(ids) < _PAGE_ROWS:
            yield Page(ids, None)
            return
        after = ids[-1]
        yield Page(ids, f"{_BY_ROW}{after}")


def _windows(
    declaration: Declaration[RowId],
    schedule: AnySchedule,
    watermark: datetime,
    opened: Pass,
    client: Client,
) -> list[tuple[datetime, datetime]] | None:
    """Return windows that hold each row once, or ``None`` if all rows are to be read."""
    resolved = client.describe_schedule(schedule, at_time=opened.now).schedule
    if declaration.rows.sql_target() is None or resolved.weight_quantum is not None:
        return None
    serves_salt = getattr(declaration.rows, "serves_salt", None)
    if serves_salt is not None and not serves_salt(resolved.salt):
        return None
    start, end = watermark, opened.end_time
    if resolved.period is None:
        return [(start, end)] if end - start <= _SHORT_WINDOW else None
    if resolved.placement is Placement.TWISTER:  # by slots, which begin before and end behind
        assert resolved.slot_count is not None
        if end - start + 2 * resolved.period / resolved.slot_count > resolved.period:
            return None
        return [(start, end)]
    start = max(start, end - resolved.period)
    step = resolved.period / _PAGES_OF_CYCLE
    windows = []
    while start < end:
        windows.append((start, min(start + step, end)))
        start += step
    if opened.cursor:
        done = datetime.fromisoformat(opened.cursor[len(_BY_WINDOW) :])
        windows = [window for window in windows if window[0] >= done]
    return windows


def _predicates(
    declaration: Declaration[RowId],
    schedule: AnySchedule,
    start: datetime,
    end: datetime,
    client: Client,
) -> list[SqlPredicate] | None:
    """Return the conditions of a window; ``None`` if nobody can say them now."""
    target = declaration.rows.sql_target()
    assert target is not None
    try:
        return [
            client.window_predicate(
                schedule, target, start_time=start, end_time=end, kind=declaration.kind
            )
        ]
    except (NeedsSidecar, NoAnswer):
        return None
    except InvalidArgument:
        pass  # a placement that has no windows: by slots
    try:
        return _slot_predicates(declaration, schedule, target, start, end, client)
    except (NeedsSidecar, NoAnswer, InvalidArgument):
        return None


def _slot_predicates(
    declaration: Declaration[RowId],
    schedule: AnySchedule,
    target: SqlTarget,
    start: datetime,
    end: datetime,
    client: Client,
) -> list[SqlPredicate]:
    """Return the conditions of the slots that a window touches."""
    described = client.describe_schedule(schedule, at_time=start)
    slots = client.list_slots(
        schedule,
        start_time=start - described.slot_duration,
        end_time=end,
        sql_target=target,
        kind=declaration.kind,
    )
    return [slot.predicate for slot in slots if slot.predicate is not None]
