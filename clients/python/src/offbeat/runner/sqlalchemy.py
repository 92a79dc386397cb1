"""The store of runs in a database, by SQLAlchemy: PostgreSQL, MySQL, MariaDB or SQLite.

Create its tables with ``metadata.create_all(engine)``, or add ``metadata`` to Alembic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from .decisions import NEVER_RUN, decide_claim, publications
from .records import (
    COUNT_NAMES,
    Claim,
    ClaimOutcome,
    Pass,
    PlannedPage,
    Progress,
    RunState,
    StoredRun,
)
from .sqlalchemy_tables import (
    MAX_ROW_ID,
    metadata,
    progress_of,
    progress_table,
    run_of,
    runs_table,
)

__all__ = ["SqlAlchemyStore", "metadata", "progress_table", "runs_table"]

#: How many rows one statement handles.
_BATCH = 500

#: The delay after which to repeat a claim that another worker has just won.
_MOMENT = timedelta(seconds=1)

_ENDED = [state.value for state in RunState if state.ended]


_r, _p = runs_table.c, progress_table.c


class SqlAlchemyStore:
    """Keeps runs in two tables; see :class:`~offbeat.runner.RunStore`.

    Each method is a transaction of its own, on a connection of the engine. A store that
    :meth:`within` returns works in a transaction of the caller. After a fork, use another
    engine, or dispose of its pool. With ``pool_pre_ping=True``, an engine detects that the
    database was restarted.
    """

    def __init__(self, engine: sa.Engine, connection: sa.Connection | None = None) -> None:
        """Store the engine; nothing connects yet."""
        if engine.dialect.name in ("mysql", "mariadb"):
            # By default, InnoDB also locks gaps between rows, and runners and workers deadlock.
            engine = engine.execution_options(isolation_level="READ COMMITTED")
        self._engine, self._connection = engine, connection

    def within(self, connection: sa.Connection) -> SqlAlchemyStore:
        """Return a store whose methods are part of the connection's transaction."""
        return SqlAlchemyStore(self._engine, connection)

    @contextmanager
    def _transaction(self, writes: bool = True) -> Iterator[sa.Connection]:
        if self._connection is not None:
            yield self._connection
            return
        with self._engine.begin() as connection:
            if writes and connection.dialect.name == "sqlite":
                # Write first: after a read, a write fails if another process has written meanwhile.
                connection.execute(
                    sa.update(progress_table).where(_p.declaration == "").values(paused=False)
                )
            yield connection

    def now(self) -> datetime:
        """Return the time of the database's clock; with SQLite, of the machine's clock."""
        name = self._engine.dialect.name
        if name == "sqlite":
            return datetime.now(timezone.utc)
        text = "SELECT clock_timestamp()" if name == "postgresql" else "SELECT UTC_TIMESTAMP(6)"
        with self._transaction(writes=False) as connection:
            now: datetime = connection.execute(sa.text(text)).scalar_one()
        return now.replace(tzinfo=timezone.utc) if now.tzinfo is None else now

    def begin(self, declaration: str, schedule: str) -> Progress:
        """See :class:`~offbeat.runner.RunStore`."""
        now = self.now()
        with self._transaction() as connection:
            query = sa.select(progress_table).where(_p.declaration == declaration)
            found = connection.execute(query).first()
            if found is None:
                row = {"declaration": declaration, "schedule": schedule, "watermark_time": now}
                connection.execute(_insert_new(connection, progress_table), [row])
                found = connection.execute(query).one()
            return progress_of(found)

    def progress(self) -> list[Progress]:
        """See :class:`~offbeat.runner.RunStore`."""
        with self._transaction(writes=False) as connection:
            rows = connection.execute(sa.select(progress_table).order_by(_p.declaration))
            return [progress_of(row) for row in rows]

    def open_pass(self, before: Progress, opened: Pass) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        return self._change(
            _unchanged(before),
            pass_now=opened.now,
            pass_end_time=opened.end_time,
            pass_cursor=opened.cursor,
        )

    def _change(self, condition: sa.ColumnElement[bool], **values: Any) -> bool:
        with self._transaction() as connection:
            changed = connection.execute(
                sa.update(progress_table).where(condition).values(**values)
            )
            return changed.rowcount > 0

    def plan(self, declaration: str, before: Pass, page: PlannedPage) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        changes: dict[str, Any] = {
            f"{name}_count": _p[f"{name}_count"] + getattr(page.counts, name)
            for name in COUNT_NAMES
        }
        if page.cursor is None:
            changes.update(
                pass_now=None, pass_end_time=None, pass_cursor="", watermark_time=before.end_time
            )
        else:
            changes["pass_cursor"] = page.cursor
        with self._transaction() as connection:
            # The update locks the row: another runner waits, and then finds another cursor.
            statement = sa.update(progress_table).where(_in_pass(declaration, before))
            if not connection.execute(statement.values(**changes)).rowcount:
                return False
            _add(connection, page.runs)
            return True

    def pause(self, declaration: str, paused: bool) -> None:
        """See :class:`~offbeat.runner.RunStore`."""
        self._change(_p.declaration == declaration, paused=paused)

    def schedule_cutover(self, before: Progress, schedule: str, cutover_time: datetime) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        return self._change(_unchanged(before), next_schedule=schedule, cutover_time=cutover_time)

    def cut_over(self, before: Progress) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        return self._change(_unchanged(before), schedule=before.next_schedule, next_schedule="")

    def add(self, runs: Iterable[StoredRun]) -> int:
        """See :class:`~offbeat.runner.RunStore`."""
        runs = list(runs)
        with self._transaction() as connection:
            ids = [run.run_id for run in runs]
            known = set(connection.scalars(sa.select(_r.run_id).where(_r.run_id.in_(ids))))
            new = [run for run in runs if run.run_id not in known]
            _add(connection, new)
            return len(new)

    def publish(
        self, start_before: datetime, republish_after: Mapping[str, timedelta], limit: int
    ) -> list[StoredRun]:
        """See :class:`~offbeat.runner.RunStore`."""
        now = self.now()
        pending = [RunState.PUBLISHED.value, RunState.CLAIMED.value]
        due = sa.or_(
            sa.and_(_r.state == RunState.PLANNED.value, _r.next_action_time < start_before),
            sa.and_(_r.state.in_(pending), _r.next_action_time <= now),
        )
        query = (
            sa.select(runs_table)
            .where(due, _r.declaration.in_(list(republish_after)))
            .order_by(_r.next_action_time, _r.run_id)
            .limit(limit)
            .with_for_update(skip_locked=True)  # SQLite ignores it
        )
        with self._transaction() as connection:
            found = [run_of(row) for row in connection.execute(query)]
            published = publications(found, now, republish_after)
            groups: dict[tuple[int, datetime | None], list[str]] = {}
            for run in published:
                key = (run.publication, run.next_action_time)
                groups.setdefault(key, []).append(run.run_id)
            for (publication, action_time), run_ids in groups.items():
                connection.execute(
                    sa.update(runs_table)
                    .where(_r.run_id.in_(run_ids))
                    .values(
                        state=RunState.PUBLISHED.value,
                        publication=publication,
                        next_action_time=action_time,
                    )
                )
        return published

    def unpublish(self, runs: Sequence[StoredRun]) -> None:
        """See :class:`~offbeat.runner.RunStore`."""
        with self._transaction() as connection:
            for publication in {run.publication for run in runs}:
                ids = [run.run_id for run in runs if run.publication == publication]
                connection.execute(
                    sa.update(runs_table)
                    .where(
                        _r.run_id.in_(ids),
                        _r.state == RunState.PUBLISHED.value,
                        _r.publication == publication,
                    )
                    .values(
                        state=RunState.PLANNED.value,
                        publication=publication - 1,
                        next_action_time=_r.start_time,
                    )
                )

    def overdue(self, declaration: str, start_before: datetime, limit: int) -> list[StoredRun]:
        """See :class:`~offbeat.runner.RunStore`."""
        return self._select(
            sa.and_(
                _r.declaration == declaration,
                _r.state == RunState.PLANNED.value,
                _r.publication == 0,
                _r.next_action_time < start_before,
            ),
            _r.next_action_time,
            limit,
        )

    def _select(
        self, condition: sa.ColumnElement[bool], order: sa.ColumnElement[Any], limit: int
    ) -> list[StoredRun]:
        query = sa.select(runs_table).where(condition).order_by(order, _r.run_id).limit(limit)
        with self._transaction(writes=False) as connection:
            return [run_of(row) for row in connection.execute(query)]

    def replan(self, run: StoredRun, state: RunState, start_time: datetime) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        condition = sa.and_(
            _r.run_id == run.run_id,
            _r.state == run.state.value,
            _r.publication == run.publication,
            _r.start_time == run.start_time,
        )
        action = self.now() if state.ended else start_time
        return self._set(
            condition, state=state.value, start_time=start_time, next_action_time=action
        )

    def _set(self, condition: sa.ColumnElement[bool], **values: Any) -> bool:
        with self._transaction() as connection:
            changed = connection.execute(sa.update(runs_table).where(condition).values(**values))
            return changed.rowcount > 0

    def claim(self, run_id: str, publication: int, limit: timedelta) -> Claim:
        """See :class:`~offbeat.runner.RunStore`."""
        now = self.now()
        free = sa.or_(
            sa.and_(
                _r.state == RunState.PUBLISHED.value,
                _r.publication >= publication,
                _r.start_time <= now,
            ),
            sa.and_(
                _r.state == RunState.CLAIMED.value,
                _r.publication == publication,
                _r.next_action_time <= now,
            ),
        )
        claimed = self._set(
            sa.and_(_r.run_id == run_id, free),
            state=RunState.CLAIMED.value,
            publication=publication,
            next_action_time=now + limit,
        )
        found = self._select(_r.run_id == run_id, _r.run_id, 1)
        run = found[0] if found else None
        if claimed:
            return Claim(ClaimOutcome.GRANTED, run=run)
        claim = decide_claim(run, publication, now)
        if claim.outcome is ClaimOutcome.GRANTED:  # free now, but it was not at the update
            return Claim(ClaimOutcome.HELD, _MOMENT, run)
        return claim

    def release(self, run_id: str, publication: int, republish_time: datetime) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        return self._end_claim(run_id, publication, RunState.PUBLISHED, republish_time)

    def finish(self, run_id: str, publication: int, state: RunState) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        return self._end_claim(run_id, publication, state, self.now())

    def _end_claim(
        self, run_id: str, publication: int, state: RunState, action_time: datetime
    ) -> bool:
        condition = sa.and_(
            _r.run_id == run_id,
            _r.publication == publication,
            _r.state == RunState.CLAIMED.value,
        )
        return self._set(condition, state=state.value, next_action_time=action_time)

    def last_starts(
        self, declaration: str, row_ids: Sequence[str], before: datetime
    ) -> Mapping[str, datetime]:
        """See :class:`~offbeat.runner.RunStore`."""
        never = [state.value for state in NEVER_RUN]
        starts: dict[str, datetime] = {}
        with self._transaction(writes=False) as connection:
            for first in range(0, len(row_ids), _BATCH):
                query = (
                    sa.select(_r.row_id, sa.func.max(_r.start_time, type_=_r.start_time.type))
                    .where(
                        _r.declaration == declaration,
                        _r.row_id.in_(row_ids[first : first + _BATCH]),
                        _r.scheduled_time < before,
                        _r.state.not_in(never),
                    )
                    .group_by(_r.row_id)
                )
                starts.update((row_id, start) for row_id, start in connection.execute(query))
        return starts

    def runs(
        self, declaration: str, start_time: datetime, end_time: datetime, limit: int
    ) -> list[StoredRun]:
        """See :class:`~offbeat.runner.RunStore`."""
        window = sa.and_(
            _r.declaration == declaration, _r.start_time >= start_time, _r.start_time < end_time
        )
        return self._select(window, _r.start_time, limit)

    def prune(self, declaration: str, ended_before: datetime, limit: int) -> int:
        """See :class:`~offbeat.runner.RunStore`."""
        query = (
            sa.select(_r.run_id)
            .where(
                _r.declaration == declaration,
                _r.state.in_(_ENDED),
                _r.next_action_time < ended_before,
            )
            .limit(limit)
        )
        with self._transaction() as connection:
            ids = list(connection.scalars(query))
            for first in range(0, len(ids), _BATCH):
                batch = ids[first : first + _BATCH]
                connection.execute(sa.delete(runs_table).where(_r.run_id.in_(batch)))
            return len(ids)


