//! Batches of IDs that share a schedule, an instant and a kind.

use std::sync::Arc;

use offbeat_core::runs::ColumnSelection;
use offbeat_core::{Catalog, Moment, Rejection, Schedule};
use tonic::Status;

use super::columns::{self, AllRuns};
use super::convert::{self, Column};
use super::weights::Pieces;
use crate::work::{Permit, offload};
use offbeat_proto as proto;
use offbeat_proto::status;

/// Larger batches are decided off the event loop.
const INLINE_IDS: usize = 256;

/// Bytes of an assignment in an answer: its columns, and the encoded message, which exists at the
/// same time.
const ASSIGNMENT_BYTES: usize = 2 * 44;

/// Values that all IDs of a batch, or of a stream of batches, share.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    schedule: Arc<Schedule>,
    from: Moment,
    run_key_prefix: String,
    wanted: ColumnSelection,
    permit: Option<Permit>,
}

/// The fields of a message that apply to all IDs.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) schedule: Option<proto::Schedule>,
    pub(super) from_time: Option<prost_types::Timestamp>,
    pub(super) kind: String,
    pub(super) read_mask: Option<prost_types::FieldMask>,
}

impl Batch {
    /// Checks the fields that apply to all IDs; off the event loop if the schedule takes long to
    /// check.
    pub(super) async fn open(
        opening: Opening,
        now: fn() -> Moment,
        catalog: Arc<Catalog>,
        permit: Option<Permit>,
    ) -> Result<Self, Status> {
        let long = convert::takes_long(opening.schedule.as_ref());
        let held = permit.clone();
        let opened = offload(long, held, move || Self::try_new(opening, now, &catalog, permit));
        opened.await?.map_err(status::refused)
    }

    fn try_new(
        opening: Opening,
        now: fn() -> Moment,
        catalog: &Catalog,
        permit: Option<Permit>,
    ) -> Result<Self, Rejection> {
        let Opening { schedule, from_time, kind, read_mask } = opening;
        let schedule = convert::schedule_of_kind(schedule, &kind, catalog)?;
        let from = convert::moment_or_now("from_time", from_time, now)?;
        schedule.check_from(from, 1)?;
        let run_key_prefix = convert::run_key_prefix(&schedule, &kind)?;
        let wanted = columns::wanted(read_mask)?;
        Ok(Self { schedule, from, run_key_prefix, wanted, permit })
    }

    pub(super) fn identity(&self) -> proto::ScheduleIdentity {
        convert::identity(&self.schedule)
    }

    /// Assigns a column; a long one on another thread, so that the event loop continues. Also
    /// returns the number of IDs.
    pub(super) async fn assign(
        &self,
        ids: Option<proto::IdBatch>,
        weights: Vec<i64>,
    ) -> Result<(usize, proto::SlotAssignments), Status> {
        let refused = status::refused;
        let column = convert::checked_column(ids).map_err(refused)?;
        let count = column.len();
        let pieces = Pieces::try_new(&self.schedule, &weights, count).map_err(refused)?;
        let rows = pieces.total(count);
        if let Some(permit) = &self.permit
            && !permit.take_answer(rows * ASSIGNMENT_BYTES)
        {
            return Err(status::no_room());
        }
        let long = rows > INLINE_IDS || self.schedule.has_exclusions() || !column.zones.is_empty();
        let batch = self.clone();
        let decided = offload(long, self.permit.clone(), move || batch.decide(&column, &pieces));
        Ok((count, decided.await?.map_err(refused)?))
    }

    fn decide(
        &self,
        column: &Column,
        pieces: &Pieces,
    ) -> Result<proto::SlotAssignments, Rejection> {
        let zones = column.zones.schedules(&self.schedule)?;
        let zoned = zones.iter().map(|schedule| schedule.runs_from(self.from, 1));
        let zoned = zoned.collect::<Result<Vec<_>, _>>()?;
        let runs = AllRuns { own: self.schedule.runs_from(self.from, 1)?, zoned };
        let prefix = self.run_key_prefix.clone();
        let (schedule, wanted) = (&self.schedule, self.wanted);
        Ok(columns::assign(schedule, &runs, prefix, column, pieces, wanted)?)
    }
}
