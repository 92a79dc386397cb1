"""Decisions that are the same for all stores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from .records import Claim, ClaimOutcome, RunState, StoredRun

#: How many times the delay before a run is published again doubles at most.
MAX_DOUBLINGS = 6


def republish_time(now: datetime, after: timedelta, publication: int) -> datetime:
    """Return when to publish a run again that no worker has claimed."""
    return now + after * (1 << min(publication - 1, MAX_DOUBLINGS))


def publications(
    runs: Iterable[StoredRun], now: datetime, republish_after: Mapping[str, timedelta]
) -> list[StoredRun]:
    """Return runs as they are after being published now, in their order.

    Runs of the same declaration and publication are published again together, at the time of the
    last one, so that a database can update all of them in one statement.
    """
    latest: dict[tuple[str, int], datetime] = {}
    for run in runs:
        key = (run.declaration, run.publication)
        latest[key] = max(latest.get(key, now), run.start_time)
    return [
        replace(
            run,
            state=RunState.PUBLISHED,
            publication=run.publication + 1,
            next_action_time=republish_time(
                latest[run.declaration, run.publication],
                republish_after[run.declaration],
                run.publication + 1,
            ),
        )
        for run in runs
    ]


#: Runs in these states never started.
NEVER_RUN = (RunState.SKIPPED, RunState.SUPERSEDED, RunState.DROPPED)


def decide_claim(run: StoredRun | None, publication: int, now: datetime) -> Claim:
    """Decide what happens to a message; the same for all stores.

    The message of an older publication may have waited behind others in the queue. It takes the
    run if no worker has it: the newer message waits behind it, and would itself be outdated by the
    time it is delivered. The claim makes the older publication the newest again, and the newer
    message obsolete.
    """
    if run is None or publication > run.publication or run.state.ended:
        return Claim(ClaimOutcome.OBSOLETE, run=run)
    if run.state is RunState.PLANNED:  # its message was sent, but its publication was undone
        return Claim(ClaimOutcome.OBSOLETE, run=run)
    if publication < run.publication:
        if run.state is RunState.PUBLISHED and run.start_time <= now:
            return Claim(ClaimOutcome.GRANTED, run=run)
        return Claim(ClaimOutcome.OBSOLETE, run=run)
    if run.start_time > now:
        return Claim(ClaimOutcome.EARLY, run.start_time - now, run)
    if run.state is RunState.CLAIMED and run.action_time > now:
        return Claim(ClaimOutcome.HELD, run.action_time - now, run)
    return Claim(ClaimOutcome.GRANTED, run=run)
