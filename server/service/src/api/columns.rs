//! Batches: a column of IDs in, columns of assignments out.

use offbeat_core::limits::{BATCH_IDS, DETAILED_ERRORS, SEARCHED_CYCLES};
use offbeat_core::rejection::shorten;
use offbeat_core::runs::Runs;
use offbeat_core::runs::{AssignmentColumns, ColumnSelection, PackedIds};
use offbeat_core::{Id, Place, Reason, Rejection, Run, Schedule, WorkBudgetExhausted};

use super::convert::{self, Column, Ids, ZoneColumn};
use super::weights::Pieces;
use crate::limits::MASK_PATHS;
use offbeat_proto as proto;

/// The value in the row of a refused ID, and of an ID without a last run.
pub(super) const REFUSED: i64 = -1;
const UUID_BYTES: usize = 16;

impl Column {
    /// Number of IDs in the column.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Refuses a column that is too long, or whose last packed UUID is incomplete.
    pub(super) fn check(&self) -> Result<(), Rejection> {
        self.ids.check()
    }

    /// Calls `each` with the place of each ID, in order; places are the same in every zone.
    pub(super) fn place_all(
        &self,
        schedule: &Schedule,
        each: &mut dyn FnMut(Result<Place, Rejection>),
    ) {
        self.ids.place_all(schedule, each);
    }

    /// Reads the ID in `row` again.
    pub(super) fn id(&self, row: usize) -> Result<Id<'_>, Rejection> {
        self.ids.id(row)
    }
}

impl Ids {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::UuidBytes(_) => "packed_uuids",
            Self::Uuids(_) => "uuids",
            Self::Integers(_) => "integers",
            Self::Decimals(_) => "decimals",
            Self::Texts(_) => "texts",
            Self::Fractions(_) => "fractions",
        }
    }

    /// Number of IDs in the column.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::UuidBytes(bytes) => bytes.len().div_ceil(UUID_BYTES),
            Self::Uuids(texts) | Self::Decimals(texts) | Self::Texts(texts) => texts.len(),
            Self::Integers(integers) => integers.len(),
            Self::Fractions(fractions) => fractions.len(),
        }
    }

    /// The IDs as one packed slice, if their type has a fixed size.
    pub(super) fn packed(&self) -> Option<PackedIds<'_>> {
        match self {
            Self::UuidBytes(bytes) => Some(PackedIds::Uuids(bytes.as_chunks().0)),
            Self::Integers(integers) => Some(PackedIds::Integers(integers)),
            Self::Uuids(_) | Self::Decimals(_) | Self::Texts(_) | Self::Fractions(_) => None,
        }
    }

    /// Refuses a column that is too long, or whose last packed UUID is incomplete.
    pub(super) fn check(&self) -> Result<(), Rejection> {
        let field = || format!("ids.{}", self.name());
        if let Self::UuidBytes(bytes) = self
            && !bytes.len().is_multiple_of(UUID_BYTES)
        {
            let value = format_args!("{} bytes", bytes.len());
            let allowed = "must be a multiple of 16 bytes, UUIDs end to end";
            return Err(Rejection::new(Reason::Malformed, field(), value, allowed));
        }
        if self.len() > BATCH_IDS.max_size() {
            let value = format_args!("{} IDs", self.len());
            let allowed =
                format!("must be {BATCH_IDS}: split the batch, or use StreamSlotAssignments");
            return Err(Rejection::new(Reason::OutOfRange, field(), value, allowed));
        }
        Ok(())
    }

    /// Calls `each` with the place of each ID, in order.
    pub(super) fn place_all(
        &self,
        schedule: &Schedule,
        each: &mut dyn FnMut(Result<Place, Rejection>),
    ) {
        match self {
            Self::UuidBytes(bytes) => {
                schedule.place_all(bytes.chunks(UUID_BYTES).map(Id::uuid_bytes), each);
            }
            Self::Uuids(texts) => {
                schedule.place_all(texts.iter().map(|text| Id::uuid(text)), each);
            }
            Self::Integers(integers) => {
                let ids = integers.iter().map(|integer| Ok(Id::Integer((*integer).into())));
                schedule.place_all(ids, each);
            }
            Self::Decimals(texts) => {
                schedule.place_all(texts.iter().map(|text| Id::decimal(text)), each);
            }
            Self::Texts(texts) => {
                schedule.place_all(texts.iter().map(|text| Id::text(text)), each);
            }
            Self::Fractions(fractions) => {
                schedule.place_all(fractions.iter().map(|fraction| Id::fraction(*fraction)), each);
            }
        }
    }

    /// Reads the ID in `row` again.
    pub(super) fn id(&self, row: usize) -> Result<Id<'_>, Rejection> {
        let id = match self {
            Self::UuidBytes(bytes) => bytes.chunks(UUID_BYTES).nth(row).map(Id::uuid_bytes),
            Self::Uuids(texts) => texts.get(row).map(|text| Id::uuid(text)),
            Self::Integers(integers) => {
                integers.get(row).map(|integer| Ok(Id::Integer((*integer).into())))
            }
            Self::Decimals(texts) => texts.get(row).map(|text| Id::decimal(text)),
            Self::Texts(texts) => texts.get(row).map(|text| Id::text(text)),
            Self::Fractions(fractions) => {
                fractions.get(row).map(|fraction| Id::fraction(*fraction))
            }
        };
        id.unwrap_or_else(|| Err(Rejection::new(Reason::FieldMissing, "", "nothing", "an ID")))
    }
}

