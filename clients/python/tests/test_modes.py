"""Modes: the sidecar decides, or the client, or the client when it can."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import subprocess
from array import array
from datetime import datetime, timedelta, timezone
from uuid import UUID

import pytest
from conftest import BINARY, SCHEDULES, free_port

import offbeat
from offbeat import (
    AsyncClient,
    CalendarCycle,
    CalendarUnit,
    CatchUpPolicy,
    Client,
    IdType,
    Lane,
    LaneSet,
    MissedRunPolicy,
    Placement,
    Schedule,
    SqlColumnType,
    SqlDialect,
    SqlTarget,
    TwisterProfile,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
EIGHT_HOURS = Schedule(timedelta(hours=8))
KINDS = Schedule(timedelta(hours=8), kinds=["import", "export", "check"])
TWISTER = Schedule(timedelta(hours=8), placement=Placement.TWISTER, profile=TwisterProfile.PYTHON)
BERLIN = Schedule(calendar=CalendarCycle(CalendarUnit.DAY, "Europe/Berlin"), slot_count=24)
TARGET = SqlTarget(SqlDialect.POSTGRESQL, "account", "id", SqlColumnType.UUID)
LANES = LaneSet([Lane("express", 1, timedelta(seconds=1)), Lane("slow", 1, timedelta(minutes=1))])
IDS = [UUID(int=random.Random("ids of modes").getrandbits(128)) for _ in range(300)]

QUESTIONS = {
    "assign_slot": lambda c: c.assign_slot(EIGHT_HOURS, IDS[0], from_time=NOON, next_run_count=3),
    "assign_slot of text": lambda c: c.assign_slot(KINDS, "a/b", from_time=NOON, kind="export"),
    "assign_slot of a fraction": lambda c: c.assign_slot(
        Schedule(timedelta(hours=8), placement=Placement.FRACTION), 0.25, from_time=NOON
    ),
    "assign_slot by twister": lambda c: c.assign_slot(TWISTER, -(2**70), from_time=NOON),
    "assign_slots": lambda c: c.assign_slots(EIGHT_HOURS, IDS, from_time=NOON),
    "assign_slots of some columns": lambda c: c.assign_slots(
        EIGHT_HOURS, IDS, from_time=NOON, columns=["last_run_unix_millis"]
    ),
    "assign_slots of none": lambda c: c.assign_slots(EIGHT_HOURS, [], from_time=NOON),
    "assign_slots with errors": lambda c: c.assign_slots(
        EIGHT_HOURS, ["x", "0" * 32], id_type=IdType.UUID, from_time=NOON, return_errors=True
    ),
    "assign_packed": lambda c: c.assign_packed(
        TWISTER, integers=array("q", range(300)), from_time=NOON
    ),
    "describe_schedule": lambda c: c.describe_schedule(KINDS, at_time=NOON),
    "list_slots": lambda c: c.list_slots(KINDS, start_time=NOON, sql_target=TARGET, kind="export"),
    "window_predicate": lambda c: c.window_predicate(
        EIGHT_HOURS, TARGET, start_time=NOON, end_time=NOON + timedelta(hours=3)
    ),
    "list_due_runs": lambda c: c.list_due_runs(
        KINDS, IDS, watermark=NOON - timedelta(days=1), now_time=NOON, kind="check"
    ),
    "list_due_runs, dropping": lambda c: c.list_due_runs(
        EIGHT_HOURS,
        IDS,
        watermark=NOON - timedelta(days=1),
        now_time=NOON,
        catch_up_policy=CatchUpPolicy(MissedRunPolicy.DROP, on_time_tolerance=timedelta(minutes=5)),
        look_ahead=timedelta(hours=1),
    ),
    "list_due_runs of none": lambda c: c.list_due_runs(
        EIGHT_HOURS, [], watermark=NOON, now_time=NOON
    ),
    "route_job": lambda c: c.route_job(LANES, timed_out_lane_names=["express"]),
    "route_job, failing": lambda c: c.route_job(LANES, timed_out_lane_names=["slow"]),
    "by name": lambda c: c.assign_slot("accounts/1", 7, from_time=NOON, kind="import"),
}


@pytest.fixture(scope="module")
def schedules(tmp_path_factory):
    """Return the file of the sidecar's schedules, as `offbeat schedules export` writes it."""
    path = tmp_path_factory.mktemp("schedules") / "schedules.json"
    export = [BINARY, "schedules", "export", SCHEDULES]
    path.write_bytes(subprocess.run(export, check=True, capture_output=True).stdout)
    return path


