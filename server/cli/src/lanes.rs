//! `offbeat lanes plan`

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use offbeat_core::{Reason, Rejection, Span};

use super::Failure;
use super::output::AnswerFormat;
use super::schedule::{parse_count, parse_span};
use offbeat_proto as proto;
use offbeat_proto::json::write_json;
use offbeat_proto::v1beta1;
use offbeat_service::api::lanes::plan;
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
    let v1beta1::PlanLanesResponse { lane_set, with_lanes, without_lanes, .. } = plan;
    let lanes = lane_set.as_ref().map(|set| set.lanes.as_slice()).unwrap_or_default();
    let slowdown = |found: &Option<v1beta1::LanePerformance>| {
        found.as_ref().map(|found| found.mean_slowdown).unwrap_or_default()
    };
    let (with, without) = (slowdown(with_lanes), slowdown(without_lanes));
    if plan.verdict() == v1beta1::LaneVerdict::Lanes {
        writeln!(out, "LANES: the mean slowdown falls from {without:.1} to {with:.1}.")?;
    } else {
        writeln!(out, "NO LANES: one queue for all workers is as good, or better.")?;
    }
    let workers = if args.workers == 1 { "worker" } else { "workers" };
    writeln!(
        out,
        "{} jobs/s, mean run time {}, {} {workers}: {:.1} % of their time.\n",
        args.arrival_rate,
        seconds(plan.mean_run_time.as_ref()),
        args.workers,
        plan.utilization * 100.0,
    )?;
    if lanes.is_empty() {
        writeln!(out, "No lanes were found that keep up with the arrivals.\n")?;
    } else {
        writeln!(out, "{:<10} {:>8} {:>16}", "LANE", "WORKERS", "ATTEMPT TIMEOUT")?;
        for lane in lanes {
            let timeout = lane.attempt_timeout.as_ref();
            let timeout = timeout.map_or_else(|| "none".to_owned(), |time| seconds(Some(time)));
            writeln!(out, "{:<10} {:>8} {timeout:>16}", lane.name, lane.worker_count)?;
        }
        writeln!(out)?;
    }
    write_performance(out, plan)?;
    write_chart(out, plan, without)
}

fn write_performance(
    out: &mut impl Write,
    plan: &v1beta1::PlanLanesResponse,
) -> Result<(), Failure> {
    type Figure = fn(&v1beta1::LanePerformance) -> String;
    let rows: [(&str, Figure); 7] = [
        ("mean slowdown", |found| format!("{:.2}", found.mean_slowdown)),
        ("95th percentile", |found| format!("{:.2}", found.p95_slowdown)),
        ("mean wait", |found| seconds(found.mean_wait.as_ref())),
        ("95th percentile", |found| seconds(found.p95_wait.as_ref())),
        ("mean sojourn", |found| seconds(found.mean_sojourn.as_ref())),
        ("95th percentile", |found| seconds(found.p95_sojourn.as_ref())),
        ("lost by aborting", |found| format!("{:.1} %", found.wasted_ratio * 100.0)),
    ];
    let cell = |found: Option<&v1beta1::LanePerformance>, figure: Figure| {
        found.map_or_else(|| "-".to_owned(), figure)
    };
    let (with, without) = (plan.with_lanes.as_ref(), plan.without_lanes.as_ref());
    writeln!(out, "{:<22} {:>16} {:>16}", "", "WITH LANES", "ONE QUEUE")?;
    for (title, figure) in rows {
        writeln!(out, "{title:<22} {:>16} {:>16}", cell(with, figure), cell(without, figure))?;
    }
    for (title, at) in
        ["slowdown at 20 % less", "slowdown at 20 % more"].iter().zip(&plan.sensitivities)
    {
        let figure: Figure = |found| {
            let remark = if found.stable { "" } else { " and growing" };
            format!("{:.2}{remark}", found.mean_slowdown)
        };
        let (with, without) = (at.with_lanes.as_ref(), at.without_lanes.as_ref());
        writeln!(out, "{title:<22} {:>16} {:>16}", cell(with, figure), cell(without, figure))?;
    }
    Ok(())
}

/// Every so many of the cutoffs, each with a bar; longer is worse.
fn write_chart(
    out: &mut impl Write,
    plan: &v1beta1::PlanLanesResponse,
    without: f64,
) -> Result<(), Failure> {
    const ROWS: usize = 16;
    const WIDTH: f64 = 40.0;
    if plan.cutoffs.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nSlowdown over the cutoff between two lanes, by formula (one queue: {without:.1}, simulated)"
    )?;
    let step = plan.cutoffs.len().div_ceil(ROWS);
    let most = plan.cutoffs.iter().map(|point| point.mean_slowdown).fold(1.0, f64::max);
    let least = plan.cutoffs.iter().map(|point| point.mean_slowdown).fold(most, f64::min);
    for (place, point) in plan.cutoffs.iter().enumerate() {
        if place % step != 0 && point.mean_slowdown > least {
            continue;
        }
        let share = point.mean_slowdown.ln() / most.ln().max(f64::MIN_POSITIVE);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 40")]
        let bar = "█".repeat((share * WIDTH).round().max(1.0) as usize);
        let cutoff = seconds(point.cutoff.as_ref());
        let express = point.express_worker_count;
        writeln!(out, "{cutoff:>14}  {express:>4} express  {bar} {:.1}", point.mean_slowdown)?;
    }
    writeln!(out, "(bars on a logarithmic scale)")?;
    Ok(())
}

fn seconds(time: Option<&prost_types::Duration>) -> String {
    let time = time.copied().unwrap_or_default();
    format!("{}.{:06} s", time.seconds, time.nanos / 1_000)
}
