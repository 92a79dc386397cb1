"""A week of slots in Ciw with one node, which keeps a record of each job."""

import math

import ciw
from workload import MU, SIGMA, WEEK, WORKERS, arrivals, timed


def simulate():
    times = arrivals()
    gaps = [after - before for before, after in zip([0, *times], times)]
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Sequential([*gaps, math.inf])],
        service_distributions=[ciw.dists.Lognormal(MU, SIGMA)],
        number_of_servers=[WORKERS],
    )
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_time(WEEK)
    return len(simulation.get_all_records())


if __name__ == "__main__":
    timed(f"Ciw {ciw.__version__}, slots", simulate)
