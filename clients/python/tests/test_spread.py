"""Spreads have the order of the reference programs, and pull groups lazily."""

from __future__ import annotations

import asyncio
import json
import random

import pytest
from conftest import VECTORS, Sidecar, free_port

import offbeat
from offbeat import AsyncClient, ShortagePolicy, SpreadPolicy


def cases(step):
    vectors = json.loads((VECTORS / "spread_feeders.json").read_text())
    return vectors["cases"][::step]


def jobs(sizes):
    return ([(group, index) for index in range(size)] for group, size in enumerate(sizes))


def test_orders_are_those_of_the_vectors(client):
    for case in cases(9):
        spread = client.spread(jobs(case["groups"]), case["feeders"], timeout=10)
        turns = list(spread)
        assert [list(turn.job) for turn in turns] == case["order"], case
        assert [turn.group_index for turn in turns] == [group for group, _ in case["order"]]
        assert [turn.sequence for turn in turns] == list(range(len(turns)))
        assert spread.certificate.job_count == len(turns)


def test_windows_change_no_order(client):
    rng = random.Random(4)
    sizes = [rng.choice([0, 1, 5, 40, 700]) for _ in range(60)]
    orders = [
        [turn.job for turn in client.spread(jobs(sizes), 7, job_window=jobs_, group_window=groups)]
        for jobs_, groups in [(1, 0), (2, 1), (256, 0), (65_536, 65_536), (3, 100)]
    ]
    assert len(orders[0]) == sum(sizes)
    assert all(order == orders[0] for order in orders)


def test_nothing_is_pulled_before_it_is_needed(client):
    pulled = []

    def group(name, size):
        for number in range(size):
            pulled.append(f"{name}{number}")
            yield f"{name}{number}"

    def groups():
        for name in "abc":
            pulled.append(name)
            yield group(name, 3)

    spread = client.spread(groups(), 1, job_window=1, timeout=10)
    assert pulled == []
    assert next(spread).job == "a0"
    assert "b" not in pulled
    assert next(spread).job == "a1"
    assert pulled[:2] == ["a", "a0"]
    assert [turn.job for turn in spread] == ["a2", "b0", "b1", "b2", "c0", "c1", "c2"]
    with pytest.raises(StopIteration):
        next(spread)


def test_groups_may_be_endless(client):
    def endless(name):
        while True:
            yield name

    spread = client.spread((endless(name) for name in range(10**9)), 3, timeout=10)
    assert [next(spread).job for _ in range(2_000)] == [0, 1, 2] * 666 + [0, 1]
    with pytest.raises(LookupError, match="not ended"):
        spread.certificate  # noqa: B018
    spread.close()


def test_cooldown_and_its_certificate(client):
    spread = client.spread([["a"], ["b", "c", "d"]], 3, policy=SpreadPolicy.COOLDOWN)
    assert [turn.job for turn in spread] == ["b", "a", "c", "d"]
    assert spread.certificate.close_pair_count == 2
    waiting = client.spread(
        [["a"], ["b", "c"]],
        3,
        policy=SpreadPolicy.COOLDOWN,
        on_shortage=ShortagePolicy.WAIT,
        max_open_group_count=3,
    )
    assert [(turn.group_index, turn.job) for turn in waiting] == [
        (1, "b"),
        (0, "a"),
        (None, None),
        (1, "c"),
    ]
    assert waiting.certificate.min_gap_turns == 3
    sizes = [random.Random(1).randrange(30) for _ in range(50)]
    many = client.spread(jobs(sizes), 5, policy=SpreadPolicy.COOLDOWN, job_window=3)
    assert sorted(turn.job for turn in many) == sorted(
        job for group in jobs(sizes) for job in group
    )
    with pytest.raises(offbeat.InvalidArgument, match="must have a length"):
        list(client.spread([iter("ab")], 2, policy=SpreadPolicy.COOLDOWN))


