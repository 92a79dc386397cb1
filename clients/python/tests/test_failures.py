"""Failures, and how the client reports them."""

from __future__ import annotations

import asyncio
import pickle
import signal
import socket
import threading
import time
from datetime import datetime, timedelta, timezone

import pytest
from conftest import Sidecar, free_port, run_python

import offbeat
from offbeat import IdType, Placement, Schedule

EIGHT_HOURS = Schedule(timedelta(hours=8))


@pytest.mark.parametrize(
    ("schedule", "reason", "field"),
    [
        (Schedule(timedelta(0)), "OUT_OF_RANGE", "schedule.spec.period"),
        (Schedule(timedelta(days=-1)), "OUT_OF_RANGE", "schedule.spec.period"),
        (Schedule(timedelta(days=3_661)), "OUT_OF_RANGE", "schedule.spec.period"),
        (Schedule(timedelta(milliseconds=1)), "OUT_OF_RANGE", "schedule.spec.period"),
        (Schedule(timedelta(hours=8), slot_count=0), "OUT_OF_RANGE", "schedule.spec.slot_count"),
        (
            Schedule(timedelta(hours=8), slot_count=2**40),
            "OUT_OF_RANGE",
            "schedule.spec.slot_count",
        ),
        (
            Schedule(timedelta(hours=8), slot_count=11),
            "SLOT_COUNT_DOES_NOT_DIVIDE",
            "schedule.spec.slot_count",
        ),
        (
            Schedule(timedelta(hours=8), salt="x", placement=Placement.TWISTER),
            "CONTRADICTORY",
            "schedule.spec.salt",
        ),
        (
            Schedule(timedelta(hours=8), anchor_time=datetime(2026, 1, 1)),
            "MALFORMED",
            "schedule.spec.anchor_time",
        ),
        (Schedule(timedelta(hours=8), placement=77), "OUT_OF_RANGE", "schedule.spec.placement"),
    ],
)
def test_refusals_name_reason_and_field(client, schedule, reason, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.describe_schedule(schedule)
    assert caught.value.reason == f"ERROR_REASON_{reason}"
    assert caught.value.field == field
    assert caught.value.allowed
    assert isinstance(caught.value, ValueError)


def test_details_of_a_refusal_are_carried(client):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.describe_schedule(Schedule(timedelta(hours=8), slot_count=7))
    error = caught.value
    assert error.code == "INVALID_ARGUMENT"
    assert (error.field, error.value) == ("schedule.spec.slot_count", "7")
    info, bad_request = error.details
    assert info.domain == "offbeat"
    assert bad_request.field_violations[0].field == "schedule.spec.slot_count"


@pytest.mark.parametrize(
    "ids", [[1, "a"], ["a", 1], [None], [True], [b"bytes"], ["\ud800"], [1, 2, 0.5]]
)
def test_ids_that_are_none_are_refused_by_index(client, ids):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.assign_slots(EIGHT_HOURS, ids)
    assert caught.value.field.startswith("ids[")
    with pytest.raises(offbeat.InvalidArgument):
        list(client.stream_slot_assignments(EIGHT_HOURS, ids))


def test_bad_ids_do_not_cost_the_others_their_answer(client):
    good = "0190d7a2-1111-7abc-8def-0123456789ab"
    ids = [good] * 65_540 + ["oops", good]
    with pytest.raises(offbeat.BadIds) as caught:
        client.assign_slots(EIGHT_HOURS, ids, id_type=IdType.UUID)
    (error,) = caught.value.errors
    assert (error.id_index, error.field, error.reason) == (
        65_540,
        "ids[65540]",
        "ERROR_REASON_MALFORMED",
    )
    rows = caught.value.answer
    assert (len(rows), rows.slot_indexes[65_540], rows.slot_indexes[65_541]) == (65_542, -1, 75)
    with pytest.raises(LookupError):
        rows[65_540]
    returned = client.assign_slots(EIGHT_HOURS, ids, id_type=IdType.UUID, return_errors=True)
    assert returned.errors == caught.value.errors


def test_integers_beyond_128_bits_are_refused_one_by_one(client):
    with pytest.raises(offbeat.BadIds) as caught:
        client.assign_slots(EIGHT_HOURS, [2**128 - 1, 2**128, -(2**128)])
    assert [error.id_index for error in caught.value.errors] == [1, 2]
    assert caught.value.errors[0].reason == "ERROR_REASON_OUT_OF_RANGE"


def test_a_whole_batch_of_bad_ids_is_answered(client):
    rows = client.assign_slots(
        EIGHT_HOURS, ["x" * 36] * 65_536, id_type=IdType.UUID, return_errors=True
    )
    assert len(rows.errors) == 65_536


def test_the_ends_of_time_are_refused(client):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.assign_slot(
            EIGHT_HOURS, 1, from_time=datetime(9999, 12, 31, 23, tzinfo=timezone.utc)
        )
    assert caught.value.field == "from_time"
    assert "9999" in caught.value.allowed


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        (lambda c: c.assign_slots(EIGHT_HOURS, "tenant-1"), "ids"),
        (lambda c: c.assign_slots(EIGHT_HOURS, ["x"] * 65_536 + [1]), "ids[65536]"),
        (lambda c: c.assign_slot(EIGHT_HOURS, "42", id_type="uuid"), "id_type"),
        (lambda c: c.assign_slot(EIGHT_HOURS, 42, id_type=IdType.UUID), "id"),
        (lambda c: c.assign_slots(EIGHT_HOURS, [1], id_type=IdType.INTEGER), "ids[0]"),
        (lambda c: c.assign_slots(EIGHT_HOURS, [1], from_time=0), "from_time"),
        (lambda c: c.assign_slot(EIGHT_HOURS, 1, from_time="2026-01-01T00:00:00Z"), "from_time"),
        (lambda c: c.assign_slots(Schedule(28_800), [1]), "schedule.spec.period"),
        (lambda c: c.assign_slots(Schedule(timedelta(hours=8), slot_count=7), []), None),
        (lambda c: c.describe_schedule(Schedule(timedelta(hours=8), salt=5)), "schedule.spec.salt"),
        (
            lambda c: c.describe_schedule(Schedule(timedelta(hours=8), placement="HASH")),
            "schedule.spec.placement",
        ),
        (lambda c: c.assign_slot(EIGHT_HOURS, 1, kind=5), "kind"),
        (lambda c: c.assign_slots(EIGHT_HOURS, [1], kind="\ud800"), "kind"),
        (lambda c: c.assign_slot(EIGHT_HOURS, 10**5_000), "id"),
        (
            lambda c: c.describe_schedule(Schedule(timedelta(hours=8), salt="\ud800")),
            "schedule.spec.salt",
        ),
        (lambda c: c.describe_schedule(EIGHT_HOURS, population=10**30), "population"),
        (lambda c: c.describe_schedule(EIGHT_HOURS, timeout=-1), "timeout"),
        (lambda c: c.describe_schedule(EIGHT_HOURS, timeout=float("nan")), "timeout"),
        (lambda c: c.reciprocal_slots(EIGHT_HOURS, run_times=[3_600]), "run_times[0]"),
        (lambda _: offbeat.Client("127.0.0.1"), "address"),
        (lambda _: offbeat.Client("http://127.0.0.1:2328"), "address"),
        (lambda _: offbeat.Client("127.0.0.1:99999"), "address"),
        (lambda _: offbeat.Client(2328), "address"),
        (lambda _: offbeat.Client("unix:"), "address"),
    ],
)
def test_what_would_be_misunderstood_is_refused(client, ask, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        ask(client)
    assert caught.value.field == (field or "schedule.spec.slot_count")
    assert caught.value.allowed
    assert caught.value.reason.startswith("ERROR_REASON_")


def test_exceptions_survive_a_process_pool(client):
    for ask in [
        lambda: client.assign_slots(EIGHT_HOURS, ["x", "y"], id_type=IdType.UUID),
        lambda: client.describe_schedule(Schedule(timedelta(hours=8), slot_count=7)),
    ]:
        with pytest.raises(offbeat.InvalidArgument) as caught:
            ask()
        copy = pickle.loads(pickle.dumps(caught.value))
        assert type(copy) is type(caught.value)
        assert (str(copy), copy.field) == (str(caught.value), caught.value.field)


def test_refused_rows_can_be_passed_over(client):
    answer = client.assign_slots(
        EIGHT_HOURS,
        ["0" * 32, "bad", "1" * 32],
        id_type=IdType.UUID,
        return_errors=True,
    )
    assert [row.id for row in answer.accepted()] == ["0" * 32, "1" * 32]
    for look_up in [lambda: answer[1], lambda: answer.run_key(1), lambda: list(answer)]:
        with pytest.raises(LookupError, match=r"ids\[1\]"):
            look_up()


def test_errors_of_a_stream_are_counted_from_its_start(client):
    ids = ["0" * 32] * 10_000 + ["bad"]
    batches = client.stream_slot_assignments(EIGHT_HOURS, ids, id_type=IdType.UUID)
    for batch in batches:
        for error in batch.errors:
            assert (error.id_index, error.field) == (10_000, "ids[10000]")
            assert batch.ids[error.id_index - batch.first_id_index] == "bad"
            assert len(batch.errors) == 1
            return
    raise AssertionError("the bad ID was not refused")


def test_nobody_there_is_unavailable_soon():
    client = offbeat.Client(f"127.0.0.1:{free_port()}")
    started = time.monotonic()
    with pytest.raises(offbeat.Unavailable):
        client.describe_schedule(EIGHT_HOURS)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.describe_schedule(EIGHT_HOURS),
        lambda client: client.choose_stage([offbeat.Stage("a")]),
        lambda client: client.route_job(offbeat.LaneSet([offbeat.Lane("a", 1)])),
    ],
)
def test_all_pure_questions_are_asked_again(ask):
    client = offbeat.Client(f"127.0.0.1:{free_port()}", timeout=2)
    started = time.monotonic()
    with pytest.raises(offbeat.Unavailable):
        ask(client)
    assert time.monotonic() - started > 1, "it gave up after the first attempts"


