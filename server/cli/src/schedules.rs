//! `offbeat schedules check` and `offbeat schedules export`

use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use offbeat_core::{Catalog, Meanings, Schedule, ScheduleName};
use serde::Serialize;

use super::Failure;
use super::input::read_bounded;
use super::output::{Row, RowFormat, RowWriter};
use offbeat_proto::descriptors;
use offbeat_proto::json::to_value;
use offbeat_service::api::all_listed;
use offbeat_service::limits::SCHEDULE_FILE_BYTES;
use offbeat_text::schedules::parse;

/// Exit status if the file is refused.
const EXIT_REFUSED: u8 = 2;

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The file of schedules
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The older file: no version in it may have changed its meaning
    #[arg(long, value_name = "OLDFILE")]
    against: Option<PathBuf>,

    /// How to write the schedules
    #[arg(long, value_enum, default_value_t = RowFormat::Table)]
    format: RowFormat,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The file of schedules
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, Serialize)]
struct ScheduleRow {
    schedule: String,
    fingerprint: String,
    period: String,
    slot_count: u32,
    placement: &'static str,
}

impl Row for ScheduleRow {
    const COLUMNS: &'static [(&'static str, isize)] =
        &[("SCHEDULE", 20), ("PERIOD", 22), ("SLOTS", -7), ("PLACEMENT", 9), ("FINGERPRINT", 64)];

    fn cells(&self) -> Vec<String> {
        let Self { schedule, fingerprint, period, slot_count, placement } = self;
        let (slots, placement) = (slot_count.to_string(), (*placement).to_owned());
        vec![schedule.clone(), period.clone(), slots, placement, fingerprint.clone()]
    }
}

/// Writes the answer that `ListSchedules` would give, with sorted keys: the same schedules make the
/// same bytes.
pub(super) fn export(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let contents = read_bounded(SCHEDULE_FILE_BYTES, &args.file)?;
    let catalog = match parse(&contents) {
        Ok(catalog) => catalog,
        Err(refused) => return refuse(&refused.in_file(&args.file)),
    };
    let listed = all_listed(&catalog);
    let descriptor = descriptors::message("offbeat.v1.ListSchedulesResponse");
    let value =
        descriptor.and_then(|known| to_value(known, &prost::Message::encode_to_vec(&listed)));
    let mut out = BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, &value)?;
    writeln!(out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn refuse(refused: &str) -> Result<ExitCode, Failure> {
    let _ = writeln!(io::stderr(), "offbeat: {refused}"); // a closed standard error changes nothing
    Ok(EXIT_REFUSED.into())
}

pub(super) fn check(args: &CheckArgs) -> Result<ExitCode, Failure> {
    match checked(args)? {
        Ok(catalog) => {
            let mut rows = RowWriter::new(args.format, BufWriter::new(io::stdout().lock()));
            for (name, schedule) in catalog.iter() {
                rows.write(&row(name, schedule))?;
            }
            rows.flush()?;
            Ok(ExitCode::SUCCESS)
        }
        Err(refused) => refuse(&refused),
    }
}

/// The schedules of the file, or why it is refused; a file that cannot be read at all fails.
fn checked(args: &CheckArgs) -> Result<Result<Catalog, String>, Failure> {
    let read = |path: &PathBuf| {
        let contents = read_bounded(SCHEDULE_FILE_BYTES, path)?;
        Ok::<_, Failure>(parse(&contents).map_err(|refused| refused.in_file(path)))
    };
    let new = match read(&args.file)? {
        Ok(catalog) => catalog,
        Err(refused) => return Ok(Err(refused)),
    };
    let Some(against) = &args.against else { return Ok(Ok(new)) };
    let old = match read(against)? {
        Ok(catalog) => catalog,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut meanings = Meanings::default();
    let learned = meanings.learn(&old).and_then(|()| meanings.learn(&new));
    if let Err(refused) = learned {
        return Ok(Err(format!("{}: schedule {refused}", args.file.display())));
    }
    for (name, _) in old.iter().filter(|(name, _)| new.get(name).is_err()) {
        let _ = writeln!(
            io::stderr(),
            "offbeat: {name} is removed: requests that name it will be refused"
        );
    }
    Ok(Ok(new))
}

fn row(name: &ScheduleName, schedule: &Schedule) -> ScheduleRow {
    ScheduleRow {
        schedule: name.to_string(),
        fingerprint: schedule.fingerprint(),
        period: schedule.calendar().map_or_else(
            || schedule.period().to_string(),
            |(unit, zone)| format!("{} {zone}", unit.name()),
        ),
        slot_count: schedule.slot_count(),
        placement: schedule.placement().kind().name(),
    }
}
