//! Some cycles, worked out: their regular runs, and what exclusions make of them.

use core::ops::Range;

use super::cumulative::CumulativeTicks;
use super::exclusions::{ExcludedSpan, counted_excluded, excluded, without};
use super::map::{CycleMap, Segment};
use super::plan::CyclePlan;
use super::spec::ExclusionPolicy;

/// The fate of a regular run under exclusions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunFate {
    Regular,
    /// It happens at this instant.
    Deferred(i64),
    Skipped,
}

/// Where the runs go that a span holds. With m of them and L usable ticks from its end to
/// the earliest run that any of them has one cycle later, the a-th goes to the ⌊a·L/m⌋-th usable
/// tick: later, in order, evenly, and before its ID's next run. Runs at one instant (where
/// the clock skips an hour) count by that instant and go to the same.
#[derive(Debug, Clone, Copy)]
struct Deferral {
    /// Runs before the span, among all that are deferred.
    first_run: u64,
    /// m: the runs that the span holds.
    runs: u64,
    /// Usable ticks before the span's end.
    first_tick: u64,
    /// L: the usable ticks that they go to.
    ticks: u64,
}

impl Deferral {
    fn tick_of(&self, run: u64) -> u64 {
        let tick = u128::from(run) * u128::from(self.ticks) / u128::from(self.runs.max(1));
        u64::try_from(tick).unwrap_or(u64::MAX)
    }

    /// The first run that goes to this tick or a later one.
    fn run_from(&self, tick: u64) -> u64 {
        let run =
            (u128::from(tick) * u128::from(self.runs)).div_ceil(u128::from(self.ticks.max(1)));
        u64::try_from(run).unwrap_or(u64::MAX)
    }
}

/// Some cycles, with what lies around them as far as it matters.
#[derive(Debug, Clone)]
pub(crate) struct Timeline {
    cycles: Range<i64>,
    /// The maps of these cycles and, where there are exclusions, of those around them.
    maps: Vec<CycleMap>,
    forbidden: Vec<(ExcludedSpan, Deferral)>,
    /// The regular runs that exclusions defer.
    deferred: CumulativeTicks,
    /// The active instants that no exclusion holds.
    usable: CumulativeTicks,
    /// Spans of single exclusions that it was made of.
    span_count: usize,
}

impl Timeline {
    /// Works out some cycles.
    pub(crate) fn new(plan: &CyclePlan, cycles: Range<i64>) -> Self {
        if plan.exclusions.is_empty() {
            let maps = cycles.clone().map(|index| plan.map(index)).collect();
            let none = CumulativeTicks::default;
            let (deferred, usable, forbidden) = (none(), none(), Vec::new());
            return Self { cycles, maps, forbidden, deferred, usable, span_count: 0 };
        }
        // An exclusion that holds a run of these cycles and reaches further holds the ID's previous or
        // next run too, so that nothing of it is deferred; and a target ends within a cycle.
        let (axis, reach) = (&plan.axis, plan.axis.reach());
        let from = axis.instant_of(axis.start(cycles.start)) - reach;
        let to = axis.instant_of(axis.start(cycles.end)) + 3 * reach;
        let first = axis.holding(axis.wall_at(from)) - 1;
        let last = axis.holding(axis.wall_at(to)) + 1;
        let maps: Vec<CycleMap> = (first..=last).map(|index| plan.map(index)).collect();
        let (spans, span_count) = counted_excluded(&plan.exclusions, from, to);
        let (deferred, next_runs) = held_runs(plan, &maps, &spans);
        let usable = usable(plan, &spans, from, to);
        let deferral = |span: &ExcludedSpan, next_run: i64| {
            let first_run = deferred.before(span.start);
            let first_tick = usable.before(span.end);
            let is_whole = from < span.start && span.end < to;
            let behind = if is_whole { usable.before(next_run.max(span.end)) } else { first_tick };
            let runs = deferred.before(span.end) - first_run;
            Deferral { first_run, runs, first_tick, ticks: behind - first_tick }
        };
        let forbidden = spans
            .iter()
            .zip(next_runs)
            .map(|(span, next_run)| (*span, deferral(span, next_run)))
            .collect();
        Self { cycles, maps, forbidden, deferred, usable, span_count }
    }

    /// How much it holds: segments of cycles, and spans.
    pub(crate) fn size(&self) -> usize {
        let segments: usize = self.maps.iter().map(|map| 1 + map.segments.len()).sum();
        segments + self.forbidden.len()
    }

    /// How much was worked out for it: what it holds, or where exclusions overlap, more.
    pub(crate) fn work(&self) -> usize {
        self.size().max(self.span_count)
    }

    /// The map of one of the cycles.
    pub(crate) fn map(&self, index: i64) -> Option<&CycleMap> {
        let first = self.maps.first()?.index;
        self.maps.get(usize::try_from(index.checked_sub(first)?).ok()?)
    }

    /// The maps of the cycles that were asked for, without those that the clock skips.
    pub(crate) fn asked_maps(&self) -> impl Iterator<Item = &CycleMap> {
        self.maps.iter().filter(|map| self.cycles.contains(&map.index) && !map.is_skipped)
    }

    /// The fate of a regular run under exclusions.
    pub(crate) fn fate(&self, instant: i64) -> RunFate {
        let behind = self.forbidden.partition_point(|(span, _)| span.start <= instant);
        let held = behind.checked_sub(1).and_then(|index| self.forbidden.get(index));
        let Some((span, deferral)) = held.filter(|(span, _)| instant < span.end) else {
            return RunFate::Regular;
        };
        if span.policy == ExclusionPolicy::Skip || deferral.ticks == 0 {
            return RunFate::Skipped;
        }
        let run = self.deferred.before(instant) - deferral.first_run;
        RunFate::Deferred(self.usable.instant_of(deferral.first_tick + deferral.tick_of(run)))
    }

