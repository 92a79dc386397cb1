"""Without grpcio all unary calls work, and features that need it say how to install it."""

from __future__ import annotations

from conftest import run_python

BEGIN = """
    import sys
    sys.modules["grpc"] = None  # cannot be imported
    import asyncio
    from datetime import timedelta
    import offbeat
    from offbeat.lateness import LatenessRecorder
    schedule = offbeat.Schedule(timedelta(hours=8))
    client = offbeat.Client()
"""


def test_calls_need_no_grpc():
    program = """
    import array, time
    assert client.server_info().version == offbeat.__version__
    assert client.assign_slot(schedule, 42).slot_index == 80
    assert len(client.assign_slots(schedule, range(70_000))) == 70_000
    assert len(client.assign_packed(schedule, integers=array.array("q", range(70_000)))) == 70_000
    assert client.allocate_workers([offbeat.Stage("a", 1, timedelta(seconds=1))], 2)
    lanes = offbeat.LaneSet([offbeat.Lane("a", 1, timedelta(seconds=1)), offbeat.Lane("b", 1)])
    assert client.route_job(lanes).lane_name == "a"
    client.record_lateness("nightly", [timedelta(seconds=1)])
    LatenessRecorder(client=client).flush()
    spread = client.named_spread(f"without-grpc-{time.monotonic_ns()}", 2)
    producer = spread.producer()
    producer.submit("a", ["1"])
    with spread.consumer("pulls", wait=1) as pulling:
        next(pulling).ack()
    assert list(producer.wait(timeout=10)) == ["a"]
    assert spread.name in [one.spread_name for one in client.list_spreads()]
    spread.close()
    try:
        client.describe_schedule(offbeat.Schedule(timedelta(0)))
    except offbeat.InvalidArgument as error:
        print(error.field, [type(detail).__name__ for detail in error.details])
    """
    assert run_python(BEGIN + program) == "schedule.spec.period ['ErrorInfo', 'BadRequest']\n"


def test_what_needs_grpc_names_the_extra():
    program = """
    async def asynchronously():
        async with offbeat.AsyncClient() as client:
            await client.assign_slot(schedule, 42)
    streaming = client.named_spread("mail", 2).stream("streams")
    for use in (
        lambda: list(client.stream_slot_assignments(schedule, [42])),
        lambda: list(client.spread([["a"]], 1)),
        lambda: next(streaming),
        lambda: asyncio.run(asynchronously()),
    ):
        try:
            use()
        except ImportError as error:
            print(error.name, error)
    """
    line = "grpc streams and AsyncClient need grpcio: pip install 'offbeat[grpc]'\n"
    assert run_python(BEGIN + program) == line * 4


def test_local_decisions_need_no_grpc():
    program = """
    async def asynchronously():
        async with offbeat.AsyncClient(mode="local") as client:
            batches = client.stream_slot_assignments(schedule, [42])
            return [batch.slot_indexes[0] async for batch in batches]
    alone = offbeat.Client(mode="local")
    print([batch.slot_indexes[0] for batch in alone.stream_slot_assignments(schedule, [42])])
    print(asyncio.run(asynchronously()))
    for use in (alone.server_info, lambda: next(alone.named_spread("mail", 2).stream("streams"))):
        try:
            use()
        except offbeat.NeedsSidecar as error:
            print(type(error).__name__)
    """
    assert run_python(BEGIN + program) == "[80]\n[80]\n" + "NeedsSidecar\n" * 2


def test_calls_load_no_grpc():
    program = """
    import sys, offbeat
    from datetime import timedelta
    schedule = offbeat.Schedule(timedelta(hours=8))
    client = offbeat.Client()
    client.assign_slot(schedule, 42)
    print("grpc" in sys.modules)
    list(client.stream_slot_assignments(schedule, [42]))
    print("grpc" in sys.modules)
    """
    assert run_python(program) == "False\nTrue\n"
