//! Checked parameters of cycles.

use core::ops::Range;

use super::axis::Axis;
use super::exclusions::Exclusion;
use super::map::CycleMap;
use super::unit::CalendarUnit;
use crate::placement::{
    Grid, Place, PlacementKind, Why, fraction_offset, hash_bound, scale, smallest_fraction,
};

/// A schedule's cycles, where they are more than a period: checked, in ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CyclePlan {
    /// How time is cut into cycles.
    pub(crate) axis: Axis,
    /// What is active of each, in order, not touching; all of it, if there are none.
    pub(crate) windows: Vec<Range<u64>>,
    /// When nothing may start.
    pub(crate) exclusions: Vec<Exclusion>,
    /// `HASH`, `FRACTION`, or with periods `TWISTER`.
    pub(crate) placement: PlacementKind,
}

impl CyclePlan {
    /// Whether there are instants at which nothing may start.
    pub(crate) const fn narrows(&self) -> bool {
        !self.windows.is_empty() || !self.exclusions.is_empty()
    }

    /// No ID waits longer from a run to its next one, in ticks, where nothing is excluded.
    /// Of units of one length an ID has one wall-clock time, and of months as a whole one share:
    /// clocks change by a day at most.
    pub(crate) fn longest_wait(&self) -> i64 {
        match self.axis.calendar() {
            Some((unit, _)) if unit != CalendarUnit::Month || self.windows.is_empty() => {
                self.axis.reach() - self.axis.longest().cast_signed() + 1 // rounding of a share
            }
            _ => self.axis.reach(),
        }
    }

    /// The regular runs of a cycle.
    pub(crate) fn map(&self, index: i64) -> CycleMap {
        CycleMap::new(&self.axis, &self.windows, index)
    }

    /// Active ticks in a cycle.
    pub(crate) fn active_ticks(&self, index: i64) -> u64 {
        active_ticks(&self.windows, self.axis.length(index))
    }

    /// The active ticks at which the IDs of these active ticks of a cycle stand in the next
    /// one, where cycles have so many: from the earliest to behind the latest.
    pub(crate) fn moved(&self, offsets: Range<u64>, ticks: u64, next_ticks: u64) -> Range<u64> {
        if ticks == next_ticks || offsets.is_empty() {
            return offsets;
        }
        if self.placement == PlacementKind::Fraction {
            let first = smallest_fraction(offsets.start, ticks);
            let behind = smallest_fraction(offsets.end, ticks);
            let last = f64::from_bits(behind.to_bits().saturating_sub(1));
            return fraction_offset(first, next_ticks)..fraction_offset(last, next_ticks) + 1;
        }
        let bound = |offset| u64::try_from(hash_bound(offset, ticks)).unwrap_or(u64::MAX);
        let last = u64::try_from(hash_bound(offsets.end, ticks) - 1).unwrap_or(u64::MAX);
        scale(bound(offsets.start), next_ticks)..scale(last, next_ticks) + 1
    }

    /// At which active tick of a cycle with so many an ID stands.
    pub(crate) fn offset(&self, grid: Grid, place: &Place, ticks: u64) -> u64 {
        match place.why {
            Why::Hash(hash) => grid.rotate(scale(hash, ticks), ticks),
            Why::Fraction(fraction) => grid.rotate(fraction_offset(fraction, ticks), ticks),
            // Periods alone take it, and all have as many ticks.
            Why::Bucket(_) => u64::from(place.slot) * grid.slot_ticks() + place.slot_offset,
        }
    }

    /// From the start of a cycle to an active tick, by the wall clock.
    pub(crate) fn wall_offset(&self, offset: u64) -> u64 {
        let mut before = 0;
        for window in &self.windows {
            let ticks = window.end - window.start;
            if offset < before + ticks {
                return window.start + (offset - before);
            }
            before += ticks;
        }
        offset
    }
}

/// The active ticks of a cycle of this length: all, without windows.
pub(crate) fn active_ticks(windows: &[Range<u64>], length: u64) -> u64 {
    if windows.is_empty() {
        return length;
    }
    windows.iter().map(|window| window.end.min(length).saturating_sub(window.start)).sum()
}