    /// The parts of [`from`, `to`) in which something is forbidden, and whether what is held
    /// there is skipped.
    pub(crate) fn excluded_in(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, i64, bool)> {
        let first = self.forbidden.partition_point(|(span, _)| span.end <= from);
        self.forbidden.iter().skip(first).take_while(move |(span, _)| span.start < to).map(
            move |(span, deferral)| {
                let skips = span.policy == ExclusionPolicy::Skip || deferral.ticks == 0;
                (span.start.max(from), span.end.min(to), skips)
            },
        )
    }

    /// The regular instants of what runs in [`from`, `to`): regular instants themselves, and
    /// those of runs that are deferred into it; in spans that may touch.
    pub(crate) fn regular_instants_of(&self, from: i64, to: i64) -> Vec<(i64, i64)> {
        let first = self.forbidden.partition_point(|(span, _)| span.end <= from);
        let taken: Vec<(i64, i64)> = self
            .forbidden
            .iter()
            .skip(first)
            .take_while(|(span, _)| span.start < to)
            .map(|(span, _)| (span.start, span.end))
            .collect();
        let mut regular = without(&[(from, to)], &taken);
        for (span, deferral) in &self.forbidden {
            let is_deferred = span.policy == ExclusionPolicy::Defer && deferral.ticks > 0;
            if !is_deferred || span.end >= to {
                continue;
            }
            let tick = |instant: i64| {
                let ticks = self.usable.before(instant.max(span.end)) - deferral.first_tick;
                ticks.min(deferral.ticks)
            };
            let (low, high) = (deferral.run_from(tick(from)), deferral.run_from(tick(to)));
            if low >= high {
                continue;
            }
            let instant = |run: u64| self.deferred.first_with(deferral.first_run + run);
            let low = if low == 0 { span.start } else { instant(low) };
            let high = if high >= deferral.runs { span.end } else { instant(high) };
            if low < high {
                regular.push((low, high));
            }
        }
        regular
    }
}

/// The regular runs that are deferred, and for each span the earliest run that any of those
/// that it holds has one cycle later (the earliest time, if it holds none).
fn held_runs(
    plan: &CyclePlan,
    maps: &[CycleMap],
    spans: &[ExcludedSpan],
) -> (CumulativeTicks, Vec<i64>) {
    let mut next_runs = vec![i64::MAX; spans.len()];
    let mut held = Vec::new();
    let mut hold = |map: &CycleMap, next: Option<&CycleMap>, segment: &Segment| {
        let first = spans.partition_point(|span| span.end <= segment.instant);
        let within = spans.iter().zip(&mut next_runs).skip(first);
        for (span, next_run) in within.take_while(|(span, _)| span.start < segment.end()) {
            let offsets = segment.offsets_in(span.start, span.end);
            if span.policy == ExclusionPolicy::Skip || offsets.is_empty() {
                continue;
            }
            let instants = segment.instants_of(&offsets);
            held.push((instants.start, instants.end));
            if let Some(next) = next {
                let moved = plan.moved(offsets, map.active_ticks, next.active_ticks);
                let earliest = next.instants_of(&moved).map_or(i64::MAX, |(earliest, _)| earliest);
                *next_run = earliest.min(*next_run);
            }
        }
    };
    let nexts = maps.iter().skip(1).map(Some).chain([None]);
    for (map, next) in maps.iter().zip(nexts).filter(|(map, _)| !map.is_skipped) {
        map.segments.iter().for_each(|segment| hold(map, next, segment));
    }
    let next_runs = next_runs.into_iter().map(|run| if run == i64::MAX { i64::MIN } else { run });
    let next_runs = next_runs.collect();
    (CumulativeTicks::of(held), next_runs)
}

/// The instants of [`from`, `to`) at which the wall clock shows an active time and nothing is
/// forbidden.
fn usable(plan: &CyclePlan, spans: &[ExcludedSpan], from: i64, to: i64) -> CumulativeTicks {
    CumulativeTicks::of(usable_spans(plan, spans, from, to))
}

/// The same as spans, in order, from the instant on: so many as hold `ticks`, or as there are in
/// `most_cycles` from there.
pub(crate) fn usable_from(
    plan: &CyclePlan,
    from: i64,
    ticks: u64,
    most_cycles: i64,
) -> Vec<Range<i64>> {
    let step = plan.axis.longest().cast_signed();
    let (mut found, mut left) = (Vec::new(), ticks);
    for start in (0..most_cycles).map(|cycle| from + cycle * step) {
        if left == 0 {
            break;
        }
        let spans = excluded(&plan.exclusions, start, start + step);
        for (start, end) in usable_spans(plan, &spans, start, start + step) {
            let length = (end - start).unsigned_abs().min(left);
            if length > 0 {
                found.push(start..start + length.cast_signed());
            }
            left -= length;
        }
    }
    found
}

fn usable_spans(plan: &CyclePlan, spans: &[ExcludedSpan], from: i64, to: i64) -> Vec<(i64, i64)> {
    let mut active = Vec::new();
    if plan.windows.is_empty() {
        active.push((from, to));
    } else {
        plan.axis.showing(&plan.windows, from, to, |span| active.push((span.start, span.end)));
    }
    let taken: Vec<(i64, i64)> = spans.iter().map(|span| (span.start, span.end)).collect();
    without(&active, &taken)
}
