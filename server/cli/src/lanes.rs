//! `offbeat lanes plan`

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use offbeat_core::limits::RUN_TIME_SAMPLES;
use offbeat_core::{Reason, Rejection, Span};

use super::Failure;
use super::output::AnswerFormat;
use super::schedule::{parse_count, parse_span};
use offbeat_proto as proto;
use offbeat_proto::json::write_json;
use offbeat_proto::v1beta1;
use offbeat_service::api::lanes::plan;
use offbeat_text::figures::{figure, percent, span};
use offbeat_text::read_run_times;

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    /// The number of workers, in all lanes
    #[arg(id = "worker_count", long = "workers", value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    workers: i64,

    /// The number of jobs that arrive in a second
    #[arg(long, value_name = "JOBS", allow_hyphen_values = true)]
    arrival_rate: f64,

    /// The longest tolerable wait before a job starts: no express timeout is longer
    #[arg(long, value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    tolerated_wait: Option<Span>,

    /// Shorter run times count as this in the slowdown [default: their 10th percentile]
    #[arg(long, value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    slowdown_floor: Option<Span>,

    /// What happens to a job at its timeout
    #[arg(long, value_enum, default_value_t = TimeoutArg::Abort)]
    on_timeout: TimeoutArg,

    /// The most lanes: 2 or 3
    #[arg(id = "max_lane_count", long = "max-lanes", value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    max_lanes: Option<i64>,

    /// The seed of the simulation
    #[arg(long, value_name = "NUMBER", value_parser = parse_count, default_value_t = 0, allow_hyphen_values = true)]
    seed: i64,

    /// How to write the plan
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    format: AnswerFormat,
}

/// What happens to a job at its timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TimeoutArg {
    /// It is started again in the next lane
    Abort,
    /// It goes on in the next lane
    Suspend,
}

