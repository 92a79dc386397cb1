"""Takes and acks jobs until the spread is closed, and reports each event as a line of JSON."""

import json
import random
import sys
import time
from datetime import timedelta

import offbeat


def now():
    return time.time() * 1_000


def main():
    address, spread_name, name, mode = sys.argv[1:]
    spread = offbeat.Client(address).named_spread(
        spread_name, 4, lease_duration=timedelta(seconds=1), max_attempt_count=1_000
    )

    def say(event, leased, **what):
        job = {"group": leased.group_id, "job_index": leased.job_index, "epoch": str(leased.epoch)}
        job |= {"sequence": leased.sequence, "attempt": leased.attempt}
        said = {"event": event, "consumer": name, **job, "time": now(), **what}
        print(json.dumps(said), flush=True)

    def flush():
        for job, outcome in consumer.flush():
            say("outcome", job, outcome=outcome.name)

    if mode == "stream":
        consumer = spread.stream(name, window=8, patience=120)
    else:
        consumer = spread.consumer(name, batch_size=8, wait=1, patience=120)
    for job in consumer:
        until = now() + job.lease_ends_in * 1_000
        say("begin", job, payload=job.payload.decode(), until=until)
        # A few jobs take most of their lease.
        time.sleep(random.random() * (0.9 if random.randrange(60) == 0 else 0.003))
        if not job.expired:
            say("ack", job)  # before the ack, after which it may be killed at any time
            job.ack()
        flush()
    flush()


main()
