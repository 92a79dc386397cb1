//! `offbeat lanes plan`

mod arrivals;
mod charts;
mod columns;
mod drawing;
mod figures;
mod input;
mod jobs;
mod report;
mod text;

use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use offbeat_core::{Reason, Rejection, Span};

use super::Failure;
use super::output::AnswerFormat;
use super::schedule::{parse_count, parse_span};
use jobs::Jobs;
use offbeat_proto as proto;
use offbeat_proto::json::write_json;
use offbeat_proto::v1beta1;
use offbeat_service::api::lanes::plan;

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    /// The number of workers, in all lanes
    #[arg(id = "worker_count", long = "workers", value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    workers: i64,

    /// The number of jobs that arrive in a second [default: measured, with --time-column]
    #[arg(
        long,
        value_name = "JOBS",
        required_unless_present = "time_column",
        allow_hyphen_values = true
    )]
    arrival_rate: Option<f64>,

    #[command(flatten)]
    columns: ColumnArgs,

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

    /// Write a page with charts too, which needs no network
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    report: Option<PathBuf>,

    /// Overwrite a file that is no report of an earlier plan, too
    #[arg(long, requires = "report")]
    force: bool,

    /// How to write the plan
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    format: AnswerFormat,
}

/// Which columns of CSV say what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns of CSV")]
struct ColumnArgs {
    /// Read CSV with a header line, comma, semicolon or tab separated, and run times from this column: numbers,
    /// or spans such as 1m30s
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// The unit of run times that are bare numbers [default: s]
    #[arg(long, value_enum, requires = "column")]
    unit: Option<UnitArg>,

    /// The column of the type of job: lanes by type are compared, too
    #[arg(long, value_name = "NAME", requires = "column")]
    by: Option<String>,

    /// The column of the arrivals, RFC 3339 or Unix seconds: their rate is measured
    #[arg(long, value_name = "NAME", requires = "column")]
    time_column: Option<String>,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UnitArg {
    /// Hours
    H,
    /// Minutes
    Min,
    /// Seconds
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

/// What happens to a job at its timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TimeoutArg {
    /// It is started again in the next lane
    Abort,
    /// It goes on in the next lane
    Suspend,
}

/// The question and the answer.
struct LanePlan<'a> {
    workers: i64,
    /// Jobs per second.
    arrival_rate: f64,
    jobs: &'a Jobs,
    answer: v1beta1::PlanLanesResponse,
    /// Sentences about the answer and the arrivals.
    messages: Vec<String>,
}

pub(super) fn run(args: &PlanArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.report {
        report::check_overwrite(path, args.force)?;
    }
    let jobs = input::read(io::stdin().lock(), &args.columns)?;
    let measured = jobs.arrivals.as_ref();
    let arrival_rate = args.arrival_rate.or(measured.map(|arrivals| arrivals.rate));
    let arrival_rate = arrival_rate.unwrap_or_default(); // one of them is required
    let answer = plan(question(args, &jobs, arrival_rate)?).map_err(|refused| {
        match &args.columns.time_column {
            Some(column) if args.arrival_rate.is_none() && refused.field == "arrival_rate" => {
                let field = format!("the rate of arrivals measured in column {column:?}");
                Failure::Usage(Rejection { field, ..refused }.to_string())
            }
            _ => refused.into(),
        }
    })?;
    let busiest =
        measured.and_then(|arrivals| arrivals.busiest_sentence(arrival_rate, answer.utilization));
    let messages = answer.messages.iter().cloned().chain(busiest).collect();
    let planned = LanePlan { workers: args.workers, arrival_rate, jobs: &jobs, answer, messages };
    if let Some(path) = &args.report {
        report::write(path, &planned)?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match args.format {
        AnswerFormat::Json => {
            let json = write_json("offbeat.v1beta1.PlanLanesResponse", &planned.answer);
            let missing = || Failure::Other("the plan has no JSON form".to_owned());
            writeln!(out, "{}", json.ok_or_else(missing)?)?;
            if let Some(arrivals) = measured {
                writeln!(io::stderr(), "{}", arrivals.sentence())?;
            }
        }
        AnswerFormat::Table => text::write_plan(&mut out, &planned)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn question(
    args: &PlanArgs,
    jobs: &Jobs,
    arrival_rate: f64,
) -> Result<v1beta1::PlanLanesRequest, Failure> {
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
    Ok(v1beta1::PlanLanesRequest {
        run_times: Some(jobs.run_times.question()),
        arrival_rate,
        worker_count: narrow("--workers", args.workers)?,
        tolerated_wait: args.tolerated_wait.map(duration),
        slowdown_floor: args.slowdown_floor.map(duration),
        on_timeout: on_timeout.into(),
        max_lane_count: args.max_lanes.map(|lanes| narrow("--max-lanes", lanes)).transpose()?,
        seed: args.seed,
    })
}