pub(super) fn run(args: &PlanArgs) -> Result<ExitCode, Failure> {
    let plan = plan(question(args, read_run_times(io::stdin().lock())?)?)?;
    let mut out = BufWriter::new(io::stdout().lock());
    match args.format {
        AnswerFormat::Json => {
            let json = write_json("offbeat.v1beta1.PlanLanesResponse", &plan);
            let missing = || Failure::Other("the plan has no JSON form".to_owned());
            writeln!(out, "{}", json.ok_or_else(missing)?)?;
        }
        AnswerFormat::Table => write_plan(&mut out, args, &plan)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn question(args: &PlanArgs, micros: Vec<i64>) -> Result<v1beta1::PlanLanesRequest, Failure> {
    if micros.is_empty() {
        let allowed = format!("must hold {RUN_TIME_SAMPLES}, a run time in seconds on each line");
        return Err(Failure::Usage(format!("standard input: {allowed}")));
    }
    let narrow = |flag: &str, value: i64| {
        let allowed = "must be a number of 32 bits";
        i32::try_from(value).map_err(|_| Rejection::new(Reason::OutOfRange, flag, value, allowed))
    };
    let duration = |span: Span| {
        let (seconds, nanos) = span.parts();
        prost_types::Duration { seconds, nanos }
    };
    let on_timeout = match args.on_timeout {
        TimeoutArg::Abort => proto::TimeoutAction::Abort,
        TimeoutArg::Suspend => proto::TimeoutAction::Suspend,
    };
    let samples = v1beta1::RunTimeSamples { run_time_micros: micros };
    Ok(v1beta1::PlanLanesRequest {
        run_times: Some(v1beta1::plan_lanes_request::RunTimes::Samples(samples)),
        arrival_rate: args.arrival_rate,
        worker_count: narrow("--workers", args.workers)?,
        tolerated_wait: args.tolerated_wait.map(duration),
        slowdown_floor: args.slowdown_floor.map(duration),
        on_timeout: on_timeout.into(),
        max_lane_count: args.max_lanes.map(|lanes| narrow("--max-lanes", lanes)).transpose()?,
        seed: args.seed,
    })
}

fn write_plan(
    out: &mut impl Write,
    args: &PlanArgs,
    plan: &v1beta1::PlanLanesResponse,
) -> Result<(), Failure> {
    let lanes = plan.lane_set.as_ref().map(|set| set.lanes.as_slice()).unwrap_or_default();
    let verdict = match plan.verdict() {
        v1beta1::LaneVerdict::Lanes => "LANES",
        v1beta1::LaneVerdict::Undecided => "UNDECIDED",
        v1beta1::LaneVerdict::NoLanes | v1beta1::LaneVerdict::Unspecified => "NO LANES",
    };
    let (first, rest) = plan.messages.split_first().map_or(("", &[][..]), |(a, b)| (a, b));
    writeln!(out, "{verdict}. {first}")?;
    for message in rest {
        writeln!(out, "{message}")?;
    }
    let workers = if args.workers == 1 { "worker" } else { "workers" };
    writeln!(
        out,
        "\n{} jobs/s, mean run time {}, {} {workers}: {} of their time.\n",
        figure(args.arrival_rate),
        time(plan.mean_run_time.as_ref()),
        args.workers,
        percent(plan.utilization),
    )?;
    if lanes.is_empty() {
        return Ok(());
    }
    let title = if verdict == "LANES" { "LANE" } else { "BEST LANES" };
    writeln!(out, "{title:<10} {:>8} {:>16}", "WORKERS", "ATTEMPT TIMEOUT")?;
    for lane in lanes {
        let timeout = lane.attempt_timeout.as_ref();
        let timeout = timeout.map_or_else(|| "none".to_owned(), |timeout| time(Some(timeout)));
        writeln!(out, "{:<10} {:>8} {timeout:>16}", lane.name, lane.worker_count)?;
    }
    writeln!(out)?;
    write_performance(out, plan)?;
    write_chart(out, plan)
}

fn write_performance(
    out: &mut impl Write,
    plan: &v1beta1::PlanLanesResponse,
) -> Result<(), Failure> {
    type Figure = fn(&v1beta1::LanePerformance) -> String;
    let slowdown: Figure = |found| {
        let range = found.mean_slowdown_range.as_ref();
        let range = range.map(|range| (figure(range.low), figure(range.high)));
        within(&figure(found.mean_slowdown), range)
    };
    let sojourn: Figure = |found| {
        let range = found.mean_sojourn_range.as_ref();
        let range = range.map(|range| (time(range.low.as_ref()), time(range.high.as_ref())));
        within(&time(found.mean_sojourn.as_ref()), range)
    };
    let rows: [(&str, Figure); 7] = [
        ("mean slowdown", slowdown),
        ("  95th percentile", |found| figure(found.p95_slowdown)),
        ("mean wait", |found| time(found.mean_wait.as_ref())),
        ("  95th percentile", |found| time(found.p95_wait.as_ref())),
        ("mean sojourn", sojourn),
        ("  95th percentile", |found| time(found.p95_sojourn.as_ref())),
        ("lost by aborting", |found| percent(found.wasted_ratio)),
    ];
    let mut row = |title: &str, with: String, without: String| {
        writeln!(out, "{title:<36} {with:>25} {without:>25}")
    };
    let cell = |found: Option<&v1beta1::LanePerformance>, figure: Figure| {
        found.map_or_else(|| "-".to_owned(), figure)
    };
    row("", "WITH LANES".to_owned(), "ONE QUEUE".to_owned())?;
    for (title, figure) in rows {
        let (with, without) = (plan.with_lanes.as_ref(), plan.without_lanes.as_ref());
        row(title, cell(with, figure), cell(without, figure))?;
    }
    for (title, at) in
        ["slowdown at 20 % less", "slowdown at 20 % more"].iter().zip(&plan.sensitivities)
    {
        let figure: Figure = |found| match found.stable {
            true => figure(found.mean_slowdown),
            false => "does not keep up".to_owned(),
        };
        let (with, without) = (at.with_lanes.as_ref(), at.without_lanes.as_ref());
        row(title, cell(with, figure), cell(without, figure))?;
    }
    let mut above = None;
    for class in &plan.run_time_classes {
        let longest = class.max_run_time.as_ref().map(|longest| time(Some(longest)));
        let jobs = match (&above, &longest) {
            (None, Some(longest)) => format!("jobs up to {longest}"),
            (Some(above), Some(longest)) => format!("jobs of {above} to {longest}"),
            (Some(above), None) => format!("jobs above {above}"),
            (None, None) => "all jobs".to_owned(),
        };
        row(
            &format!("sojourn of {jobs}"),
            time(class.mean_sojourn_with_lanes.as_ref()),
            time(class.mean_sojourn_without_lanes.as_ref()),
        )?;
        above = longest;
    }
    writeln!(
        out,
        "Medians of {} streams of {} jobs; in brackets, what nine of ten streams lie within.",
        plan.stream_count, plan.stream_job_count,
    )?;
    Ok(())
}

fn within(figure: &str, range: Option<(String, String)>) -> String {
    match range {
        Some((low, high)) => format!("{figure} ({low} to {high})"),
        None => figure.to_owned(),
    }
}

/// Cutoffs between two lanes, each with a bar: the longer, the worse.
fn write_chart(out: &mut impl Write, plan: &v1beta1::PlanLanesResponse) -> Result<(), Failure> {
    const WIDTH: f64 = 30.0;
    let slowdowns = || plan.cutoffs.iter().filter_map(|cutoff| cutoff.mean_slowdown);
    let queue = plan.without_lanes.as_ref().map_or(1.0, |found| found.mean_slowdown);
    let most = slowdowns().fold(queue, f64::max);
    let bar = |slowdown: f64| {
        let share = slowdown.ln() / most.ln().max(f64::MIN_POSITIVE);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 30")]
        let bar = "█".repeat((share * WIDTH).round().max(1.0) as usize);
        format!("{bar} {}", figure(slowdown))
    };
    writeln!(out, "\nTwo lanes, by their cutoff (the bars have a logarithmic scale)")?;
    writeln!(out, "{:>12} {:>8} {:>14}  MEAN SLOWDOWN", "CUTOFF", "EXPRESS", "MEAN SOJOURN")?;
    for cutoff in &plan.cutoffs {
        let at = time(cutoff.cutoff.as_ref());
        let express = cutoff.express_worker_count;
        match cutoff.mean_slowdown {
            Some(slowdown) => {
                let sojourn = time(cutoff.mean_sojourn.as_ref());
                let remark = match cutoff.stable_with_more_arrivals {
                    true => "",
                    false => ", does not keep up with 20 % more",
                };
                writeln!(out, "{at:>12} {express:>8} {sojourn:>14}  {}{remark}", bar(slowdown))?;
            }
            None => writeln!(out, "{at:>12} {express:>8} {:>14}  does not keep up", "-")?,
        }
    }
    let sojourn = plan.without_lanes.as_ref().and_then(|found| found.mean_sojourn.as_ref());
    writeln!(out, "{:>12} {:>8} {:>14}  {}", "one queue", "-", time(sojourn), bar(queue))?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn time(time: Option<&prost_types::Duration>) -> String {
    let time = time.copied().unwrap_or_default();
    span(time.seconds as f64 + f64::from(time.nanos) / 1e9)
}