/// The columns that a mask names. Without a mask, or with an empty one: all but last runs.
pub(super) fn wanted(mask: Option<prost_types::FieldMask>) -> Result<ColumnSelection, Rejection> {
    let paths = mask.map(|mask| mask.paths).unwrap_or_default();
    if paths.is_empty() {
        return Ok(ColumnSelection::ALL);
    }
    if paths.len() > MASK_PATHS.max_size() {
        let value = format_args!("{} paths", paths.len());
        let allowed = format!("must be {MASK_PATHS}");
        return Err(Rejection::new(Reason::OutOfRange, "read_mask.paths", value, allowed));
    }
    let mut wanted = ColumnSelection::NONE;
    for (place, path) in paths.iter().enumerate() {
        let column = match path.as_str() {
            "slot_indexes" => &mut wanted.slots,
            "slot_offset_ticks" => &mut wanted.slot_offsets,
            "cycle_offset_ticks" => &mut wanted.cycle_offsets,
            "cycle_indexes" => &mut wanted.cycle_indexes,
            "next_run_unix_millis" => &mut wanted.next_runs,
            "last_run_unix_millis" => &mut wanted.last_runs,
            other => {
                let (field, value) = (format!("read_mask.paths[{place}]"), shorten(other));
                let allowed = "must be slot_indexes, slot_offset_ticks, cycle_offset_ticks, \
                               cycle_indexes, next_run_unix_millis or last_run_unix_millis";
                let value = format_args!("\"{value}\"");
                return Err(Rejection::new(Reason::Malformed, field, value, allowed));
            }
        };
        *column = true;
    }
    Ok(wanted)
}

/// The runs around an instant, in the schedule's own zone and in each other zone of the IDs.
pub(super) struct AllRuns<'a> {
    pub(super) own: Runs<'a>,
    pub(super) zoned: Vec<Runs<'a>>,
}

/// Assigns the IDs of `column`.
pub(super) fn assign(
    schedule: &Schedule,
    runs: &AllRuns<'_>,
    run_key_prefix: String,
    column: &Column,
    pieces: &Pieces,
    wanted: ColumnSelection,
) -> Result<proto::SlotAssignments, WorkBudgetExhausted> {
    if !pieces.are_by_weight()
        && let Some(packed) = column.ids.packed()
        && let Some(decider) = runs.own.decider(wanted)
    {
        return Ok(of_columns(schedule, run_key_prefix, decider.assign(packed)));
    }
    let rows = pieces.total(column.len());
    let weighted_rows = if pieces.are_by_weight() { rows } else { 0 };
    let columns = proto::SlotAssignments {
        resolution: Some(convert::duration(schedule.resolution())),
        slot_indexes: Vec::with_capacity(rows),
        slot_offset_ticks: Vec::with_capacity(rows),
        cycle_offset_ticks: Vec::with_capacity(rows),
        cycle_indexes: Vec::with_capacity(rows),
        next_run_unix_millis: Vec::with_capacity(rows),
        last_run_unix_millis: Vec::with_capacity(if wanted.last_runs { rows } else { 0 }),
        run_key_prefix,
        errors: Vec::new(),
        id_indexes: Vec::with_capacity(weighted_rows),
        piece_indexes: Vec::with_capacity(weighted_rows),
    };
    let errors = IdErrors::new(column);
    let (held, last_runs) = (Vec::new(), wanted.last_runs);
    let zones = &column.zones;
    let mut answer =
        Answer { columns, errors, schedule, runs, zones, pieces, row: 0, held, last_runs };
    column.place_all(schedule, &mut |place| answer.take(place));
    answer.release()?;
    answer.columns.errors = answer.errors.into_vec();
    Ok(only(answer.columns, wanted))
}

