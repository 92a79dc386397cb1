"""The most expensive requests of the services that are not about slots or spreads."""

from __future__ import annotations

from math import exp
from statistics import NormalDist

from measure import Case
from offbeat.v1 import lanes_pb2, server_info_pb2, stages_pb2
from offbeat.v1beta1 import lane_planning_pb2, lateness_pb2, simulation_pb2
from schedules import seconds

#: A billion workers, and the numbers of stages.
WORKERS, FEW, MANY = 1_000_000_000, 256, 100_000
LONGEST_RUN = 366 * 86_400 * 1_000_000


def case(method: str, request: str, message: object, **more: object) -> Case:
    """A request whose message is made when it is needed."""
    return Case(method, request, lambda: [message().SerializeToString()], **more)


def stages(count: int, **every: object) -> list[stages_pb2.Stage]:
    """Stages with work and different names."""
    return [
        stages_pb2.Stage(name=f"s{at}", backlog_count=at % 1_000 + 1, **every)
        for at in range(count)
    ]


def unlike(count: int) -> list[stages_pb2.Stage]:
    """All workers are in the one stage that needs none."""
    first = stages_pb2.Stage(name="first", current_worker_count=WORKERS)
    return [first, *stages(count - 1, mean_run_time=seconds(1))]


def allocate(
    made: list[stages_pb2.Stage], workers: int, **more: object
) -> stages_pb2.AllocateWorkersRequest:
    """An AllocateWorkers request."""
    return stages_pb2.AllocateWorkersRequest(stages=made, worker_count=workers, **more)


def choose_stage(made: list[stages_pb2.Stage], **more: object) -> stages_pb2.ChooseStageRequest:
    """A ChooseStage request."""
    return stages_pb2.ChooseStageRequest(stages=made, **more)


def lanes(count: int = 16, name: str = "l", workers: int = 1_000_000) -> lanes_pb2.LaneSet:
    """As many lanes as possible."""
    made = [
        lanes_pb2.Lane(name=f"{name}{at:02}", worker_count=workers, attempt_timeout=seconds(at + 1))
        for at in range(count)
    ]
    return lanes_pb2.LaneSet(lanes=made)


def dispatch(timed_out: int, name: str = "l") -> lanes_pb2.DispatchJobsRequest:
    """As many jobs and workers as possible."""
    lane_set = lanes(name=name)
    names = [lane.name for lane in lane_set.lanes]
    free = [lanes_pb2.FreeWorkers(lane_name=name, worker_count=1_000_000) for name in names]
    jobs = [
        lanes_pb2.PendingJob(
            id=f"j{at}",
            timed_out_lane_names=names[:timed_out],
            prediction=lanes_pb2.LanePrediction(slow_probability=at % 997 / 997),
        )
        for at in range(65_536)
    ]
    return lanes_pb2.DispatchJobsRequest(lane_set=lane_set, free_workers=free, jobs=jobs)


def split(**more: object) -> lanes_pb2.SplitWorkersRequest:
    """Moves as many workers as possible from one lane to the others."""
    lane_set = lanes(workers=1)
    states = [
        lanes_pb2.LaneState(
            lane_name=lane.name, backlog_count=1_000_000_000, mean_run_time=seconds(1)
        )
        for lane in lane_set.lanes
    ]
    return lanes_pb2.SplitWorkersRequest(
        lane_set=lane_set, worker_count=16_000_000, states=states, **more
    )


def split_again() -> lanes_pb2.SplitWorkersRequest:
    """As many moves as possible, to the lane that has all the work."""
    lane_set = lanes()
    state = lanes_pb2.LaneState(
        lane_name=lane_set.lanes[0].name, backlog_count=1_000_000_000, mean_run_time=seconds(1)
    )
    return lanes_pb2.SplitWorkersRequest(
        lane_set=lane_set, states=[state], max_move_count=100_000, min_improvement_percent=1
    )


def plan(workers: int, load: float) -> lane_planning_pb2.PlanLanesRequest:
    """As many samples as possible, with so heavy a tail that many lanes are tried."""
    normal = NormalDist()
    shares = ((at + 0.5) / 400_000 for at in range(400_000))
    micros = [max(1, round(1e6 * exp(2.2 * normal.inv_cdf(share)))) for share in shares]
    rate = load * workers / (sum(micros) / len(micros) / 1e6)
    return lane_planning_pb2.PlanLanesRequest(
        samples=lane_planning_pb2.RunTimeSamples(run_time_micros=micros),
        arrival_rate=rate,
        worker_count=workers,
    )


def plan_by_type(workers: int, load: float) -> lane_planning_pb2.PlanLanesRequest:
    """The same samples of as many types as possible, unsorted."""
    request = plan(workers, load)
    micros = list(request.samples.run_time_micros)
    types = [
        lane_planning_pb2.JobTypeSamples(name=f"t{at}", run_time_micros=micros[at::64])
        for at in range(64)
    ]
    request.samples_by_type.CopyFrom(lane_planning_pb2.RunTimeSamplesByType(types=types))
    return request


#: Users that share a lock, and retry it again and again.
CONFLICTS = """
name = "Conflicts"
duration = "10d"
workers = 1000
[users]
count = 100000
cycle = "1d"
[lock]
group_size = 100000
retry_after = "1ms"
[[kinds]]
name = "sync"
run_time = "30s"
[[strategies]]
kind = "at_once"
"""
#: As many jobs as a call may simulate.
JOBS = """
name = "Jobs"
duration = "2d"
workers = 10000
seeds = [1]
[users]
count = 20000
cycle = "1h"
[[kinds]]
name = "sync"
run_time = { p50 = "6s", p90 = "18s" }
[[strategies]]
kind = "slots"
[[strategies]]
kind = "random_smear"
[[strategies]]
kind = "least_recent"
"""


