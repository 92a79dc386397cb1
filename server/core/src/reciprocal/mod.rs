//! Reciprocal slots: kinds of job that lock the same user, kept apart on the cycle.
//!
//! With two kinds on an even number of slots the reciprocal slot is the
//! *antipodal* one, diametrically opposite: (s + n/2) mod n.

mod conflicts;

use crate::limits::{KIND_COUNT, SLOT_COUNT};
use crate::rejection::{Reason, Rejection};

pub use conflicts::Conflicts;

/// How the kinds are spread over the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spacing {
    /// Kind i stands ⌊i·n/k⌋ slots after kind 0: the smallest gap, ⌊n/k⌋, is the largest possible.
    #[default]
    Even,
    /// Kind i stands ⌊n·vdc₂(i)⌋ slots after kind 0 (van der Corput's sequence
    /// in base 2: 0, ½, ¼, ¾, …): adding a kind moves none.
    Stable,
}

impl Spacing {
    /// The name in canonical texts and refusals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Even => "EVEN",
            Self::Stable => "STABLE",
        }
    }
}

/// Kinds placed on a cycle of slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reciprocals {
    slot_count: u32,
    positions: Vec<u32>,
    /// `None`: no two kinds may meet.
    conflicts: Option<Conflicts>,
}

/// The offset of a kind from a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindSlot {
    /// The kind, from 0.
    pub kind_index: u32,
    /// Slots from kind 0 to this kind, for the same user.
    pub offset: u32,
    /// The user's view: the slot at which this kind runs for users whose kind 0 runs at the slot.
    pub user_slot: u32,
    /// The time's view: the users' slot (that of their kind 0) which this kind handles while the slot runs.
    pub time_slot: u32,
    /// Slots from this kind to the next one that it must not meet, for the same user; without one,
    /// the cycle.
    pub gap: u32,
}

impl Reciprocals {
    /// Places `kind_count` kinds on `slot_count` slots.
    ///
    /// # Errors
    /// When a count is out of range, or two kinds would meet in one slot.
    ///
    /// ```
    /// use offbeat_core::reciprocal::{Reciprocals, Spacing};
    ///
    /// let kinds = Reciprocals::try_new(128, 2, Spacing::Even)?;
    /// let opposite = kinds.seen_from(100)?[1];
    /// assert_eq!((opposite.user_slot, opposite.gap), (36, 64)); // (100 + 64) mod 128
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn try_new(slot_count: i64, kind_count: i64, spacing: Spacing) -> Result<Self, Rejection> {
        let slots = check_slots(slot_count)?;
        let kinds = check_kinds(kind_count)?;
        let position = |kind: u32| match spacing {
            Spacing::Even => u64::from(kind) * u64::from(slots) / u64::from(kinds),
            Spacing::Stable => (u64::from(kind.reverse_bits()) * u64::from(slots)) >> 32,
        };
        let positions: Vec<u32> =
            (0..kinds).map(|kind| u32::try_from(position(kind)).unwrap_or(u32::MAX)).collect();
        let placed = Self { slot_count: slots, positions, conflicts: None };
        if placed.gap() == 0 {
            let allowed = match spacing {
                Spacing::Even => {
                    format!("must be 1 to {slots} kinds on {slots} slots, one slot each")
                }
                Spacing::Stable => format!(
                    "two of so many kinds meet on {slots} slots with STABLE spacing: \
                     take fewer kinds, more slots or EVEN"
                ),
            };
            return Err(Rejection::new(Reason::KindsDoNotFit, "kind_count", kind_count, allowed));
        }
        Ok(placed)
    }

    /// Places kinds that each need so many slots for their run time: kind i
    /// stands at Σ needs before it + ⌊i·slack/k⌋, which makes the smallest slack
    /// as large as possible. Needs of 1 give the even spacing.
    ///
    /// # Errors
    /// When a count is out of range, or the needs exceed the cycle.
    ///
    /// ```
    /// use offbeat_core::reciprocal::Reciprocals;
    ///
    /// let kinds = Reciprocals::try_with_needs(10, &[6, 2])?;
    /// assert_eq!(kinds.gaps(), [7, 3]); // one slot to spare behind each
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn try_with_needs(slot_count: i64, needs: &[u64]) -> Result<Self, Rejection> {
        let slots = check_slots(slot_count)?;
        let kinds = check_kinds(i64::try_from(needs.len()).unwrap_or(i64::MAX))?;
        let total = needs.iter().fold(0u64, |sum, need| sum.saturating_add((*need).max(1)));
        let Some(slack) = u64::from(slots).checked_sub(total) else {
            return Err(Rejection::new(
                Reason::KindsDoNotFit,
                "run_times",
                format_args!("a need of {total} slots"),
                format!(
                    "must be at most the {slots} slots of the cycle, one or more for each kind"
                ),
            ));
        };
        let mut before = 0;
        let mut positions = Vec::with_capacity(needs.len());
        for (kind, need) in (0u64..).zip(needs) {
            let position = before + kind * slack / u64::from(kinds);
            positions.push(u32::try_from(position).unwrap_or(u32::MAX));
            before += (*need).max(1);
        }
        Ok(Self { slot_count: slots, positions, conflicts: None })
    }