/// Drops the columns that were not requested. Where IDs are decided one by one, filling every
/// column costs little.
fn only(columns: proto::SlotAssignments, wanted: ColumnSelection) -> proto::SlotAssignments {
    fn kept<T>(is_wanted: bool, column: Vec<T>) -> Vec<T> {
        if is_wanted { column } else { Vec::new() }
    }
    proto::SlotAssignments {
        slot_indexes: kept(wanted.slots, columns.slot_indexes),
        slot_offset_ticks: kept(wanted.slot_offsets, columns.slot_offset_ticks),
        cycle_offset_ticks: kept(wanted.cycle_offsets, columns.cycle_offset_ticks),
        cycle_indexes: kept(wanted.cycle_indexes, columns.cycle_indexes),
        next_run_unix_millis: kept(wanted.next_runs, columns.next_run_unix_millis),
        ..columns
    }
}

/// The answer for packed IDs, which are never refused.
fn of_columns(
    schedule: &Schedule,
    run_key_prefix: String,
    columns: AssignmentColumns,
) -> proto::SlotAssignments {
    let AssignmentColumns {
        slots,
        slot_offsets,
        cycle_offsets,
        cycle_indexes,
        next_run_unix_millis,
    } = columns;
    proto::SlotAssignments {
        resolution: Some(convert::duration(schedule.resolution())),
        slot_indexes: slots,
        slot_offset_ticks: slot_offsets,
        cycle_offset_ticks: cycle_offsets,
        cycle_indexes,
        next_run_unix_millis,
        run_key_prefix,
        ..Default::default()
    }
}

/// The columns as they grow, a row for each ID, or for each piece of it.
struct Answer<'a> {
    columns: proto::SlotAssignments,
    errors: IdErrors<'a>,
    schedule: &'a Schedule,
    runs: &'a AllRuns<'a>,
    zones: &'a ZoneColumn,
    pieces: &'a Pieces,
    row: usize,
    /// Places that wait until all IDs are read, by row and piece. If cycles differ, the next runs
    /// of all IDs are searched together.
    held: Vec<(usize, u32, Result<Place, Rejection>)>,
    /// Whether last runs are wanted.
    last_runs: bool,
}

/// The place of an ID, its next run, and its last run if it is requested and exists.
type Assignment = (Place, Run, Option<Run>);

