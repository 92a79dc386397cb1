//! `offbeat slots list`

use std::io::{self, BufWriter};
use std::process::ExitCode;

use clap::Args;
use offbeat_core::{Moment, Slot};
use serde::Serialize;

use super::Failure;
use super::output::{Row, RowFormat, RowWriter};
use super::schedule::{ScheduleArgs, parse_moment};
use offbeat_service::clock;

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// List slots that start at or after this instant (RFC 3339); a slot that has started before it
    /// is left out [default: now]
    #[arg(id = "start_time", long = "start", alias = "from", value_name = "INSTANT", value_parser = parse_moment)]
    start: Option<Moment>,

    /// List slots that start before this instant (RFC 3339) [default: one cycle after --start]
    #[arg(id = "end_time", long = "end", value_name = "INSTANT", value_parser = parse_moment)]
    end: Option<Moment>,

    /// How to write the slots
    #[arg(long, value_enum, default_value_t = RowFormat::Table)]
    format: RowFormat,

    #[command(flatten)]
    schedule: ScheduleArgs,
}

#[derive(Debug, Serialize)]
struct SlotRow {
    slot_index: u32,
    cycle_index: i64,
    start_time: String,
    end_time: String,
}

impl From<&Slot> for SlotRow {
    fn from(slot: &Slot) -> Self {
        Self {
            slot_index: slot.index,
            cycle_index: slot.cycle_index,
            start_time: slot.start.to_string(),
            end_time: slot.end.to_string(),
        }
    }
}

impl Row for SlotRow {
    const COLUMNS: &'static [(&'static str, isize)] =
        &[("SLOT", -7), ("CYCLE", -12), ("START", 24), ("END", 24)];

    fn cells(&self) -> Vec<String> {
        let Self { slot_index, cycle_index, start_time, end_time } = self;
        vec![slot_index.to_string(), cycle_index.to_string(), start_time.clone(), end_time.clone()]
    }
}

pub(super) fn run(args: &ListArgs) -> Result<ExitCode, Failure> {
    let schedule = args.schedule.schedule()?;
    let start = args.start.unwrap_or_else(clock::now);
    let slots = match args.end {
        Some(end) => schedule.slots_starting_in(start, end)?,
        None => schedule.slots_of_a_period_from(start)?,
    };
    let mut rows = RowWriter::new(args.format, BufWriter::new(io::stdout().lock()));
    for slot in &slots {
        rows.write(&SlotRow::from(slot))?;
    }
    rows.flush()?;
    Ok(ExitCode::SUCCESS)
}
