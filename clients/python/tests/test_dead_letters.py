"""Dead letters: listed, put back and deleted, each within its epoch."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

import offbeat
from offbeat import AsyncClient, DeadLetterCause, SettleAction


def dead_letters_of(spread, *payloads):
    """Dead-letter jobs with these payloads, and return all dead letters."""
    spread.producer().submit(payloads[0], payloads)
    jobs = spread.pull("one", len(payloads)).jobs
    spread.settle([(job, SettleAction.DEAD_LETTER) for job in jobs])
    return list(spread.dead_letters())


def test_dead_letters_are_put_back(client):
    spread = client.named_spread("redriven", 1, max_attempt_count=1)
    producer = spread.producer()
    producer.submit("g", [str(number) for number in range(250)])  # three pages
    for job in spread.pull("one", 250).jobs:
        spread.settle([(job, SettleAction.NACK)])
    letters = list(spread.dead_letters())
    assert [letter.job_index for letter in letters] == list(range(250))
    assert {letter.cause for letter in letters} == {DeadLetterCause.ATTEMPTS_EXHAUSTED}
    assert {letter.epoch for letter in letters} == {spread.describe().epoch}
    assert producer.wait(timeout=5)["g"].dead_letter_count == 250
    missing = replace(letters[0], number=10**9)
    assert spread.redrive_dead_letters(iter([*letters[:3], missing])) == 3
    assert spread.redrive_dead_letters(letters[:3]) == 0
    jobs = spread.pull("one", 9).jobs
    assert [(job.payload, job.attempt) for job in jobs] == [(b"0", 1), (b"1", 1), (b"2", 1)]
    spread.settle([(job, SettleAction.ACK) for job in jobs])
    assert spread.describe().counts.dead_letter_count == 247
    assert spread.redrive_dead_letters([]) == spread.delete_dead_letters([]) == 0
    spread.discard()


def test_more_than_a_call_takes_are_deleted(client):
    spread = client.named_spread("many-letters", 1, max_consumer_lease_count=65_536)
    count = 4_096 + 5
    spread.producer().submit("g", map(str, range(count)))
    while jobs := spread.pull("one", 4_096).jobs:
        spread.settle([(job, SettleAction.DEAD_LETTER) for job in jobs])
    assert spread.delete_dead_letters(spread.dead_letters()) == count
    assert list(spread.dead_letters()) == []
    spread.discard()


def test_dead_letters_of_an_epoch_that_has_ended_are_skipped(client):
    spread = client.named_spread("stale-letters", 1)
    stale = dead_letters_of(spread, "old 0", "old 1")
    spread.discard()
    fresh = dead_letters_of(spread, "new 0", "new 1", "new 2")
    assert [letter.number for letter in stale] == [letter.number for letter in fresh[:2]]
    assert spread.redrive_dead_letters(stale) == spread.delete_dead_letters(stale) == 0

    async def ask():
        async with AsyncClient() as other:
            same = other.named_spread("stale-letters", 1)
            redriven = await same.redrive_dead_letters(stale)
            return redriven, await same.delete_dead_letters(stale)

    assert asyncio.run(ask()) == (0, 0)
    assert list(spread.dead_letters()) == fresh
    # Dead letters of both epochs: only those of the current spread are found.
    assert spread.redrive_dead_letters([stale[0], fresh[0], stale[1]]) == 1
    assert [job.payload for job in spread.pull("one", 9).jobs] == [b"new 0"]
    assert spread.delete_dead_letters([*stale, *fresh]) == 2
    spread.discard()


def test_what_is_no_dead_letter_is_refused(client):
    spread = client.named_spread("no-letters", 1)
    letters = dead_letters_of(spread, "a", "b")
    for calls in (spread.redrive_dead_letters, spread.delete_dead_letters):
        for wrong, field in [
            ([letters[0], 1], "letters[1]"),
            ([letters[0].number], "letters[0]"),
            (letters[0], "letters"),
            ([replace(letters[0], epoch=0)], "epoch"),
            ([letters[0], replace(letters[0], number=-1)], "numbers[1]"),
        ]:
            with pytest.raises(offbeat.InvalidArgument) as caught:
                calls(wrong)
            assert caught.value.field == field
    assert list(spread.dead_letters()) == letters, "a refusal leaves all of them alone"

    async def ask():
        async with AsyncClient() as other:
            await other.named_spread("no-letters", 1).redrive_dead_letters([1])

    with pytest.raises(offbeat.InvalidArgument, match=r"letters\[0\]"):
        asyncio.run(ask())
    spread.discard()
