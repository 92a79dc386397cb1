"""A well-behaved caller in a process of its own: 200 calls per second on one connection.

``python caller.py MESSAGE PORT [ADMIN_PORT]`` is that process, with the message of a call in
hexadecimal digits, so that it need not load protobuf. It also asks the admin port
twice per second whether the server is ready, each time on a new connection, as the kubelet does.
Each line on standard input requests the record since the previous line.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

# The process does not have the path of pytest.ini.
sys.path.insert(0, str(Path(__file__).parents[1]))

from support.frames import Peer, call

METHOD = "/offbeat.v1.SlotService/AssignSlot"
RATE = 200
PROBES_A_SECOND = 2
#: Seconds after which a call or a probe counts as failed.
GIVEN_UP = 10


@dataclass
class Record:
    """What the caller saw: how many calls and probes, the slowest of each, and what failed."""

    calls: int = 0
    probes: int = 0
    slowest_call: float = 0.0
    slowest_probe: float = 0.0
    failures: list[str] = field(default_factory=list)


class Caller:
    """Starts the process, and reads its records."""

    def __init__(self, message: bytes, port: int, admin_port: int | None = None) -> None:
        ports = [str(port)] if admin_port is None else [str(port), str(admin_port)]
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__), message.hex(), *ports],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def record(self) -> Record:
        """The record since the last call, up to a call and a probe that begin now."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return Record(**json.loads(self.process.stdout.readline()))

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(timeout=10)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


class Calls:
    """The calls of the process, and their record."""

    def __init__(self, message: bytes, port: int, admin_port: int | None) -> None:
        self.message, self.port, self.admin_port = message, port, admin_port
        self.peer: Peer | None = None
        self.changed = threading.Condition()
        self.seen = Record()
        #: Set to probe immediately.
        self.probe_now = threading.Event()
        #: The start times of the last call and the last probe that have ended.
        self.last_call = self.last_probe = 0.0

    def take_record(self) -> Record:
        """Waits for a call and a probe that begin now, and returns the record until then."""
        now = time.monotonic()
        self.probe_now.set()
        with self.changed:
            self.changed.wait_for(
                lambda: self.last_call > now and (self.admin_port is None or self.last_probe > now)
            )
            seen, self.seen = self.seen, Record()
        return seen

    def repeat_calls(self) -> None:
        due = time.monotonic()
        while True:  # until the process is killed
            due = max(due + 1 / RATE, time.monotonic() - 1 / RATE)
            time.sleep(max(0.0, due - time.monotonic()))
            began = time.monotonic()
            failure = self.call()
            with self.changed:
                self.seen.calls += 1
                self.seen.slowest_call = max(self.seen.slowest_call, time.monotonic() - began)
                self.seen.failures += [failure] if failure else []
                self.last_call = began
                self.changed.notify_all()

    def call(self) -> str | None:
        """Makes a call, and returns the error, if any."""
        if self.peer is None:
            try:
                self.peer, self.stream = Peer(self.port), 1
            except OSError as error:
                return f"cannot connect: {error}"
        stream, self.stream = self.stream, self.stream + 2
        answer = self.peer.ask(stream, call(stream, METHOD, self.message), GIVEN_UP)
        del self.peer.answers[stream]
        if answer.status == "0" and answer.ended and answer.size > 5:
            return None
        seen = f"status {answer.status}, reset {answer.reset}, GOAWAY {self.peer.goaway}"
        self.peer.close()
        self.peer = None
        return f"a call was not answered: {seen}"

    def repeat_probes(self) -> None:
        while True:  # until the process is killed
            self.probe_now.wait(1 / PROBES_A_SECOND)
            self.probe_now.clear()
            began = time.monotonic()
            failure = self.probe()
            with self.changed:
                self.seen.probes += 1
                self.seen.slowest_probe = max(self.seen.slowest_probe, time.monotonic() - began)
                self.seen.failures += [failure] if failure else []
                self.last_probe = began
                self.changed.notify_all()

    def probe(self) -> str | None:
        """Makes a probe, and returns the error, if any."""
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=GIVEN_UP)
        try:
            connection.request("GET", "/readyz")
            status = connection.getresponse().status
            return None if status == 200 else f"/readyz: status {status}"
        except (OSError, http.client.HTTPException) as error:
            return f"/readyz was not answered: {error!r}"
        finally:
            connection.close()


def main() -> None:
    """The entry point of the process."""
    message, ports = bytes.fromhex(sys.argv[1]), [int(port) for port in sys.argv[2:]]
    calls = Calls(message, ports[0], ports[1] if len(ports) > 1 else None)
    threading.Thread(target=calls.repeat_calls, daemon=True).start()
    if calls.admin_port is not None:
        threading.Thread(target=calls.repeat_probes, daemon=True).start()
    for _ in sys.stdin:
        print(json.dumps(asdict(calls.take_record())), flush=True)


if __name__ == "__main__":
    main()
