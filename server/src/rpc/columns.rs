//! Batches: a column of IDs in, columns of assignments out.

use offbeat_core::limits::{BATCH_IDS, DETAILED_ERRORS};
use offbeat_core::timetable::Runs;
use offbeat_core::{Id, Reason, Rejection, Schedule};

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

    /// The IDs, one by one, each good or refused.
    fn ids(&self) -> Box<dyn Iterator<Item = Result<Id<'_>, Rejection>> + '_> {
        match self {
            Self::UuidBytes(bytes) => Box::new(bytes.chunks(UUID_BYTES).map(Id::uuid_bytes)),
            Self::Uuids(texts) => Box::new(texts.iter().map(|text| Id::uuid(text))),
            Self::Integers(integers) => {
                Box::new(integers.iter().map(|integer| Ok(Id::Integer((*integer).into()))))
            }
            Self::Decimals(texts) => Box::new(texts.iter().map(|text| Id::decimal(text))),
            Self::Texts(texts) => Box::new(texts.iter().map(|text| Id::text(text))),
            Self::Fractions(fractions) => {
                Box::new(fractions.iter().map(|fraction| Id::fraction(*fraction)))
            }
        }
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
    let mut columns = proto::SlotAssignments {
        resolution: Some(convert::duration(schedule.resolution())),
        slot_indexes: Vec::with_capacity(rows),
        slot_offset_ticks: Vec::with_capacity(rows),
        cycle_offset_ticks: Vec::with_capacity(rows),
        cycle_indexes: Vec::with_capacity(rows),
        next_run_unix_millis: Vec::with_capacity(rows),
        run_key_prefix,
        errors: Vec::new(),
    };
    for (row, id) in (0i64..).zip(column.ids()) {
        match id.and_then(|id| schedule.place(&id)) {
            Ok(place) => {
                let next = runs.next_run(&place);
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
                let mut error = id_error(column.name(), row, first_index, rejection);
                if columns.errors.len() >= DETAILED_ERRORS.max_size() {
                    error.field.clear();
                    error.value.clear();
                    error.allowed.clear();
                }
                columns.errors.push(error);
            }
        }
    }
    columns
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
