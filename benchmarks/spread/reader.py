"""Jobs per second that reach Python: as columns of one stream, and as turns of the client."""

import sys
import time
from queue import SimpleQueue

import grpc
import offbeat
from offbeat.v1 import spread_pb2 as pb
from offbeat.v1.spread_pb2_grpc import SpreadServiceStub

FEEDERS, WINDOW = 64, 65_536


def columns(address, group, jobs):
    """Send only the sizes of groups, and add up the columns that arrive."""
    outgoing = SimpleQueue()
    order = pb.SpreadOrder(feeder_count=FEEDERS)
    spec = pb.SpreadSpec(order=order, job_window=WINDOW, group_window=WINDOW // 16)
    outgoing.put(pb.SpreadRequest(spec=spec))
    options = [("grpc.max_receive_message_length", -1)]
    stub = SpreadServiceStub(grpc.insecure_channel(address, options=options))
    made, total, count = 0, 0, jobs // group
    for response in stub.Spread(iter(outgoing.get, None)):
        if response.HasField("turns"):
            total += len(response.turns.group_indexes)
            sum(response.turns.group_indexes)
        elif response.HasField("demand"):
            more = min(response.demand.group_count, count - made)
            made += more
            answer = pb.SpreadInput(whole_group_sizes=[group] * more, no_more_groups=made == count)
            outgoing.put(pb.SpreadRequest(input=answer))
    assert total == jobs
    outgoing.put(None)


def turns(address, group, jobs):
    """Iterate over the turns of the client, with their jobs."""
    client = offbeat.Client(address)
    groups = (range(start, start + group) for start in range(0, jobs, group))
    spread = client.spread(groups, FEEDERS, job_window=WINDOW, group_window=WINDOW // 16)
    assert sum(1 for _ in spread) == jobs


for what, jobs in ((columns, 20_000_000), (turns, 2_000_000)):
    for group in (20, 1_000):
        best = 0.0
        for _ in range(2):
            begun = time.perf_counter()
            what(sys.argv[1], group, jobs)
            best = max(best, jobs / (time.perf_counter() - begun))
        print(f"Python, {what.__name__} of one stream, groups of {group}\t{best:.0f}", flush=True)
