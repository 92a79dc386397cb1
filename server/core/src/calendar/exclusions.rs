//! Exclusions, checked, and what several of them forbid together.

use core::ops::Range;

use super::axis::Axis;
use super::spec::{CalendarSpec, CycleWindow, ExclusionPolicy, ExclusionSpec, ExclusionTimes};
use super::unit::CalendarUnit;
use crate::time::{Moment, Span};

/// An exclusion that was checked, in ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exclusion {
    pub(crate) times: Times,
    pub(crate) policy: ExclusionPolicy,
}

/// The instants of an exclusion, or the parts of a unit of a calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Times {
    Dated(Range<i64>),
    Recurring { axis: Axis, window: Range<u64> },
}

impl Exclusion {
    /// The spec that a caller would write for it.
    pub(crate) fn spec(&self, tick_millis: u64) -> ExclusionSpec {
        let span = |ticks: u64| Span::from_millis(ticks * tick_millis);
        let moment = |ticks: i64| {
            let millis = ticks.saturating_mul(tick_millis.cast_signed());
            Moment::from_unix_millis(millis).unwrap_or(Moment::UNIX_EPOCH) // it came from one
        };
        let times = match &self.times {
            Times::Dated(ticks) => {
                ExclusionTimes::Dated { start: moment(ticks.start), end: moment(ticks.end) }
            }
            Times::Recurring { axis, window } => {
                let (unit, zone) = axis.calendar().unwrap_or((CalendarUnit::Day, "UTC")); // always one
                let calendar = CalendarSpec { unit, time_zone: zone.to_owned() };
                let window = CycleWindow { start: span(window.start), end: span(window.end) };
                ExclusionTimes::Recurring { calendar, window }
            }
        };
        ExclusionSpec { times, policy: self.policy }
    }

    /// `DEFER 2026-12-24T00:00:00Z..2026-12-27T00:00:00Z` or
    /// `SKIP DAY Europe/Berlin 79200s..82800s`.
    pub(crate) fn canonical_text(&self, tick_millis: u64) -> String {
        let ExclusionSpec { times, policy } = self.spec(tick_millis);
        match times {
            ExclusionTimes::Dated { start, end } => format!("{} {start}..{end}", policy.name()),
            ExclusionTimes::Recurring { calendar, window } => {
                let CalendarSpec { unit, time_zone } = calendar;
                let CycleWindow { start, end } = window;
                format!("{} {} {time_zone} {start}..{end}", policy.name(), unit.name())
            }
        }
    }

    /// The spans of instants in [`from`, `to`) that it holds, in order; they may touch.
    pub(crate) fn spans(&self, from: i64, to: i64, mut each: impl FnMut(Range<i64>)) {
        match &self.times {
            Times::Dated(span) => {
                let (start, end) = (span.start.max(from), span.end.min(to));
                if start < end {
                    each(start..end);
                }
            }
            Times::Recurring { axis, window } => {
                axis.showing(core::slice::from_ref(window), from, to, each);
            }
        }
    }
}

/// A span of instants at which nothing may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExcludedSpan {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// What becomes of the runs. Spans that defer do not touch one another.
    pub(crate) policy: ExclusionPolicy,
}

/// What the exclusions forbid of [`from`, `to`), in order and without overlap. Where one of
/// them skips, it skips; what remains of those that defer is one span where they overlap or touch.
pub(crate) fn excluded(exclusions: &[Exclusion], from: i64, to: i64) -> Vec<ExcludedSpan> {
    counted_excluded(exclusions, from, to).0
}

/// The same, and how many spans of single exclusions were put together for it.
pub(crate) fn counted_excluded(
    exclusions: &[Exclusion],
    from: i64,
    to: i64,
) -> (Vec<ExcludedSpan>, usize) {
    let (mut skipping, mut deferring) = (Vec::new(), Vec::new());
    for exclusion in exclusions {
        let spans = match exclusion.policy {
            ExclusionPolicy::Skip => &mut skipping,
            ExclusionPolicy::Defer => &mut deferring,
        };
        exclusion.spans(from, to, |span| spans.push((span.start, span.end)));
    }
    let count = skipping.len() + deferring.len();
    let skipping = merged(skipping);
    let mut all: Vec<ExcludedSpan> = without(&merged(deferring), &skipping)
        .into_iter()
        .map(|(start, end)| ExcludedSpan { start, end, policy: ExclusionPolicy::Defer })
        .collect();
    all.extend(skipping.into_iter().map(|(start, end)| ExcludedSpan {
        start,
        end,
        policy: ExclusionPolicy::Skip,
    }));
    all.sort_unstable_by_key(|span| span.start);
    (all, count)
}

/// The same as spans in order that neither overlap nor touch.
pub(crate) fn merged<T: Copy + Ord>(mut spans: Vec<(T, T)>) -> Vec<(T, T)> {
    spans.sort_unstable();
    let mut merged: Vec<(T, T)> = Vec::with_capacity(spans.len());
    for (start, end) in spans {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// The instants of `spans` that none of `taken` holds; both in order, without overlap.
pub(crate) fn without(spans: &[(i64, i64)], taken: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut left = Vec::with_capacity(spans.len());
    let mut next = 0;
    for &(mut start, end) in spans {
        while taken.get(next).is_some_and(|(_, behind)| *behind <= start) {
            next += 1;
        }
        let within = taken.iter().skip(next).take_while(|(from, _)| *from < end);
        for (from, behind) in within {
            if start < *from {
                left.push((start, *from));
            }
            start = start.max(*behind);
        }
        if start < end {
            left.push((start, end));
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_one_skips_it_skips_and_those_that_touch_are_one() {
        let dated = |start, end, policy| Exclusion { times: Times::Dated(start..end), policy };
        let exclusions = [
            dated(10, 20, ExclusionPolicy::Defer),
            dated(20, 30, ExclusionPolicy::Defer),
            dated(15, 18, ExclusionPolicy::Skip),
            dated(28, 40, ExclusionPolicy::Skip),
            dated(50, 60, ExclusionPolicy::Defer),
            dated(55, 70, ExclusionPolicy::Defer),
        ];
        let spans: Vec<_> = excluded(&exclusions, 12, 65)
            .into_iter()
            .map(|span| (span.start, span.end, span.policy == ExclusionPolicy::Skip))
            .collect();
        let expected =
            [(12, 15, false), (15, 18, true), (18, 28, false), (28, 40, true), (50, 65, false)];
        assert_eq!(spans, expected);
    }
}