def no_sidecar():
    return f"127.0.0.1:{free_port()}"


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_equal_and_say_who_decided(client, schedules, name):
    ask = QUESTIONS[name]
    local = Client(no_sidecar(), mode="local", schedules=schedules)
    remote, answer = ask(client), ask(local)
    assert answer == remote
    if not isinstance(answer, list):  # a plain list of slots has no such attribute
        assert (answer.decided_by, remote.decided_by) == ("local", "sidecar")

    async def asked():
        async with AsyncClient(no_sidecar(), mode="local", schedules=schedules) as asynchronous:
            return await ask(asynchronous)

    assert asyncio.run(asked()) == remote


@pytest.mark.parametrize("mode", ["remote", "auto", "local"])
def test_refusals_are_the_same_in_each_mode(client, mode):
    asking = Client(mode=mode)
    for ask in [
        lambda c: c.describe_schedule(Schedule(timedelta(hours=8), slot_count=7)),
        lambda c: c.assign_slot(KINDS, 1),
        lambda c: c.assign_slot(EIGHT_HOURS, 0.5),
        lambda c: c.assign_slots(EIGHT_HOURS, ["x"], id_type=IdType.UUID),
        lambda c: c.list_due_runs(EIGHT_HOURS, [1], now_time=NOON),
    ]:
        with pytest.raises(offbeat.InvalidArgument) as wanted:
            ask(client)
        with pytest.raises(type(wanted.value)) as caught:
            ask(asking)
        assert str(caught.value) == str(wanted.value)
        assert (caught.value.reason, caught.value.field) == (
            wanted.value.reason,
            wanted.value.field,
        )


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (lambda c: c.assign_slot(BERLIN, 1), "a calendar cycle needs a sidecar"),
        (lambda c: c.describe_schedule(EIGHT_HOURS, population=5), "load to expect"),
        (lambda c: c.reciprocal_slots(EIGHT_HOURS, kind_count=2), "GetReciprocalSlots"),
        (lambda c: c.server_info(), "GetServerInfo"),
        (lambda c: c.assign_slot("billing/7", 1), "a schedule by name needs a sidecar"),
        (lambda c: c.named_spread("mail", 3).describe(), "Spread"),
        (lambda c: list(c.spread([["a"]], 1)), "Spread"),
        (lambda c: c.record_lateness("billing/1", [timedelta(1)]), "RecordLateness"),
    ],
)
def test_what_needs_a_sidecar_is_refused_locally_and_asked_in_auto(ask, reason):
    with pytest.raises(offbeat.NeedsSidecar, match=reason) as caught:
        ask(Client(mode="local"))
    assert not isinstance(caught.value, (offbeat.NoAnswer, offbeat.InvalidArgument))
    with pytest.raises(offbeat.NoAnswer):
        ask(Client(no_sidecar(), mode="auto", timeout=0.3))


def test_auto_asks_the_sidecar_for_what_it_cannot_decide_and_for_bulk(client):
    auto = Client(mode="auto")
    assert auto.assign_slot(EIGHT_HOURS, 1).decided_by == "local"
    assert auto.assign_slot(BERLIN, 1).decided_by == "sidecar"
    assert auto.assign_slot("bank-sync/1", 1).decided_by == "sidecar"
    assert auto.assign_slots(EIGHT_HOURS, range(999)).decided_by == "local"
    assert auto.assign_slots(EIGHT_HOURS, range(1_000)).decided_by == "sidecar"
    packed = auto.assign_packed(EIGHT_HOURS, integers=array("q", range(1_000)))
    assert packed.decided_by == "sidecar"
    due = auto.list_due_runs(EIGHT_HOURS, range(1_000), watermark=NOON, now_time=NOON)
    assert due.decided_by == "sidecar"
    batches = list(auto.stream_slot_assignments(EIGHT_HOURS, range(10)))
    assert [batch.decided_by for batch in batches] == ["sidecar"]


@pytest.mark.parametrize("timeout", ["web", "worker"])
def test_bulk_that_has_no_answer_is_decided_locally(client, timeout):
    auto = Client(no_sidecar(), mode="auto", timeout=timeout)
    rows = auto.assign_slots(EIGHT_HOURS, range(2_000), from_time=NOON)
    assert rows == client.assign_slots(EIGHT_HOURS, range(2_000), from_time=NOON)
    assert rows.decided_by == "local"


