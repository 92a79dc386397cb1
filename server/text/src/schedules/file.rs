//! A file of schedules: TOML, a table for each version.
//!
//! ```toml
//! [[schedule]]
//! name = "bank-sync"
//! version = 1
//! period = "8h"
//! slot_count = 96
//! kinds = ["import", { name = "export" }]
//!
//! [[schedule]]
//! name = "reports"
//! version = 1
//! calendar = { unit = "day", time_zone = "Europe/Berlin" }
//! active_windows = ["01:00-05:00"]
//! exclusions = ["2026-12-24T00:00:00Z/2026-12-27T00:00:00Z skip", "03:00-03:30"]
//! ```

use std::fmt;
use std::path::Path;

use offbeat_core::limits::{NAMED_SCHEDULES, PERIOD};
use offbeat_core::reciprocal::Spacing;
use offbeat_core::{
    Catalog, CycleSpec, PlacementKind, Profile, Reason, Rejection, Schedule, ScheduleName,
    ScheduleSpec,
};
use toml::de::DeTable;

use super::fields::{
    Fields, LocatedRejection, calendar, exclusions, integer, kinds, moment, pairs, span, tables,
    text, windows, word,
};
use crate::CycleText;

/// The words of placements and profiles, as on the command line.
const PLACEMENTS: [(&str, PlacementKind); 3] = [
    ("hash", PlacementKind::Hash),
    ("twister", PlacementKind::Twister),
    ("fraction", PlacementKind::Fraction),
];
const PROFILES: [(&str, Profile); 4] = [
    ("ruby", Profile::Ruby),
    ("ruby-3.0-3.1", Profile::Ruby30To31),
    ("python", Profile::Python),
    ("php", Profile::Php),
];

const SPACINGS: [(&str, Spacing); 2] = [("even", Spacing::Even), ("stable", Spacing::Stable)];

/// Why a file is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRefusal {
    /// The line, from 1.
    pub line: usize,
    /// `name/version` of the schedule, where that is known.
    pub schedule: Option<String>,
    /// The refusal; its field is one of the schedule.
    pub rejection: Rejection,
}

impl FileRefusal {
    /// The refusal as one line that names the file.
    #[must_use]
    pub fn in_file(&self, path: &Path) -> String {
        format!("{}:{self}", path.display())
    }
}

/// `7: schedule bank-sync/1: slot_count: 7 is refused: …`
impl fmt::Display for FileRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, schedule, rejection } = self;
        match schedule {
            Some(schedule) => write!(f, "{line}: schedule {schedule}: {rejection}"),
            None => write!(f, "{line}: {rejection}"),
        }
    }
}

/// Reads the schedules of a file.
///
/// # Errors
/// When it is no TOML of this form, holds no schedule or too many, one of them twice, or one that
/// is refused.
pub fn parse(text: &[u8]) -> Result<Catalog, FileRefusal> {
    let malformed = |line, value: &str, allowed: String| FileRefusal {
        line,
        schedule: None,
        rejection: Rejection::new(Reason::Malformed, "file", value, allowed),
    };
    let text = std::str::from_utf8(text).map_err(|error| {
        let read = text.iter().take(error.valid_up_to());
        let line = 1 + read.filter(|byte| **byte == b'\n').count();
        malformed(line, "bytes that are no text", "must be UTF-8".to_owned())
    })?;
    let line = |offset: usize| 1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
    let file = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let allowed = format!("must be TOML: {}", error.message());
        malformed(line(offset), "a text that cannot be read", allowed)
    })?;
    let at = |schedule: Option<&ScheduleName>, misplaced: LocatedRejection| FileRefusal {
        line: line(misplaced.offset),
        schedule: schedule.map(ToString::to_string),
        rejection: misplaced.rejection,
    };
    let mut catalog = Catalog::default();
    for (offset, table) in listed(file.into_inner()).map_err(|misplaced| at(None, misplaced))? {
        let mut fields = Fields::of(offset, table);
        let name = name(&mut fields).map_err(|misplaced| at(None, misplaced))?;
        let schedule = schedule(&mut fields).map_err(|misplaced| at(Some(&name), misplaced))?;
        let added = catalog.add(name.clone(), schedule);
        added.map_err(|rejection| at(Some(&name), fields.misplaced(rejection)))?;
    }
    Ok(catalog)
}

