//! `offbeat slots assign`

use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Args;
use offbeat_core::limits::SEARCHED_CYCLES;
use offbeat_core::rejection::shorten;
use offbeat_core::timetable::Runs;
use offbeat_core::{Moment, Reason, Rejection, Schedule, Span};
use serde::Serialize;

use super::Failure;
use super::input::{IdType, Line, for_each_line};
use super::output::{Row, RowFormat, RowWriter};
use super::schedule::{ScheduleArgs, parse_moment};
use crate::clock;

#[derive(Debug, Args)]
pub(super) struct AssignArgs {
    /// The IDs; without any, they are read from standard input, one a line, as they are: blank
    /// lines and spaces too. IDs that begin with a hyphen and are no integers go after `--`
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,

    /// What the IDs are
    #[arg(long, value_enum, default_value_t = IdType::Auto)]
    id_type: IdType,

    /// Runs at or after this instant are next, as RFC 3339 [default: now]
    #[arg(long, value_name = "INSTANT", value_parser = parse_moment)]
    from: Option<Moment>,

    /// Name of the kind of job, part of the run keys; changes neither slot nor time
    #[arg(long, value_name = "NAME", default_value = "default")]
    kind: String,

    /// How to write the assignments; offsets are spans in a table, else numbers of ticks
    #[arg(long, value_enum, default_value_t = RowFormat::Table)]
    format: RowFormat,

    #[command(flatten)]
    schedule: ScheduleArgs,
}

/// Offsets are in ticks: whole seconds, unless the resolution is finer.
#[derive(Debug, Serialize)]
struct Assignment<'a> {
    id: &'a str,
    slot_index: u32,
    slot_offset: u64,
    cycle_offset: u64,
    cycle_index: i64,
    next_run_time: String,
    run_key: Option<String>,
    /// When it would run but for an exclusion; empty, if that is the same.
    regular_time: String,
    #[serde(skip)]
    tick: Span,
}

impl Row for Assignment<'_> {
    const COLUMNS: &'static [(&'static str, isize)] =
        &[("ID", 36), ("SLOT", -7), ("SLOT OFFSET", -12), ("CYCLE OFFSET", -12), ("NEXT RUN", 20)];

    fn cells(&self) -> Vec<String> {
        vec![
            shorten(self.id),
            self.slot_index.to_string(),
            self.tick.times(self.slot_offset).to_string(),
            self.tick.times(self.cycle_offset).to_string(),
            self.next_run_time.clone(),
        ]
    }
}

pub(super) fn run(args: &AssignArgs) -> Result<ExitCode, Failure> {
    let schedule = args.schedule.schedule()?;
    let runs = schedule.runs_from(args.from.unwrap_or_else(clock::now), 1)?;
    let assigner = Assigner {
        schedule: &schedule,
        runs,
        id_type: args.id_type,
        run_key_prefix: schedule.run_key_prefix(&args.kind)?,
    };
    if args.ids.is_empty() && io::stdin().is_terminal() {
        let _ = writeln!(io::stderr(), "offbeat: reading IDs, one a line, until Ctrl-D");
    }
    let mut rows = RowWriter::new(args.format, BufWriter::new(io::stdout().lock()));
    let mut bad = 0u64;
    let mut visit = |place: &str, number: u64, line: Line<'_>| -> Result<(), Failure> {
        let refused = match line {
            Line::Text(text) => match assigner.assign(text) {
                Ok(assignment) => return rows.write(&assignment),
                Err(rejection) => rejection,
            },
            Line::Bad(rejection) => rejection,
        };
        bad += 1;
        let Rejection { value, allowed, .. } = refused;
        let _ = writeln!(io::stderr(), "offbeat: {place} {number}: {value} is refused: {allowed}");
        Ok(())
    };
    if args.ids.is_empty() {
        for_each_line(io::stdin().lock(), |number, line| visit("line", number, line))?;
    } else {
        for (number, id) in (1..).zip(&args.ids) {
            visit("argument", number, Line::Text(id))?;
        }
    }
    rows.flush()?;
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Assigner<'a> {
    schedule: &'a Schedule,
    runs: Runs<'a>,
    id_type: IdType,
    run_key_prefix: String,
}

impl Assigner<'_> {
    fn assign<'t>(&self, text: &'t str) -> Result<Assignment<'t>, Rejection> {
        let id = self.id_type.read(text, self.schedule.placement().kind())?;
        let place = self.schedule.place(&id)?;
        let time = |millis| {
            Moment::from_unix_millis(millis).map_or_else(String::new, |time| time.to_string())
        };
        let next = self.runs.next_run(&place).ok_or_else(|| {
            let cycles = SEARCHED_CYCLES.maximum;
            let allowed = format!("exclusions skip each of its runs for {cycles} cycles");
            Rejection::new(Reason::NoRun, "", shorten(text), allowed)
        })?;
        let place = self.schedule.place_in(&place, next.cycle_index);
        Ok(Assignment {
            id: text,
            slot_index: place.slot,
            slot_offset: place.slot_offset,
            cycle_offset: place.cycle_offset,
            cycle_index: next.cycle_index,
            next_run_time: time(next.unix_millis),
            regular_time: match next.regular_unix_millis {
                regular if regular == next.unix_millis => String::new(),
                regular => time(regular),
            },
            run_key: next.key(&self.run_key_prefix, &id),
            tick: self.schedule.resolution(),
        })
    }
}