def test_refusals(client):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        list(client.spread([], 0))
    assert (caught.value.field, caught.value.reason) == (
        "spec.order.feeder_count",
        "ERROR_REASON_OUT_OF_RANGE",
    )
    with pytest.raises(offbeat.InvalidArgument) as caught:
        list(client.spread([], 3, job_window=0))
    assert caught.value.field == "spec.job_window"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        list(client.spread([], 3, max_open_group_count=9))
    assert caught.value.field == "spec.order.max_open_group_count"


def test_what_the_groups_raise_reaches_the_caller(client):
    def broken():
        yield ["a"]
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        list(client.spread(broken(), 2))


def test_a_killed_sidecar_is_unavailable():
    sidecar = Sidecar(f"127.0.0.1:{free_port()}")
    with offbeat.Client(sidecar.address) as client:
        spread = client.spread((range(10) for _ in range(10**9)), 3)
        next(spread)
        sidecar.process.kill()
        sidecar.process.communicate()
        with pytest.raises(offbeat.Unavailable):
            list(spread)


def test_asyncio():
    async def order(case):
        async with AsyncClient() as client:
            spread = client.spread(jobs(case["groups"]), case["feeders"], timeout=10)
            turns = [list(turn.job) async for turn in spread]
            return turns, spread.certificate.job_count

    for case in cases(60):
        turns, count = asyncio.run(order(case))
        assert (turns, count) == (case["order"], len(turns))


def sizes_of(job_count):
    rng, sizes = random.Random(6), []
    while (left := job_count - sum(sizes)) > 0:
        sizes.append(min(left, rng.choice([0, 1, 3, 30, 200])))
    return sizes


@pytest.mark.parametrize("policy", list(SpreadPolicy))
def test_a_fresh_process_goes_on_from_a_token(client, policy):
    sizes = sizes_of(10_000)
    groups = lambda: [list(group) for group in jobs(sizes)]  # noqa: E731
    spread = client.spread(groups(), 7, policy=policy)
    tokens, turns = [spread.resume_token], []
    for turn in spread:
        turns.append(turn)
        tokens.append(spread.resume_token)
    sidecar = Sidecar(f"127.0.0.1:{free_port()}")
    with offbeat.Client(sidecar.address) as fresh:
        for place in [0, 1, 2, 4_095, 4_096, 4_097, 9_999, 10_000, *range(311, 10_000, 997)]:
            rest = fresh.resume_spread(groups(), tokens[place], timeout=20)
            assert rest.resume_token == tokens[place]
            assert list(rest) == turns[place:]
            assert rest.certificate == spread.certificate
            again = fresh.resume_spread(groups(), rest.resume_token)
            assert list(again) == []
            assert again.certificate == spread.certificate
        others = groups()
        others[3].append("one more")
        next(group for group in others[4:] if group).pop()
        with pytest.raises(offbeat.FailedPrecondition) as differs:
            next(fresh.resume_spread(others, tokens[9_999]))
        assert differs.value.reason == "ERROR_REASON_ORDER_DIFFERS"
        assert differs.value.field == "resume"
        with pytest.raises(offbeat.InvalidArgument, match="resume_token"):
            fresh.resume_spread(groups(), b"no token at all")
    assert sidecar.stop() == 0


def test_asyncio_goes_on_from_a_token(client):
    async def talk():
        async with AsyncClient() as asyncio_client:
            spread = asyncio_client.spread(jobs([3, 4, 5]), 2)
            first = [(await spread.__anext__()).job for _ in range(5)]
            await spread.aclose()
            rest = asyncio_client.resume_spread(jobs([3, 4, 5]), spread.resume_token)
            return first + [turn.job async for turn in rest]

    assert asyncio.run(talk()) == [turn.job for turn in client.spread(jobs([3, 4, 5]), 2)]


def test_a_length_that_lies_is_refused(client):
    class Liar(list):
        def __len__(self):
            return self.claimed

    for claimed, words in [(2, "a longer group"), (4, "a shorter group")]:
        liar = Liar("abc")
        liar.claimed = claimed
        with pytest.raises(offbeat.InvalidArgument, match=words):
            list(client.spread([liar], 1))
