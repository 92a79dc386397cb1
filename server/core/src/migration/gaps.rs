//! Gaps of all keys at once: each range of keys has bounds, and is halved until they decide.
//!
//! Within one cycle, a larger key never runs earlier. So the runs of a range's first and last key
//! bound the gaps of all keys between them.

use core::ops::Range;

use super::{Migration, Path};
use crate::placement::PlacementKind;
use crate::time::Span;

/// Ranges that a search examines before it gives up.
const MAX_RANGES: usize = 50_000;

/// Bounds, in milliseconds, of what the keys of a range wait from their last old run to their first
/// run of the new schedule at or after the cutover, and from there to the next one.
struct Bounds {
    shortest: i64,
    longest: i64,
    longest_to_next: i64,
}

impl Migration<'_> {
    /// No ID waits longer than this from its last old to its first new run. `None` with exclusions,
    /// which may skip any number of runs.
    ///
    /// If one key decides both places and both schedules have plain periods, some ID waits as long
    /// within a few ticks. Otherwise, this is the bound for an ID of any two places.
    #[must_use]
    pub fn longest_gap(&self) -> Option<Span> {
        // The last old run is at most one wait before the cutover, the first new one less than one
        // wait after the cutover or the end of the gap.
        let (old_wait, new_wait) =
            (self.old.longest_wait_millis()?, self.new.longest_wait_millis()?);
        let of_any = old_wait.max(self.min_gap) + new_wait - 1;
        let is_plain = self.old.is_plain() && self.new.is_plain();
        // Where a clock change makes a day shorter than the minimum gap, a run is left out.
        let millis = if self.path == Path::Unchanged && (is_plain || self.min_gap == 0) {
            old_wait
        } else if self.share_keys() && is_plain {
            self.longest_over_keys().unwrap_or(of_any)
        } else {
            of_any
        };
        Some(Span::from_millis(millis.unsigned_abs()))
    }

    /// The largest bound over all keys: halves each range that might hold a longer gap than any
    /// seen. `None` if it gives up.
    fn longest_over_keys(&self) -> Option<i64> {
        let near_enough = 2 * self.slack();
        let mut longest_seen = 0;
        let mut longest = 0;
        let mut ranges = self.all_keys();
        for _ in 0..MAX_RANGES {
            let Some(range) = ranges.pop() else { return Some(longest) };
            let Some(bounds) = self.bounds(&range) else {
                ranges.extend(halves(&range));
                continue;
            };
            let bound = self.longest_gap_of(&bounds);
            longest_seen =
                longest_seen.max(self.gap_of(range.start)).max(self.gap_of(range.end - 1));
            if bound <= longest || range.end - range.start == 1 {
                longest = longest.max(longest_seen);
            } else if bound - longest_seen <= near_enough {
                longest = longest.max(bound);
            } else {
                ranges.extend(halves(&range));
            }
        }
        None
    }

    fn longest_gap_of(&self, bounds: &Bounds) -> i64 {
        if bounds.shortest >= self.min_gap {
            return bounds.longest;
        }
        // A run that is left out came within the minimum gap.
        let left_out = bounds.longest.min(self.min_gap - 1) + bounds.longest_to_next;
        if bounds.longest < self.min_gap { left_out } else { left_out.max(bounds.longest) }
    }

    fn gap_of(&self, key: u128) -> i64 {
        let places = (self.old.place_of_key(key), self.new.place_of_key(key));
        self.crossing(&places.0, &places.1)
            .map_or(0, |crossing| crossing.first_new.unix_millis - crossing.last_old.unix_millis)
    }

    /// The keys whose first run of the new schedule is not left out, as ranges in order; `None` if
    /// there are more than `most`, or the search gives up.
    pub(super) fn keys_not_left_out(&self, most: usize) -> Option<Vec<Range<u128>>> {
        let mut kept: Vec<Range<u128>> = Vec::new();
        let mut ranges = self.all_keys();
        for _ in 0..MAX_RANGES {
            let Some(range) = ranges.pop() else { return Some(kept) };
            match self.bounds(&range) {
                Some(bounds) if bounds.longest < self.min_gap => {}
                Some(bounds) if bounds.shortest >= self.min_gap => {
                    let adjacent = kept.last_mut().filter(|last| last.end == range.start);
                    if let Some(last) = adjacent {
                        last.end = range.end;
                    } else if kept.len() == most {
                        return None;
                    } else {
                        kept.push(range);
                    }
                }
                _ => ranges.extend(halves(&range)),
            }
        }
        None
    }

    /// All keys, cut where a kind's places wrap around the end of the cycle; a stack with the first
    /// range on top.
    fn all_keys(&self) -> Vec<Range<u128>> {
        let mut cuts = [0, self.old.first_key(), self.new.first_key(), self.old.key_end()];
        cuts.sort_unstable();
        let ranges = cuts.windows(2).rev().filter_map(|pair| match pair {
            [start, end] if start < end => Some(*start..*end),
            _ => None,
        });
        ranges.collect()
    }

    /// The bounds of a range; `None` if its keys run in more than one cycle.
    fn bounds(&self, range: &Range<u128>) -> Option<Bounds> {
        let runs = |key: u128| {
            let (old, new) = (self.old.place_of_key(key), self.new.place_of_key(key));
            let (old, new) = (self.old_cycles.runs_of(&old), self.new_cycles.runs_of(&new));
            // With plain periods, no search is exhausted.
            let first = new.next(self.cutover).ok().flatten()?;
            let second = new.next(first.unix_millis + 1).ok().flatten()?;
            Some((old.last(self.cutover).ok().flatten()?, first, second))
        };
        let (old_first, new_first, second_first) = runs(range.start)?;
        let (old_last, new_last, second_last) = runs(range.end - 1)?;
        let one_cycle = old_first.cycle_index == old_last.cycle_index
            && new_first.cycle_index == new_last.cycle_index
            && second_first.cycle_index == second_last.cycle_index;
        if !one_cycle {
            return None;
        }
        let at_first = new_first.unix_millis - old_first.unix_millis;
        let at_last = new_last.unix_millis - old_last.unix_millis;
        let slack = self.slack();
        // Between the ends of a range, the gap rises or falls evenly, except for rounding to ticks.
        let shortest =
            (new_first.unix_millis - old_last.unix_millis).max(at_first.min(at_last) - slack);
        let longest =
            (new_last.unix_millis - old_first.unix_millis).min(at_first.max(at_last) + slack);
        let longest_to_next = (second_first.unix_millis - new_first.unix_millis)
            .max(second_last.unix_millis - new_last.unix_millis);
        Some(Bounds { shortest, longest, longest_to_next })
    }

    /// How far rounding to ticks can move a gap, in milliseconds.
    fn slack(&self) -> i64 {
        if self.share_cycles() {
            return 0; // both are rounded alike
        }
        let ticks = (self.old.tick_millis() + self.new.tick_millis()).cast_signed();
        match self.old.placement().kind() {
            PlacementKind::Hash | PlacementKind::Twister => ticks,
            PlacementKind::Fraction => 2 * ticks, // the product is rounded, too
        }
    }
}

/// The halves of a range, the first on top; nothing for a single key.
fn halves(range: &Range<u128>) -> impl Iterator<Item = Range<u128>> {
    let middle = range.start.midpoint(range.end);
    let splits = middle > range.start;
    [middle..range.end, range.start..middle].into_iter().filter(move |_| splits)
}
