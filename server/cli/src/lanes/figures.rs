//! The figures of a plan as tables, for the terminal and for the report.

use offbeat_proto::v1beta1::{self, LaneVerdict};
use offbeat_text::figures::{figure, percent, span};

/// Cells under titles; the first column says what a row is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) titles: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// The verdict in capitals.
pub(super) const fn verdict(verdict: LaneVerdict) -> &'static str {
    match verdict {
        LaneVerdict::Lanes => "LANES",
        LaneVerdict::LanesByType => "LANES BY TYPE",
        LaneVerdict::Undecided => "UNDECIDED",
        LaneVerdict::NoLanes | LaneVerdict::Unspecified => "NO LANES",
    }
}

/// The lanes of the verdict, or else the best ones: their workers, and their timeouts or types.
pub(super) fn lanes(plan: &v1beta1::PlanLanesResponse) -> Table {
    let title = match plan.verdict() {
        LaneVerdict::Lanes | LaneVerdict::LanesByType => "LANE",
        _ => "BEST LANES",
    };
    let is_by_type = plan.verdict() == LaneVerdict::LanesByType || plan.lane_set.is_none();
    let row =
        |name: &str, workers: i32, last: String| vec![name.to_owned(), workers.to_string(), last];
    let (last, rows) = match plan.lanes_by_type.as_ref().filter(|_| is_by_type) {
        Some(found) => {
            let slow = found.slow_type_names.iter().map(|name| printable(name));
            let slow = slow.collect::<Vec<_>>().join(", ");
            let express = row("express", found.express_worker_count, "all others".to_owned());
            ("JOBS OF TYPE", vec![express, row("slow", found.slow_worker_count, slow)])
        }
        None => {
            let lanes = plan.lane_set.as_ref().map(|set| set.lanes.as_slice()).unwrap_or_default();
            let lane = |lane: &offbeat_proto::Lane| {
                let timeout = lane.attempt_timeout.as_ref();
                let timeout =
                    timeout.map_or_else(|| "none".to_owned(), |timeout| time(Some(timeout)));
                row(&lane.name, lane.worker_count, timeout)
            };
            ("ATTEMPT TIMEOUT", lanes.iter().map(lane).collect())
        }
    };
    Table { titles: [title, "WORKERS", last].map(str::to_owned).into(), rows }
}

type Performance = v1beta1::LanePerformance;

/// The alternatives that are compared, side by side.
struct Comparison<'a> {
    titles: Vec<&'static str>,
    /// How jobs fare with each; `None` if it was not found.
    performances: Vec<Option<&'a Performance>>,
}

fn compare(plan: &v1beta1::PlanLanesResponse) -> Comparison<'_> {
    let by_type = plan.lanes_by_type.as_ref().and_then(|found| found.performance.as_ref());
    let with = plan.with_lanes.as_ref();
    let queue = plan.without_lanes.as_ref();
    if plan.lanes_by_type.is_some() {
        let titles = vec!["WITH TIMEOUTS", "BY TYPE", "ONE QUEUE"];
        Comparison { titles, performances: vec![with, by_type, queue] }
    } else {
        Comparison { titles: vec!["WITH LANES", "ONE QUEUE"], performances: vec![with, queue] }
    }
}