def _add(connection: sa.Connection, runs: Iterable[StoredRun]) -> None:
    rows = [{**vars(run), "state": run.state.value} for run in runs]
    for row, run in zip(rows, runs):
        row["next_action_time"] = run.action_time
        if len(run.row_id) > MAX_ROW_ID:
            raise ValueError(f"row_id {run.row_id[:20]!r}… has over {MAX_ROW_ID} characters")
    for first in range(0, len(rows), _BATCH):
        connection.execute(_insert_new(connection, runs_table), rows[first : first + _BATCH])


def _insert_new(connection: sa.Connection, table: sa.Table) -> sa.Insert:
    """Return a statement that inserts rows whose key does not exist yet."""
    name = connection.dialect.name
    if name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    if name == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    key = next(iter(table.primary_key))
    statement = mysql.insert(table)
    # Not IGNORE, which also turns other errors into warnings.
    return statement.on_duplicate_key_update({key.name: key})


def _in_pass(declaration: str, open_pass: Pass | None) -> sa.ColumnElement[bool]:
    if open_pass is None:
        return sa.and_(_p.declaration == declaration, _p.pass_now.is_(None))
    return sa.and_(
        _p.declaration == declaration,
        _p.pass_now == open_pass.now,
        _p.pass_end_time == open_pass.end_time,
        _p.pass_cursor == open_pass.cursor,
    )


def _unchanged(before: Progress) -> sa.ColumnElement[bool]:
    return sa.and_(
        _in_pass(before.declaration, before.open_pass),
        _p.schedule == before.schedule,
        _p.watermark_time == before.watermark_time,
        _p.paused == before.paused,
        _p.next_schedule == before.next_schedule,
        _p.cutover_time.is_(None)
        if before.cutover_time is None
        else _p.cutover_time == before.cutover_time,
    )