def test_a_sidecar_that_comes_late_is_found_by_retries():
    port = free_port()
    client = offbeat.Client(f"127.0.0.1:{port}")
    late: list[Sidecar] = []
    starter = threading.Timer(0.1, lambda: late.append(Sidecar(f"127.0.0.1:{port}")))
    starter.start()
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                client.describe_schedule(EIGHT_HOURS)
                break
            except offbeat.Unavailable:
                assert time.monotonic() < deadline
    finally:
        starter.join()
        late[0].stop()


def test_a_restarted_sidecar_is_found_again():
    address = f"127.0.0.1:{free_port()}"
    client = offbeat.Client(address)
    for _ in range(3):
        sidecar = Sidecar(address)
        try:
            assert client.assign_slot(EIGHT_HOURS, 7).slot_index >= 0
        finally:
            sidecar.process.send_signal(signal.SIGKILL)
            sidecar.process.communicate()


def test_silence_ends_with_the_deadline():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = offbeat.Client(f"127.0.0.1:{silent.getsockname()[1]}", timeout=0.3)
        with pytest.raises((offbeat.DeadlineExceeded, offbeat.Unavailable)) as caught:
            client.describe_schedule(EIGHT_HOURS)
        assert isinstance(caught.value, offbeat.OffbeatError)


