//! The fields of a spec that make its cycles: calendars, active windows, exclusions.

use core::ops::Range;

use super::checks::{self, CycleTicks};
use super::{CycleSpec, ScheduleSpec};
use crate::calendar::{
    Axis, CalendarSpec, CalendarUnit, CyclePlan, CycleWindow, Exclusion, ExclusionSpec,
    ExclusionTimes, Times, Zone, active_ticks,
};
use crate::limits::{ACTIVE_WINDOWS, EXCLUDED_SPANS, EXCLUSIONS, Limit, MILLIS_PER_SECOND};
use crate::placement::{PlacementKind, greatest_common_divisor};
use crate::rejection::{Reason, Rejection};
use crate::time::{Moment, Span};

/// The cycles of a schedule.
pub(super) struct Cycles {
    /// Calendar, windows and exclusions, if there are any.
    pub(super) plan: Option<CyclePlan>,
    /// The start of cycle 0 of a period; the Unix epoch with a calendar.
    pub(super) anchor_millis: i64,
    /// The active ticks of a cycle, for each length that it can have: rising, and at least 1.
    pub(super) active_ticks: Vec<u64>,
}

impl Cycles {
    /// The number that a slot count must divide.
    pub(super) fn common_ticks(&self, tick_millis: u64) -> CycleTicks {
        let ticks = self.active_ticks.iter().copied().fold(0, greatest_common_divisor);
        let name = match (self.plan.is_none(), self.active_ticks.len()) {
            (true, _) => "the period",
            (false, 1) => "the active time",
            (false, _) => "the active time of every month, so their common divisor",
        };
        CycleTicks { ticks, tick_millis, name }
    }
}

pub(super) fn cycles(spec: &ScheduleSpec, tick_millis: u64) -> Result<Cycles, Rejection> {
    let tick = tick_millis.cast_signed();
    let (axis, lengths, anchor_millis) = match &spec.cycle {
        CycleSpec::Period(period) => {
            let ticks = checks::period(*period, tick_millis)?;
            let anchor = checks::anchor(spec.anchor_time, tick_millis)?;
            (Axis::Period { ticks, anchor: anchor / tick }, vec![ticks], anchor)
        }
        CycleSpec::Calendar(calendar) => {
            let axis = axis(calendar, tick_millis).map_err(|refused| refused.under("calendar"))?;
            fits_calendar(spec)?;
            (axis, lengths(calendar.unit, tick_millis), 0)
        }
    };
    let longest = axis.longest();
    let mut windows = windows(&spec.active_windows, longest, tick_millis)?;
    if windows.len() == 1 && windows.first() == Some(&(0..longest)) {
        windows.clear(); // it is the default
    }
    let of_lengths: Vec<u64> =
        lengths.iter().map(|length| active_ticks(&windows, *length)).collect();
    if of_lengths.contains(&0) {
        let value = format_args!("{} windows", windows.len());
        let allowed = "must leave some of every cycle, in months of 28 days too";
        return Err(Rejection::new(Reason::OutOfRange, "active_windows", value, allowed));
    }
    let exclusions = exclusions(&spec.exclusions, longest, tick_millis)?;
    let is_plain =
        matches!(axis, Axis::Period { .. }) && windows.is_empty() && exclusions.is_empty();
    let plan = CyclePlan { axis, windows, exclusions, placement: spec.placement };
    Ok(Cycles { plan: (!is_plain).then_some(plan), anchor_millis, active_ticks: of_lengths })
}

fn axis(calendar: &CalendarSpec, tick_millis: u64) -> Result<Axis, Rejection> {
    let name = &calendar.time_zone;
    if name.is_empty() {
        let allowed = "must be the IANA name of a time zone, such as Europe/Berlin";
        return Err(Rejection::new(Reason::FieldMissing, "time_zone", "nothing", allowed));
    }
    let zone = Zone::named(name).ok_or_else(|| {
        let allowed = "must be the name of a time zone in the IANA database, such as Europe/Berlin \
                       or UTC";
        let value = format_args!("{name:?}");
        Rejection::new(Reason::UnknownTimeZone, "time_zone", value, allowed)
    })?;
    let rate = (MILLIS_PER_SECOND / tick_millis).cast_signed();
    Ok(Axis::Calendar { unit: calendar.unit, zone, rate })
}

fn lengths(unit: CalendarUnit, tick_millis: u64) -> Vec<u64> {
    unit.lengths().iter().map(|days| days * 86_400 * MILLIS_PER_SECOND / tick_millis).collect()
}

fn fits_calendar(spec: &ScheduleSpec) -> Result<(), Rejection> {
    if let Some(anchor) = spec.anchor_time {
        let allowed = "must not be set with a calendar, whose cycle 0 holds 1 January 1970";
        return Err(Rejection::new(Reason::Contradictory, "anchor_time", anchor, allowed));
    }
    if spec.placement == PlacementKind::Twister {
        let allowed =
            "must be HASH or FRACTION with a calendar: a twister draws below a fixed length";
        let reason = Reason::Contradictory;
        return Err(Rejection::new(reason, "placement", spec.placement.name(), allowed));
    }
    Ok(())
}

