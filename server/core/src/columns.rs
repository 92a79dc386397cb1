//! Batches of packed IDs: IDs end to end in, columns of assignments out.
//!
//! What [`Schedule::place_all`](crate::Schedule::place_all) and [`Runs::next_run`] say of each ID,
//! for those IDs and schedules that cannot be refused: nothing is made or asked for one ID alone.

use core::iter::zip;
use core::num::NonZeroU64;

use crate::id::{Id, Integer};
use crate::kernels::{self, Kernel};
use crate::placement::{Grid, Place, Placement};
use crate::timetable::{PlainRuns, Runs};

/// IDs that are decided together: their numbers stay in the nearest caches.
const TOGETHER: usize = 1_536;

/// IDs of one type, end to end.
#[derive(Debug, Clone, Copy)]
pub enum PackedIds<'a> {
    /// UUIDs, as their bytes.
    Uuids(&'a [[u8; 16]]),
    /// Integers.
    Integers(&'a [i64]),
}

impl PackedIds<'_> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Uuids(uuids) => uuids.len(),
            Self::Integers(integers) => integers.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Assignments as columns of equal length.
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
    /// The assignments of packed IDs, with their next runs; `None` where cycles or IDs can be out
    /// of the ordinary, and have to be looked at one by one.
    #[must_use]
    pub fn assign_packed(&self, ids: PackedIds<'_>) -> Option<AssignmentColumns> {
        self.assign_packed_with(Kernel::best(), ids)
    }

    /// The same with a certain kernel: the answers are equal, the speed is not.
    #[must_use]
    pub fn assign_packed_with(
        &self,
        kernel: Kernel,
        ids: PackedIds<'_>,
    ) -> Option<AssignmentColumns> {
        let (plain, schedule) = (self.plain()?, self.schedule());
        let decider = match schedule.placement() {
            Placement::Fraction => return None,
            placement => Decider { grid: schedule.grid(), placement, kernel, plain },
        };
        let mut columns = AssignmentColumns::of_len(ids.len());
        match ids {
            PackedIds::Uuids(uuids) => {
                decider.decide(uuids, |uuid| Id::Uuid(u128::from_be_bytes(uuid)), &mut columns);
            }
            PackedIds::Integers(integers) => {
                decider.decide(integers, |integer| Id::Integer(integer.into()), &mut columns);
            }
        }
        Some(columns)
    }
}

impl AssignmentColumns {
    fn of_len(len: usize) -> Self {
        let column = || vec![0; len];
        Self {
            slots: vec![0; len],
            slot_offsets: column(),
            cycle_offsets: column(),
            cycle_indexes: column(),
            next_run_unix_millis: column(),
        }
    }

    /// Pieces of all columns at a time, to be written.
    fn pieces(&mut self, len: usize) -> impl Iterator<Item = Piece<'_>> {
        let Self { slots, slot_offsets, cycle_offsets, cycle_indexes, next_run_unix_millis } = self;
        let offsets = zip(slot_offsets.chunks_mut(len), cycle_offsets.chunks_mut(len));
        let runs = zip(cycle_indexes.chunks_mut(len), next_run_unix_millis.chunks_mut(len));
        zip(slots.chunks_mut(len), zip(offsets, runs)).map(
            |(slots, ((slot_offsets, cycle_offsets), (cycle_indexes, next_run_unix_millis)))| {
                Piece { slots, slot_offsets, cycle_offsets, cycle_indexes, next_run_unix_millis }
            },
        )
    }
}

/// Some rows of all columns.
struct Piece<'a> {
    slots: &'a mut [i32],
    slot_offsets: &'a mut [i64],
    cycle_offsets: &'a mut [i64],
    cycle_indexes: &'a mut [i64],
    next_run_unix_millis: &'a mut [i64],
}

impl Piece<'_> {
    #[inline]
    fn write(self, places: impl Iterator<Item = Place>, plain: PlainRuns) {
        let offsets = zip(self.slot_offsets, self.cycle_offsets);
        let rows =
            zip(self.slots, zip(offsets, zip(self.cycle_indexes, self.next_run_unix_millis)));
        for (place, (slot, ((slot_offset, cycle_offset), (cycle_index, millis)))) in
            zip(places, rows)
        {
            let run = plain.next(place.cycle_offset);
            *slot = place.slot.cast_signed(); // of up to 2^20
            *slot_offset = place.slot_offset.cast_signed(); // below the period, 2^53
            *cycle_offset = place.cycle_offset.cast_signed();
            *cycle_index = run.cycle_index;
            *millis = run.unix_millis;
        }
    }
}

struct Decider<'a> {
    grid: Grid,
    placement: &'a Placement,
    kernel: Kernel,
    plain: PlainRuns,
}

impl Decider<'_> {
    #[inline]
    fn decide<T: Copy>(
        &self,
        ids: &[T],
        id: impl Fn(T) -> Id<'static> + Copy,
        columns: &mut AssignmentColumns,
    ) {
        let &Self { grid, placement, kernel, plain } = self;
        let mut numbers = Vec::with_capacity(ids.len().min(TOGETHER));
        let mut taken = Vec::new();
        for (ids, piece) in zip(ids.chunks(TOGETHER), columns.pieces(TOGETHER)) {
            numbers.clear();
            match placement {
                Placement::Hash { salt } => {
                    taken.clear();
                    taken.extend(ids.iter().map(|bytes| id(*bytes)));
                    kernels::hashes(kernel, salt, taken.iter(), &mut numbers);
                    piece.write(numbers.iter().map(|hash| grid.at_hash(*hash)), plain);
                }
                &Placement::Twister { bucket_count, profile } => {
                    let seed = |bytes: &T| match id(*bytes) {
                        Id::Uuid(uuid) => uuid.into(),
                        Id::Integer(integer) => integer,
                        Id::Text(_) | Id::Fraction(_) => Integer::from(0_u128), // none is packed
                    };
                    let limit = NonZeroU64::new(grid.slot_ticks()).unwrap_or(NonZeroU64::MIN);
                    kernels::draws(kernel, profile, limit, ids.iter().map(seed), &mut numbers);
                    let places = zip(ids.iter().map(seed), &numbers)
                        .map(|(seed, offset)| grid.at_seed(seed, bucket_count, *offset));
                    piece.write(places, plain);
                }
                Placement::Fraction => {} // is not decided here
            }
        }
    }
}
