//! Batches of packed IDs: IDs end to end in, columns of assignments out.
//!
//! The answers are those of [`Schedule::place_all`](crate::Schedule::place_all) and
//! [`Runs::next_run`], for IDs and schedules that cannot be refused. Nothing is allocated or
//! checked for a single ID.

use core::iter::zip;
use core::ops::Range;

use super::around::Runs;
use super::plain::PlainCycle;
use crate::ids::Id;
use crate::placement::{Grid, Kernel, Place, Placement};

/// IDs that are decided together: their numbers stay in the nearest caches.
const TOGETHER: usize = 1_536;

/// IDs of one type, end to end.
#[derive(Debug, Clone, Copy)]
pub enum PackedIds<'a> {
    /// UUIDs, as their bytes.
    Uuids(&'a [[u8; 16]]),
    /// Integers of 64 bits with a sign.
    Integers(&'a [i64]),
}

impl PackedIds<'_> {
    /// The number of IDs.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Uuids(uuids) => uuids.len(),
            Self::Integers(integers) => integers.len(),
        }
    }

    /// Whether there are no IDs.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The IDs of `rows`; none if `rows` reaches beyond the last ID.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        match self {
            Self::Uuids(uuids) => Self::Uuids(uuids.get(rows).unwrap_or_default()),
            Self::Integers(integers) => Self::Integers(integers.get(rows).unwrap_or_default()),
        }
    }
}

/// Which columns are wanted; the others stay empty, and cost nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSelection {
    /// Whether [`AssignmentColumns::slots`] is.
    pub slots: bool,
    /// Whether [`AssignmentColumns::slot_offsets`] is.
    pub slot_offsets: bool,
    /// Whether [`AssignmentColumns::cycle_offsets`] is.
    pub cycle_offsets: bool,
    /// Whether [`AssignmentColumns::cycle_indexes`] is.
    pub cycle_indexes: bool,
    /// Whether [`AssignmentColumns::next_run_unix_millis`] is.
    pub next_runs: bool,
    /// Whether last runs are: they have no packed column, so that IDs are then assigned one by one.
    pub last_runs: bool,
}

impl ColumnSelection {
    /// Every column except that of last runs.
    pub const ALL: Self = Self {
        slots: true,
        slot_offsets: true,
        cycle_offsets: true,
        cycle_indexes: true,
        next_runs: true,
        last_runs: false,
    };
    /// No column.
    pub const NONE: Self = Self {
        slots: false,
        slot_offsets: false,
        cycle_offsets: false,
        cycle_indexes: false,
        next_runs: false,
        last_runs: false,
    };
}

/// Assignments as columns of equal length; columns that were not requested are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssignmentColumns {
    /// The slots, from 0.
    pub slots: Vec<i32>,
    /// Ticks from the start of the slot.
    pub slot_offsets: Vec<i64>,
    /// Ticks from the start of the cycle.
    pub cycle_offsets: Vec<i64>,
    /// The cycles of the next runs.
    pub cycle_indexes: Vec<i64>,
    /// The next runs, in milliseconds since the Unix epoch.
    pub next_run_unix_millis: Vec<i64>,
}

impl Runs<'_> {
    /// The assignments of packed IDs, with their next runs. `None` if the IDs must be assigned one
    /// by one: where cycles differ, under `FRACTION`, and with last runs.
    ///
    /// ```
    /// use offbeat_core::runs::{ColumnSelection, PackedIds};
    /// use offbeat_core::{Id, Moment, Schedule, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let runs = daily.runs_from(Moment::UNIX_EPOCH, 1)?;
    /// let columns = runs.assign_packed(PackedIds::Integers(&[41, 42]), ColumnSelection::ALL).unwrap();
    /// let next = runs.next_run(&daily.place(&Id::Integer(42_i64.into()))?)?.unwrap();
    /// assert_eq!(columns.next_run_unix_millis[1], next.unix_millis);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn assign_packed(
        &self,
        ids: PackedIds<'_>,
        wanted: ColumnSelection,
    ) -> Option<AssignmentColumns> {
        self.assign_packed_with(Kernel::best(), ids, wanted)
    }

    /// The same with a given kernel, which decides the speed and not the answers.
    #[must_use]
    pub fn assign_packed_with(
        &self,
        kernel: Kernel,
        ids: PackedIds<'_>,
        wanted: ColumnSelection,
    ) -> Option<AssignmentColumns> {
        Some(Decider { kernel, ..self.decider(wanted)? }.assign(ids))
    }

    /// The assigner of packed IDs, for several threads to share; `None` as in
    /// [`assign_packed`](Self::assign_packed).
    #[must_use]
    pub fn decider(&self, wanted: ColumnSelection) -> Option<Decider<'_>> {
        let (plain, schedule) = (self.plain()?, self.schedule());
        match schedule.placement() {
            Placement::Fraction => None,
            _ if wanted.last_runs => None,
            placement => {
                let (grid, kernel) = (schedule.grid(), Kernel::best());
                Some(Decider { grid, placement, kernel, plain, wanted })
            }
        }
    }
}

