"""All memory of spreads is counted and limited."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from threading import Event, Thread

import grpc
import pytest
from offbeat.v1 import named_spread_pb2 as named
from offbeat.v1 import spread_pb2 as spread
from support.server import MIB, Server

MOST = 65_536
CALL = 4_096
#: Additional memory of allocators and tables.
SLACK = 8 * MIB
EMPTY_JOB = hashlib.sha256(bytes(8)).digest()
COMMIT = {"job_count": 1, "sha256": EMPTY_JOB}


class Spreads:
    """Calls of NamedSpreadService."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.channel = grpc.insecure_channel(server.address)
        self.idle = server.memory()

    def call(self, method: str, request: object, answer: type = named.OpenSpreadResponse) -> object:
        path = f"/offbeat.v1.NamedSpreadService/{method}"
        serialize, parse = type(request).SerializeToString, answer.FromString
        return self.channel.unary_unary(path, serialize, parse)(request, timeout=30)

    def open(self, name: str) -> None:
        """A spread with the largest limits."""
        limits = named.SpreadLimits(
            max_group_count=1_000_000,
            max_job_count=10**8,
            max_byte_count=1 << 40,
            max_consumer_lease_count=MOST,
        )
        spec = named.NamedSpreadSpec(order={"feeder_count": 1}, limits=limits)
        self.call("OpenSpread", named.OpenSpreadRequest(spread_name=name, spec=spec))

    def submit(self, name: str, ids: Iterable[str], **commit: object) -> None:
        """Submits groups of one empty job."""
        ended = named.GroupCommit(**COMMIT, **commit)
        groups = [
            named.GroupPart(group_id=id_, jobs=[named.SubmittedJob()], commit=ended) for id_ in ids
        ]
        for at in range(0, len(groups), CALL):
            request = named.SubmitGroupsRequest(spread_name=name, groups=groups[at : at + CALL])
            self.call("SubmitGroups", request, named.SubmitGroupsResponse)

    def settled(self, name: str) -> None:
        """As many settled groups as the server remembers, with the longest IDs."""
        ids = (f"{name}{at:0250}"[:256] for at in range(MOST))
        receipt = named.Receipt(lease_duration={"seconds": 1})
        settled = [named.IndexRange(start_index=0, end_index=1)]
        self.submit(name, ids, settled_ranges=settled, first_receipt=receipt)

    def lease(self, name: str, count: int, consumers: int) -> None:
        """Leases jobs to consumers with long names."""
        for at in range(count // CALL):
            consumer = f"{at % consumers:0128}"
            request = named.PullJobsRequest(
                spread_name=name, consumer_id=consumer, max_pulled_job_count=CALL
            )
            self.call("PullJobs", request, named.PullJobsResponse)

    def grown(self) -> int:
        """Growth over idle memory, in bytes."""
        return self.server.memory() - self.idle

    def counted(self) -> float:
        """The bytes that the metric reports."""
        return self.server.metric("offbeat_spread_bytes")

    def are_counted(self) -> None:
        """Checks that the metric is right within a factor of two."""
        grown, counted = self.grown(), self.counted()
        told = f"{grown / MIB:.1f} MiB more memory, {counted / MIB:.1f} MiB counted"
        assert grown <= 2 * counted + SLACK, told
        assert counted <= 2 * grown + SLACK, told


@pytest.fixture
def spreads(serve: Callable[..., Server]) -> Iterator[Callable[..., Spreads]]:
    """Starts servers for spreads."""
    started: list[Spreads] = []

    def start(*flags: str) -> Spreads:
        started.append(Spreads(serve(*flags)))
        return started[-1]

    yield start
    for one in started:
        one.channel.close()


def until_full(work: Callable[[], None]) -> None:
    """Works until a limit is reached, which must be reported as a limit."""
    try:
        work()
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
            raise


def test_settled_groups_are_counted(spreads: Callable[..., Spreads]) -> None:
    spreads = spreads()
    for name in "ab":
        spreads.open(name)
        spreads.settled(name)
    spreads.are_counted()


def test_settled_groups_are_limited(spreads: Callable[..., Spreads]) -> None:
    spreads = spreads("--max-spread-bytes", str(16 * MIB))
    for name in "abcd":
        spreads.open(name)
        until_full(lambda name=name: spreads.settled(name))
    assert spreads.grown() <= 64 * MIB, f"{spreads.grown() / MIB:.0f} MiB"
    assert spreads.counted() <= 16 * MIB
    # Settled groups may be forgotten to make room for unsettled work.
    spreads.open("work")
    spreads.submit("work", map(str, range(CALL)))


def test_small_groups_are_counted(spreads: Callable[..., Spreads]) -> None:
    spreads = spreads()
    spreads.open("a")
    spreads.submit("a", map(str, range(200_000)))
    spreads.are_counted()


def test_small_groups_are_limited(spreads: Callable[..., Spreads]) -> None:
    spreads = spreads("--max-spread-bytes", str(16 * MIB))
    spreads.open("a")
    until_full(lambda: spreads.submit("a", map(str, range(200_000))))
    assert spreads.grown() <= 48 * MIB, f"{spreads.grown() / MIB:.0f} MiB"


def test_partial_groups_are_counted(spreads: Callable[..., Spreads]) -> None:
    """Groups without a commit are counted."""
    spreads = spreads()
    spreads.open("a")
    groups = [
        named.GroupPart(group_id=str(at), jobs=[named.SubmittedJob()]) for at in range(200_000)
    ]
    for at in range(0, len(groups), CALL):
        request = named.SubmitGroupsRequest(spread_name="a", groups=groups[at : at + CALL])
        spreads.call("SubmitGroups", request, named.SubmitGroupsResponse)
    spreads.are_counted()


def test_leases_are_counted(spreads: Callable[..., Spreads]) -> None:
    spreads = spreads()
    spreads.open("a")
    jobs = [named.SubmittedJob()] * MOST
    digest = hashlib.sha256(bytes(8) * MOST).digest()
    commit = named.GroupCommit(job_count=MOST, sha256=digest)
    groups = [named.GroupPart(group_id=str(at), jobs=jobs, commit=commit) for at in range(4)]
    request = named.SubmitGroupsRequest(spread_name="a", groups=groups)
    spreads.call("SubmitGroups", request, named.SubmitGroupsResponse)
    spreads.lease("a", 4 * MOST, 64)
    spreads.are_counted()


def test_streams_of_spreads_are_bounded(serve: Callable[..., Server]) -> None:
    """Groups that a stream has sent and that have not been dealt yet are limited."""
    server = serve()
    spec = spread.SpreadSpec(order={"feeder_count": MOST}, job_window=MOST, group_window=MOST)
    sizes = spread.SpreadInput(whole_group_sizes=[1_000] * 131_000)
    messages = [spread.SpreadRequest(spec=spec), spread.SpreadRequest(input=sizes)]
    messages = [message.SerializeToString() for message in messages]
    end = Event()

    def asked() -> Iterator[bytes]:
        yield from messages
        end.wait(30)

    def stream(asked: Iterable[bytes]) -> grpc.StatusCode:
        call = channel.stream_stream("/offbeat.v1.SpreadService/Spread")(iter(asked))
        with contextlib.suppress(grpc.RpcError):
            for _ in call:
                pass
        return call.code()

    channel = grpc.insecure_channel(server.address)
    assert stream(messages[:1]) is grpc.StatusCode.INVALID_ARGUMENT
    idle, codes = server.memory(), []
    threads = [Thread(target=lambda: codes.append(stream(asked()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    grown, refused = server.memory() - idle, set(codes)
    end.set()
    channel.close()
    for thread in threads:
        thread.join()
    assert refused <= {grpc.StatusCode.RESOURCE_EXHAUSTED}, refused
    assert grown <= 64 * MIB, f"{grown / MIB:.0f} MiB"
