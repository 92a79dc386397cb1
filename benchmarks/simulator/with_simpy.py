"""A week of slots in SimPy with a process for each job, which keeps its wait and sojourn time."""

import random

import simpy
from workload import MU, SIGMA, WEEK, WORKERS, arrivals, timed


def simulate():
    env = simpy.Environment()
    workers = simpy.Resource(env, WORKERS)
    waits, sojourns = [], []

    def job(enqueued):
        with workers.request() as turn:
            yield turn
            waits.append(env.now - enqueued)
            yield env.timeout(random.lognormvariate(MU, SIGMA))
        sojourns.append(env.now - enqueued)

    def enqueue():
        for at in arrivals():
            yield env.timeout(at - env.now)
            env.process(job(env.now))

    env.process(enqueue())
    env.run(until=WEEK)
    return len(sojourns)


if __name__ == "__main__":
    timed(f"SimPy {simpy.__version__}, slots", simulate)
