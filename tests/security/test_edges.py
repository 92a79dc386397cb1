"""Edge cases of HTTP, of connections, and of the server's start and end."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from offbeat.v1 import named_spread_pb2 as named
from offbeat.v1 import slots_pb2 as slots
from offbeat.v1beta1 import simulation_pb2 as simulation
from support.server import BINARY, ENVIRONMENT, MIB, Server
from wire import (
    ASSIGN_SLOT,
    NAMED,
    ONE_ID,
    SCHEDULE,
    SLOTS,
    TOKEN,
    all_of,
    ask,
    ask2,
    connect,
    reply,
    text,
    took,
)

DIGEST = hashlib.sha256(bytes(8)).digest()  # of an empty job


def call(server: Server, method: str, **asked: object) -> dict:
    """A call of NamedSpreadService that must be answered."""
    answer = ask(server.address, NAMED + method, json.dumps({"spreadName": "s", **asked}).encode())
    assert answer.status == 200, answer
    return json.loads(answer.body)


def submit(server: Server, name: str) -> None:
    """A group of one empty job."""
    digest = base64.b64encode(DIGEST).decode()
    group = {
        "groupId": name,
        "jobs": [{"payload": ""}],
        "commit": {"jobCount": "1", "sha256": digest},
    }
    call(server, "SubmitGroups", groups=[group])


PULL = {
    "spreadName": "s",
    "consumerId": "gone",
    "maxPulledJobCount": 10,
    "maxWaitDuration": "20s",
}


@pytest.mark.parametrize("end", ["close", "shutdown"])
def test_who_left_is_leased_nothing(serve: Callable[..., Server], end: str) -> None:
    server = serve()
    call(server, "OpenSpread", spec={"order": {"feederCount": 1}})
    consumer = connect(server.port)
    consumer.sendall(text(NAMED + "PullJobs", json.dumps(PULL).encode()))
    time.sleep(0.5)
    if end == "shutdown":
        consumer.shutdown(socket.SHUT_WR)
        time.sleep(0.1)
    consumer.close()
    time.sleep(0.5)
    submit(server, "g")
    time.sleep(0.5)
    counts = call(server, "DescribeSpread")["description"]["counts"]
    assert counts.get("leasedJobCount", "0") == "0"
    assert counts["readyJobCount"] == "1"


def test_waits_hold_no_bytes(serve: Callable[..., Server]) -> None:
    server = serve()
    limits = {"maxGroupCount": 100_000}
    call(server, "OpenSpread", spec={"order": {"feederCount": 1}, "limits": limits})
    submit(server, "g")
    # The call waits only if all listed groups are known.
    path, channel = "/offbeat.v1.NamedSpreadService/", grpc.insecure_channel(server.address)
    names = [f"{at:0250}" for at in range(4_000)]
    commit = named.GroupCommit(job_count=1, sha256=DIGEST)
    groups = [
        named.GroupPart(group_id=name, jobs=[named.SubmittedJob()], commit=commit) for name in names
    ]
    asked = named.SubmitGroupsRequest(spread_name="s", groups=groups)
    channel.unary_unary(path + "SubmitGroups")(asked.SerializeToString())
    waiting = named.WaitForGroupsRequest(
        spread_name="s", group_ids=names, max_wait_duration={"seconds": 20}
    )
    wait = waiting.SerializeToString()
    calls = [channel.unary_unary(path + "WaitForGroups").future(wait) for _ in range(8)]
    time.sleep(1.5)
    assert not any(call.done() for call in calls)
    held = server.metric("offbeat_message_bytes_in_flight")
    for one in calls:
        one.cancel()
    channel.close()
    assert held <= MIB // 4, held


@pytest.mark.parametrize("kind", ["application/grpc+json", "application/grpc-web", "text/plain"])
def test_other_encodings_are_unsupported(serve: Callable[..., Server], kind: str) -> None:
    answer = ask2(serve().port, ASSIGN_SLOT, b"", kind=kind)
    assert answer.headers[":status"] == "415"


def test_grpc_is_posted(serve: Callable[..., Server]) -> None:
    server = serve()
    for method in ("GET", "PUT", "DELETE"):
        answer = ask2(server.port, ASSIGN_SLOT, None, method=method)
        assert answer.headers[":status"] == "405"
    assert ask2(server.port, ASSIGN_SLOT, b"").status == "3"


def test_long_paths_are_not_repeated(serve: Callable[..., Server]) -> None:
    server, path = serve(), "/" + "p" * 15_000
    answer = ask2(server.port, path, b"")
    assert answer.status in ("12", "414", "431")
    assert sum(len(name) + len(value) for name, value in answer.headers.items()) < 2_048
    plain = ask(server.port, path, b"{}")
    assert plain.status in (404, 414, 431, 501)
    assert len(plain.body) < 2_048


def test_a_full_backlog_does_not_hang_the_start(tmp_path: Path) -> None:
    """A process listens on the socket, but accepts no connections."""
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(0)
        waiting = []
        for _ in range(4):
            one = socket.socket(socket.AF_UNIX)
            one.setblocking(False)
            one.connect_ex(str(path))
            waiting.append(one)
        command = [BINARY, "serve", "--listen", f"unix:{path}", "--admin-listen", "off"]
        try:
            done = subprocess.run(command, env=ENVIRONMENT, timeout=5, capture_output=True)
        finally:
            all_of(waiting)
        assert done.returncode != 0
        assert path.exists(), "it took the path away"


def test_connections_are_counted_while_it_stops(serve: Callable[..., Server]) -> None:
    """A stream continues for the grace period, and so does the admin port."""
    server, over = serve(), threading.Event()
    with grpc.insecure_channel(server.address) as channel:
        first = slots.StreamSlotAssignmentsRequest(
            schedule={"spec": {"period": {"seconds": 86_400}}}, ids={"integers": [1]}
        )

        def asked() -> Iterator[bytes]:
            yield first.SerializeToString()
            over.wait(20)

        answers = channel.stream_stream(SLOTS + "StreamSlotAssignments")(asked())
        next(answers)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        count = server.metric("offbeat_connections")
        over.set()
    assert count == 1


def test_silent_strangers_evict_no_caller(serve: Callable[..., Server], token_file: Path) -> None:
    """Callers with a valid token keep their idle connections."""
    server = serve("--token-file", str(token_file), "--max-connections", "64")
    asked = text(ASSIGN_SLOT, ONE_ID, token=TOKEN)
    callers = [connect(server.port) for _ in range(48)]
    for caller in callers:
        caller.sendall(asked)
        assert reply(caller).status == 200
    strangers = [connect(server.port) for _ in range(200)]
    time.sleep(2)
    lost = 0
    for caller in callers:
        try:
            caller.sendall(asked)
            assert reply(caller).status == 200
        except (ConnectionError, TimeoutError):
            lost += 1
    all_of([*strangers, *callers])
    assert lost == 0, f"{lost} of {len(callers)} lost their connection"


#: Users that share a lock retry again and again, up to the limit of events.
SCENARIO = """
name = "Long"
duration = "10d"
workers = 1000
[users]
count = 100000
cycle = "1d"
[lock]
group_size = 100000
retry_after = "1ms"
[[kinds]]
name = "sync"
run_time = "30s"
[[strategies]]
kind = "at_once"
"""


@pytest.mark.skipif(shutil.which("taskset") is None, reason="there is no taskset")
def test_a_simulation_leaves_room_on_one_core(tmp_path: Path) -> None:
    """Other long work does not wait for the simulation's end."""
    wrapper = tmp_path / "offbeat"
    wrapper.write_text(f'#!/bin/sh\nexec taskset -c 0 {BINARY} "$@"\n')
    wrapper.chmod(0o755)
    with Server(binary=wrapper) as server, grpc.insecure_channel(server.address) as channel:
        request = simulation.SimulateRequest(scenario=SCENARIO).SerializeToString()
        simulate = channel.unary_stream("/offbeat.v1beta1.SimulationService/Simulate")
        running = simulate(request)
        done = threading.Event()

        def drain() -> None:
            with contextlib.suppress(grpc.RpcError):
                for _ in running:
                    pass
            done.set()

        threading.Thread(target=drain, daemon=True).start()
        time.sleep(0.15)
        listed = json.dumps({"schedule": SCHEDULE}).encode()
        seconds = took(lambda: ask(server.port, SLOTS + "ListSlots", listed, seconds=20))
        was_done = done.is_set()
        running.cancel()
    assert not was_done, "ListSlots waited for its end"
    assert seconds < 1
