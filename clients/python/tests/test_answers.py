"""Answers in Python: values that queues can carry, with the IDs as they were given."""

from __future__ import annotations

import copy
import dataclasses
import enum
import inspect
import json
import pickle
import uuid
from datetime import datetime, timedelta, timezone

import pytest

import offbeat
from offbeat import AsyncClient, Client, Lane, LaneRoute, LaneSet, Row, Run, Schedule

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
EIGHT_HOURS = Schedule(timedelta(hours=8))
ID = uuid.UUID("0190d7a2-1111-7abc-8def-0123456789ab")

#: Argument names that a task cannot have: those of Celery's ``apply_async`` and of bound tasks,
#: of RQ's ``enqueue``, and of Dramatiq's ``send_with_options``.
RESERVED = {
    *("self", "args", "kwargs", "task_id", "producer", "link", "link_error", "shadow", "options"),
    *("countdown", "eta", "expires", "retry", "retry_policy", "queue", "exchange", "routing_key"),
    *("priority", "serializer", "compression", "headers", "soft_time_limit", "time_limit"),
    *("f", "timeout", "job_timeout", "result_ttl", "ttl", "failure_ttl", "description", "meta"),
    *("depends_on", "job_id", "at_front", "on_success", "on_failure", "on_stopped", "pipeline"),
    *("delay", "task", "name"),
}


def carried(client):
    lanes = LaneSet([Lane("express", 1, timedelta(seconds=60)), Lane("slow", 1)])
    due = client.list_due_runs(EIGHT_HOURS, [ID], watermark=NOON - timedelta(days=1), now_time=NOON)
    return [
        client.assign_slot(EIGHT_HOURS, ID, from_time=NOON).next_run,
        client.assign_slots(EIGHT_HOURS, [ID], from_time=NOON)[0],
        due[0],
        client.route_job(lanes),
    ]


def test_queues_can_carry_answers(client):
    for answer in carried(client):
        assert dataclasses.is_dataclass(answer)
        assert copy.deepcopy(answer) == pickle.loads(pickle.dumps(answer)) == answer
        with pytest.raises(dataclasses.FrozenInstanceError):
            answer.id = 7
        assert len({answer, copy.copy(answer)}) == 1
        # Celery's serializer supports UUIDs and datetimes, json needs a default.
        carried_back = json.loads(json.dumps(dataclasses.asdict(answer), default=str))
        assert set(carried_back) == {field.name for field in dataclasses.fields(answer)}
        run = carried_back.get("next_run", carried_back)
        if "run_key" in run:
            assert run["id"] == str(ID)
            assert run["run_key"].endswith(f"/{ID}")


@pytest.mark.parametrize("kind", [Run, Row, LaneRoute])
def test_names_are_free_for_the_arguments_of_a_task(kind):
    names = {field.name for field in dataclasses.fields(kind)}
    assert not names & RESERVED
    assert all(name.isidentifier() for name in names)


class Account(str, enum.Enum):
    ACME = "acme"


class Number(enum.IntEnum):
    SEVEN = 7


@pytest.mark.parametrize("member", [Account.ACME, Number.SEVEN])
def test_an_id_is_given_back_as_it_was_given(client, member):
    question = {"watermark": NOON - timedelta(days=1), "now_time": NOON}
    plan = client.plan_migration(EIGHT_HOURS, Schedule(timedelta(hours=4)), [member])
    (streamed,) = client.stream_slot_assignments(EIGHT_HOURS, [member], from_time=NOON)
    row = client.assign_slots(EIGHT_HOURS, [member], from_time=NOON)[0]
    one = client.assign_slot(EIGHT_HOURS, member, from_time=NOON)
    for answer in (
        row,
        row.next_run,
        streamed[0],
        client.list_due_runs(EIGHT_HOURS, [member], **question)[0],
        plan.ids[0],
        plan.ids[0].last_old_run,
        one,
        one.pieces[0].next_runs[0],
    ):
        assert answer.id is member if hasattr(answer, "id") else answer.ids == [member]
    # An enum member and its plain value have the same key.
    plain = client.assign_slot(EIGHT_HOURS, member.value, from_time=NOON)
    assert row.run_key == streamed[0].run_key == one.next_run.run_key == plain.next_run.run_key
    assert row.run_key.endswith(f"/{member.value}")


