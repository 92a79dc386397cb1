"""A sidecar, and repeatable random cases: the seed is the day, or OFFBEAT_SALT."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import grpc
import pytest
from offbeat.v1 import slots_pb2_grpc
from support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("OFFBEAT_BIN", str(ROOT / "target/release/offbeat"))
SALT = os.environ.get("OFFBEAT_SALT", date.today().isoformat())
#: Seconds per check. CASE=n repeats the n-th case alone.
SECONDS = float(os.environ.get("OFFBEAT_ORACLE_SECONDS", "2"))
#: The least number of cases, even on a slow machine.
FEWEST = 5


def asked(method: Callable, request: object) -> tuple[object, grpc.RpcError | None]:
    """The answer, or the refusal."""
    try:
        return method(request, timeout=25), None
    except grpc.RpcError as refused:
        return None, refused


Cases = Callable[[Callable[[random.Random], None]], None]


@pytest.fixture(scope="session")
def stub() -> Iterator[slots_pb2_grpc.SlotServiceStub]:
    address = f"127.0.0.1:{free_port()}"
    sidecar = subprocess.Popen(
        [BINARY, "serve", "--listen", address, "--admin-listen", "off"], stderr=subprocess.PIPE
    )
    assert sidecar.stderr is not None
    assert b"listening" in sidecar.stderr.readline()
    options = [("grpc.max_receive_message_length", 1 << 26)]
    with grpc.insecure_channel(address, options=options) as channel:
        yield slots_pb2_grpc.SlotServiceStub(channel)
    sidecar.terminate()
    sidecar.communicate(timeout=30)
    assert sidecar.returncode == 0


@pytest.fixture
def cases(request: pytest.FixtureRequest) -> Cases:
    """Runs a check on random cases until its time is up; a failure says how to repeat the case."""

    def run(check: Callable[[random.Random], None]) -> None:
        until, number = time.monotonic() + SECONDS, 0
        only = os.environ.get("CASE")
        while number < FEWEST or time.monotonic() < until:
            index = int(only or number)
            try:
                check(random.Random(f"{SALT}/{request.node.name}/{index}"))
            except Exception:
                print(
                    f"OFFBEAT_SALT={SALT} CASE={index} pytest -k {request.node.name}",
                    file=sys.stderr,
                )
                raise
            number += 1
            if only:
                break
        print(f"{number} cases of salt {SALT}")

    return run
