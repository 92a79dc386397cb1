"""Submits groups over some seconds, waits until all are settled, and reports each event."""

import json
import sys
import time
from datetime import timedelta

import offbeat


def say(event, **what):
    print(json.dumps({"event": event, **what}), flush=True)


def main():
    address, name, prefix, group_count, jobs_per_group, seconds = sys.argv[1:]
    spread = offbeat.Client(address).named_spread(
        name, 4, lease_duration=timedelta(seconds=1), max_attempt_count=1_000
    )
    producer = spread.producer(patience=120)

    def settled(timeout):
        try:
            for group, status in producer.wait(timeout=timeout).items():
                say("settled", group=group, dead_letters=status.dead_letter_count)
        except offbeat.DeadlineExceeded:
            pass

    begun = time.monotonic()
    for number in range(int(group_count)):
        group = f"{prefix}-{number}"
        say("submitting", group=group, jobs=int(jobs_per_group))
        producer.submit(group, [f"{group}/{index}" for index in range(int(jobs_per_group))])
        say("received", group=group)
        next_time = begun + float(seconds) * (number + 1) / int(group_count)
        while (left := next_time - time.monotonic()) > 0:
            before = time.monotonic()
            settled(left)
            if time.monotonic() - before < 0.01:
                time.sleep(min(left, 0.05))  # nothing is unsettled
    while producer.unsettled:
        settled(5)
    say("end")


main()
