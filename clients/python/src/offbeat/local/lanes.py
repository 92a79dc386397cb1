"""``RouteJob``: in which lane the next attempt of a job runs."""

from __future__ import annotations

from dataclasses import dataclass

from ..v1 import lanes_pb2 as pb
from .limits import LANE_COUNT, LANE_TIMEOUT_MILLIS, LANE_WORKERS, MEMBER_NAME, in_range
from .rejections import (
    CONTRADICTORY,
    OUT_OF_RANGE,
    Rejection,
    missing,
    number_text,
    quoted,
    unknown_enum_value,
)
from .times import MILLISECOND, duration, read_span, span_text


@dataclass(frozen=True)
class _Lanes:
    """Checked lanes, fastest first."""

    names: list[str]
    worker_counts: list[int]
    #: In nanoseconds; ``None`` without a timeout.
    timeouts: list[int | None]
    suspends: bool
    max_express_slow_probability: float

    def place(self, field: str, name: str) -> int:
        """Return the place of a lane by its name."""
        if name not in self.names:
            allowed = f"must be a lane of the set: {', '.join(self.names)}"
            raise Rejection(OUT_OF_RANGE, field, quoted(name), allowed)
        return self.names.index(name)

    def at_least(self, place: int) -> int | None:
        """Return the first lane with workers from a place on; ``None`` if there is none."""
        lanes = range(place, len(self.names))
        return next((lane for lane in lanes if self.worker_counts[lane]), None)


def route_job(request: pb.RouteJobRequest, _: object) -> pb.RouteJobResponse:
    """Say where a job's next attempt runs."""
    lanes = _read_lanes(request)
    timed_out = [
        lanes.place(f"timed_out_lane_names[{index}]", name)
        for index, name in enumerate(request.timed_out_lane_names)
    ]
    prediction = _read_prediction(request)
    worker: int | None = None
    if request.worker_lane_name:
        worker = lanes.place("worker_lane_name", request.worker_lane_name)
        if not lanes.worker_counts[worker]:
            allowed = "must be a lane of the set that has workers"
            raise Rejection(OUT_OF_RANGE, "worker_lane_name", "another", allowed)
    begins = _first_lane(lanes, prediction)
    if timed_out:
        after = lanes.at_least(max(timed_out) + 1)
        if after is None:
            return pb.RouteJobResponse(permanent_failure=_failure(lanes, max(timed_out)))
        lane, reason = after, pb.ROUTE_REASON_DEMOTED
    elif begins:
        lane, reason = begins, pb.ROUTE_REASON_PREDICTED_SLOW
    else:
        lane, reason = 0, pb.ROUTE_REASON_UNTRIED
    if worker is not None and worker > lane:
        lane, reason = worker, pb.ROUTE_REASON_IDLE_WORKER
    timeout = lanes.timeouts[lane]
    following = None if timeout is None else lanes.at_least(lane + 1)
    route = pb.LaneRoute(
        lane_name=lanes.names[lane],
        attempt=len(timed_out) + 1,
        attempt_timeout=None if timeout is None else duration(timeout),
        next_lane_name="" if following is None else lanes.names[following],
        reason=reason,
        resumes=bool(timed_out) and lanes.suspends,
    )
    return pb.RouteJobResponse(route=route)


def _first_lane(lanes: _Lanes, prediction: float | int | None) -> int:
    """Return the first lane of an untried job, by a probability or a run time in nanoseconds."""
    begins = 0
    if isinstance(prediction, float):
        if not 0.0 <= prediction <= 1.0:
            field = "prediction.slow_probability"
            raise Rejection(OUT_OF_RANGE, field, number_text(prediction), "must be 0 to 1")
        begins = int(prediction > lanes.max_express_slow_probability)
    elif prediction is not None:
        if prediction < 0:
            field, value = "prediction.run_time", span_text(prediction)
            raise Rejection(OUT_OF_RANGE, field, value, "must be 0 s or more")
        last = len(lanes.timeouts) - 1
        keeping = (
            lane
            for lane, timeout in enumerate(lanes.timeouts)
            if timeout is None or prediction <= timeout
        )
        begins = next(keeping, last)
    lane = lanes.at_least(begins)
    return len(lanes.timeouts) - 1 if lane is None else lane