def test_streams_are_decided_locally(client):
    local = Client(mode="local")
    ids = [*IDS, *map(str, IDS)][:300] * 60
    wanted = list(client.stream_slot_assignments(EIGHT_HOURS, iter(ids), from_time=NOON))
    answers = list(local.stream_slot_assignments(EIGHT_HOURS, iter(ids), from_time=NOON))
    assert answers == wanted
    assert {answer.decided_by for answer in answers} == {"local"}
    with pytest.raises(offbeat.InvalidArgument, match="slot_count"):
        list(local.stream_slot_assignments(Schedule(timedelta(hours=8), slot_count=7), []))

    async def streamed():
        async with AsyncClient(mode="local") as asynchronous:
            stream = asynchronous.stream_slot_assignments(EIGHT_HOURS, ids, from_time=NOON)
            return [answer async for answer in stream]

    assert asyncio.run(streamed()) == wanted


def test_modes_come_from_the_environment(monkeypatch, schedules):
    monkeypatch.setenv("OFFBEAT_MODE", "local")
    monkeypatch.setenv("OFFBEAT_SCHEDULES", str(schedules))
    client = Client(no_sidecar())
    assert client.mode == "local"
    assert client.assign_slot("bank-sync/2", 1).decided_by == "local"
    assert Client(mode="remote").mode == "remote"
    for make in (Client, AsyncClient):
        with pytest.raises(offbeat.InvalidArgument) as caught:
            make(mode="locally")
        assert caught.value.field == "mode"
        monkeypatch.setenv("OFFBEAT_MODE", "Local")
        with pytest.raises(offbeat.InvalidArgument) as caught:
            make()
        assert (caught.value.field, caught.value.value) == ("OFFBEAT_MODE", "'Local'")


@pytest.mark.parametrize("mode", ["remote", "auto", "local"])
def test_a_declaration_is_checked_without_a_sidecar(mode, schedules):
    client = Client(no_sidecar(), mode=mode, schedules=schedules)
    assert client.local_refusal(KINDS) is None
    assert client.local_refusal("accounts/1") is None
    assert "calendar" in client.local_refusal(BERLIN)
    ruby = Schedule(timedelta(hours=8), placement=Placement.TWISTER)
    assert "twister of RUBY" in client.local_refusal(ruby)
    with pytest.raises(offbeat.InvalidArgument, match="slot_count"):
        client.local_refusal(Schedule(timedelta(hours=8), slot_count=7))
    with pytest.raises(offbeat.NotFound, match="bank-sync/1, bank-sync/2"):
        client.local_refusal("bank-sync/3")


def test_the_generator_of_the_program_is_left_alone():
    random.seed(5)
    wanted = random.random()
    random.seed(5)
    Client(mode="local").assign_slot(TWISTER, 12345)
    assert random.random() == wanted


# Schedules by name, from a file