    /// Places kinds where only some pairs must not meet: the smallest distance of two kinds in
    /// `pairs`, by their indexes, is as large as it can be; of several ways it is the first in the
    /// order of the kinds' slots, with kind 0 at 0. Kinds in no pair stand at 0 too.
    ///
    /// # Errors
    /// When a count is out of range, a pair is refused (see [`Conflicts::try_new`]; under
    /// `conflicts`), or two kinds in conflict would meet.
    ///
    /// ```
    /// use offbeat_core::reciprocal::Reciprocals;
    ///
    /// // Three kinds in a row: the outer two may meet, so that half a cycle lies between neighbours.
    /// let kinds = Reciprocals::try_with_conflicts(12, 3, &[(0, 1), (1, 2)])?;
    /// assert_eq!(kinds.gap(), 6);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn try_with_conflicts(
        slot_count: i64,
        kind_count: i64,
        pairs: &[(i64, i64)],
    ) -> Result<Self, Rejection> {
        let slots = check_slots(slot_count)?;
        let kinds = check_kinds(kind_count)?;
        let conflicts =
            Conflicts::try_new(kinds, pairs).map_err(|refused| refused.under("conflicts"))?;
        let positions = conflicts.place(kinds, slots).ok_or_else(|| {
            let value = format_args!("{} pairs", pairs.len());
            let allowed = format!("must leave a slot for each, on {slots} slots: take more slots");
            Rejection::new(Reason::KindsDoNotFit, "conflicts", value, allowed)
        })?;
        Ok(Self { slot_count: slots, positions, conflicts: Some(conflicts) })
    }

    /// How many kinds there are.
    #[must_use]
    pub fn kind_count(&self) -> usize {
        self.positions.len()
    }

    /// Offset of each kind, in slots after kind 0.
    #[must_use]
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// Slots in the cycle.
    #[must_use]
    pub const fn slot_count(&self) -> u32 {
        self.slot_count
    }

    /// The smallest number of slots between two kinds of one user that must not meet, around the cycle.
    #[must_use]
    pub fn gap(&self) -> u32 {
        self.gaps().into_iter().min().unwrap_or(self.slot_count)
    }

    /// For each kind, the slots around the cycle to the next kind that it must not meet; without
    /// one, the cycle.
    #[must_use]
    pub fn gaps(&self) -> Vec<u32> {
        if let Some(conflicts) = &self.conflicts {
            return conflicts.gaps(&self.positions, self.slot_count);
        }
        let mut order: Vec<(u32, usize)> = self.positions.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let mut gaps = vec![self.slot_count; self.positions.len()];
        if order.len() < 2 {
            return gaps;
        }
        for ((at, kind), (next, _)) in order.iter().zip(order.iter().cycle().skip(1)) {
            // Only the last kind in the cycle has the next one behind it.
            let ahead = next.checked_sub(*at).unwrap_or_else(|| next + self.slot_count - at);
            if let Some(gap) = gaps.get_mut(*kind) {
                *gap = ahead;
            }
        }
        gaps
    }

    /// Both views of every kind, from `slot_index`.
    ///
    /// # Errors
    /// When there is no such slot.
    pub fn seen_from(&self, slot_index: i64) -> Result<Vec<KindSlot>, Rejection> {
        let slots = self.slot_count;
        let slot =
            u32::try_from(slot_index).ok().filter(|slot| *slot < slots).ok_or_else(|| {
                let allowed = format!("must be 0 to {} (a slot of {slots})", slots - 1);
                Rejection::new(Reason::OutOfRange, "slot_index", slot_index, allowed)
            })?;
        let kinds = (0..).zip(&self.positions).zip(self.gaps());
        Ok(kinds
            .map(|((kind_index, &offset), gap)| KindSlot {
                kind_index,
                offset,
                user_slot: (slot + offset) % slots,
                time_slot: (slot + slots - offset) % slots,
                gap,
            })
            .collect())
    }
}

fn check_slots(slot_count: i64) -> Result<u32, Rejection> {
    let count = u32::try_from(slot_count).ok().filter(|_| SLOT_COUNT.allows(slot_count.into()));
    count.ok_or_else(|| {
        let allowed = format!("must be {SLOT_COUNT}");
        Rejection::new(Reason::OutOfRange, "slot_count", slot_count, allowed)
    })
}

fn check_kinds(kind_count: i64) -> Result<u32, Rejection> {
    let count = u32::try_from(kind_count).ok().filter(|_| KIND_COUNT.allows(kind_count.into()));
    count.ok_or_else(|| {
        let allowed = format!("must be {KIND_COUNT}");
        Rejection::new(Reason::OutOfRange, "kind_count", kind_count, allowed)
    })
}
