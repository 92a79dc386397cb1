"""The most expensive requests of SpreadService and NamedSpreadService."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import time
from collections.abc import Callable

import grpc
from measure import Case
from offbeat.v1 import named_spread_pb2 as named
from offbeat.v1 import spread_pb2 as spread
from schedules import seconds

MOST = 65_536
COOLDOWN = spread.SPREAD_POLICY_COOLDOWN
NUMBERS = itertools.count()
Ask = Callable[[str, bytes], bytes]
SERVICE = "NamedSpreadService"


def stream(spec: spread.SpreadSpec, sizes: list[int]) -> list[bytes]:
    """A spread whose groups are all sent at once, and its end."""
    given = spread.SpreadInput(no_more_groups=True, whole_group_sizes=sizes)
    messages = [spread.SpreadRequest(spec=spec), spread.SpreadRequest(input=given)]
    return [message.SerializeToString() for message in messages]


def dealt(
    request: str, sizes: Callable[[], list[int]], on_shortage: int = 0, **order: object
) -> Case:
    """Spread."""
    spec = spread.SpreadSpec(
        order=spread.SpreadOrder(feeder_count=MOST, **order),
        on_shortage=on_shortage,
        job_window=MOST,
        group_window=MOST,
    )
    make = lambda: stream(spec, sizes())  # noqa: E731
    return Case("SpreadService/Spread", request, make, streams=(True, True))


class Spread:
    """A named spread that is opened and filled before the measured request."""

    def __init__(self, fill: Callable[[Spread], None], **spec: object) -> None:
        self.fill, self.spec = fill, {"order": {"feeder_count": 1}, **spec}
        self.name, self.epoch = "", 0

    def __call__(self, ask: Ask) -> None:
        if self.name:
            self.close()
        self.ask, self.name = ask, f"spread-{next(NUMBERS)}"
        spec = named.NamedSpreadSpec(**self.spec)
        opened = named.OpenSpreadRequest(spread_name=self.name, spec=spec)
        answer = ask(f"/offbeat.v1.{SERVICE}/OpenSpread", opened.SerializeToString())
        self.epoch = named.OpenSpreadResponse.FromString(answer).description.epoch
        self.fill(self)

    def close(self) -> None:
        """Drops the spread, unless its server is gone."""
        with contextlib.suppress(grpc.RpcError, ValueError):
            self.call("CloseSpread", named.CloseSpreadRequest(mode=named.CLOSE_MODE_DISCARD))

    def call(self, method: str, request: object) -> bytes:
        """Makes a call about this spread."""
        request.spread_name = self.name
        return self.ask(f"/offbeat.v1.{SERVICE}/{method}", request.SerializeToString())

    def groups(self, count: int, size: int, job: bytes = b"", name: str = "g") -> None:
        """Submits groups, in as few calls as possible."""
        each = max(1, min(4_096, 390_000 // size, (3 << 20) // (size * (len(job) + 2) + 300)))
        for start in range(0, count, each):
            names = [f"{name}{at}" for at in range(start, min(start + each, count))]
            self.call("SubmitGroups", submitted(names, size, job))

    def leases(self, count: int, consumers: int, name: str = "c") -> list[named.LeasedJob]:
        """Leases jobs to several consumers; returns the jobs of the last call."""
        left, jobs = count, []
        for at in itertools.count():
            pulled = pull(f"{name}{at % consumers}")
            answer = named.PullJobsResponse.FromString(self.call("PullJobs", pulled))
            jobs = list(answer.leased.jobs)
            left -= len(jobs)
            if left <= 0 or not jobs:
                return jobs

    def settle(self, jobs: list[named.LeasedJob], action: int) -> None:
        """Settles jobs."""
        settlements = settlements_of(jobs, action)
        self.call("SettleJobs", named.SettleJobsRequest(epoch=self.epoch, settlements=settlements))


def pull(consumer: str) -> named.PullJobsRequest:
    """Pulls as many jobs as one call can lease."""
    return named.PullJobsRequest(consumer_id=consumer, max_pulled_job_count=4_096)


def settlements_of(jobs: list[named.LeasedJob], action: int) -> list[named.JobSettlement]:
    """Settlements with the same action for all jobs."""
    return [
        named.JobSettlement(sequence=job.sequence, attempt=job.attempt, action=action)
        for job in jobs
    ]


def submitted(names: list[str], size: int, job: bytes = b"", **commit: object) -> object:
    """Complete groups of equal jobs."""
    digest = hashlib.sha256((len(job).to_bytes(8, "big") + job) * size).digest()
    ended = named.GroupCommit(job_count=size, sha256=digest, **commit)
    jobs = [named.SubmittedJob(payload=job)] * size
    parts = [named.GroupPart(group_id=name, jobs=jobs, commit=ended) for name in names]
    return named.SubmitGroupsRequest(groups=parts)


def case(
    method: str,
    request: str,
    spread: Spread,
    message: Callable[[Spread], object],
    **more: object,
) -> Case:
    """A request about an existing spread."""

    def make() -> list[bytes]:
        asked = message(spread)
        if hasattr(asked, "spread_name"):
            asked.spread_name = spread.name
        return [asked.SerializeToString()]

    return Case(f"{SERVICE}/{method}", request, make, prepare=spread, **more)


def nothing(_: Spread) -> None:
    """Leaves the spread empty."""


def long_names(spread: Spread) -> list[str]:
    """As many and as long IDs as a call may have."""
    return [f"{at:0256}" for at in range(4_096)]


def many_jobs(spread: Spread) -> None:
    """Eight million jobs in few groups."""
    spread.groups(20, 390_000)


def many_groups(spread: Spread) -> None:
    """As many small groups as can be submitted in some seconds."""
    spread.groups(400_000, 1)


def leased(spread: Spread) -> list[named.LeasedJob]:
    """As many leases as a call can settle."""
    spread.groups(1, 4_096)
    spread.jobs = spread.leases(4_096, 1)
    return spread.jobs


def ended_leases(spread: Spread) -> None:
    """A quarter of a million leases that end at once."""
    spread.groups(4, 65_536)
    spread.leases(262_144, 4)
    time.sleep(1.1)


def dead_letters(spread: Spread) -> None:
    """Thousands of dead letters."""
    spread.groups(16, 4_096)
    for _ in range(16):
        spread.settle(spread.leases(4_096, 1), named.SETTLE_ACTION_DEAD_LETTER)


def in_pieces(spread: Spread) -> None:
    """4,096 groups of which every second job is settled, so that their state has many ranges."""
    spread.groups(128, 2_048)
    for at in range(64):
        spread.settle(spread.leases(4_096, 1, f"c{at}-")[::2], named.SETTLE_ACTION_ACK)


def thousand_spreads(spread: Spread) -> None:
    """Nearly as many spreads as may be open; they stay for the other tests of the list."""
    for at in range(1_000):
        spec = {"order": {"feeder_count": MOST}}
        opened = named.OpenSpreadRequest(spread_name=f"list-{at}", spec=spec)
        spread.ask(f"/offbeat.v1.{SERVICE}/OpenSpread", opened.SerializeToString())


def wide(fill: Callable[[Spread], None], **spec: object) -> Spread:
    """A spread with the largest limits."""
    limits = {
        "max_group_count": 1_000_000,
        "max_job_count": 100_000_000,
        "max_byte_count": 1 << 28,
        "max_consumer_lease_count": MOST,
    }
    return Spread(fill, limits=limits, **spec)


def conversation(spread: Spread) -> list[bytes]:
    """The messages of StreamJobs: the largest credit, and settlements."""
    credit = named.JobCredit(job_count=MOST)
    start = named.StreamJobsStart(spread_name=spread.name, consumer_id="c", credit=credit)
    settlements = named.JobSettlements(
        epoch=spread.epoch,
        settlements=[
            named.JobSettlement(sequence=at, attempt=1, action=named.SETTLE_ACTION_ACK)
            for at in range(4_096)
        ],
    )
    later = named.StreamJobsRequest(settlements=settlements).SerializeToString()
    return [named.StreamJobsRequest(start=start).SerializeToString(), *[later] * 64]


def streamed() -> Case:
    """StreamJobs."""
    spread = wide(lambda spread: spread.groups(4, MOST))
    return Case(
        f"{SERVICE}/StreamJobs",
        "65,536 jobs, 64 messages of 4,096 settlements",
        lambda: conversation(spread),
        streams=(True, True),
        prepare=spread,
    )


RANGES = [named.IndexRange(start_index=2 * at, end_index=2 * at + 1) for at in range(1_024)]
LONGEST = seconds(600)
CASES = [
    dealt("131,072 groups of 32 jobs, 65,536 feeders", lambda: [32] * 2 * MOST),
    dealt(
        "131,072 groups, COOLDOWN",
        lambda: [at % 64 for at in range(2 * MOST)],
        policy=COOLDOWN,
        max_open_group_count=MOST,
    ),
    dealt("131,072 empty groups", lambda: [0] * 2 * MOST),
    # Includes the time to read 500 MB: turns are made as they are read.
    dealt(
        "a group of 1,000 jobs, 6.5e7 idle turns",
        lambda: [1_000],
        policy=COOLDOWN,
        on_shortage=spread.SHORTAGE_POLICY_WAIT,
    ),
    case(
        "OpenSpread",
        "65,536 feeders, x 32",
        Spread(nothing),
        lambda spread: named.OpenSpreadRequest(spec={"order": {"feeder_count": 1}}),
        burst=32,
    ),
    case(
        "UpdateSpread",
        "400,000 groups, limits below them, x 32",
        wide(many_groups),
        lambda _: named.UpdateSpreadRequest(limits={"max_group_count": 1, "max_byte_count": 1}),
        burst=32,
    ),
    case("SubmitGroups", "390,000 empty jobs", wide(nothing), lambda _: submitted(["g"], 390_000)),
    case(
        "SubmitGroups",
        "4,096 groups of 90 jobs",
        wide(nothing),
        lambda _: submitted([f"g{at}" for at in range(4_096)], 90),
    ),
    case(
        "SubmitGroups",
        "a job of 256 KiB, 15 times",
        wide(nothing),
        lambda _: submitted([f"g{at}" for at in range(15)], 1, b"j" * (1 << 18)),
    ),
    case(
        "SubmitGroups",
        "180 groups of 2,100 jobs, 1,024 ranges settled",
        wide(nothing),
        lambda _: submitted(
            [f"g{at}" for at in range(180)],
            2_100,
            settled_ranges=RANGES,
            first_receipt={"lease_duration": LONGEST},
        ),
    ),
    case(
        "WaitForGroups",
        "4,096 unknown groups, IDs of 256 bytes",
        Spread(nothing),
        lambda spread: named.WaitForGroupsRequest(group_ids=long_names(spread)),
    ),
    case(
        "WaitForGroups",
        "128 groups of 1,024 ranges",
        wide(in_pieces),
        lambda _: named.WaitForGroupsRequest(group_ids=[f"g{at}" for at in range(128)]),
    ),
    case(
        "PullJobs",
        "4,096 of 8e6 jobs in 20 groups",
        wide(many_jobs),
        lambda _: pull("c"),
    ),
    case(
        "PullJobs",
        "4,096 of 400,000 groups, COOLDOWN",
        wide(
            many_groups,
            order={"policy": COOLDOWN, "feeder_count": 1, "max_open_group_count": MOST},
        ),
        lambda _: pull("c"),
    ),
    case(
        "PullJobs",
        "after 262,144 leases ended",
        wide(ended_leases, lease_duration=seconds(1)),
        lambda _: pull("d"),
    ),
    case(
        "SettleJobs",
        "4,096 acks",
        wide(leased),
        lambda spread: named.SettleJobsRequest(
            epoch=spread.epoch, settlements=settlements_of(spread.jobs, named.SETTLE_ACTION_ACK)
        ),
    ),
    case(
        "SettleJobs",
        "4,096 stale settlements, x 8",
        wide(leased),
        lambda spread: named.SettleJobsRequest(
            epoch=1, settlements=settlements_of(spread.jobs, named.SETTLE_ACTION_NACK)
        ),
        burst=8,
    ),
    streamed(),
    case(
        "DescribeSpread",
        "400,000 groups, x 32",
        wide(many_groups),
        lambda _: named.DescribeSpreadRequest(),
        burst=32,
    ),
    case(
        "DescribeSpread",
        "the next 1,000 jobs of 400,000 groups, x 8",
        wide(many_groups),
        lambda _: named.DescribeSpreadRequest(max_next_job_count=1_000),
        burst=8,
    ),
    case(
        "ListSpreads",
        "1,000 spreads, x 8",
        Spread(thousand_spreads),
        lambda _: named.ListSpreadsRequest(page_size=1_000),
        burst=8,
    ),
    case(
        "ListDeadLetters",
        "1,000 of 65,536",
        wide(dead_letters),
        lambda _: named.ListDeadLettersRequest(page_size=1_000),
        burst=8,
    ),
    case(
        "RedriveDeadLetters",
        "4,096 of 65,536",
        wide(dead_letters),
        lambda spread: named.RedriveDeadLettersRequest(
            epoch=spread.epoch, numbers=range(65_535, 61_439, -1)
        ),
    ),
    case(
        "DeleteDeadLetters",
        "4,096 of 65,536",
        wide(dead_letters),
        lambda spread: named.DeleteDeadLettersRequest(
            epoch=spread.epoch, numbers=range(65_535, 61_439, -1)
        ),
    ),
    case(
        "CloseSpread",
        "discards 8e6 jobs",
        wide(many_jobs),
        lambda _: named.CloseSpreadRequest(mode=named.CLOSE_MODE_DISCARD),
    ),
    case(
        "CloseSpread",
        "discards 400,000 groups",
        wide(many_groups),
        lambda _: named.CloseSpreadRequest(mode=named.CLOSE_MODE_DISCARD),
    ),
]
