"""Declarations of simulated jobs."""

from __future__ import annotations

from offbeat import Schedule
from offbeat.runner import Declaration, IdList
from simulation import HOUR

EVERY_8_HOURS = Schedule(8 * HOUR)
#: The time between the runs of two kinds.
GAP = 3.5 * HOUR
TWO_KINDS = Schedule(8 * HOUR, kinds=["import", "export"])
ROWS = 400


def declared(name="sync", schedule=EVERY_8_HOURS, ids=None, **options):
    rows = IdList(list(range(ROWS)) if ids is None else ids, int)
    return Declaration(name, schedule, rows, **options)


def kinds():
    return [declared(kind, TWO_KINDS, kind=kind) for kind in ("import", "export")]
