//! Schedules of a file, named on the command line.

use std::path::{Path, PathBuf};

use clap::Args;
use offbeat_core::{Catalog, Rejection, Schedule, ScheduleName};

use super::Failure;
use super::input::read_bounded;
use offbeat_service::limits::SCHEDULE_FILE_BYTES;
use offbeat_text::schedules::parse;

#[derive(Debug, Args)]
#[command(next_help_heading = "Schedule")]
pub(super) struct NamedArgs {
    /// A file of schedules (TOML), as the server loads it; --schedule names one of them
    // clap does not check `requires = "cycle"` beside an argument that excludes a cycle.
    #[arg(
        long,
        value_name = "FILE",
        requires = "schedule",
        conflicts_with_all = [
            "cycle", "slot_count", "placement", "profile", "bucket_count", "salt", "resolution",
            "anchor_time", "weight_quantum", "time_zone", "active_windows", "exclusions",
            "kinds", "catch_up_span",
        ]
    )]
    pub(super) schedules: Option<PathBuf>,

    /// The schedule of --schedules; its run keys are those of the server
    #[arg(long, value_name = "NAME/VERSION", requires = "schedules", value_parser = parse_name)]
    pub(super) schedule: Option<ScheduleName>,
}

impl NamedArgs {
    /// The schedule that is named, if one is.
    pub(super) fn schedule(&self) -> Result<Option<Schedule>, Failure> {
        let Some((path, name)) = self.schedules.as_deref().zip(self.schedule.as_ref()) else {
            return Ok(None);
        };
        let catalog = read(path)?;
        Ok(Some(find(&catalog, "--schedule", name)?))
    }
}

/// The schedules of a file.
pub(super) fn read(path: &Path) -> Result<Catalog, Failure> {
    let contents = read_bounded(SCHEDULE_FILE_BYTES, path)?;
    parse(&contents).map_err(|refused| Failure::Usage(refused.in_file(path)))
}

/// A schedule of a file, by the name that a flag gives.
pub(super) fn find(
    catalog: &Catalog,
    flag: &str,
    name: &ScheduleName,
) -> Result<Schedule, Rejection> {
    let found = catalog.get(name).map_err(|refused| refused.under(flag))?;
    Ok(Schedule::clone(found))
}

/// Reads `name/version`.
pub(super) fn parse_name(text: &str) -> Result<ScheduleName, String> {
    ScheduleName::parse(text).map_err(|refused| match refused.field.as_str() {
        "" => refused.allowed,
        field => format!("{field} {}", refused.allowed),
    })
}
