//! Kinds where only some pairs must not meet: the smallest distance over the conflicts, made as
//! large as it can be.
//!
//! # Why the search is exact
//!
//! Let k kinds stand on n slots, g apart along every conflict: x(j) − x(i) lies in [g, n − g] or
//! in [g − n, −g]. Of two kinds in conflict, the one at the smaller slot comes *first*;
//! fix which one, for every conflict. What is left are difference constraints,
//! x(j) ≥ x(i) + g and x(i) ≥ x(j) + g − n for i first and j second, which can be met in integers
//! exactly if no cycle of them adds up to more than 0. A simple cycle of m ≤ k constraints, b of
//! which are of the second form, adds up to m·g − b·n: so g ≤ n·b/m for all of them.
//!
//! *The largest distance* therefore is ⌊n·q/p⌋ for some p ≤ k (p/q is the circular chromatic
//! number of the conflicts; Vince 1988), and on how many slots does not matter: kinds that stand
//! q apart on p slots, at c(i), stand ⌊n·q/p⌋ apart on n slots at ⌊c(i)·n/p⌋. So it is enough to
//! try the fractions q/p ≤ 1/2 with p ≤ k, from the largest down.
//!
//! *The first placement* of a distance g, in the order of the kinds' slots: take each set of kinds
//! that conflicts connect by itself (nothing connects their slots), turned so that its first kind
//! stands at 0. Of all solutions of the same constraints and of x ≥ 0 the smallest slot of every
//! kind is again a solution, no later in the order, and so it is the first itself. In it no set of
//! kinds can be moved down by 1, so every kind is held by an equality x(j) = x(i) + g or
//! x(j) = x(i) + g − n on another one, and along fewer than k of them by a kind at 0. Every slot
//! is thus a·g mod n for some a < k: at most 8 slots to try for a kind, for any n.

use crate::limits::{CONFLICTING_KINDS, CONFLICTS};
use crate::rejection::{Reason, Rejection};

/// Pairs of kinds that must not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicts {
    /// The kinds that stand in a conflict, rising; the others may meet anybody.
    kinds: Vec<u32>,
    /// For each of `kinds`, which of them it must not meet.
    neighbours: Vec<Vec<usize>>,
}

impl Conflicts {
    /// Checks pairs of kinds of `kind_count`, which has been checked.
    ///
    /// # Errors
    /// When there are too many, or none, a kind is not there or in conflict with itself, a pair is
    /// there twice, or more than 8 kinds stand in a conflict; naming `[3].second_kind_index`, or
    /// nothing.
    pub fn try_new(kind_count: u32, pairs: &[(i64, i64)]) -> Result<Self, Rejection> {
        if pairs.is_empty() || !CONFLICTS.allows(pairs.len() as i128) {
            let value = format_args!("{} pairs", pairs.len());
            let allowed = format!("must be 1 to {CONFLICTS_MAXIMUM} pairs");
            return Err(Rejection::new(Reason::OutOfRange, "", value, allowed));
        }
        let mut checked: Vec<(u32, u32)> = Vec::with_capacity(pairs.len());
        for (place, (first, second)) in pairs.iter().enumerate() {
            let kind = |field: &str, index: i64| {
                u32::try_from(index).ok().filter(|kind| *kind < kind_count).ok_or_else(|| {
                    let allowed = format!("must be 0 to {} ({kind_count} kinds)", kind_count - 1);
                    Rejection::new(Reason::OutOfRange, format!("[{place}].{field}"), index, allowed)
                })
            };
            let (first, second) =
                (kind("first_kind_index", *first)?, kind("second_kind_index", *second)?);
            let pair = (first.min(second), first.max(second));
            let refuse = |allowed: String| {
                let field = format!("[{place}].second_kind_index");
                Err(Rejection::new(Reason::Contradictory, field, second, allowed))
            };
            if first == second {
                return refuse("must be another kind than first_kind_index".to_owned());
            }
            if let Some(other) = checked.iter().position(|other| *other == pair) {
                return refuse(format!("must not be the pair of [{other}] again"));
            }
            checked.push(pair);
        }
        let mut kinds: Vec<u32> =
            checked.iter().flat_map(|(first, second)| [*first, *second]).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if !CONFLICTING_KINDS.allows(kinds.len() as i128) {
            let value = format_args!("conflicts of {} kinds", kinds.len());
            let allowed = format!("must be conflicts of {CONFLICTING_KINDS} at most");
            return Err(Rejection::new(Reason::OutOfRange, "", value, allowed));
        }
        let place = |kind: u32| kinds.iter().position(|known| *known == kind).unwrap_or_default();
        let met = |kind: &u32| {
            let other = |(first, second): &(u32, u32)| match (first == kind, second == kind) {
                (true, _) => Some(place(*second)),
                (_, true) => Some(place(*first)),
                _ => None,
            };
            checked.iter().filter_map(other).collect()
        };
        let neighbours = kinds.iter().map(met).collect();
        Ok(Self { kinds, neighbours })
    }