impl AssignmentColumns {
    /// The assignments of consecutive parts of a batch as those of the batch.
    #[must_use]
    pub fn concat(pieces: Vec<Self>) -> Self {
        fn join<T>(
            all: &mut Vec<T>,
            further: &mut [AssignmentColumns],
            column: impl Fn(&mut AssignmentColumns) -> &mut Vec<T>,
        ) {
            all.reserve_exact(further.iter_mut().map(|piece| column(piece).len()).sum());
            further.iter_mut().for_each(|piece| all.append(column(piece)));
        }
        let mut pieces = pieces.into_iter();
        let mut all = pieces.next().unwrap_or_default();
        let further = pieces.as_mut_slice();
        join(&mut all.slots, further, |piece| &mut piece.slots);
        join(&mut all.slot_offsets, further, |piece| &mut piece.slot_offsets);
        join(&mut all.cycle_offsets, further, |piece| &mut piece.cycle_offsets);
        join(&mut all.cycle_indexes, further, |piece| &mut piece.cycle_indexes);
        join(&mut all.next_run_unix_millis, further, |piece| &mut piece.next_run_unix_millis);
        all
    }

    fn with_room(len: usize, wanted: ColumnSelection) -> Self {
        let room = |is_wanted| if is_wanted { len } else { 0 };
        Self {
            slots: Vec::with_capacity(room(wanted.slots)),
            slot_offsets: Vec::with_capacity(room(wanted.slot_offsets)),
            cycle_offsets: Vec::with_capacity(room(wanted.cycle_offsets)),
            cycle_indexes: Vec::with_capacity(room(wanted.cycle_indexes)),
            next_run_unix_millis: Vec::with_capacity(room(wanted.next_runs)),
        }
    }
}

/// The columns about an ID's place.
#[derive(Clone, Copy)]
struct Row {
    slot: u32,
    slot_offset: u64,
    cycle_offset: u64,
}

impl From<Place> for Row {
    #[inline]
    fn from(place: Place) -> Self {
        let Place { slot, slot_offset, cycle_offset, why: _ } = place;
        Self { slot, slot_offset, cycle_offset }
    }
}

/// Assigns packed IDs, any number of times.
#[derive(Debug, Clone, Copy)]
pub struct Decider<'a> {
    grid: Grid,
    placement: &'a Placement,
    kernel: Kernel,
    plain: PlainCycle,
    wanted: ColumnSelection,
}

impl Decider<'_> {
    /// The assignments of these IDs.
    #[must_use]
    pub fn assign(&self, ids: PackedIds<'_>) -> AssignmentColumns {
        let mut columns = AssignmentColumns::with_room(ids.len(), self.wanted);
        match ids {
            PackedIds::Uuids(uuids) => {
                self.decide(uuids, |uuid| Id::Uuid(u128::from_be_bytes(uuid)), &mut columns);
            }
            PackedIds::Integers(integers) => {
                self.decide(integers, |integer| Id::Integer(integer.into()), &mut columns);
            }
        }
        columns
    }

    #[inline]
    fn decide<T: Copy>(
        &self,
        ids: &[T],
        id: impl Fn(T) -> Id<'static> + Copy,
        columns: &mut AssignmentColumns,
    ) {
        let &Self { grid, placement, kernel, .. } = self;
        let together = ids.len().min(TOGETHER);
        let mut taken = Vec::with_capacity(together);
        let mut numbers = Vec::with_capacity(together);
        let mut rows: Vec<Row> = Vec::with_capacity(together);
        for ids in ids.chunks(TOGETHER) {
            taken.clear();
            numbers.clear();
            rows.clear();
            taken.extend(ids.iter().map(|bytes| id(*bytes)));
            grid.decide(kernel, placement, &taken, &mut numbers);
            let places =
                zip(&taken, &numbers).map(|(id, number)| grid.decided(placement, id, *number));
            rows.extend(places.map(Row::from));
            self.write(&rows, columns);
        }
    }

    /// Appends what is wanted, column by column: each is a loop without a branch.
    fn write(&self, rows: &[Row], columns: &mut AssignmentColumns) {
        let &Self { plain, wanted, .. } = self;
        if wanted.slots {
            columns.slots.extend(rows.iter().map(|row| row.slot.cast_signed())); // of up to 2^20
        }
        if wanted.slot_offsets {
            let offsets = rows.iter().map(|row| row.slot_offset.cast_signed()); // below 2^53
            columns.slot_offsets.extend(offsets);
        }
        if wanted.cycle_offsets {
            columns.cycle_offsets.extend(rows.iter().map(|row| row.cycle_offset.cast_signed()));
        }
        if wanted.cycle_indexes {
            let cycles = rows.iter().map(|row| plain.next(row.cycle_offset).cycle_index);
            columns.cycle_indexes.extend(cycles);
        }
        if wanted.next_runs {
            let runs = rows.iter().map(|row| plain.next(row.cycle_offset).unix_millis);
            columns.next_run_unix_millis.extend(runs);
        }
    }
}
