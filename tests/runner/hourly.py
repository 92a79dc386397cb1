"""A declaration whose runner is killed, and the store that outlives it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Callable

from offbeat import CatchUpPolicy, MissedRunPolicy, Schedule
from offbeat.runner import Declaration, IdList
from simulation import HOUR, MINUTE

#: More than two pages.
ROWS = 2_100


def declared() -> Declaration[int]:
    """Return a declaration that runs hourly, and catches up on missed runs."""
    catch_up = CatchUpPolicy(MissedRunPolicy.RUN_ONCE, smear_span=20 * MINUTE)
    return Declaration(
        "sync", Schedule(HOUR), IdList(range(ROWS), int), catch_up=catch_up, republish_after=MINUTE
    )


def store_of(url: str, clock: Callable[[], datetime]) -> Any:
    """Return the store of a URL, with a clock of the test's."""
    if url.startswith("redis:"):
        from offbeat.runner.redis import RedisStore
        from redis import Redis

        return RedisStore(Redis.from_url(url), clock=clock)
    import sqlalchemy
    from offbeat.runner.sqlalchemy import SqlAlchemyStore

    engine = sqlalchemy.create_engine(url)

    @sqlalchemy.event.listens_for(engine, "connect")
    def without_waiting(connection: Any, _: Any) -> None:
        # No need to sync to disk: the tests kill processes, not the machine.
        connection.execute("PRAGMA synchronous = OFF")

    store = SqlAlchemyStore(engine)
    store.now = clock
    return store
