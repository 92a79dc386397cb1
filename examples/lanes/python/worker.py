"""Runs jobs in an express and a slow lane: when a worker is free, it asks which job to run.

The jobs are those of tests/vectors/express_lane_timeline.json, a hundred times faster. Prints
which job runs in which lane from when on, and fails if that differs from the file.
"""

import json
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import offbeat
from offbeat import AttemptDeadline, AttemptTimedOut, Lane, LaneSet, PendingJob

LANES = LaneSet([Lane("express", 1, timedelta(seconds=0.6)), Lane("slow", 1, timedelta(seconds=9))])
RUN_TIMES = {"fast1": 0.1, "slow1": 6, "slow2": 6, "fast2": 0.1}  # not known in advance


def work(job, route):
    """Sleep for as long as the job takes, and check the deadline between steps."""
    deadline = AttemptDeadline(route)
    end = time.monotonic() + RUN_TIMES[job.id]
    while (left := end - time.monotonic()) > 0:
        deadline.check()
        time.sleep(min(left, 0.01))


def run(client, pending):
    """Run all jobs, and yield which job runs in which lane whenever that changes."""
    running = {}  # job and lane, by the future of the attempt
    with ThreadPoolExecutor(sum(lane.worker_count for lane in LANES.lanes)) as workers:
        while True:
            busy = [route.lane_name for _, route in running.values()]
            free = {lane.name: lane.worker_count - busy.count(lane.name) for lane in LANES.lanes}
            dispatched = client.dispatch_jobs(LANES, free, pending)
            for failed in dispatched.failures:
                print(f"{failed.job_id} has failed for good: {failed.failure.message}")
            for dispatch in dispatched.dispatches:
                job = pending[dispatch.job_index]
                running[workers.submit(work, job, dispatch.route)] = job, dispatch.route
            settled = {answer.job_index for answer in dispatched.dispatches + dispatched.failures}
            pending = [job for index, job in enumerate(pending) if index not in settled]

            yield {route.lane_name: job.id for job, route in running.values()}
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job, route = running.pop(future)
                try:
                    future.result()
                except AttemptTimedOut:
                    timed_out = [*job.timed_out_lane_names, route.lane_name]
                    pending.append(replace(job, timed_out_lane_names=timed_out))


def main():
    vectors = Path(__file__).parents[3] / "tests" / "vectors" / "express_lane_timeline.json"
    expected = json.loads(vectors.read_text())["timeline"]
    happened, start = [], time.monotonic()
    with offbeat.Client() as client:
        for lanes in run(client, [PendingJob(name) for name in RUN_TIMES]):
            now, names = time.monotonic() - start, [lanes.get(lane.name) for lane in LANES.lanes]
            happened.append((now, *names))
            print(f"{now:6.2f} s  express: {names[0] or '-':6} slow: {names[1] or '-'}", flush=True)
    same = len(happened) == len(expected) and all(
        (express, slow) == (state["express"], state["slow"]) and abs(now - state["at"] / 100) < 1
        for (now, express, slow), state in zip(happened, expected)
    )
    return 0 if same else "not the timeline of the vectors"


if __name__ == "__main__":
    sys.exit(main())