@pytest.mark.parametrize("seconds", [0.1, 0.25, 1])
def test_nobody_there_is_unavailable_whatever_the_timeout(seconds):
    client = offbeat.Client(f"127.0.0.1:{free_port()}", timeout=seconds)
    with pytest.raises(offbeat.Unavailable, match="offbeat serve"):
        client.describe_schedule(EIGHT_HOURS)

    async def ask():  # grpc may still be connecting
        async with offbeat.AsyncClient(client.address, timeout=seconds) as asynchronous:
            with pytest.raises(offbeat.NoAnswer):
                await asynchronous.describe_schedule(EIGHT_HOURS)
            with pytest.raises(offbeat.Unavailable):
                await asynchronous.describe_schedule(EIGHT_HOURS)

    asyncio.run(ask())


def test_a_stream_has_a_deadline_if_asked(client):
    def slow():
        for number in range(10**9):
            yield number
            time.sleep(0.001)

    with pytest.raises(offbeat.DeadlineExceeded):
        list(client.stream_slot_assignments(EIGHT_HOURS, slow(), timeout=0.3))


def test_what_making_ids_raises_reaches_the_caller(client):
    def broken():
        yield 1
        raise KeyError("the database is gone")

    with pytest.raises(KeyError, match="database"):
        list(client.stream_slot_assignments(EIGHT_HOURS, broken()))


def test_unix_sockets_work(tmp_path):
    sidecar = Sidecar(f"unix:{tmp_path}/offbeat.sock")
    try:
        with offbeat.Client(f"unix:{tmp_path}/offbeat.sock") as client:
            assert client.assign_slot(EIGHT_HOURS, "acme").slot_index >= 0
    finally:
        assert sidecar.stop() == 0
    assert not (tmp_path / "offbeat.sock").exists()


def test_threads_share_a_client(client):
    expected = client.assign_slot(EIGHT_HOURS, 5).slot_index
    seen: list[int] = []

    def ask() -> None:
        seen.extend(client.assign_slot(EIGHT_HOURS, 5).slot_index for _ in range(20))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [expected] * 160


def test_importing_loads_no_grpc_and_connects_to_nothing():
    assert (
        run_python("""
        import sys, offbeat
        client = offbeat.Client("127.0.0.1:1")
        print("grpc" in sys.modules)
    """)
        == "False\n"
    )


@pytest.mark.parametrize("count", [1, 100_000])
def test_a_stream_without_a_sidecar_is_unavailable(count):
    with offbeat.Client(f"127.0.0.1:{free_port()}") as client:
        ids = (f"customer-{number}" for number in range(count))
        with pytest.raises(offbeat.Unavailable, match="offbeat serve"):
            list(client.stream_slot_assignments(EIGHT_HOURS, ids))


def test_a_stream_whose_sidecar_is_killed_is_unavailable():
    for _ in range(3):
        sidecar = Sidecar(f"127.0.0.1:{free_port()}")
        with offbeat.Client(sidecar.address) as client:
            answers = client.stream_slot_assignments(EIGHT_HOURS, iter(range(10**9)))
            next(answers)
            sidecar.process.kill()
            sidecar.process.communicate()
            with pytest.raises(offbeat.Unavailable):
                list(answers)


@pytest.mark.parametrize("timeout", [1e12, 1e30, timedelta.max])
def test_a_very_long_timeout_is_long(timeout):
    with offbeat.Client(timeout=timeout) as client:
        assert client.assign_slot(EIGHT_HOURS, "acme").slot_index >= 0