def simulate(scenario: str) -> simulation_pb2.SimulateRequest:
    return simulation_pb2.SimulateRequest(scenario=scenario)


LATENCY, D_HONDT = stages_pb2.STAGE_WEIGHTING_LATENCY, stages_pb2.ALLOCATION_RULE_D_HONDT
ALLOCATE, CHOOSE = "StageService/AllocateWorkers", "StageService/ChooseStage"
DISPATCH, SPLIT = "LaneService/DispatchJobs", "LaneService/SplitWorkers"
PLAN, SIMULATE = "v1beta1.LanePlanningService/PlanLanes", "v1beta1.SimulationService/Simulate"
CASES = [
    case(ALLOCATE, "256 stages, from none to 1e9 workers", lambda: allocate(stages(FEW), WORKERS)),
    case(
        ALLOCATE,
        "256 stages, from 1e9 workers each to none",
        lambda: allocate(stages(FEW, current_worker_count=WORKERS), 0),
    ),
    case(
        ALLOCATE,
        "2 stages, from none to 1e9 workers, max_move_count 0",
        lambda: allocate(stages(2), WORKERS, max_move_count=0),
    ),
    case(
        ALLOCATE,
        "100,000 stages, from none to 1e9 workers, LATENCY",
        lambda: allocate(stages(MANY), WORKERS, weighting=LATENCY),
    ),
    case(
        ALLOCATE,
        "256 stages, workers to where work is, max_move_count 1e5, x 4",
        lambda: allocate(unlike(FEW), WORKERS, max_move_count=100_000),
        burst=4,
    ),
    case(
        ALLOCATE,
        "100,000 stages, LATENCY, max_move_count 100,000",
        lambda: allocate(unlike(MANY), WORKERS, weighting=LATENCY, max_move_count=100_000),
    ),
    case(
        ALLOCATE,
        "100,000 stages, 1e9 workers, maxima, D'Hondt",
        lambda: allocate(
            [
                *stages(MANY - 1, max_worker_count=10_001, current_worker_count=10_000),
                stages_pb2.Stage(name="last", backlog_count=1),
            ],
            WORKERS,
            rule=D_HONDT,
        ),
    ),
    case(
        ALLOCATE,
        "100,000 stages, of which 90,000 starve",
        lambda: allocate(stages(MANY, mean_run_time=seconds(1), arrival_count=5), 10_000),
    ),
    case(
        ALLOCATE,
        "2 stages with 400,000 run times each",
        lambda: allocate(
            [
                stages_pb2.Stage(name=name, backlog_count=1, run_times=[seconds(1)] * 400_000)
                for name in "ab"
            ],
            2,
        ),
    ),
    case(
        CHOOSE,
        "100,000 stages, LATENCY",
        lambda: choose_stage(
            stages(MANY, current_worker_count=5, mean_run_time=seconds(3)),
            current_stage_name=f"s{MANY - 1}",
            weighting=LATENCY,
        ),
    ),
    case(
        CHOOSE,
        "100,000 stages, half of them done, D'Hondt",
        lambda: choose_stage(
            [
                *stages(MANY // 2, done=True),
                *[
                    stages_pb2.Stage(name=f"t{at}", backlog_count=2**40 + at, min_worker_count=3)
                    for at in range(MANY // 2)
                ],
            ],
            rule=D_HONDT,
        ),
    ),
    case(
        "LaneService/RouteJob",
        "50,000 lanes timed out, x 16",
        lambda: lanes_pb2.RouteJobRequest(lane_set=lanes(), timed_out_lane_names=["l14"] * 50_000),
        burst=16,
    ),
    case(DISPATCH, "65,536 jobs, 8 lanes timed out each", lambda: dispatch(8)),
    case(DISPATCH, "65,536 jobs with predictions, 16e6 workers", lambda: dispatch(0)),
    case(SPLIT, "16 lanes, 16e6 workers, x 32", split, burst=32),
    case(SPLIT, "16 lanes, 16e6 workers, max_move_count 100,000, x 8", split_again, burst=8),
    case(PLAN, "400,000 samples, 1,000 workers, load 0.6", lambda: plan(1_000, 0.6)),
    case(PLAN, "400,000 samples, 10 workers, load 0.9", lambda: plan(10, 0.9)),
    case(PLAN, "400,000 samples of 64 types, 10 workers", lambda: plan_by_type(10, 0.9)),
    case(
        "v1beta1.LatenessService/RecordLateness",
        "65,536 runs, x 8",
        lambda: lateness_pb2.RecordLatenessRequest(
            schedule_name="s",
            lateness_millis=[-31_622_400_000 + at * 900_000 for at in range(65_536)],
        ),
        burst=8,
    ),
    case(
        "ServerInfoService/GetServerInfo",
        "all limits, x 100",
        server_info_pb2.GetServerInfoRequest,
        burst=100,
    ),
    case(SIMULATE, "4e6 jobs", lambda: simulate(JOBS), streams=(False, True), most_cpu=20),
    case(
        SIMULATE,
        "5e7 events of conflicts",
        lambda: simulate(CONFLICTS),
        streams=(False, True),
        most_cpu=20,
    ),
]
