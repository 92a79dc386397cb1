//! `offbeat slots due`

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use offbeat_core::rejection::shorten;
use offbeat_core::runs::Run;
use offbeat_core::runs::{Due, DueRuns, DueSpec, MissedRunPolicy};
use offbeat_core::{Moment, Span};
use serde::Serialize;

use super::Failure;
use super::ids::{Given, IdArgs};
use super::output::{Row, RowFormat, RowWriter};
use super::schedule::{ScheduleArgs, parse_moment, parse_span};
use offbeat_service::clock;

#[derive(Debug, Args)]
pub(super) struct DueArgs {
    #[command(flatten)]
    ids: IdArgs,

    /// Leave out runs before this instant (RFC 3339): the next watermark that the last call printed, or
    /// at the first call the instant at which the IDs begin
    #[arg(long, value_name = "INSTANT", value_parser = parse_moment)]
    watermark: Moment,

    /// List runs before this instant (RFC 3339) [default: now]
    #[arg(long, value_name = "INSTANT", value_parser = parse_moment)]
    now: Option<Moment>,

    /// What happens to missed runs
    #[arg(long, value_enum, default_value_t = PolicyArg::RunOnce)]
    missed: PolicyArg,

    /// How late a run may be and still be on time [default: 60s, or one cycle]
    #[arg(id = "on_time_tolerance", long = "tolerance", value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    tolerance: Option<Span>,

    /// Drop runs that were missed by more than this span [default: one cycle]
    #[arg(id = "catch_up_horizon", long = "horizon", value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    horizon: Option<Span>,

    /// Smear missed runs over this span, which begins now [default: 0s, all at once]
    #[arg(id = "smear_span", long = "smear", value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    smear: Option<Span>,

    /// How far the watermark may be ahead of now [default: 60s, or one cycle]
    #[arg(id = "max_clock_skew", long = "skew", value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    skew: Option<Span>,

    /// The name of the kind of job, a part of the run keys
    #[arg(long, value_name = "NAME", default_value = "default")]
    kind: String,

    /// How to write the runs
    #[arg(long, value_enum, default_value_t = RowFormat::Table)]
    format: RowFormat,

    #[command(flatten)]
    schedule: ScheduleArgs,
}

/// What becomes of missed runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyArg {
    /// None of them runs
    Skip,
    /// The latest of each ID runs, unless a run that is on time does
    RunOnce,
    /// All of them run
    RunAll,
}

#[derive(Debug, Serialize)]
struct DueRow<'a> {
    id: &'a str,
    piece_index: u32,
    cycle_index: i64,
    scheduled_time: String,
    start_time: String,
    run_key: Option<String>,
}

impl Row for DueRow<'_> {
    const COLUMNS: &'static [(&'static str, isize)] =
        &[("ID", 36), ("PIECE", -5), ("CYCLE", -9), ("SCHEDULED", 24), ("START", 24)];

    fn cells(&self) -> Vec<String> {
        vec![
            shorten(self.id),
            self.piece_index.to_string(),
            self.cycle_index.to_string(),
            self.scheduled_time.clone(),
            self.start_time.clone(),
        ]
    }
}

pub(super) fn run(args: &DueArgs) -> Result<ExitCode, Failure> {
    let schedule = args.schedule.schedule()?;
    let spec = DueSpec {
        now_time: args.now.unwrap_or_else(clock::now),
        missed_run_policy: match args.missed {
            PolicyArg::Skip => MissedRunPolicy::Skip,
            PolicyArg::RunOnce => MissedRunPolicy::RunOnce,
            PolicyArg::RunAll => MissedRunPolicy::RunAll,
        },
        on_time_tolerance: args.tolerance,
        catch_up_horizon: args.horizon,
        smear_span: args.smear,
        max_clock_skew: args.skew,
    };
    let due = Due::try_new(&schedule, &spec)?;
    let watermark = due
        .check_watermark(args.watermark.unix_millis_ceil())
        .map_err(|refused| refused.under("watermark"))?;
    let prefix = schedule.run_key_prefix(&args.kind)?;
    let mut out = RowWriter::new(args.format, BufWriter::new(io::stdout().lock()));
    let (mut late, mut dropped) = (0, 0);
    let visit = |given: Given<'_>| {
        let Given { text, id, weight } = given;
        let mut runs = DueRuns::default();
        let listed = schedule.place(&id).and_then(|place| {
            let pieces = weight.map_or(Ok(1), |weight| schedule.piece_count(weight))?;
            for piece in 0..pieces {
                let place = schedule.piece(&place, piece);
                due.add(&mut runs, (0, piece), &id, &place, watermark);
            }
            runs.within_limit()
        });
        let runs = match listed {
            Ok(runs) => runs,
            Err(rejection) => return Ok(Err(rejection)),
        };
        late += runs.late;
        dropped += runs.dropped;
        let times = runs.scheduled_unix_millis.iter().zip(&runs.start_unix_millis);
        let which = runs.piece_indexes.iter().zip(&runs.cycle_indexes);
        for ((piece, cycle), (scheduled, start)) in which.zip(times) {
            let run = Run {
                cycle_index: *cycle,
                unix_millis: *scheduled,
                regular_unix_millis: *scheduled,
            };
            out.write(&DueRow {
                id: text,
                piece_index: *piece,
                cycle_index: *cycle,
                scheduled_time: instant(*scheduled),
                start_time: instant(*start),
                run_key: run.key_of_piece(&prefix, *piece, &id),
            })?;
        }
        Ok(Ok(()))
    };
    let bad = args.ids.each(schedule.placement().kind(), visit)?;
    out.flush()?;
    // Not among the rows, which may be CSV.
    let next = instant(due.next_watermark(watermark));
    writeln!(io::stderr(), "next watermark {next}; {late} late runs, {dropped} dropped")?;
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// An instant in words.
pub(super) fn instant(unix_millis: i64) -> String {
    Moment::from_unix_millis(unix_millis)
        .map_or_else(|| format!("{unix_millis} ms"), |time| time.to_string())
}
