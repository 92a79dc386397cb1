"""Takes the jobs of a named spread until it is closed, and acks each when it is done."""

import json
import sys
from datetime import timedelta

import offbeat

spread_name, name = sys.argv[1:]
with offbeat.Client() as client:
    spread = client.named_spread(spread_name, feeder_count=8, lease=timedelta(seconds=5))
    with spread.consumer(name) as consumer:
        for job in consumer:
            work = json.loads(job.job)
            print(name, work["group"], work["job"], flush=True)
            job.ack()
