"""Measures the cost of a request to the server, and the delays of another caller."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import grpc
from support.bystander import Bystander, Seen
from support.server import Server
from support.waiting import within

#: The most CPU seconds of one request, even of one that is refused. The largest take 2 s on a
#: machine of their own, and half as long again on cores that other machines share.
MOST_CPU = 4.0
#: The most seconds of a concurrent call; nine in ten must also stay below.
MOST_BESIDE = 0.25
MOST_BESIDE_P90 = 0.05
#: Seconds after which a request is abandoned; two CPU seconds take less, even on a busy machine.
LONGEST = 45
#: Longer than that, so that the deadline does not end the call first.
DEADLINE = LONGEST + 30
#: CPU seconds after which the measurement stops waiting for the end.
HOPELESS = 12.0
#: The most measurements: a missed limit may be the machine's fault, and is measured again.
MEASURES = 3
OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
HEADING = (
    f"{'method':52} {'request':60} {'CPU s':>7} {'wall s':>7} "
    f"{'worst ms':>9} {'p90 ms':>7} {'calls':>6}  answer"
)
FIGURES: list[str] = []


@dataclass
class Case:
    """A request, or a burst of equal ones, whose messages are made when they are needed."""

    method: str
    request: str
    messages: Callable[[], list[bytes]]
    #: Whether the method streams requests, and whether it streams responses.
    streams: tuple[bool, bool] = (False, False)
    #: The number sent at once on one connection: milliseconds each add up on an event loop.
    burst: int = 1
    #: Prepares the state that the request needs.
    prepare: Callable[[Callable[[str, bytes], bytes]], None] | None = None
    #: CPU seconds that a method with a limit of its own may take.
    most_cpu: float = MOST_CPU

    @property
    def path(self) -> str:
        """The path; a method outside of v1 is named with its package, as in metrics."""
        package = "" if self.method.startswith("v1beta1.") else "v1."
        return f"/offbeat.{package}{self.method}"

    def __str__(self) -> str:
        return f"{self.method.split('/')[1]}, {self.request}"


@dataclass
class Figures:
    """The measured figures of a case."""

    answer: str
    ended: bool
    cpu: float
    wall: float
    seen: Seen = field(repr=False)

    def faults(self, case: Case) -> list[str]:
        """The figures that exceed a limit."""
        most, seen = case.most_cpu * case.burst, self.seen
        found = {
            f"it did not end in {self.wall:.1f} s, {self.cpu:.2f} s of CPU": not self.ended,
            f"it took {self.cpu:.2f} s of CPU, {most} are allowed": self.cpu > most,
            f"a call beside it took {seen.worst * 1e3:.0f} ms": seen.worst > MOST_BESIDE,
            f"the p90 beside it is {seen.p90 * 1e3:.0f} ms": seen.p90 > MOST_BESIDE_P90,
            f"calls beside it failed: {seen.failures[:2]}": bool(seen.failures),
        }
        return [fault for fault, is_there in found.items() if is_there]

    def line(self, case: Case) -> str:
        """A line of the table."""
        ended = "" if self.ended else ">"
        return (
            f"{case.method:52} {case.request:60} {ended + format(self.cpu, '.2f'):>7} "
            f"{self.wall:7.2f} {self.seen.worst * 1e3:9.1f} {self.seen.p90 * 1e3:7.1f} "
            f"{len(self.seen.seconds):6}  {self.answer}"
        )


class Beside:
    """A server, a connection for expensive requests, and a caller on another one."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.server = Server("--max-spread-bytes", str(2 << 30))
        self.channel = grpc.insecure_channel(self.server.address, OPTIONS)
        self.bystander = Bystander(self.server.port)
        assert within(10, lambda: bool(self.bystander.seen().seconds), 0.1)

    def stop(self) -> None:
        """Stops the caller and the server."""
        self.channel.close()
        self.bystander.stop()
        self.server.kill()

    def ask(self, path: str, message: bytes) -> bytes:
        """A call that must be answered."""
        return self.channel.unary_unary(path)(message, timeout=60)

    def measure(self, case: Case) -> list[str]:
        """Measures the case, again if a limit is exceeded; returns what exceeds a limit."""
        faults: list[str] = []
        for _ in range(MEASURES):
            if case.prepare:
                case.prepare(self.ask)
            messages = case.messages()
            figures = self._once(case, messages)
            faults = figures.faults(case)
            FIGURES.append(figures.line(case))
            if not figures.ended or figures.cpu > case.most_cpu * case.burst:
                self.stop()
                self._start()
                break
            if not faults:
                break
        return faults

    def _once(self, case: Case, messages: list[bytes]) -> Figures:
        time.sleep(0.05)
        self.bystander.seen()
        begun, before = time.monotonic(), self.server.cpu_seconds()
        calls = [self._begin(case, messages) for _ in range(case.burst)]
        cpu = lambda: self.server.cpu_seconds() - before  # noqa: E731
        done = lambda: all(call.done() for call in calls)  # noqa: E731
        most = max(HOPELESS, 2 * case.most_cpu)
        within(LONGEST, lambda: done() or cpu() > most)
        ended, wall = done(), time.monotonic() - begun
        # Work that continues after the answer counts too.
        ended = ended and within(LONGEST, lambda: self._is_idle() or cpu() > most)
        for call in calls:
            call.cancel()
        answer = max((_answer(call) for call in calls), key=len) if ended else "none"
        return Figures(answer, ended, cpu(), wall, self.bystander.seen())

    def _is_idle(self) -> bool:
        before = self.server.cpu_seconds()
        time.sleep(0.15)
        return self.server.cpu_seconds() - before < 0.05

    def _begin(self, case: Case, messages: list[bytes]) -> grpc.Future:
        many_in, many_out = case.streams
        kind = f"{'stream' if many_in else 'unary'}_{'stream' if many_out else 'unary'}"
        asked: bytes | Iterable[bytes] = iter(messages) if many_in else messages[0]
        call = getattr(self.channel, kind)(case.path)
        if not many_out:
            return call.future(asked, timeout=DEADLINE)
        return Drained(call(asked, timeout=DEADLINE))


class Drained:
    """A call whose messages are read as they arrive."""

    def __init__(self, call: grpc.Call) -> None:
        from threading import Thread

        self.call, self.size, self.count = call, 0, 0
        self.thread = Thread(target=self._drain, daemon=True)
        self.thread.start()

    def _drain(self) -> None:
        try:
            for message in self.call:
                self.size += len(message)
                self.count += 1
        except grpc.RpcError:
            pass

    def done(self) -> bool:
        """Whether it has ended."""
        return not self.thread.is_alive()

    def cancel(self) -> None:
        self.call.cancel()


def _answer(call: grpc.Future | Drained) -> str:
    if isinstance(call, Drained):
        code, details = call.call.code(), call.call.details()
        return f"{code.name}, {call.count} messages, {call.size:,} bytes {(details or '')[:80]}"
    code = call.code()
    if code is grpc.StatusCode.OK:
        return f"OK, {len(call.result()):,} bytes"
    return f"{code.name}: {(call.details() or '')[:160]}"