/// The tables of the schedules; the file holds nothing else.
fn listed(mut file: DeTable<'_>) -> Result<Vec<(usize, DeTable<'_>)>, LocatedRejection> {
    let found = file.remove("schedule").map(tables).transpose()?.unwrap_or_default();
    if let Some((key, _)) = file.iter().next() {
        let value = format_args!("{:?}", key.get_ref());
        let allowed = "must be schedule: tables, each below a line [[schedule]]";
        let rejection = Rejection::new(Reason::Malformed, "an unknown field", value, allowed);
        return Err(LocatedRejection { offset: key.span().start, rejection });
    }
    if found.is_empty() {
        let allowed = format!("must be {NAMED_SCHEDULES}, each below a line [[schedule]]");
        let rejection = Rejection::new(Reason::FieldMissing, "schedule", "nothing", allowed);
        return Err(LocatedRejection { offset: 0, rejection });
    }
    Ok(found)
}

fn name(fields: &mut Fields<'_>) -> Result<ScheduleName, LocatedRejection> {
    let name = fields
        .need("name", "what callers call the schedule", |value| Ok(text(value)?.to_owned()))?;
    let version = fields.need("version", "must be 1 to 1000000", integer)?;
    ScheduleName::try_new(&name, version).map_err(|rejection| fields.misplaced(rejection))
}

/// Takes `period`, or `calendar`, but not both.
fn cycle(fields: &mut Fields<'_>) -> Result<CycleSpec, LocatedRejection> {
    let Some(calendar) = fields.take("calendar", calendar)? else {
        let period =
            format!("must be {PERIOD}, such as \"8h\"; or calendar, with unit and time_zone");
        return fields.need("period", &period, span).map(CycleSpec::Period);
    };
    if let Some(period) = fields.take("period", span)? {
        let allowed = "must not be set together with calendar";
        let rejection = Rejection::new(Reason::Contradictory, "period", period, allowed);
        return Err(fields.misplaced(rejection));
    }
    Ok(CycleSpec::Calendar(calendar))
}

/// Takes the fields of a schedule: those of `ScheduleSpec`, under the same names.
fn schedule(fields: &mut Fields<'_>) -> Result<Schedule, LocatedRejection> {
    let cycle = cycle(fields)?;
    let zone = match &cycle {
        CycleSpec::Period(_) => None,
        CycleSpec::Calendar(calendar) => Some(calendar.time_zone.clone()),
    };
    let text_of = CycleText::of(&cycle);
    let spec = ScheduleSpec {
        cycle,
        resolution: fields.take("resolution", span)?,
        anchor_time: fields.take("anchor_time", moment)?,
        slot_count: fields.take("slot_count", integer)?,
        placement: fields.take("placement", |value| word(value, &PLACEMENTS))?.unwrap_or_default(),
        bucket_count: fields.take("bucket_count", integer)?,
        profile: fields.take("profile", |value| word(value, &PROFILES))?,
        salt: fields.take("salt", |value| Ok(text(value)?.to_owned()))?.unwrap_or_default(),
        weight_quantum: fields.take("weight_quantum", integer)?,
        active_windows: fields
            .take("active_windows", |value| windows(value, text_of))?
            .unwrap_or_default(),
        exclusions: fields
            .take("exclusions", |value| exclusions(value, zone.as_deref()))?
            .unwrap_or_default(),
        kinds: fields.take("kinds", kinds)?.unwrap_or_default(),
        kind_spacing: fields
            .take("kind_spacing", |value| word(value, &SPACINGS))?
            .unwrap_or_default(),
        kind_conflicts: fields.take("kind_conflicts", pairs)?.unwrap_or_default(),
        catch_up_span: fields.take("catch_up_span", span)?,
    };
    fields.end()?;
    Schedule::try_new(&spec).map_err(|rejection| fields.misplaced(rejection))
}
