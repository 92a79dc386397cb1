//! Cycles and active windows: when in a cycle jobs may come.

use offbeat_core::{CycleWindow, Span};

/// A cycle, and its active time: the parts of it in which jobs may come. Times are in microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Length of the cycle.
    pub cycle: u64,
    /// The active parts, in order, not touching; at least one.
    windows: Vec<Window>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    start: u64,
    end: u64,
    /// Active time of the windows before this one.
    before: u64,
}

impl Timing {
    /// A cycle that is active throughout.
    #[must_use]
    pub fn whole(cycle: u64) -> Self {
        Self { cycle, windows: vec![Window { start: 0, end: cycle, before: 0 }] }
    }

    /// A cycle that is active only in these parts of it, in any order; with none, in all of it.
    /// Each part is (start, end), end exclusive, within the cycle and not empty.
    #[must_use]
    pub fn within(cycle: u64, mut parts: Vec<(u64, u64)>) -> Self {
        parts.sort_unstable();
        let mut windows: Vec<Window> = Vec::with_capacity(parts.len());
        for (start, end) in parts {
            match windows.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                last => {
                    let before = last.map_or(0, |last| last.before + (last.end - last.start));
                    windows.push(Window { start, end, before });
                }
            }
        }
        if windows.is_empty() { Self::whole(cycle) } else { Self { cycle, windows } }
    }

    /// Whether there is time in which no jobs come.
    #[must_use]
    pub fn is_narrowed(&self) -> bool {
        self.active() < self.cycle
    }

    /// Active time of a cycle.
    #[must_use]
    pub fn active(&self) -> u64 {
        self.windows.last().map_or(self.cycle, |last| last.before + (last.end - last.start))
    }

    /// The offset in the cycle at which this much of its active time has passed.
    #[must_use]
    pub fn offset_at(&self, active: u64) -> u64 {
        let place = self.windows.partition_point(|window| window.before <= active);
        let window = place.checked_sub(1).and_then(|place| self.windows.get(place));
        window.map_or(active, |window| window.start + (active - window.before))
    }

    /// How much of the active time has passed at an offset in the cycle.
    #[must_use]
    pub fn active_before(&self, offset: u64) -> u64 {
        let place = self.windows.partition_point(|window| window.start <= offset);
        let window = place.checked_sub(1).and_then(|place| self.windows.get(place));
        window.map_or(0, |window| window.before + (offset.min(window.end) - window.start))
    }

    /// The first active instant at or after an instant, in any cycle.
    #[must_use]
    pub fn active_from(&self, at: u64) -> u64 {
        let (base, offset) = (at - at % self.cycle, at % self.cycle);
        let next = self.windows.iter().find(|window| offset < window.end);
        match (next, self.windows.first()) {
            (Some(window), _) => base + offset.max(window.start),
            (None, Some(first)) => base + self.cycle + first.start,
            (None, None) => at,
        }
    }

    /// The active parts of the cycle, as (start, end), in order; one part where it is active
    /// throughout.
    #[must_use]
    pub fn parts(&self) -> Vec<(u64, u64)> {
        self.windows.iter().map(|window| (window.start, window.end)).collect()
    }

    /// The windows for a schedule; none where the cycle is active throughout.
    #[must_use]
    pub fn active_windows(&self) -> Vec<CycleWindow> {
        if !self.is_narrowed() {
            return Vec::new();
        }
        let span = |micros: u64| Span::from_millis(micros / 1_000);
        let window = |one: &Window| CycleWindow { start: span(one.start), end: span(one.end) };
        self.windows.iter().map(window).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_time_goes_on_where_the_next_window_starts() {
        let timing = Timing::within(100, vec![(90, 100), (0, 20), (15, 30), (50, 60)]);
        assert_eq!(timing.active(), 50);
        let active: Vec<u64> = (0..100).filter(|at| timing.active_from(*at) == *at).collect();
        let expected: Vec<u64> = (0..30).chain(50..60).chain(90..100).collect();
        assert_eq!(active, expected);
        let offsets: Vec<u64> = (0..50).map(|active| timing.offset_at(active)).collect();
        assert_eq!(offsets, expected);
        for (active, offset) in expected.iter().enumerate() {
            assert_eq!(timing.active_before(*offset), active as u64);
        }
        assert_eq!([30, 60, 89, 160].map(|at| timing.active_from(at)), [50, 90, 90, 190]);
        assert_eq!(Timing::within(100, vec![(20, 30)]).active_from(230), 320);
        assert!(!Timing::within(100, vec![(0, 50), (50, 100)]).is_narrowed());
    }
}
