"""Counts of future runs, by schedules and rows alone."""

from __future__ import annotations

from datetime import datetime, timedelta

from ..client import Client
from .declarations import Declaration, longest_cycle
from .rows import RowId

#: How many rows one call asks about.
_PAGE = 10_000

#: The longest span of one call: no longer than any cycle.
_LONGEST = timedelta(hours=20)


def forecast(
    client: Client,
    declaration: Declaration[RowId],
    start_time: datetime,
    step: timedelta,
    step_count: int,
) -> list[int]:
    """Return how many runs of the present rows start in each step from ``start_time`` on."""
    counts = [0] * step_count
    end_time = start_time + step * step_count
    longest = min(longest_cycle(client, declaration.schedule), _LONGEST)
    after: RowId | None = None
    while True:
        ids = declaration.rows.page(after, _PAGE)
        from_time = start_time
        while ids and from_time < end_time:
            look_ahead = min(longest, end_time - from_time)
            due = client.list_due_runs(
                declaration.schedule,
                ids,
                watermark=from_time,
                now_time=from_time,
                look_ahead=look_ahead,
                kind=declaration.kind,
                return_errors=True,
            )
            for run in due:
                counts[(run.start_time - start_time) // step] += 1
            from_time += look_ahead
        if len(ids) < _PAGE:
            return counts
        after = ids[-1]