def exported(**changes):
    """Return the content of a file of one schedule, with other fields of its spec."""
    client = Client(mode="local")
    spec = {"period": "28800s", **changes}
    schedule = Schedule(
        timedelta(seconds=int(spec["period"][:-1])), slot_count=spec.get("slotCount")
    )
    described = client.describe_schedule(schedule)
    listed = {
        "reference": {"name": "sync", "version": 1},
        "identity": {"fingerprint": described.fingerprint, "runKeyRoot": "sync/1"},
        "spec": spec,
    }
    return {"schedules": [listed]}


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return a schedule file that the client checks at every call."""
    monkeypatch.setattr("offbeat.local.catalog._LOOK_SECONDS", 0.0)
    path = tmp_path / "schedules.json"
    path.write_text(json.dumps(exported()))
    return path


def test_a_file_is_that_of_the_sidecar(client, schedules):
    local = Client(mode="local", schedules=schedules)
    assert local.list_schedules() == client.list_schedules()
    assert local.list_schedules(name="bank-sync") == client.list_schedules(name="bank-sync")
    run = local.assign_slot("bank-sync/2", 5, from_time=NOON).next_run
    assert run == client.assign_slot("bank-sync/2", 5, from_time=NOON).next_run
    with pytest.raises(offbeat.NotFound) as caught:
        local.assign_slot("bank-sync/9", 5)
    with pytest.raises(offbeat.NotFound) as wanted:
        client.assign_slot("bank-sync/9", 5)
    assert str(caught.value) == str(wanted.value)
    # The sidecar may have a newer version.
    auto = Client(mode="auto", schedules=schedules)
    with pytest.raises(offbeat.NotFound) as caught:
        auto.assign_slot("bank-sync/9", 5)
    assert caught.value.details, "the sidecar was asked"


def test_a_changed_file_is_read_again(file):
    client = Client(mode="local", schedules=file)
    with pytest.raises(offbeat.NotFound):
        client.assign_slot("sync/2", 1)
    more = exported()
    more["schedules"].append(json.loads(json.dumps(more["schedules"][0])))
    more["schedules"][1]["reference"]["version"] = 2
    file.write_text(json.dumps(more))
    assert client.assign_slot("sync/2", 1).next_run.run_key.startswith("sync/2/default/")
    os.remove(file)
    assert client.assign_slot("sync/2", 1).decided_by == "local"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (json.dumps(exported(slotCount=96)), "another version"),
        ("{", "Expecting"),
        ('{"schedules": []}', "0 schedules"),
        ('{"schedules": [{"spec": {"perod": "1s"}}]}', "perod"),
    ],
)
def test_a_file_that_changes_a_meaning_or_is_broken_is_refused_as_a_whole(
    file, caplog, content, why
):
    client = Client(mode="local", schedules=file)
    before = client.assign_slot("sync/1", 1, from_time=NOON)
    with caplog.at_level(logging.ERROR, logger="offbeat"):
        file.write_text(content)
        for _ in range(3):
            assert client.assign_slot("sync/1", 1, from_time=NOON) == before
    (record,) = caplog.records  # once, and not for each call
    assert why in record.getMessage()
    file.write_text(json.dumps(exported()))
    assert client.assign_slot("sync/1", 1, from_time=NOON) == before


def test_a_version_keeps_its_meaning_while_it_is_away(file):
    client = Client(mode="local", schedules=file)
    other = exported(slotCount=96)
    other["schedules"][0]["reference"]["name"] = "other"
    file.write_text(json.dumps(other))
    assert client.assign_slot("other/1", 1).slot_index >= 0
    file.write_text(json.dumps(exported(slotCount=96)))
    with pytest.raises(offbeat.NotFound):
        client.assign_slot("sync/1", 1)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda listed: listed["identity"].update(fingerprint="0" * 64), "that of the spec"),
        (lambda listed: listed["identity"].update(fingerprint=""), "must be set"),
        (lambda listed: listed["reference"].update(version=0), "reference.version"),
        (lambda listed: listed["spec"].update(slotCount=7), "schedules.0..spec.slot_count"),
    ],
)
def test_a_file_that_is_wrong_at_the_start_is_refused(tmp_path, change, why):
    content = exported()
    change(content["schedules"][0])
    path = tmp_path / "schedules.json"
    path.write_text(json.dumps(content))
    with pytest.raises(offbeat.InvalidArgument, match=why) as caught:
        Client(mode="local", schedules=path)
    assert caught.value.field == "schedules"
    for missing in (tmp_path / "none.json", tmp_path, 5):
        with pytest.raises(offbeat.InvalidArgument, match="schedules"):
            Client(mode="local", schedules=missing)


def test_a_schedule_of_the_file_that_needs_a_sidecar_says_so(tmp_path, client):
    listed = exported()
    calendar = {"unit": "CALENDAR_UNIT_DAY", "timeZone": "Europe/Berlin"}
    listed["schedules"][0]["spec"] = {"calendar": calendar, "slotCount": 24}
    path = tmp_path / "schedules.json"
    path.write_text(json.dumps(listed))
    with pytest.raises(offbeat.NeedsSidecar, match="calendar"):
        Client(mode="local", schedules=path).assign_slot("sync/1", 1)


def test_bulk_by_a_name_that_the_file_alone_has_is_decided_locally(file):
    auto = Client(mode="auto", schedules=file)
    rows = auto.assign_slots("sync/1", range(1_000), from_time=NOON)
    assert rows.decided_by == "local"
    assert rows[5] == auto.assign_slots("sync/1", range(10), from_time=NOON)[5]


def test_lateness_is_recorded_without_a_sidecar(caplog):
    recorder = offbeat.LatenessRecorder(client=Client(mode="local"))
    with caplog.at_level(logging.WARNING, logger="offbeat"):
        recorder.record("sync/1", NOON, started_time=NOON)
        recorder.flush()
    assert not caplog.records