impl Answer<'_> {
    fn take(&mut self, place: Result<Place, Rejection>) {
        let row = self.row;
        self.row += 1;
        match place {
            Ok(place) => {
                for piece in 0..self.pieces.of(row) {
                    self.take_piece(row, piece, Ok(self.schedule.piece(&place, piece)));
                }
            }
            Err(rejection) => self.take_piece(row, 0, Err(rejection)),
        }
    }

    fn take_piece(&mut self, row: usize, piece: u32, place: Result<Place, Rejection>) {
        if !self.runs.own.is_plain() {
            return self.held.push((row, piece, place));
        }
        let assigned = place.and_then(|place| {
            let next = self.runs.own.next_run(&place)?.ok_or_else(no_run)?;
            Ok((place, next, self.last_run(&self.runs.own, &place)?))
        });
        self.push(row, piece, assigned);
    }

    /// Answers the held places, zone by zone: each zone has its own cycles.
    fn release(&mut self) -> Result<(), WorkBudgetExhausted> {
        let held = std::mem::take(&mut self.held);
        let mut found: Vec<(Option<Run>, Option<Run>)> = vec![(None, None); held.len()];
        let zoned = self.runs.zoned.iter().enumerate().map(|(zone, runs)| (Some(zone), runs));
        for (zone, runs) in core::iter::once((None, &self.runs.own)).chain(zoned) {
            let there = held.iter().zip(&mut found);
            let (places, slots): (Vec<Place>, Vec<&mut _>) = there
                .filter(|((row, ..), _)| self.zones.of(*row) == zone)
                .filter_map(|((_, _, place), found)| Some((*place.as_ref().ok()?, found)))
                .unzip();
            let next_runs = runs.next_run_of_each(&places)?;
            for ((slot, next), place) in slots.into_iter().zip(next_runs).zip(&places) {
                *slot = (next, self.last_run(runs, place)?);
            }
        }
        for ((row, piece, place), (next, last)) in held.into_iter().zip(found) {
            let assigned = place.and_then(|place| {
                let next = next.ok_or_else(no_run)?;
                Ok((self.schedule.place_in(&place, next.cycle_index), next, last))
            });
            self.push(row, piece, assigned);
        }
        Ok(())
    }

    /// The last run before the batch's instant, if it is wanted.
    fn last_run(&self, runs: &Runs<'_>, place: &Place) -> Result<Option<Run>, WorkBudgetExhausted> {
        if self.last_runs { runs.last_run(place) } else { Ok(None) }
    }

    fn push(&mut self, row: usize, piece: u32, assigned: Result<Assignment, Rejection>) {
        let columns = &mut self.columns;
        if self.pieces.are_by_weight() {
            columns.id_indexes.push(i32::try_from(row).unwrap_or(i32::MAX));
            columns.piece_indexes.push(convert::count(piece));
        }
        match assigned {
            Ok((place, next, last)) => {
                columns.slot_indexes.push(convert::count(place.slot));
                columns.slot_offset_ticks.push(convert::wide(place.slot_offset));
                columns.cycle_offset_ticks.push(convert::wide(place.cycle_offset));
                columns.cycle_indexes.push(next.cycle_index);
                columns.next_run_unix_millis.push(next.unix_millis);
                if self.last_runs {
                    let last = last.map_or(REFUSED, |last| last.unix_millis);
                    columns.last_run_unix_millis.push(last);
                }
            }
            Err(rejection) => {
                columns.slot_indexes.push(-1);
                columns.slot_offset_ticks.push(REFUSED);
                columns.cycle_offset_ticks.push(REFUSED);
                columns.cycle_indexes.push(REFUSED);
                columns.next_run_unix_millis.push(REFUSED);
                if self.last_runs {
                    columns.last_run_unix_millis.push(REFUSED);
                }
                self.errors.push(row, rejection);
            }
        }
    }
}

pub(super) fn no_run() -> Rejection {
    let allowed =
        format!("exclusions skip each of its runs for {} cycles", SEARCHED_CYCLES.maximum);
    Rejection::new(Reason::NoRun, "", "the ID", allowed)
}

/// Why IDs of a column were refused; the first `DETAILED_ERRORS` with details.
pub(super) struct IdErrors<'a> {
    column: &'a Column,
    errors: Vec<proto::IdError>,
}

impl<'a> IdErrors<'a> {
    pub(super) const fn new(column: &'a Column) -> Self {
        Self { column, errors: Vec::new() }
    }

    /// Records that the ID in `row` was refused.
    pub(super) fn push(&mut self, row: usize, rejection: Rejection) {
        let rejection = rejection.under(&format!("ids.{}[{row}]", self.column.ids.name()));
        let Rejection { reason, field, value, allowed } = rejection;
        let details = self.errors.len() < DETAILED_ERRORS.max_size();
        let shown = |text: String| if details { text } else { String::new() };
        self.errors.push(proto::IdError {
            id_index: i64::try_from(row).unwrap_or(i64::MAX),
            reason: proto::ErrorReason::from(reason).into(),
            field: shown(field),
            value: shown(value),
            allowed: shown(allowed),
        });
    }

    pub(super) fn into_vec(self) -> Vec<proto::IdError> {
        self.errors
    }
}
