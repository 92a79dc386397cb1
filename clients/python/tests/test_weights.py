"""Weighted IDs and new IDs, against the formulas in exact integers."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from datetime import datetime, timedelta, timezone

import pytest

import offbeat
from offbeat import FirstRunPolicy, IdType, NewId, Schedule

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
SLOTS = 128
SCHEDULE = Schedule(timedelta(hours=8), slot_count=SLOTS, weight_quantum=10)


def place(id_value: object, piece: int) -> tuple[int, int]:
    """Slot and offset of a piece, placed by the hash plus the bit-reversed number of the piece."""
    h = int.from_bytes(hashlib.md5(str(id_value).encode()).digest()[:8], "big")
    h = (h + int(f"{piece:064b}"[::-1], 2)) % 2**64
    return h * SLOTS >> 64, h * 28_800 >> 64


def piece_count(weight: int) -> int:
    return max(1, min(SLOTS, -(-weight // 10)))


def test_an_id_is_cut_into_pieces(client):
    assignment = client.assign_slot(SCHEDULE, "acme", from_time=NOON, weight=51, kind="sync")
    assert len(assignment.pieces) == 6
    for index, piece in enumerate(assignment.pieces):
        slot, offset = place("acme", index)
        assert (piece.piece_index, piece.slot_index) == (index, slot)
        assert piece.cycle_offset == timedelta(seconds=offset)
        (run,) = piece.next_runs
        assert run.run_key.endswith(f"/sync/{run.cycle_index}/{index}/acme")
    first = assignment.pieces[0]
    assert (first.slot_index, first.next_runs, first.last_run) == (
        assignment.slot_index,
        assignment.next_runs,
        assignment.last_run,
    )
    light = client.assign_slot(SCHEDULE, "acme", from_time=NOON, kind="sync")
    assert light.pieces == assignment.pieces[:1]


WEIGHTS = [(7 * number) % 45 for number in range(3_000)]


def check_rows(rows, ids, weights):
    expected = [
        (id_, piece, *place(id_, piece))
        for id_, weight in zip(ids, weights)
        for piece in range(piece_count(weight))
    ]
    assert [
        (row.id, row.piece_index, row.slot_index, row.cycle_offset // timedelta(seconds=1))
        for row in rows
    ] == expected
    for row in (rows[0], rows[7], rows[-1]):
        assert row.run_key == (
            f"{rows.run_key_prefix}/{row.next_run.cycle_index}/{row.piece_index}/{row.id}"
        )


def test_a_batch_has_a_row_for_each_piece(client):
    ids = list(range(3_000))
    rows = client.assign_slots(SCHEDULE, ids, from_time=NOON, weights=WEIGHTS)
    assert rows.ids == ids
    check_rows(rows, ids, WEIGHTS)


def test_batches_are_cut_where_their_pieces_are_too_many(client):
    # 1,000 IDs of 128 pieces are 128,000 pieces, which take two messages.
    ids, weights = list(range(1_000)), [10**9] * 1_000
    rows = client.assign_slots(SCHEDULE, ids, from_time=NOON, weights=weights)
    assert len(rows) == 128_000
    assert list(rows.id_indexes) == [id_ for id_ in ids for _ in range(SLOTS)]
    assert [rows[place_].piece_index for place_ in (0, 127, 128, 65_536, 127_999)] == [
        0,
        127,
        0,
        0,
        127,
    ]
    answers = list(
        client.stream_slot_assignments(SCHEDULE, ids, from_time=NOON, weights=iter(weights))
    )
    assert [answer.first_id_index for answer in answers] == [0, 512]
    assert [slot for answer in answers for slot in answer.slot_indexes] == list(rows.slot_indexes)
    assert answers[1][0].id == 512


def test_weights_of_a_stream_come_with_its_ids(client):
    waiting: deque[int] = deque()

    def ids():
        for id_, weight in zip(range(20_000), WEIGHTS * 7):
            waiting.append(weight)
            yield id_

    def weights():
        while waiting:
            yield waiting.popleft()

    answers = list(
        client.stream_slot_assignments(SCHEDULE, ids(), from_time=NOON, weights=weights())
    )
    assert [len(answer.ids) for answer in answers] == [8_192, 8_192, 3_616]
    second = answers[1]
    check_rows(second, range(8_192, 16_384), (WEIGHTS * 7)[8_192:16_384])


def test_asyncio_answers_the_same(client):
    async def ask():
        async with offbeat.AsyncClient() as asyncio_client:
            batch = await asyncio_client.assign_slots(
                SCHEDULE, range(100), from_time=NOON, weights=WEIGHTS[:100]
            )
            stream = asyncio_client.stream_slot_assignments(
                SCHEDULE, range(100), from_time=NOON, weights=WEIGHTS[:100]
            )
            return batch, [answer async for answer in stream]

    batch, (streamed,) = asyncio.run(ask())
    check_rows(batch, range(100), WEIGHTS)
    check_rows(streamed, range(100), WEIGHTS)


def test_a_refused_id_of_a_weighted_batch_has_one_row(client):
    ids = ["0" * 32, "bad", "1" * 32]
    rows = client.assign_slots(
        SCHEDULE, ids, id_type=IdType.UUID, weights=[25, 25, 5], return_errors=True
    )
    assert list(rows.id_indexes) == [0, 0, 0, 1, 2]
    assert [(row.id, row.piece_index) for row in rows.accepted()] == [
        ("0" * 32, 0),
        ("0" * 32, 1),
        ("0" * 32, 2),
        ("1" * 32, 0),
    ]
    assert [error.id_index for error in rows.errors] == [1]
    with pytest.raises(LookupError, match=r"ids\[1\]"):
        rows[3]


@pytest.mark.parametrize(
    ("weights", "field"),
    [
        ([], "weights"),
        ([1], "weights"),
        ([1, 2, 3], "weights[2]"),
        ([1, -1], "weights[1]"),
        ([1, 2.5], "weights[1]"),
        ([1, 2**70], "weights[1]"),
    ],
)
def test_weights_that_are_none_are_refused(client, weights, field):
    for ask in [
        lambda: client.assign_slots(SCHEDULE, ["a", "b"], weights=weights),
        lambda: list(client.stream_slot_assignments(SCHEDULE, ["a", "b"], weights=weights)),
        lambda: client.audit_ids(SCHEDULE, ["a", "b"], weights=weights),
        lambda: client.list_due_runs(SCHEDULE, ["a", "b"], weights=weights, watermark=NOON),
    ]:
        with pytest.raises(offbeat.InvalidArgument) as caught:
            ask()
        assert caught.value.field == field


def test_a_batch_without_weights_left_is_refused_and_not_unweighted(client):
    with pytest.raises(offbeat.InvalidArgument, match="one for each"):
        client.assign_slots(SCHEDULE, range(65_537), weights=[1] * 65_536)


def test_weights_want_a_quantum(client):
    for ask in [
        lambda: client.assign_slot(Schedule(timedelta(hours=8)), "a", weight=5),
        lambda: client.assign_slots(Schedule(timedelta(hours=8)), ["a"], weights=[5]),
    ]:
        with pytest.raises(offbeat.InvalidArgument, match="weight_quantum"):
            ask()


def test_new_ids_are_told_their_first_run(client):
    schedule = Schedule(timedelta(days=1), slot_count=24)
    late = next(id_ for id_ in range(99) if place(id_, 0)[0] < SLOTS // 8)
    created = NOON
    plain = client.assign_slot(schedule, late, from_time=NOON)
    assert plain.first_run is None
    regular = plain.next_run.start_time
    waits = client.assign_slot(schedule, late, from_time=NOON, new_id=NewId(create_time=created))
    assert waits.first_run.start_time == regular
    soon = client.assign_slot(
        schedule,
        late,
        from_time=NOON,
        new_id=NewId(created, FirstRunPolicy.NOW_SMEARED, timedelta(minutes=10)),
    )
    assert created <= soon.first_run.start_time < created + timedelta(minutes=10)
    assert soon.first_run.nominal_time is not None
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.assign_slot(schedule, late, new_id=NewId(datetime(2026, 1, 1)))
    assert caught.value.field == "new_id.create_time"
