"""Submits groups of jobs to a named spread, and waits until all are settled."""

import json
import sys
from datetime import timedelta

import offbeat

name, prefix, group_count, jobs_per_group = sys.argv[1:]
with offbeat.Client() as client:
    spread = client.named_spread(name, feeder_count=8, lease_duration=timedelta(seconds=5))
    producer = spread.producer()
    for number in range(int(group_count)):
        group = f"{prefix}-{number}"
        jobs = [json.dumps({"group": group, "job": job}) for job in range(int(jobs_per_group))]
        producer.submit(group, jobs)
    settled = producer.wait()
    print(f"{prefix}: {len(settled)} groups settled")