    /// The slots of all kinds on `slots` slots, and the smallest distance over the conflicts; the
    /// kinds without a conflict stand at 0. `None` if two kinds in conflict would meet.
    pub(super) fn place(&self, kind_count: u32, slots: u32) -> Option<Vec<u32>> {
        let (distances, places) = (self.distances(slots), Places { conflicts: self, slots });
        let found = distances.into_iter().find_map(|distance| places.first(distance))?;
        let mut positions = vec![0; usize::try_from(kind_count).ok()?];
        for (kind, position) in self.kinds.iter().zip(found) {
            *positions.get_mut(usize::try_from(*kind).ok()?)? = position;
        }
        Some(positions)
    }

    /// For each kind, the slots to the next one that it must not meet; without one, the cycle.
    pub(super) fn gaps(&self, positions: &[u32], slots: u32) -> Vec<u32> {
        let mut gaps = vec![slots; positions.len()];
        let at = |place: &usize| {
            let kind = self.kinds.get(*place).and_then(|kind| usize::try_from(*kind).ok());
            kind.and_then(|kind| positions.get(kind)).copied().unwrap_or_default()
        };
        for (place, neighbours) in self.neighbours.iter().enumerate() {
            let ahead = |other: &usize| (at(other) + slots - at(&place)) % slots;
            let kind = self.kinds.get(place).and_then(|kind| usize::try_from(*kind).ok());
            let gap = kind.and_then(|kind| gaps.get_mut(kind));
            if let (Some(gap), Some(next)) = (gap, neighbours.iter().map(ahead).min()) {
                *gap = next;
            }
        }
        gaps
    }

    /// Whether conflicts connect no earlier kind with this one.
    fn is_first(&self, kind: usize) -> bool {
        let (mut connected, mut left) = (vec![kind], vec![kind]);
        while let Some(neighbours) = left.pop().and_then(|kind| self.neighbours.get(kind)) {
            for other in neighbours
                .iter()
                .filter(|other| !connected.contains(other))
                .copied()
                .collect::<Vec<_>>()
            {
                connected.push(other);
                left.push(other);
            }
        }
        connected.iter().all(|other| *other >= kind)
    }

    /// The distances that may be the largest, falling, down to 1.
    fn distances(&self, slots: u32) -> Vec<u32> {
        let most = u32::try_from(self.kinds.len()).unwrap_or(u32::MAX);
        let of = |p: u32| (1..=p / 2).map(move |q| u64::from(slots) * u64::from(q) / u64::from(p));
        let mut distances: Vec<u32> =
            (2..=most).flat_map(of).filter_map(|distance| u32::try_from(distance).ok()).collect();
        distances.sort_unstable_by(|one, other| other.cmp(one));
        distances.dedup();
        distances.retain(|distance| *distance > 0);
        distances
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
const CONFLICTS_MAXIMUM: u32 = CONFLICTS.maximum.unsigned_abs() as u32;

/// The search for the first placement of a distance.
struct Places<'a> {
    conflicts: &'a Conflicts,
    slots: u32,
}

impl Places<'_> {
    /// The first placement, in the order of the kinds' slots, whose conflicts are all at least
    /// `distance` long.
    fn first(&self, distance: u32) -> Option<Vec<u32>> {
        let count = self.conflicts.kinds.len();
        let multiple = |times: usize| {
            let slot = u64::try_from(times).ok()? * u64::from(distance) % u64::from(self.slots);
            u32::try_from(slot).ok()
        };
        let mut candidates: Vec<u32> = (0..count).filter_map(multiple).collect();
        candidates.sort_unstable();
        candidates.dedup();
        let mut placed = Vec::with_capacity(count);
        self.go_on(&mut placed, &candidates, distance).then_some(placed)
    }

    /// Places the kinds behind those that stand: the first candidate that fits, and another one
    /// if the kinds behind it find none. The first of a connected set takes slot 0.
    fn go_on(&self, placed: &mut Vec<u32>, all: &[u32], distance: u32) -> bool {
        let kind = placed.len();
        let Some(neighbours) = self.conflicts.neighbours.get(kind) else {
            return true;
        };
        let candidates = if self.conflicts.is_first(kind) { all.get(..1) } else { Some(all) };
        for candidate in candidates.unwrap_or_default() {
            let fits = neighbours.iter().filter_map(|other| placed.get(*other)).all(|other| {
                let apart = candidate.abs_diff(*other);
                apart.min(self.slots - apart) >= distance
            });
            if fits {
                placed.push(*candidate);
                if self.go_on(placed, all, distance) {
                    return true;
                }
                placed.pop();
            }
        }
        false
    }
}
