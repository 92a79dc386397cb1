//! Batches: a column of IDs in, columns of assignments out.

use offbeat_core::limits::{BATCH_IDS, DETAILED_ERRORS, SEARCHED_CYCLES};
use offbeat_core::timetable::Runs;
use offbeat_core::{Id, Place, Reason, Rejection, Run, Schedule};

use super::convert::{self, Column};
use crate::proto;

/// What a row of a refused ID holds.
const REFUSED: i64 = -1;
/// Bytes of a UUID.
const UUID_BYTES: usize = 16;

impl Column {
    fn name(&self) -> &'static str {
        match self {
            Self::UuidBytes(_) => "uuid_bytes",
            Self::Uuids(_) => "uuids",
            Self::Integers(_) => "integers",
            Self::Decimals(_) => "decimals",
            Self::Texts(_) => "texts",
            Self::Fractions(_) => "fractions",
        }
    }

    /// How many IDs the column holds.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::UuidBytes(bytes) => bytes.len().div_ceil(UUID_BYTES),
            Self::Uuids(texts) | Self::Decimals(texts) | Self::Texts(texts) => texts.len(),
            Self::Integers(integers) => integers.len(),
            Self::Fractions(fractions) => fractions.len(),
        }
    }

    /// Refuses a column that is itself wrong.
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
}

/// Assigns the IDs of `column`, of which the first has index `first_index` for its caller.
pub(super) fn assign(
    schedule: &Schedule,
    runs: &Runs<'_>,
    run_key_prefix: String,
    column: &Column,
    first_index: i64,
) -> proto::SlotAssignments {
    let rows = column.len();
    let columns = proto::SlotAssignments {
        resolution: Some(convert::duration(schedule.resolution())),
        slot_indexes: Vec::with_capacity(rows),
        slot_offset_ticks: Vec::with_capacity(rows),
        cycle_offset_ticks: Vec::with_capacity(rows),
        cycle_indexes: Vec::with_capacity(rows),
        next_run_unix_millis: Vec::with_capacity(rows),
        run_key_prefix,
        errors: Vec::new(),
        id_indexes: Vec::new(),    // PENDING-MERGE
        piece_indexes: Vec::new(), // PENDING-MERGE
    };
    let held = Vec::new();
    let mut answer =
        Answer { columns, schedule, runs, name: column.name(), first_index, row: 0, held };
    let each = |place| answer.take(place);
    match column {
        Column::UuidBytes(bytes) => {
            schedule.place_all(bytes.chunks(UUID_BYTES).map(Id::uuid_bytes), each);
        }
        Column::Uuids(texts) => schedule.place_all(texts.iter().map(|text| Id::uuid(text)), each),
        Column::Integers(integers) => {
            let ids = integers.iter().map(|integer| Ok(Id::Integer((*integer).into())));
            schedule.place_all(ids, each);
        }
        Column::Decimals(texts) => {
            schedule.place_all(texts.iter().map(|text| Id::decimal(text)), each);
        }
        Column::Texts(texts) => schedule.place_all(texts.iter().map(|text| Id::text(text)), each),
        Column::Fractions(fractions) => {
            schedule.place_all(fractions.iter().map(|fraction| Id::fraction(*fraction)), each);
        }
    }
    answer.release();
    answer.columns
}

/// The columns as they grow, a row for each ID.
struct Answer<'a> {
    columns: proto::SlotAssignments,
    schedule: &'a Schedule,
    runs: &'a Runs<'a>,
    name: &'static str,
    first_index: i64,
    row: i64,
    /// What waits for the others: runs that exclusions may skip for long are searched for
    /// all IDs together.
    held: Vec<Result<Place, Rejection>>,
}

impl Answer<'_> {
    fn take(&mut self, place: Result<Place, Rejection>) {
        if !self.runs.is_plain() {
            return self.held.push(place);
        }
        let assigned = place.and_then(|place| {
            let next = self.runs.next_run(&place).ok_or_else(no_run)?;
            Ok((place, next))
        });
        self.push(assigned);
    }

    /// Answers what waits.
    fn release(&mut self) {
        let held = std::mem::take(&mut self.held);
        let places: Vec<Place> =
            held.iter().filter_map(|place| place.as_ref().ok()).copied().collect();
        let mut runs = self.runs.next_run_of_each(&places).into_iter();
        for place in held {
            let assigned = place.and_then(|place| {
                let next = runs.next().flatten().ok_or_else(no_run)?;
                Ok((self.schedule.place_in(&place, next.cycle_index), next))
            });
            self.push(assigned);
        }
    }

    fn push(&mut self, assigned: Result<(Place, Run), Rejection>) {
        let columns = &mut self.columns;
        match assigned {
            Ok((place, next)) => {
                columns.slot_indexes.push(convert::count(place.slot));
                columns.slot_offset_ticks.push(convert::wide(place.slot_offset));
                columns.cycle_offset_ticks.push(convert::wide(place.cycle_offset));
                columns.cycle_indexes.push(next.cycle_index);
                columns.next_run_unix_millis.push(next.unix_millis);
            }
            Err(rejection) => {
                columns.slot_indexes.push(-1);
                columns.slot_offset_ticks.push(REFUSED);
                columns.cycle_offset_ticks.push(REFUSED);
                columns.cycle_indexes.push(REFUSED);
                columns.next_run_unix_millis.push(REFUSED);
                let mut error = id_error(self.name, self.row, self.first_index, rejection);
                if columns.errors.len() >= DETAILED_ERRORS.max_size() {
                    error.field.clear();
                    error.value.clear();
                    error.allowed.clear();
                }
                columns.errors.push(error);
            }
        }
        self.row += 1;
    }
}

fn no_run() -> Rejection {
    let allowed =
        format!("exclusions skip each of its runs for {} cycles", SEARCHED_CYCLES.maximum);
    Rejection::new(Reason::NoRun, "", "the ID", allowed)
}

fn id_error(column: &str, row: i64, first_index: i64, rejection: Rejection) -> proto::IdError {
    let rejection = rejection.under(&format!("ids.{column}[{row}]"));
    let Rejection { reason, field, value, allowed } = rejection;
    proto::IdError {
        id_index: first_index + row,
        reason: proto::ErrorReason::from(reason).into(),
        field,
        value,
        allowed,
    }
}