def test_an_assignment_is_that_of_its_first_piece(client):
    schedule = Schedule(timedelta(hours=8), weight_quantum=10)
    new_id = offbeat.NewId(NOON)
    one = client.assign_slot(schedule, "acme", weight=25, from_time=NOON, new_id=new_id)
    assert [piece.piece_index for piece in one.pieces] == [0, 1, 2]
    for name in ("slot_index", "slot_offset", "cycle_offset", "last_run", "next_runs", "first_run"):
        assert getattr(one, name) == getattr(one.pieces[0], name), name
    assert one.next_run == one.pieces[0].next_runs[0]
    assert {run.piece_index for piece in one.pieces for run in piece.next_runs} == {0, 1, 2}


def test_explanations_have_what_decided(client):
    twister = Schedule(timedelta(hours=8), placement=offbeat.Placement.TWISTER)
    fraction = Schedule(timedelta(hours=8), placement=offbeat.Placement.FRACTION)
    explained = client.assign_slot(twister, 258).explanation
    assert (explained.canonical_id, explained.bucket) == ("258", 2)
    assert (explained.hash, explained.fraction) == (None, None)
    explained = client.assign_slot(fraction, 0.0).explanation
    assert (explained.fraction, explained.bucket, explained.hash) == (0.0, None, None)


def public(kind):
    return [
        (f"{kind.__name__}.{name}", inspect.signature(method))
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    ]


#: Optional parameters whose meaning is clear without a keyword.
POSITIONAL = {
    ("Client.choose_stage", "current_stage_name"),
    ("AsyncClient.choose_stage", "current_stage_name"),
    ("Client.plan_migration", "ids"),
    ("AsyncClient.plan_migration", "ids"),
}


@pytest.mark.parametrize(
    "kind",
    [
        *(Client, AsyncClient, offbeat.NamedSpread, offbeat.AsyncNamedSpread, offbeat.Producer),
        *(offbeat.AsyncProducer, offbeat.Consumer, offbeat.LeasedJob, offbeat.LatenessRecorder),
        *(LaneRoute, offbeat.AttemptDeadline),
    ],
)
def test_what_may_be_left_out_is_named(kind):
    for name, signature in public(kind):
        for parameter in signature.parameters.values():
            optional = parameter.default is not inspect.Parameter.empty
            if optional and (name, parameter.name) not in POSITIONAL:
                assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, (name, parameter.name)


def test_constructors_want_names_where_places_say_little(client):
    for make, words in [
        (
            lambda: Schedule(timedelta(hours=8), 96),
            "Schedule: 2 arguments by position where 1 may be",
        ),
        (lambda: offbeat.RunTimePercentiles(timedelta(1), timedelta(2)), "where 0 may be"),
        (lambda: offbeat.LanePrediction(0.5), "name the others"),
        (lambda: offbeat.Stage("a", 1, timedelta(1), ()), "Stage: 4"),
        (
            lambda: offbeat.CatchUpPolicy(offbeat.MissedRunPolicy.DROP, timedelta(1)),
            "where 1 may be",
        ),
    ]:
        with pytest.raises(TypeError, match=words):
            make()
    signature = inspect.signature(Schedule)
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    assert kinds[0] is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds[1:]) == {inspect.Parameter.KEYWORD_ONLY}
    schedule = dataclasses.replace(EIGHT_HOURS, slot_count=96)
    assert pickle.loads(pickle.dumps(schedule)) == schedule
    assert client.describe_schedule(schedule).schedule.slot_count == 96
