//! Maps the active ticks of a cycle to the clock.

use core::ops::Range;

use super::axis::Axis;
use super::wall::UtcOffset;

/// Active ticks, one after another, whose instants follow one another too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The first of them, counted over the cycle's active ticks.
    pub(crate) offset: u64,
    pub(crate) ticks: u64,
    /// From the start of the cycle to the first, by the wall clock.
    pub(crate) wall: u64,
    /// The instant of the first.
    pub(crate) instant: i64,
}

impl Segment {
    /// The instant behind the last tick.
    pub(crate) fn end(&self) -> i64 {
        self.instant + self.ticks.cast_signed()
    }

    /// The active ticks of the segment whose instants lie in [`from`, `to`); empty if none.
    pub(crate) fn offsets_in(&self, from: i64, to: i64) -> Range<u64> {
        let (from, to) = (from.max(self.instant), to.min(self.end()));
        if from >= to {
            return 0..0;
        }
        let offset = |instant: i64| self.offset + (instant - self.instant).unsigned_abs();
        offset(from)..offset(to)
    }

    /// The instants of the ticks of the segment among `offsets`; empty if none.
    pub(crate) fn instants_of(&self, offsets: &Range<u64>) -> Range<i64> {
        let first = offsets.start.max(self.offset);
        let last = offsets.end.min(self.offset + self.ticks);
        if first >= last {
            return 0..0;
        }
        let instant = |offset: u64| self.instant + (offset - self.offset).cast_signed();
        instant(first)..instant(last)
    }
}

/// The regular runs of one cycle: which instant each active tick has. Where the clock skips
/// an hour, two segments share instants: the times that it skips, and those that it shows then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CycleMap {
    pub(crate) index: i64,
    /// Whether the clock skips all of it, as Samoa's skipped 30 December 2011: its times come
    /// together with those of the next cycle, and nothing runs.
    pub(crate) is_skipped: bool,
    /// Active ticks in it.
    pub(crate) active_ticks: u64,
    /// In the order of the active ticks, without a gap.
    pub(crate) segments: Vec<Segment>,
}

impl CycleMap {
    /// The map of a cycle whose `windows` are active; without any, the whole cycle is.
    pub(crate) fn new(axis: &Axis, windows: &[Range<u64>], index: i64) -> Self {
        let (start, length) = (axis.start(index), axis.length(index));
        let whole = 0..length;
        let windows = if windows.is_empty() { core::slice::from_ref(&whole) } else { windows };
        let offsets = axis.wall_offsets(start, start + length.cast_signed());
        let mut segments = Vec::with_capacity(windows.len());
        let mut active_ticks = 0;
        for window in windows {
            let low = start + window.start.cast_signed();
            let high = start + window.end.min(length).cast_signed();
            let first = offsets.partition_point(|(since, _)| *since <= low).saturating_sub(1);
            let mut parts = offsets.iter().skip(first).peekable();
            while let Some((since, offset)) = parts.next() {
                let from = low.max(*since);
                let to = parts.peek().map_or(high, |(next, _)| high.min(*next));
                if from >= high {
                    break;
                }
                if from < to {
                    let ticks = (to - from).unsigned_abs();
                    let wall = (from - start).unsigned_abs();
                    segments.push(Segment {
                        offset: active_ticks,
                        ticks,
                        wall,
                        instant: from - *offset,
                    });
                    active_ticks += ticks;
                }
            }
        }
        let before = offsets.first().map_or(UtcOffset(0), |(_, offset)| *offset);
        let is_skipped = axis.may_skip_days(before) && axis.is_skipped(index);
        Self { index, is_skipped, active_ticks, segments }
    }

    /// Whether times of two segments come together: where the clock skips some.
    pub(crate) fn overlaps(&self) -> bool {
        let follow = |pair: &[Segment]| matches!(pair, [one, next] if one.end() <= next.instant);
        !self.segments.windows(2).all(follow)
    }

    /// The segment that holds an active tick, if the cycle has so many.
    pub(crate) fn segment_of(&self, offset: u64) -> Option<&Segment> {
        let behind = self.segments.partition_point(|segment| segment.offset <= offset);
        self.segments
            .get(behind.checked_sub(1)?)
            .filter(|segment| offset - segment.offset < segment.ticks)
    }

    /// The instant of an active tick.
    pub(crate) fn instant_of(&self, offset: u64) -> Option<i64> {
        let segment = self.segment_of(offset)?;
        Some(segment.instant + (offset - segment.offset).cast_signed())
    }

    /// The earliest and the last instant of these active ticks, both included.
    pub(crate) fn instants_of(&self, offsets: &Range<u64>) -> Option<(i64, i64)> {
        let first = self
            .segments
            .partition_point(|segment| segment.offset + segment.ticks <= offsets.start);
        self.segments
            .iter()
            .skip(first)
            .take_while(|segment| segment.offset < offsets.end)
            .map(|segment| segment.instants_of(offsets))
            .filter(|instants| !instants.is_empty())
            .map(|instants| (instants.start, instants.end - 1))
            .reduce(|(low, high), (first, last)| (low.min(first), high.max(last)))
    }
}