fn windows(
    windows: &[CycleWindow],
    longest: u64,
    tick_millis: u64,
) -> Result<Vec<Range<u64>>, Rejection> {
    within(windows.len(), "active_windows", ACTIVE_WINDOWS)?;
    let mut checked: Vec<Range<u64>> = Vec::with_capacity(windows.len());
    for (index, one) in windows.iter().enumerate() {
        let at = |rejection: Rejection| rejection.under(&format!("active_windows[{index}]"));
        let ticks = window(*one, longest, tick_millis).map_err(at)?;
        if let Some(last) = checked.last()
            && ticks.start <= last.end
        {
            let last = Span::from_millis(last.end * tick_millis);
            let allowed = format!(
                "must be after {last}, where the window before it ends: windows come in order and \
                 do not touch"
            );
            let reason = Reason::Contradictory;
            return Err(at(Rejection::new(reason, "start_offset", one.start, allowed)));
        }
        checked.push(ticks);
    }
    Ok(checked)
}

/// A window in ticks: not empty, and within the longest cycle.
fn window(window: CycleWindow, longest: u64, tick_millis: u64) -> Result<Range<u64>, Rejection> {
    let tick = Span::from_millis(tick_millis);
    let ticks = |field: &str, span: Span, least: u64| {
        let whole = span.whole_millis().filter(|millis| millis.is_multiple_of(tick_millis));
        whole
            .map(|millis| millis / tick_millis)
            .filter(|ticks| (least..=longest).contains(ticks))
            .ok_or_else(|| {
                let (least, longest) = (tick.times(least), tick.times(longest));
                let allowed =
                    format!("must be {least} to {longest}, a whole number of ticks of {tick}");
                Rejection::new(Reason::OutOfRange, field, span, allowed)
            })
    };
    let start = ticks("start_offset", window.start, 0)?;
    if start == longest {
        let allowed = format!("must be before {}, where the cycle ends", tick.times(longest));
        let reason = Reason::OutOfRange;
        return Err(Rejection::new(reason, "start_offset", window.start, allowed));
    }
    Ok(start..ticks("end_offset", window.end, start + 1)?)
}

/// The exclusions, checked: in the order of their canonical texts, each once.
fn exclusions(
    specs: &[ExclusionSpec],
    longest: u64,
    tick_millis: u64,
) -> Result<Vec<Exclusion>, Rejection> {
    within(specs.len(), "exclusions", EXCLUSIONS)?;
    let mut checked = Vec::with_capacity(specs.len());
    let mut spans = 0;
    for (index, spec) in specs.iter().enumerate() {
        let times = match &spec.times {
            ExclusionTimes::Dated { start, end } => dated(*start, *end, tick_millis)
                .map_err(|refused| refused.under(&format!("exclusions[{index}].dated")))?,
            ExclusionTimes::Recurring { calendar, window } => {
                let times = recurring(calendar, *window, tick_millis)
                    .map_err(|refused| refused.under(&format!("exclusions[{index}].recurring")))?;
                let shortest = lengths(calendar.unit, tick_millis).into_iter().min();
                spans += longest / shortest.unwrap_or(longest).max(1) + 1;
                times
            }
        };
        checked.push(Exclusion { times, policy: spec.policy });
    }
    if !EXCLUDED_SPANS.allows(spans.into()) {
        let value = format_args!("{spans} excluded spans in a cycle");
        let allowed = format!("must be {EXCLUDED_SPANS}: fewer recurring exclusions");
        return Err(Rejection::new(Reason::OutOfRange, "exclusions", value, allowed));
    }
    checked.sort_by_cached_key(|exclusion| exclusion.canonical_text(tick_millis));
    checked.dedup();
    Ok(checked)
}

fn dated(start: Moment, end: Moment, tick_millis: u64) -> Result<Times, Rejection> {
    let on_tick = |field: &str, moment: Moment| {
        let millis = moment.unix_millis_floor();
        let tick = tick_millis.cast_signed();
        if millis != moment.unix_millis_ceil() || millis.rem_euclid(tick) != 0 {
            let tick = Span::from_millis(tick_millis);
            let allowed = format!("must be a whole number of ticks of {tick} since the Unix epoch");
            return Err(Rejection::new(Reason::OutOfRange, field, moment, allowed));
        }
        Ok(millis / tick)
    };
    let ticks = on_tick("start_time", start)?..on_tick("end_time", end)?;
    if ticks.is_empty() {
        let allowed = format!("must be after start_time, {start}");
        return Err(Rejection::new(Reason::Contradictory, "end_time", end, allowed));
    }
    Ok(Times::Dated(ticks))
}

fn recurring(
    calendar: &CalendarSpec,
    part: CycleWindow,
    tick_millis: u64,
) -> Result<Times, Rejection> {
    let axis = axis(calendar, tick_millis).map_err(|refused| refused.under("calendar"))?;
    let longest = axis.longest();
    let window = window(part, longest, tick_millis).map_err(|refused| refused.under("window"))?;
    if window == (0..longest) {
        let allowed = "must be shorter than the unit: nothing would ever run";
        let reason = Reason::Contradictory;
        return Err(Rejection::new(reason, "window.end_offset", part.end, allowed));
    }
    Ok(Times::Recurring { axis, window })
}

fn within(count: usize, field: &str, limit: Limit) -> Result<(), Rejection> {
    if count > limit.max_size() {
        let value = format_args!("{count} of them");
        return Err(Rejection::new(Reason::OutOfRange, field, value, format!("must be {limit}")));
    }
    Ok(())
}
