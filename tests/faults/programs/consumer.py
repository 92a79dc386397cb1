"""Takes jobs until the spread is closed, acks each, and says so, event by event."""

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
        spread_name, 4, lease=timedelta(seconds=1), max_attempts=1_000
    )

    def say(event, leased, **what):
        who = {"event": event, "consumer": name, "group": leased.group_id, "index": leased.index}
        print(json.dumps({**who, "epoch": str(leased.epoch), "time": now(), **what}), flush=True)

    def flush():
        for job, settlement in consumer.flush():
            say("verdict", job, settlement=settlement.name)

    if mode == "stream":
        consumer = spread.stream(name, window=8, patience=120)
    else:
        consumer = spread.consumer(name, batch_size=8, wait=1, patience=120)
    for job in consumer:
        until = now() + job.lease_ends_in * 1_000
        lease = {"sequence": job.sequence, "attempt": job.attempt, "until": until}
        say("begin", job, job=job.job.decode(), **lease)
        time.sleep(random.random() * 0.003)
        if not job.expired:
            job.ack()
            say("ack", job)
        flush()
    flush()


main()
