"""Takes jobs of a named spread until it is closed, and acks each job when it is done."""

import json
import sys
from datetime import timedelta

import offbeat

spread_name, consumer_id = sys.argv[1:]
with offbeat.Client() as client:
    spread = client.named_spread(spread_name, feeder_count=8, lease_duration=timedelta(seconds=5))
    with spread.consumer(consumer_id) as consumer:
        for job in consumer:
            work = json.loads(job.payload)
            print(consumer_id, work["group"], work["job"], flush=True)
            job.ack()
