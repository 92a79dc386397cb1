//! Counting ticks along time.

/// How many ticks there are before each instant: piecewise linear, with a whole number of
/// ticks at each instant.
#[derive(Debug, Clone, Default)]
pub(crate) struct CumulativeTicks {
    /// Where the density changes: the instant, the ticks before it, the ticks at each instant
    /// from it on. Behind the last there are none.
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    start: i64,
    before: u64,
    density: u64,
}

impl CumulativeTicks {
    /// Of spans of instants, one tick at each instant of each; they may overlap.
    pub(crate) fn of(spans: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let mut changes: Vec<(i64, i64)> =
            spans.into_iter().flat_map(|(start, end)| [(start, 1), (end, -1)]).collect();
        changes.sort_unstable();
        let mut steps: Vec<Step> = Vec::new();
        for (start, change) in changes {
            let last = steps.last().copied().unwrap_or(Step { start, before: 0, density: 0 });
            let density = last.density.saturating_add_signed(change);
            let before = last.before + last.density * (start - last.start).unsigned_abs();
            if steps.last().is_some_and(|step| step.start == start) {
                steps.pop();
            }
            steps.push(Step { start, before, density });
        }
        Self { steps }
    }

    /// Ticks before an instant.
    pub(crate) fn before(&self, instant: i64) -> u64 {
        let index = self.steps.partition_point(|step| step.start <= instant);
        index
            .checked_sub(1)
            .and_then(|index| self.steps.get(index))
            .map_or(0, |step| step.before + step.density * (instant - step.start).unsigned_abs())
    }

    /// The first instant with at least so many ticks before it.
    pub(crate) fn first_with(&self, ticks: u64) -> i64 {
        let index = self.steps.partition_point(|step| step.before < ticks);
        match index.checked_sub(1).and_then(|index| self.steps.get(index)) {
            Some(step) if step.density > 0 => {
                step.start + (ticks - step.before).div_ceil(step.density).cast_signed()
            }
            Some(step) => step.start,
            None => i64::MIN,
        }
    }

    /// The instant of a tick, counted from 0.
    pub(crate) fn instant_of(&self, tick: u64) -> i64 {
        self.first_with(tick + 1) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_counted_as_by_hand() {
        // Instants 10 11 12 12 13 13, then 20.
        let count = CumulativeTicks::of([(12, 14), (10, 14), (20, 21)]);
        let before: Vec<u64> = (9..=22).map(|instant| count.before(instant)).collect();
        assert_eq!(before, [0, 0, 1, 2, 4, 6, 6, 6, 6, 6, 6, 6, 7, 7]);
        let instants: Vec<i64> = (0..7).map(|tick| count.instant_of(tick)).collect();
        assert_eq!(instants, [10, 11, 12, 12, 13, 13, 20]);
        let first: Vec<i64> = (1..=7).map(|ticks| count.first_with(ticks)).collect();
        assert_eq!(first, [11, 12, 13, 13, 14, 14, 21]);
    }
}
