"""A server stops within its grace period, regardless of its connections; and how it starts.

``OFFBEAT_ROUNDS`` is the number of shutdowns with a crowd, 10 by default.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable

import pytest
from crowd import NAMED, PATIENT, Crowd, first_words, open_spread, pull_jobs
from sidecar import PANIC, Sidecar, probe
from support import questions
from support.frames import Peer, Wire, begin, body, call, prefixed
from support.http1 import post
from support.ports import free_port
from support.waiting import within

ROUNDS = int(os.environ.get("OFFBEAT_ROUNDS", "10"))
GRACE = 2
#: Seconds after its grace period within which a server ends, on a busy machine.
LATEST = 3
STARTS = 20
#: Room for 1,100 streams; three quarters of the requests may be streams.
ROOM = ("--max-requests", "2000")


class Arrivals:
    """New connections that make calls until the server stops listening."""

    def __init__(self, port: int) -> None:
        self.port, self.refused = port, False
        self.peers: list[Peer] = []
        self.thread = threading.Thread(target=self._arrive, daemon=True)
        self.thread.start()

    def _arrive(self) -> None:
        question = call(1, questions.ASSIGN_SLOT, questions.one_slot())
        while not self.refused:
            try:
                peer = Peer(self.port)
                peer.say(question, reading=False)
            except ConnectionRefusedError:
                self.refused = True
            except OSError:
                continue  # it was among those that waited to be accepted
            else:
                self.peers.append(peer)

    def wrongs(self) -> list[str]:
        """Calls neither answered nor provably unprocessed, so that a retry would be unsafe."""
        self.thread.join(5)
        if not self.refused:
            return ["arrivals: they are still let in"]
        wrong = []
        for peer in self.peers:
            peer.pump(1)
            answer = peer.answer(1)
            if answer.status not in (None, "0") or peer.goaway not in (None, 0):
                wrong.append(f"arrivals: status {answer.status}, GOAWAY {peer.goaway}")
            peer.close()
        return wrong


def end_of_a_crowd(server: Sidecar, with_arrivals: bool) -> tuple[float, list[str]]:
    """The duration of the shutdown, and its violations."""
    crowd = Crowd(server)
    assert crowd.is_known(), "not all are connected, or have begun"
    arrivals = Arrivals(server.port) if with_arrivals else None
    if arrivals:
        assert within(10, lambda: len(arrivals.peers) > 20)
    watcher = threading.Thread(target=crowd.watch)
    watcher.start()
    server.terminate()
    code, took = server.ended(GRACE + 10)
    watcher.join()
    wrong = [] if code == 0 else [f"end: exit code {code}"]
    if took > GRACE + LATEST:
        wrong.append(f"end: it took {took:.2f} s")
    if took < GRACE:
        wrong.append(f"end: it took {took:.2f} s, and cut streams that had more time")
    for streams in crowd.streams:
        wrong += streams.wrongs(server.told, GRACE)
    wrong += [
        f"log: {line}"
        for line in server.logs().splitlines()
        if PANIC.search(line) or "ERROR" in line
    ]
    wrong += arrivals.wrongs() if arrivals else []
    crowd.close()
    return took, wrong


def test_a_crowd_does_not_keep_it(start: Callable[..., Sidecar], figures: Callable) -> None:
    """1,100 streams of every kind, idle and half-open connections, and in every second round new
    connections during the shutdown: it ends soon after its grace period, each time."""
    times, wrongs, late = [], [], 0
    for turn in range(ROUNDS):
        server = start("--grace-period", str(GRACE), *PATIENT, *ROOM, admin="127.0.0.1:0")
        took, wrong = end_of_a_crowd(server, with_arrivals=turn % 2 == 1)
        times.append(took)
        late += any(one.startswith("end:") for one in wrong)
        wrongs += [f"round {turn} ({took:.2f} s): {one}" for one in wrong[:5]]
        server.discard()
    bad = len({wrong.split(":")[0] for wrong in wrongs})
    figures(
        f"{ROUNDS - late} of {ROUNDS} ended well, {min(times):.2f} to {max(times):.2f} s after "
        f"SIGTERM with a grace of {GRACE} s; in {ROUNDS - bad} all streams were told as they should"
    )
    assert wrongs == []


def test_a_stall_does_not_cost_a_status(start: Callable[..., Sidecar]) -> None:
    """Streams get their status even if the machine is busy at the end of the grace period."""
    server = start("--grace-period", str(GRACE), *PATIENT, *ROOM, admin="127.0.0.1:0")
    crowd = Crowd(server)
    assert crowd.is_known()
    watcher = threading.Thread(target=crowd.watch)
    watcher.start()
    server.terminate()
    assert within(10, lambda: "grace period over" in server.logs(), pause=0.0005)
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    server.process.send_signal(signal.SIGCONT)
    code, took = server.ended(10)
    watcher.join()
    wrong = [one for streams in crowd.streams for one in streams.wrongs(server.told, GRACE)]
    crowd.close()
    assert (code, took < GRACE + LATEST, wrong[:5]) == (0, True, [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_who_does_nothing_does_not_keep_it(
    start: Callable[..., Sidecar], figures: Callable, number: int
) -> None:
    """Without requests, the server does not wait for the grace period."""
    server = start("--grace-period", "30", *PATIENT)
    with Peer(server.port) as idle, Wire(server.port), Wire(server.port) as half:
        assert idle.ask(1, call(1, questions.ASSIGN_SLOT, questions.one_slot())).status == "0"
        assert half.say(b"POST /off", reading=False)
        server.terminate(number)
        code, took = server.ended(10)
        figures(f"{took:.2f} s")
        assert code == 0, server.logs()
        assert idle.ends(5)
        assert idle.goaway == 0


def test_while_it_drains(start: Callable[..., Sidecar], tmp_path: object) -> None:
    """Probes and health checks report it, new connections are refused, and streams may finish."""
    path = f"{tmp_path}/sock"
    server = start(
        "--grace-period", "20", *PATIENT, listen=f"127.0.0.1:0,unix:{path}", admin="127.0.0.1:0"
    )
    # It logs the address before it serves there.
    assert within(5, lambda: server.probe("/readyz")[0] == 200)
    # A peer that does not acknowledge the ping after GOAWAY, so that its calls are still accepted.
    worker, late = Peer(server.port), Peer(server.port, polite=False)
    assert worker.say(first_words("slots", 1, "") + first_words("watch", 3, ""))
    worker.pump(5, done=lambda: worker.answer(3).size > 0 and bool(worker.answer(1).headers))
    assert late.ask(1, call(1, questions.HEALTH, b"")).data == prefixed(b"\x08\x01")
    assert late.say(first_words("slots", 3, ""))
    late.pump(5, done=lambda: bool(late.answer(3).headers))

    server.terminate()
    assert within(5, lambda: server.probe("/readyz")[0] == 503)
    assert server.probe("/healthz")[0] == 200
    assert server.gauge("ready") == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), 1)
    with socket.socket(socket.AF_UNIX) as unix, pytest.raises(FileNotFoundError):
        unix.connect(path)
    assert worker.pump(5, done=lambda: worker.finished(3))
    assert worker.answer(3).data == prefixed(b"\x08\x01") + prefixed(b"\x08\x02")
    assert late.pump(5, done=lambda: late.goaway == 0)
    assert late.ask(5, call(5, questions.HEALTH, b"")).data == prefixed(b"\x08\x02")
    slot = late.ask(7, call(7, questions.ASSIGN_SLOT, questions.one_slot()))
    assert (slot.status, slot.ended) == ("0", True)

    # Long after that, probes are still answered, and the stream too.
    time.sleep(1.5)
    assert (server.probe("/readyz")[0], server.probe("/healthz")[0]) == (503, 200)
    assert worker.goaway == 0
    late.close()
    assert worker.say(body(1, b"", end=True))
    assert worker.pump(5, done=lambda: worker.answer(1).ended)
    assert worker.answer(1).status == "0"
    code, _ = server.ended(18)
    assert code == 0, "it ends as soon as nothing is left"
    worker.close()


def test_calls_in_flight_are_answered(start: Callable[..., Sidecar]) -> None:
    """Running calls, waiting calls, and calls that are not completely sent."""
    server = start("--grace-period", "20", *PATIENT)
    peer, split, text = Peer(server.port), Peer(server.port), Wire(server.port)
    assert peer.ask(1, call(1, NAMED + "OpenSpread", open_spread())).status == "0"
    batch = questions.many_slots(twisted=True)
    peer.say(begin(3, questions.ASSIGN_SLOTS), reading=False)
    assert peer.upload(3, prefixed(batch))
    assert peer.say(call(5, NAMED + "PullJobs", pull_jobs(wait=15)))
    question = prefixed(questions.one_slot())
    opening = begin(1, questions.ASSIGN_SLOT) + body(1, question[:20], end=False)
    assert split.say(opening)
    content = b'{"schedule": {"spec": {"period": "86400s"}}, "id": {"text": "acme"}}'
    request = post("/offbeat.v1.SlotService/AssignSlot", content)
    assert text.say(request[:-30])
    time.sleep(0.1)
    assert not peer.answer(3).ended, "its answer is complete before it is read"

    server.terminate()
    assert peer.pump(8, done=lambda: peer.answer(5).ended), "a call that waits ends at once"
    split.pump(0.7)
    text.pump(0.7)  # by now, idle connections are gone
    assert split.say(body(1, question[20:]))
    assert text.say(request[-30:])
    assert split.pump(5, done=lambda: split.answer(1).ended)
    assert text.pump(5, done=lambda: len(text.answers1()) == 1)
    assert peer.pump(15, done=lambda: peer.finished(3, 5))
    seen = [peer.answer(3).status, peer.answer(5).status, split.answer(1).status]
    assert seen == ["0", "0", "0"]
    assert peer.answer(3).size > 1 << 20
    assert text.answers1()[0].status == 200
    code, _ = server.ended(18)
    assert code == 0, "it ends as soon as nothing is left"


def test_ready_means_that_calls_succeed(start: Callable[..., Sidecar], figures: Callable) -> None:
    """Calls succeed as soon as /readyz reports ready, and so does a shutdown at that moment."""
    ready_after = []
    for _ in range(STARTS):
        port, admin_port = free_port(), free_port()
        listen, admin = f"127.0.0.1:{port}", f"127.0.0.1:{admin_port}"
        server = start(listen=listen, admin=admin, wait=False)
        seen: set[int] = set()
        while probe(admin_port, "/readyz")[0] != 200:
            seen.add(probe(admin_port, "/readyz")[0])
            assert server.is_alive(), server.logs()
            assert time.monotonic() - server.begun < 10
        ready_after.append(time.monotonic() - server.begun)
        with Peer(port) as peer:
            answer = peer.ask(1, call(1, questions.ASSIGN_SLOT, questions.one_slot()))
            health = peer.ask(3, call(3, questions.HEALTH, b""))
            assert (answer.status, health.data) == ("0", prefixed(b"\x08\x01"))
        server.terminate()
        assert server.ended(10)[0] == 0
        assert seen <= {0, 200, 503}
        server.discard()
    typical = sorted(ready_after)[STARTS // 2] * 1e3
    figures(f"ready after {typical:.0f} ms (median of {STARTS}), {max(ready_after) * 1e3:.0f} most")
