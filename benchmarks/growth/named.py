"""Time per job as the numbers of named spreads and of consumers grow: named.py ADDRESS.

Each line is the name of a curve, a size, and the nanoseconds to pull and settle a job.
"""

from __future__ import annotations

import hashlib
import sys
import time

import grpc
from offbeat.v1 import named_spread_pb2 as pb
from offbeat.v1.named_spread_pb2_grpc import NamedSpreadServiceStub
from offbeat.v1.spread_pb2 import SpreadOrder

JOBS = 64
ROUNDS = 5

stub = NamedSpreadServiceStub(grpc.insecure_channel(sys.argv[1]))
payloads = [b"%d" % number for number in range(JOBS)]
digest = hashlib.sha256(b"".join(len(one).to_bytes(8, "big") + one for one in payloads)).digest()
commit = pb.GroupCommit(job_count=JOBS, sha256=digest)


def open_spread(name: str) -> None:
    spec = pb.NamedSpreadSpec(order=SpreadOrder(feeder_count=8))
    stub.OpenSpread(pb.OpenSpreadRequest(spread_name=name, spec=spec))


def submit(name: str, group: str) -> None:
    jobs = [pb.SubmittedJob(payload=payload) for payload in payloads]
    part = pb.GroupPart(group_id=group, jobs=jobs, commit=commit)
    stub.SubmitGroups(pb.SubmitGroupsRequest(spread_name=name, groups=[part]))


def pull(name: str, consumer: str, most: int = JOBS) -> pb.LeasedJobs:
    request = pb.PullJobsRequest(spread_name=name, consumer_id=consumer, max_pulled_job_count=most)
    return stub.PullJobs(request).leased


def settle(name: str, leased: pb.LeasedJobs) -> int:
    settlements = [
        pb.JobSettlement(sequence=job.sequence, attempt=job.attempt, action=pb.SETTLE_ACTION_ACK)
        for job in leased.jobs
    ]
    request = pb.SettleJobsRequest(spread_name=name, epoch=leased.epoch, settlements=settlements)
    stub.SettleJobs(request)
    return len(settlements)


def spreads() -> None:
    """All spreads stay open and full, except for the jobs that are pulled and settled."""
    made = 0
    for count in (16, 32, 64, 128, 256, 512):
        for number in range(made, count):
            open_spread(f"s{number}")
            for group in range(ROUNDS + 2):
                submit(f"s{number}", f"g{group}-{count}")
        made = count
        done, times = 0, []
        for number in range(0, count, max(1, count // 64)):
            begun = time.perf_counter()
            done = settle(f"s{number}", pull(f"s{number}", "one"))
            times.append((time.perf_counter() - begun) / done)
            submit(f"s{number}", f"again-{count}")
        print(f"spreads\t{count}\t{sorted(times)[len(times) // 2] * 1e9:.0f}", flush=True)


def consumers() -> None:
    """Every consumer holds a job; each in turn pulls and settles some more."""
    open_spread("consumers")
    for group in range(160):
        submit("consumers", f"g{group}")
    holding = 0
    for count in (16, 32, 64, 128, 256, 512):
        for number in range(holding, count):
            pull("consumers", f"c{number}", 1)
        holding = count
        times = []
        for number in range(16):
            begun = time.perf_counter()
            done = settle("consumers", pull("consumers", f"c{number * count // 16}"))
            times.append((time.perf_counter() - begun) / done)
        print(f"consumers\t{count}\t{sorted(times)[len(times) // 2] * 1e9:.0f}", flush=True)


spreads()
consumers()