/// How jobs fare with each alternative.
pub(super) fn performance(plan: &v1beta1::PlanLanesResponse) -> Table {
    type Figure = fn(&Performance) -> String;
    let figures: [(&str, Figure); 7] = [
        ("mean slowdown", |found| {
            let range = found.mean_slowdown_range.as_ref();
            within(
                &figure(found.mean_slowdown),
                range.map(|range| (figure(range.low), figure(range.high))),
            )
        }),
        ("  95th percentile", |found| figure(found.p95_slowdown)),
        ("mean wait", |found| time(found.mean_wait.as_ref())),
        ("  95th percentile", |found| time(found.p95_wait.as_ref())),
        ("mean sojourn", |found| {
            let range = found.mean_sojourn_range.as_ref();
            let range = range.map(|range| (time(range.low.as_ref()), time(range.high.as_ref())));
            within(&time(found.mean_sojourn.as_ref()), range)
        }),
        ("  95th percentile", |found| time(found.p95_sojourn.as_ref())),
        ("lost by aborting", |found| percent(found.wasted_ratio)),
    ];
    let Comparison { titles, performances } = compare(plan);
    let titles: Vec<String> = [""].into_iter().chain(titles).map(str::to_owned).collect();
    let row = |title: &str, found: &[Option<&Performance>], figure: Figure| {
        let cells = found.iter().map(|found| found.map_or_else(|| "-".to_owned(), figure));
        [title.to_owned()].into_iter().chain(cells).collect()
    };
    let mut rows: Vec<Vec<String>> =
        figures.into_iter().map(|(title, figure)| row(title, &performances, figure)).collect();
    let others = ["slowdown at 20 % less", "slowdown at 20 % more"];
    for (title, at) in others.iter().zip(&plan.sensitivities) {
        let mut found = vec![at.with_lanes.as_ref(), at.without_lanes.as_ref()];
        if plan.lanes_by_type.is_some() {
            found.insert(1, at.by_type.as_ref());
        }
        rows.push(row(title, &found, |found| match found.stable {
            true => figure(found.mean_slowdown),
            false => "does not keep up".to_owned(),
        }));
    }
    for (jobs, class) in classes(plan) {
        let (with, without) = (&class.mean_sojourn_with_lanes, &class.mean_sojourn_without_lanes);
        let mut cells =
            vec![format!("sojourn of jobs {jobs}"), time(with.as_ref()), time(without.as_ref())];
        if plan.lanes_by_type.is_some() {
            cells.insert(2, "-".to_owned());
        }
        rows.push(cells);
    }
    Table { titles, rows }
}

/// Jobs by the lane that their run time ends in, each with its range in words: `up to 0.55 s`.
pub(super) fn classes(plan: &v1beta1::PlanLanesResponse) -> Vec<(String, &v1beta1::RunTimeClass)> {
    let mut above: Option<String> = None;
    let named = plan.run_time_classes.iter().map(|class| {
        let longest = class.max_run_time.as_ref().map(|longest| time(Some(longest)));
        let jobs = match (&above, &longest) {
            (None, Some(longest)) => format!("up to {longest}"),
            (Some(above), Some(longest)) => format!("of {above} to {longest}"),
            (Some(above), None) => format!("above {above}"),
            (None, None) => "of any length".to_owned(),
        };
        above = longest;
        (jobs, class)
    });
    named.collect()
}

/// Types of job; no rows, if they are not known.
pub(super) fn types(plan: &v1beta1::PlanLanesResponse) -> Table {
    let mut titles = vec!["TYPE", "JOBS", "OF JOBS", "OF WORK", "P50", "P99", "MAX"];
    if plan.lane_set.is_some() {
        titles.extend(["PAST TIMEOUT", "SOJOURN, TIMEOUTS"]);
    }
    if plan.lanes_by_type.is_some() {
        titles.push("BY TYPE");
    }
    titles.push("ONE QUEUE");
    let row = |kind: &v1beta1::JobTypeFigures| {
        let mut cells = vec![
            printable(&kind.name),
            kind.sample_count.to_string(),
            percent(kind.job_ratio),
            percent(kind.work_ratio),
            time(kind.p50_run_time.as_ref()),
            time(kind.p99_run_time.as_ref()),
            time(kind.max_run_time.as_ref()),
        ];
        cells.extend(kind.timeout_ratio.map(percent));
        let sojourns = [
            &kind.mean_sojourn_with_lanes,
            &kind.mean_sojourn_by_type,
            &kind.mean_sojourn_without_lanes,
        ];
        cells.extend(sojourns.iter().filter_map(|sojourn| Some(time(Some(sojourn.as_ref()?)))));
        cells
    };
    let rows = plan.job_types.iter().map(row).collect();
    Table { titles: titles.into_iter().map(str::to_owned).collect(), rows }
}

/// A name without characters that control a terminal.
pub(super) fn printable(name: &str) -> String {
    name.escape_debug().to_string()
}

fn within(figure: &str, range: Option<(String, String)>) -> String {
    match range {
        Some((low, high)) => format!("{figure} ({low} to {high})"),
        None => figure.to_owned(),
    }
}

pub(super) fn time(time: Option<&prost_types::Duration>) -> String {
    span(seconds(time))
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
pub(super) fn seconds(time: Option<&prost_types::Duration>) -> f64 {
    let time = time.copied().unwrap_or_default();
    time.seconds as f64 + f64::from(time.nanos) / 1e9
}
