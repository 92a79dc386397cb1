//! `offbeat slots due`

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use offbeat_core::limits::DEFAULT_DUE_RUNS;
use offbeat_core::rejection::shorten;
use offbeat_core::runs::{Due, DueRuns, DueSpec, MissedRunPolicy, run_id};
use offbeat_core::{Moment, Run, Span};
use serde::Serialize;

use super::Failure;
use super::ids::{IdArgs, IdInput};
use super::kinds::KindArg;
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
    #[arg(id = "horizon", long = "horizon", value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    horizon: Option<Span>,

    /// Smear missed runs over this span, which begins now; not with kinds, which have a
    /// --catch-up-span [default: 0s, all at once]
    #[arg(id = "smear_span", long = "smear", value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    smear: Option<Span>,

    /// How far the watermark may be ahead of now [default: 60s, or one cycle]
    #[arg(id = "max_clock_skew", long = "skew", value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    skew: Option<Span>,

    /// List runs that start within this span after now, too [default: 0s]
    #[arg(long, value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    look_ahead: Option<Span>,

    /// Leave out a missed run that would start after the next run of its ID, or within this span before
    /// it [default: 0s]
    #[arg(long, value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    min_gap: Option<Span>,

    #[command(flatten)]
    kind: KindArg,

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
    Drop,
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
    run_id: Option<String>,
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
    let schedule = args.schedule.schedule_of_kind(args.kind.given())?;
    let spec = DueSpec {
        now_time: args.now.unwrap_or_else(clock::now),
        missed_run_policy: match args.missed {
            PolicyArg::Drop => MissedRunPolicy::Drop,
            PolicyArg::RunOnce => MissedRunPolicy::RunOnce,
            PolicyArg::RunAll => MissedRunPolicy::RunAll,
        },
        on_time_tolerance: args.tolerance,
        horizon: args.horizon,
        smear_span: args.smear,
        max_clock_skew: args.skew,
        look_ahead: args.look_ahead,
        min_gap: args.min_gap,
    };
    let due = Due::try_new(&schedule, &spec)?;
    let watermark = due
        .check_watermark(args.watermark.unix_millis_ceil())
        .map_err(|refused| refused.under("watermark"))?;
    let prefix = schedule.run_key_prefix(args.kind.label())?;
    let mut out = RowWriter::new(args.format, BufWriter::new(io::stdout().lock()));
    let (mut late, mut dropped, mut superseded, mut skipped) = (0, 0, 0, 0);
    let mut next_due: Option<i64> = None;
    // Runs of an ID that has too many are not listed: the watermark must not pass them.
    let mut is_whole = true;
    let visit = |given: IdInput<'_>| {
        let IdInput { text, id, weight } = given;
        let placed = schedule.place(&id).and_then(|place| {
            let pieces = weight.map_or(Ok(1), |weight| schedule.piece_count(weight))?;
            Ok((place, pieces))
        });
        let (place, pieces) = match placed {
            Ok(placed) => placed,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let mut first_row = Some(0);
        while let Some(row) = first_row {
            let page = DueRuns::page(row, DEFAULT_DUE_RUNS).and_then(|mut page| {
                for piece in 0..pieces {
                    let place = schedule.piece(&place, piece);
                    due.add(&mut page, (0, piece), &id, &place, watermark);
                }
                page.complete()
            });
            let runs = match page {
                Ok(runs) => runs,
                Err(rejection) => {
                    is_whole = false;
                    return Ok(Err(rejection));
                }
            };
            first_row = runs.next_row();
            if first_row.is_none() {
                late += runs.late;
                dropped += runs.dropped;
                superseded += runs.superseded;
                skipped += runs.skipped;
                next_due = next_due.into_iter().chain(runs.next_due).min();
            }
            let times = runs.scheduled_unix_millis.iter().zip(&runs.start_unix_millis);
            let which = runs.piece_indexes.iter().zip(&runs.cycle_indexes);
            for ((piece, cycle), (scheduled, start)) in which.zip(times) {
                let run = Run {
                    cycle_index: *cycle,
                    unix_millis: *scheduled,
                    regular_unix_millis: *scheduled,
                };
                let run_key = run.key_of_piece(&prefix, *piece, &id);
                out.write(&DueRow {
                    id: text,
                    piece_index: *piece,
                    cycle_index: *cycle,
                    scheduled_time: instant(*scheduled),
                    start_time: instant(*start),
                    run_id: run_key.as_deref().map(run_id),
                    run_key,
                })?;
            }
        }
        Ok(Ok(()))
    };
    let bad = args.ids.each(schedule.placement().kind(), visit)?;
    out.flush()?;
    // On standard error, since the rows may be CSV.
    let next = instant(if is_whole { due.next_watermark(watermark) } else { watermark });
    let ahead = next_due.map_or_else(String::new, |next| format!("; next run {}", instant(next)));
    writeln!(
        io::stderr(),
        "next watermark {next}; {late} late runs, {dropped} dropped, {superseded} superseded, \
         {skipped} skipped{ahead}"
    )?;
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// An instant as text.
pub(super) fn instant(unix_millis: i64) -> String {
    Moment::from_unix_millis(unix_millis)
        .map_or_else(|| format!("{unix_millis} ms"), |time| time.to_string())
}
