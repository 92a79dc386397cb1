"""The tables of runs and progress, for SQLAlchemy and Alembic."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from .records import COUNT_NAMES, Counts, Pass, Progress, RunState, StoredRun

#: The most characters of a row's ID.
MAX_ROW_ID = 255


class _Instant(sa.types.TypeDecorator[datetime]):
    """Instants to the microsecond, in UTC, in a form that every database can compare."""

    impl = sa.DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> Any:
        if dialect.name in ("mysql", "mariadb"):
            return dialect.type_descriptor(mysql.DATETIME(fsp=6))
        return dialect.type_descriptor(sa.DateTime())

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return None if value is None else value.astimezone(timezone.utc).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=timezone.utc)


#: The tables below.
metadata = sa.MetaData()

runs_table = sa.Table(
    "offbeat_run",
    metadata,
    sa.Column("run_id", sa.String(32), primary_key=True),
    sa.Column("declaration", sa.String(200), nullable=False),
    sa.Column("schedule", sa.String(200), nullable=False),
    sa.Column("row_id", sa.String(MAX_ROW_ID), nullable=False),
    sa.Column("kind", sa.String(64), nullable=False),
    sa.Column("scheduled_time", _Instant, nullable=False),
    sa.Column("start_time", _Instant, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("publication", sa.Integer, nullable=False),
    sa.Column("next_action_time", _Instant, nullable=False),
    # For runs that are due, that are overdue, and that may be pruned.
    sa.Index("offbeat_run_action", "state", "next_action_time"),
    sa.Index("offbeat_run_start", "declaration", "start_time"),
    sa.Index("offbeat_run_row", "row_id", "start_time"),
)

progress_table = sa.Table(
    "offbeat_progress",
    metadata,
    sa.Column("declaration", sa.String(200), primary_key=True),
    sa.Column("schedule", sa.String(200), nullable=False),
    sa.Column("watermark_time", _Instant, nullable=False),
    sa.Column("paused", sa.Boolean, nullable=False, default=False),
    sa.Column("pass_now", _Instant),
    sa.Column("pass_end_time", _Instant),
    sa.Column("pass_cursor", sa.String(300), nullable=False, default=""),
    sa.Column("next_schedule", sa.String(200), nullable=False, default=""),
    sa.Column("cutover_time", _Instant),
    *(sa.Column(f"{name}_count", sa.BigInteger, nullable=False, default=0) for name in COUNT_NAMES),
)


def run_of(row: sa.Row[Any]) -> StoredRun:
    """Convert a row of the runs to the runner's record."""
    fields = row._mapping
    return StoredRun(**{**fields, "state": RunState(fields["state"])})


def progress_of(row: sa.Row[Any]) -> Progress:
    """Convert a row of the progress to the runner's record."""
    fields = row._mapping
    open_pass = None
    if fields["pass_now"] is not None:
        open_pass = Pass(fields["pass_now"], fields["pass_end_time"], fields["pass_cursor"])
    return Progress(
        declaration=fields["declaration"],
        schedule=fields["schedule"],
        watermark_time=fields["watermark_time"],
        paused=fields["paused"],
        open_pass=open_pass,
        next_schedule=fields["next_schedule"],
        cutover_time=fields["cutover_time"],
        counts=Counts(**{name: fields[f"{name}_count"] for name in COUNT_NAMES}),
    )