def _failure(lanes: _Lanes, lane: int) -> pb.PermanentFailure:
    name, timeout = lanes.names[lane], lanes.timeouts[lane]
    after = "" if timeout is None else f" of {span_text(timeout)}"
    return pb.PermanentFailure(
        last_lane_name=name,
        exceeded_timeout=None if timeout is None else duration(timeout),
        message=f"reached the timeout{after} of lane {quoted(name)}, the last",
    )


def _read_prediction(request: pb.RouteJobRequest) -> float | int | None:
    if not request.HasField("prediction"):
        return None
    which = request.prediction.WhichOneof("prediction")
    if which is None:
        raise missing("prediction.prediction", "slow_probability or run_time must be set")
    if which == "slow_probability":
        return float(request.prediction.slow_probability)
    return read_span("prediction.run_time", request.prediction.run_time)


def _read_lanes(request: pb.RouteJobRequest) -> _Lanes:
    if not request.HasField("lane_set"):
        raise missing("lane_set", "must be set")
    try:
        return _check_lanes(request.lane_set)
    except Rejection as rejection:
        raise rejection.under("lane_set") from None


def _check_lanes(message: pb.LaneSet) -> _Lanes:
    """Check lanes in the sidecar's order: names, then malformed fields, then ranges."""
    names = _check_names(message)
    timeouts = [
        read_span(f"lanes[{place}].attempt_timeout", lane.attempt_timeout)
        if lane.HasField("attempt_timeout")
        else None
        for place, lane in enumerate(message.lanes)
    ]
    if not 0 <= message.policy <= pb.LANE_POLICY_SLOW_FIRST:
        raise unknown_enum_value("policy", message.policy, "0 to 2, a value of LanePolicy")
    if not 0 <= message.on_timeout <= pb.TIMEOUT_ACTION_SUSPEND:
        raise unknown_enum_value(
            "on_timeout", message.on_timeout, "0 to 2, a value of TimeoutAction"
        )
    in_range("lanes", len(names), LANE_COUNT)
    worker_counts = [lane.worker_count for lane in message.lanes]
    for place in range(len(names)):
        try:
            _check_lane(worker_counts, timeouts, place)
        except Rejection as rejection:
            raise rejection.under(f"lanes[{place}]") from None
    field = "max_express_slow_probability"
    probability = message.max_express_slow_probability if message.HasField(field) else 1.0
    if not 0.0 <= probability <= 1.0:
        raise Rejection(OUT_OF_RANGE, field, number_text(probability), "must be 0 to 1")
    suspends = message.on_timeout == pb.TIMEOUT_ACTION_SUSPEND
    return _Lanes(names, worker_counts, timeouts, suspends, probability)


def _check_names(message: pb.LaneSet) -> list[str]:
    names: list[str] = []
    for place, lane in enumerate(message.lanes):
        field = f"lanes[{place}].name"
        if not MEMBER_NAME.allows(len(lane.name.encode())):
            raise Rejection(OUT_OF_RANGE, field, quoted(lane.name), f"must be {MEMBER_NAME}")
        if lane.name in names:
            allowed = f"must not be the name of [{names.index(lane.name)}] too"
            raise Rejection(CONTRADICTORY, field, quoted(lane.name), allowed)
        names.append(lane.name)
    return names


def _check_lane(worker_counts: list[int], timeouts: list[int | None], place: int) -> None:
    last = len(worker_counts) - 1
    workers = in_range("worker_count", worker_counts[place], LANE_WORKERS)
    if workers == 0 and place in (0, last):
        allowed = "must be 1 or more: the express and the slow lane must not be without workers"
        raise Rejection(OUT_OF_RANGE, "worker_count", 0, allowed)
    timeout = timeouts[place]
    if timeout is None:
        if place < last:
            allowed = "must be set: the slow lane alone may be without"
            raise missing("attempt_timeout", allowed)
        return
    if not LANE_TIMEOUT_MILLIS.allows(timeout // MILLISECOND):
        allowed = f"must be {LANE_TIMEOUT_MILLIS}"
        raise Rejection(OUT_OF_RANGE, "attempt_timeout", span_text(timeout), allowed)
    before = timeouts[place - 1] if place else None
    if before is not None and timeout <= before:
        allowed = f"must be longer than {span_text(before)}, the timeout of the lane before"
        raise Rejection(CONTRADICTORY, "attempt_timeout", span_text(timeout), allowed)
