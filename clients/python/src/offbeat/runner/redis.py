"""The store of runs in Redis 7.0 or later, or Valkey: one server, without Cluster.

The store is as durable as Redis is configured to be:

- ``appendonly yes`` with ``appendfsync always``: nothing is lost when the server is killed.
- ``appendfsync everysec``, or a failover to a replica: about the last second is lost as a whole.
  Runs that ended in it may be done again, and its late runs and pauses are forgotten.
- Snapshots only: the same for all time since the last snapshot, which may be minutes. Runs are
  done again.
- No persistence: after a restart, declarations start again from that moment. Missed runs are not
  caught up, and a ``min_gap`` to earlier runs is not kept.

A store in SQL next to the rows loses nothing, and its :meth:`RunStore.add` is part of the
transaction that creates the row. Here it is not: call ``add_row`` after that transaction has been
committed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Callable

from ..errors import refused
from . import _redis_scripts as scripts
from .decisions import decide_claim
from .records import (
    COUNT_NAMES,
    Claim,
    ClaimOutcome,
    Counts,
    Pass,
    PlannedPage,
    Progress,
    RunState,
    StoredRun,
)

if TYPE_CHECKING:
    from redis import Redis

#: How many runs one script handles (a page of a pass has more): meanwhile, Redis serves no others.
_BATCH = 500

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


class RedisStore:
    """Keeps runs in Redis; see :class:`~offbeat.runner.RunStore`.

    client: a client of redis-py, 5 or later.
    prefix: the prefix of all keys. Stores with the same prefix are one store.
    clock: returns the present time, for tests; by default, that of Redis.
    """

    def __init__(
        self,
        client: Redis,
        prefix: str = "offbeat:",
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        """Store the client; nothing connects yet."""
        self._client: Any = client
        self._prefix = prefix
        self._clock = clock
        self._scripts: dict[str, Any] = {}

    def check(self) -> None:
        """Refuse a server that cannot be a store: too old, in a cluster, or evicting keys."""
        info = self._client.info("server")
        version = str(info["redis_version"])
        if int(version.split(".")[0]) < 7:
            raise refused("redis_version", version, "must be 7.0 or later")
        if self._client.info("cluster").get("cluster_enabled"):
            raise refused("cluster_enabled", 1, "must be 0: a script reads keys of all slots")
        policy = self._client.info("memory").get("maxmemory_policy", "noeviction")
        if policy != "noeviction":
            allowed = "must be noeviction: evicted runs would be lost"
            raise refused("maxmemory-policy", policy, allowed)

    def _do(self, script: str, *arguments: Any) -> Any:
        if script not in self._scripts:
            self._scripts[script] = self._client.register_script(script)
        given = "" if self._clock is None else _number(self._clock())
        return self._scripts[script](args=[self._prefix, given, *arguments])

    def now(self) -> datetime:
        """Return the time of the server's clock."""
        return _instant(self._do(scripts.NOW))

    def begin(self, declaration: str, schedule: str) -> Progress:
        """See :class:`~offbeat.runner.RunStore`."""
        return _progress(self._do(scripts.BEGIN, declaration, schedule))

    def progress(self) -> list[Progress]:
        """See :class:`~offbeat.runner.RunStore`."""
        found = [_progress(values) for values in self._do(scripts.PROGRESS)]
        return sorted(found, key=lambda progress: progress.declaration)

    def _change(self, declaration: str, expected: Mapping[str, Any], **changes: Any) -> bool:
        pairs = [*_pairs(expected), *_pairs(changes)]
        return bool(self._do(scripts.CHANGE, declaration, len(expected), *pairs))

    def open_pass(self, before: Progress, opened: Pass) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        return self._change(before.declaration, _unchanged(before), **_pass_fields(opened))

    def plan(self, declaration: str, before: Pass, page: PlannedPage) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        expected = _pass_fields(before)
        changes: dict[str, Any] = {"pass_cursor": page.cursor}
        if page.cursor is None:
            changes = {**_pass_fields(None), "watermark_time": before.end_time}
        added = {f"{name}_count": getattr(page.counts, name) for name in COUNT_NAMES}
        sizes = [len(fields) for fields in (expected, changes, added)]
        pairs = [*_pairs(expected), *_pairs(changes), *_pairs(added)]
        return bool(self._do(scripts.PLAN, declaration, *sizes, *pairs, *_arguments(page.runs)))

    def pause(self, declaration: str, paused: bool) -> None:
        """See :class:`~offbeat.runner.RunStore`."""
        self._change(declaration, {}, paused=paused)

    def schedule_cutover(self, before: Progress, schedule: str, cutover_time: datetime) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        changes = {"next_schedule": schedule, "cutover_time": cutover_time}
        return self._change(before.declaration, _unchanged(before), **changes)

    def cut_over(self, before: Progress) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        changes = {"schedule": before.next_schedule, "next_schedule": ""}
        return self._change(before.declaration, _unchanged(before), **changes)

    def add(self, runs: Iterable[StoredRun]) -> int:
        """See :class:`~offbeat.runner.RunStore`; it is a transaction of its own."""
        batches = _batches(list(runs))
        return sum(self._do(scripts.ADD, *_arguments(batch)) for batch in batches)

    def publish(
        self, start_before: datetime, republish_after: Mapping[str, timedelta], limit: int
    ) -> list[StoredRun]:
        """See :class:`~offbeat.runner.RunStore`."""
        pairs = [
            text
            for name, after in republish_after.items()
            for text in (name, after // _MICROSECOND)
        ]
        return _runs(self._do(scripts.PUBLISH, _number(start_before), limit, *pairs))

    def unpublish(self, runs: Sequence[StoredRun]) -> None:
        """See :class:`~offbeat.runner.RunStore`."""
        for batch in _batches(runs):
            pairs = [text for run in batch for text in (run.run_id, run.publication)]
            self._do(scripts.UNPUBLISH, *pairs)

    def overdue(self, declaration: str, start_before: datetime, limit: int) -> list[StoredRun]:
        """See :class:`~offbeat.runner.RunStore`."""
        return _runs(self._do(scripts.OVERDUE, declaration, _number(start_before), limit))

    def replan(self, run: StoredRun, state: RunState, start_time: datetime) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        before = (run.state.value, run.publication, _number(run.start_time))
        after = (state.value, _number(start_time), "ended" if state.ended else "")
        return bool(self._do(scripts.REPLAN, run.run_id, *before, *after))

    def claim(self, run_id: str, publication: int, limit: timedelta) -> Claim:
        """See :class:`~offbeat.runner.RunStore`."""
        granted, now, text = self._do(scripts.CLAIM, run_id, publication, limit // _MICROSECOND)
        run = None if text is None else _run(text)
        if granted:
            return Claim(ClaimOutcome.GRANTED, run=run)
        return decide_claim(run, publication, _instant(now))

    def release(self, run_id: str, publication: int, republish_time: datetime) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        state, action_time = RunState.PUBLISHED.value, _number(republish_time)
        return bool(self._do(scripts.END_CLAIM, run_id, publication, state, action_time))

    def finish(self, run_id: str, publication: int, state: RunState) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        return bool(self._do(scripts.END_CLAIM, run_id, publication, state.value, ""))

    def last_starts(
        self, declaration: str, row_ids: Sequence[str], before: datetime
    ) -> Mapping[str, datetime]:
        """See :class:`~offbeat.runner.RunStore`."""
        starts: dict[str, datetime] = {}
        for batch in _batches(row_ids):
            found = self._do(scripts.LAST_STARTS, declaration, _number(before), *batch)
            starts.update((row_id, _instant(start)) for row_id, start in zip(batch, found) if start)
        return starts

    def runs(
        self, declaration: str, start_time: datetime, end_time: datetime, limit: int
    ) -> list[StoredRun]:
        """See :class:`~offbeat.runner.RunStore`."""
        window = (declaration, _number(start_time), _number(end_time))
        found: list[StoredRun] = []
        while len(found) < limit:
            wanted = min(_BATCH, limit - len(found))
            batch = _runs(self._do(scripts.RUNS, *window, len(found), wanted))
            found += batch
            if len(batch) < wanted:
                break
        return found

    def prune(self, declaration: str, ended_before: datetime, limit: int) -> int:
        """See :class:`~offbeat.runner.RunStore`."""
        pruned = 0
        while pruned < limit:
            wanted = min(_BATCH, limit - pruned)
            count = self._do(scripts.PRUNE, declaration, _number(ended_before), wanted)
            pruned += count
            if count < wanted:
                break
        return pruned


def _number(instant: datetime) -> int:
    return (instant - _EPOCH) // _MICROSECOND


def _instant(number: Any) -> datetime:
    return _EPOCH + int(number) * _MICROSECOND


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _written(value: Any) -> Any:
    """Return a value of a progress as the hash in Redis holds it."""
    if isinstance(value, datetime):
        return _number(value)
    if isinstance(value, bool):
        return "1" if value else ""
    return "" if value is None else value


def _pairs(fields: Mapping[str, Any]) -> list[Any]:
    return [text for name, value in fields.items() for text in (name, _written(value))]


def _pass_fields(opened: Pass | None) -> dict[str, Any]:
    if opened is None:
        return {"pass_now": None, "pass_end_time": None, "pass_cursor": ""}
    return {
        "pass_now": opened.now,
        "pass_end_time": opened.end_time,
        "pass_cursor": opened.cursor,
    }


def _unchanged(before: Progress) -> dict[str, Any]:
    """Return the fields by which a progress is unchanged; counts change only with the pass."""
    return {
        **_pass_fields(before.open_pass),
        "schedule": before.schedule,
        "watermark_time": before.watermark_time,
        "paused": before.paused,
        "next_schedule": before.next_schedule,
        "cutover_time": before.cutover_time,
    }


def _progress(values: Sequence[Any]) -> Progress:
    texts = [_text(value) for value in values]
    fields = dict(zip(texts[::2], texts[1::2]))

    def instant(name: str) -> datetime | None:
        return _instant(fields[name]) if fields.get(name) else None

    opened, end_time = instant("pass_now"), instant("pass_end_time")
    return Progress(
        declaration=fields["declaration"],
        schedule=fields["schedule"],
        watermark_time=_instant(fields["watermark_time"]),
        paused=bool(fields.get("paused")),
        open_pass=None
        if opened is None or end_time is None
        else Pass(opened, end_time, fields.get("pass_cursor", "")),
        next_schedule=fields.get("next_schedule", ""),
        cutover_time=instant("cutover_time"),
        counts=Counts(**{name: int(fields.get(f"{name}_count", 0)) for name in COUNT_NAMES}),
    )


def _batches(items: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (items[first : first + _BATCH] for first in range(0, len(items), _BATCH))


def _arguments(runs: Iterable[StoredRun]) -> list[Any]:
    """Return the fields of runs that a script reads, and the JSON that Redis keeps."""
    return [
        value
        for run in runs
        for value in (
            run.run_id,
            run.declaration,
            run.row_id,
            run.state.value,
            _number(run.start_time),
            _number(run.action_time),
            _json(run),
        )
    ]


def _json(run: StoredRun) -> str:
    fields = {
        "run_id": run.run_id,
        "declaration": run.declaration,
        "schedule": run.schedule,
        "row_id": run.row_id,
        "kind": run.kind,
        "scheduled_time": str(_number(run.scheduled_time)),
        "start_time": str(_number(run.start_time)),
        "state": run.state.value,
        "publication": str(run.publication),
        "action_time": str(_number(run.action_time)),
    }
    return json.dumps(fields, separators=(",", ":"))


def _runs(found: Iterable[str | bytes]) -> list[StoredRun]:
    return [_run(text) for text in found]


def _run(text: str | bytes) -> StoredRun:
    fields = json.loads(text)
    return StoredRun(
        run_id=fields["run_id"],
        declaration=fields["declaration"],
        schedule=fields["schedule"],
        row_id=fields["row_id"],
        kind=fields["kind"],
        scheduled_time=_instant(fields["scheduled_time"]),
        start_time=_instant(fields["start_time"]),
        state=RunState(fields["state"]),
        publication=int(fields["publication"]),
        next_action_time=_instant(fields["action_time"]),
    )
