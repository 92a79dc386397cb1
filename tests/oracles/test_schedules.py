"""Places, runs, slots, shares and predicates of random schedules, against brute force."""

from __future__ import annotations

import dataclasses
import hashlib
import random

from cases import (
    Case,
    a_case,
    a_time_near,
    duration,
    first_tick,
    instant,
    millis,
    one_id,
    shortest_millis,
    shown,
    slot_times,
    smeared,
    some_ids,
)
from conftest import Cases
from model import Id, rev64
from offbeat.v1 import slots_pb2
from offbeat.v1.slots_pb2_grpc import SlotServiceStub
from wall_clocks import clock, length, within

#: Columns of a row: its place, its next run, and its last run.
COLUMNS = [
    "slot_indexes", "slot_offset_ticks", "cycle_offset_ticks", "cycle_indexes",
    "next_run_unix_millis", "last_run_unix_millis",
]  # fmt: skip


def test_places_and_runs(stub: SlotServiceStub, cases: Cases) -> None:
    def check(rng: random.Random) -> None:
        case = a_case(rng)
        model, (column, ids), at = case.model, some_ids(rng, case, 12), a_time_near(rng, case)
        request = slots_pb2.AssignSlotsRequest(
            schedule=case.schedule, ids=column, from_time=instant(at)
        )
        request.read_mask.paths.extend(COLUMNS)
        rows = stub.AssignSlots(request).assignments
        refused = {error.id_index for error in rows.errors}
        for index, one in enumerate(ids):
            run = model.next_run(one, first_tick(case, at))
            if run is None:
                continue  # the model looks through fewer cycles
            assert index not in refused, shown(case.spec, at, one, run)
            slot, slot_offset = model.slot(one, run.cycle)
            cycle_offset = model.wall_offset(run.cycle, model.offset(one, run.cycle))
            expected = (slot, slot_offset, cycle_offset, run.cycle, run.at * model.tick)
            *got, last_at = (getattr(rows, name)[index] for name in COLUMNS)
            assert tuple(got) == expected, shown(case.spec, at, one)
            last = model.last_run(one, first_tick(case, at))
            if last is not None:
                assert last_at == last.at * model.tick, shown(case.spec, at, one)
        for index in range(3):
            check_runs(stub, case, ids[index], one_id(column, index), at)

    cases(check)


def check_runs(stub: SlotServiceStub, case: Case, one: Id, message: object, at: int) -> None:
    model = case.model
    answer = stub.AssignSlot(
        slots_pb2.AssignSlotRequest(
            schedule=case.schedule, id=message, from_time=instant(at), next_run_count=4, kind="k"
        )
    )
    (piece,) = answer.pieces

    def told(run: slots_pb2.Run) -> tuple[int, int, int | None]:
        regular = millis(run.nominal_time) if run.HasField("nominal_time") else None
        return run.cycle_index, millis(run.start_time), regular

    from_tick = first_tick(case, at)
    expected = [
        (
            run.cycle,
            run.at * model.tick,
            run.regular * model.tick if run.regular != run.at else None,
        )
        for run in model.runs(one, from_tick, from_tick + 20 * model.longest)[:4]
    ]
    if len(expected) == 4:
        assert [told(run) for run in piece.next_runs] == expected, shown(case.spec, at, one)
    last = model.last_run(one, from_tick)
    if last is not None:
        got = told(piece.last_run)[:2]
        assert got == (last.cycle, last.at * model.tick), shown(case.spec, at, one)
    for run in piece.next_runs:
        key = f"{answer.identity.fingerprint}/k/{run.cycle_index}/0/{one.text}"
        assert run.run_key == ("" if model.placement == "FRACTION" else key)


