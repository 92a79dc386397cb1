"""Selects the rows of a pass: those of a window, by an index, or all rows, page by page."""

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

#: How many rows a page has that is read in the order of the IDs.
_PAGE_ROWS = 1_000

#: Windows are read in pages of this fraction of a cycle: of 200,000 rows, 1,000 each.
_PAGES_OF_CYCLE = 200

#: With a calendar, a window up to this long is shorter than any cycle, and is read at once.
_SHORT_WINDOW = timedelta(hours=1)


@dataclass(frozen=True)
class Page(Generic[RowId]):
    """The IDs of a page, and the cursor of the next page; ``None`` if there is none."""

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

    Each row is in one page, so that all its runs are decided together. A pass that started with
    windows continues with windows: its cursor says how it reads rows.
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
            # Rows of windows that are already planned are planned again, which changes nothing.
            yield from _all_rows(declaration, "")
            return
        ids: dict[RowId, None] = {}  # each row once, even if several predicates select it
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
    """Return windows that hold each row once, or ``None`` if all rows must be read."""
    resolved = client.describe_schedule(schedule, at_time=opened.now).schedule
    if declaration.rows.sql_target() is None or resolved.weight_quantum is not None:
        return None
    serves_salt = getattr(declaration.rows, "serves_salt", None)
    if serves_salt is not None and not serves_salt(resolved.salt):
        return None
    start, end = watermark, opened.end_time
    if resolved.period is None:
        return [(start, end)] if end - start <= _SHORT_WINDOW else None
    if resolved.placement is Placement.TWISTER:  # by slots, which extend beyond the window
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
    """Return the predicates of a window; ``None`` if there are none at present."""
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
        pass  # a placement without window predicates: use those of slots
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
    """Return the predicates of the slots that a window touches."""
    described = client.describe_schedule(schedule, at_time=start)
    slots = client.list_slots(
        schedule,
        start_time=start - described.slot_duration,
        end_time=end,
        sql_target=target,
        kind=declaration.kind,
    )
    return [slot.predicate for slot in slots if slot.predicate is not None]
