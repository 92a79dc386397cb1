"""How long jobs run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Union

from .._fields import OUT_OF_RANGE, set_integer, set_span, set_text
from .._keywords import positional
from ..errors import refused
from ..times import to_micros
from ..v1beta1 import lane_planning_pb2 as pb

if TYPE_CHECKING:
    from dataclasses import KW_ONLY


@dataclass(frozen=True)
class RunTimeHistogram:
    """Counts of jobs by run time.

    job_counts: the jobs of each bucket by its upper bound, in rising order; the first bucket
        starts at 0 s.

    >>> from datetime import timedelta
    >>> RunTimeHistogram({timedelta(seconds=1): 980, timedelta(minutes=5): 20}).job_counts[
    ...     timedelta(minutes=5)
    ... ]
    20
    """

    job_counts: Mapping[timedelta, int]


@positional(0)
@dataclass(frozen=True)
class RunTimePercentiles:
    """Two figures of a lognormal distribution of run times: ``p90``, and ``p50`` or ``mean``."""

    if TYPE_CHECKING:
        _: KW_ONLY
    p90: timedelta
    p50: timedelta | None = None
    mean: timedelta | None = None


#: How long jobs run: samples in any order, samples by type of job, a histogram or percentiles.
RunTimes = Union[
    Iterable[timedelta],
    Mapping[str, Iterable[timedelta]],
    RunTimeHistogram,
    RunTimePercentiles,
]


def set_run_times(request: pb.PlanLanesRequest, run_times: RunTimes) -> None:
    """Set how long jobs run, in any of these forms."""
    if isinstance(run_times, RunTimeHistogram):
        request.histogram.SetInParent()
        for index, (upper_bound, count) in enumerate(run_times.job_counts.items()):
            path, bucket = f"histogram.buckets[{index}]", request.histogram.buckets.add()
            set_span(bucket, path, "upper_bound", upper_bound)
            set_integer(bucket, path, "job_count", count)
    elif isinstance(run_times, RunTimePercentiles):
        request.percentiles.SetInParent()
        for name in ("p50", "p90", "mean"):
            set_span(request.percentiles, "percentiles", name, getattr(run_times, name))
    elif isinstance(run_times, Mapping):
        request.samples_by_type.SetInParent()
        by_type: Mapping[Any, Iterable[timedelta]] = run_times
        for index, name in enumerate(sorted(by_type, key=str)):
            path, kind = f"samples_by_type.types[{index}]", request.samples_by_type.types.add()
            set_text(kind, path, "name", name)
            _add_samples(kind.run_time_micros, f"{path}.run_time_micros", by_type[name])
    else:
        request.samples.SetInParent()
        _add_samples(request.samples.run_time_micros, "samples.run_time_micros", run_times)


def _add_samples(to: Any, path: str, run_times: Iterable[timedelta]) -> None:
    for index, run_time in enumerate(run_times):
        micros = to_micros(f"{path}[{index}]", run_time)
        try:
            to.append(micros)
        except ValueError as error:  # more microseconds than 64 bits hold
            allowed = "must be 1 us to 366 days"
            raise refused(f"{path}[{index}]", run_time, allowed, OUT_OF_RANGE) from error
