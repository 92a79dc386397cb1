//! `CompareSchedules`: whether jobs of schedules that exist today are kept apart.

use offbeat_core::comparison::{Job, Pair, Separation, compare};
use offbeat_core::limits::COMPARED_JOBS;
use offbeat_core::{Catalog, Reason, Rejection};

use super::convert;
use offbeat_proto as proto;

pub(super) fn compared(
    request: proto::CompareSchedulesRequest,
    catalog: &Catalog,
) -> Result<proto::CompareSchedulesResponse, Rejection> {
    let count = request.jobs.len();
    if !COMPARED_JOBS.allows(count as i128) {
        let allowed = format!("must be {COMPARED_JOBS}");
        return Err(Rejection::new(
            Reason::OutOfRange,
            "jobs",
            format_args!("{count} jobs"),
            allowed,
        ));
    }
    let job = |(index, job): (usize, proto::ComparedJob)| {
        let proto::ComparedJob { schedule, kind, run_time } = job;
        let checked = || {
            let schedule = convert::schedule(schedule, catalog)?;
            let run_time = convert::optional_span("run_time", run_time)?;
            Job::try_new(&schedule, Some(kind.as_str()).filter(|kind| !kind.is_empty()), run_time)
        };
        checked().map_err(|refused: Rejection| refused.under(&format!("jobs[{index}]")))
    };
    let jobs: Vec<Job> = request.jobs.into_iter().enumerate().map(job).collect::<Result<_, _>>()?;
    let mut worst = Separation::Apart;
    let mut pairs = Vec::with_capacity(count * (count - 1) / 2);
    for (first_index, first) in (0..).zip(&jobs) {
        for (second_index, second) in (0..).zip(&jobs).skip(first_index + 1) {
            let Pair { separation, reason, distances } = compare(first, second);
            worst = worst.max(separation);
            let index = |index: usize| i32::try_from(index).unwrap_or(i32::MAX);
            pairs.push(proto::ComparedPair {
                first_job_index: index(first_index),
                second_job_index: index(second_index),
                separation: wire(separation).into(),
                message: reason,
                first_to_second: distances.map(|(forward, _)| convert::duration(forward)),
                second_to_first: distances.map(|(_, backward)| convert::duration(backward)),
            });
        }
    }
    Ok(proto::CompareSchedulesResponse { separation: wire(worst).into(), pairs })
}

const fn wire(separation: Separation) -> proto::Separation {
    match separation {
        Separation::Apart => proto::Separation::Apart,
        Separation::Unknown => proto::Separation::Unknown,
        Separation::Meet => proto::Separation::Meet,
    }
}