def test_pieces_of_weighted_ids(stub: SlotServiceStub, cases: Cases) -> None:
    def check(rng: random.Random) -> None:
        case = a_case(rng)
        model, (column, ids) = case.model, some_ids(rng, case, 5)
        quantum = case.spec.weight_quantum = rng.choice([1, 7, 1_000])
        weights = [rng.choice([0, 1, quantum, quantum + 1, 17 * quantum + 3]) for _ in ids]
        request = slots_pb2.AssignSlotsRequest(
            schedule=case.schedule,
            ids=column,
            from_time=instant(case.about * model.tick),
            weights=weights,
        )
        rows = stub.AssignSlots(request).assignments
        row = 0
        for index, (one, weight) in enumerate(zip(ids, weights, strict=True)):
            for piece in range(max(1, min(model.slots, -(-weight // quantum)))):
                run = model.next_run(dataclasses.replace(one, piece=piece), case.about)
                got = (rows.id_indexes[row], rows.piece_indexes[row])
                assert got == (index, piece), shown(case.spec, weights)
                if run is not None:
                    slot, _ = model.slot(dataclasses.replace(one, piece=piece), run.cycle)
                    assert rows.slot_indexes[row] == slot, shown(case.spec, one, piece)
                    got_run = (rows.cycle_indexes[row], rows.next_run_unix_millis[row])
                    assert got_run == (run.cycle, run.at * model.tick), shown(case.spec, one, piece)
                row += 1
        assert row == len(rows.slot_indexes)

    cases(check)


def test_new_ids(stub: SlotServiceStub, cases: Cases) -> None:
    def check(rng: random.Random) -> None:
        case = a_case(rng)
        model, (column, ids), created = case.model, some_ids(rng, case, 3), a_time_near(rng, case)
        longest = shortest_millis(model)
        span = rng.choice([model.tick, rng.randrange(model.tick, longest + 1), longest])
        new_id = slots_pb2.NewId(create_time=instant(created), policy=2, smear_span=duration(span))
        for index, one in enumerate(ids):
            answer = stub.AssignSlot(
                slots_pb2.AssignSlotRequest(
                    schedule=case.schedule,
                    id=one_id(column, index),
                    from_time=instant(created + rng.randrange(longest)),
                    new_id=new_id,
                )
            )
            following = model.next_run(one, first_tick(case, created))
            if following is None:
                continue
            expected = (following.cycle, following.at * model.tick)
            cycle = model.cycle_at(created // model.tick)
            start = smeared(model, created, one.smear, 0, 1, span)
            if following.cycle > cycle and start is not None and start < expected[1]:
                expected = (cycle, start)
            (piece,) = answer.pieces
            got = (piece.first_run.cycle_index, millis(piece.first_run.start_time))
            assert got == expected, shown(case.spec, created, span, one)

    cases(check)


def test_descriptions(stub: SlotServiceStub, cases: Cases) -> None:
    def check(rng: random.Random) -> None:
        case = a_case(rng)
        model = case.model
        at = case.about + rng.randrange(-model.longest, model.longest + 1)
        answer = describe(stub, case, at)
        cycle = model.cycle_at(at)
        times = (millis(answer.cycle_start_time), millis(answer.cycle_end_time))
        expected = (model.cycle_start(cycle), model.cycle_start(cycle + 1))
        assert times == tuple(each * model.tick for each in expected), shown(case.spec, at)
        active = model.active(cycle)
        assert millis(answer.active_duration) == active * model.tick
        assert millis(answer.slot_duration) == active // model.slots * model.tick
        text = answer.canonical_text.encode()
        assert answer.identity.fingerprint == hashlib.sha256(text).hexdigest()
        skipped = deferred = 0
        for one in model.stretches(cycle):
            skipping, deferring = model.forbidden_around(one.instant)
            skipped += length(within(skipping, one.instant, one.end))
            for span in deferring:
                for start, end in within([span], one.instant, one.end):
                    happens = model.fate(start) is not None
                    skipped += 0 if happens else end - start
                    deferred += end - start if happens else 0
        assert abs(answer.skipped_ratio - skipped / active) < 1e-12, shown(case.spec, at)
        assert abs(answer.deferred_ratio - deferred / active) < 1e-12, shown(case.spec, at)
        # A slot runs at an ID's regular run: its own slot, except near a change of the clock.
        for one in some_ids(rng, case, 3)[1]:
            regular = model.regular(one, cycle)
            slot = describe(stub, case, regular).slot
            times = (millis(slot.start_time), millis(slot.end_time))
            assert times[0] <= regular * model.tick < times[1], shown(case.spec, regular)
            assert times == slot_times(model, slot.cycle_index, slot.slot_index), shown(case.spec)
            if (slot.slot_index, slot.cycle_index) != (model.slot(one, cycle)[0], cycle):
                second, reach = regular // model.rate, 3 * 86_400
                changes = model.unit and clock(model.zone).changes(second - reach, second + reach)
                assert changes, shown(case.spec, regular)

    cases(check)


def describe(stub: SlotServiceStub, case: Case, tick: int) -> slots_pb2.DescribeScheduleResponse:
    at = instant(tick * case.model.tick)
    return stub.DescribeSchedule(
        slots_pb2.DescribeScheduleRequest(schedule=case.schedule, at_time=at)
    )


def test_reversed_bits() -> None:
    assert [rev64(j) for j in range(4)] == [0, 1 << 63, 1 << 62, 3 << 62]
