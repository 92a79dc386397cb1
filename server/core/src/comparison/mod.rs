//! Whether jobs of two schedules are kept apart on each ID, and what the distances of kinds leave for a
//! job to wait and run.

mod budget;

use crate::calendar::shortest_both_ways;
use crate::placement::{Placement, greatest_common_divisor};
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::Span;

pub use budget::Delays;

/// Refuses a schedule on which kinds have no fixed distance.
///
/// # Errors
/// When it has weights, or defers runs, naming the field.
pub fn check_suitable(schedule: &Schedule) -> Result<(), Rejection> {
    if schedule.defers() {
        let allowed = "must be SKIP: a deferred run can meet a run of another kind";
        return Err(Rejection::new(Reason::Contradictory, "exclusions", "DEFER", allowed));
    }
    let Some(quantum) = schedule.weight_quantum() else { return Ok(()) };
    let allowed = "must not be set: the pieces of a weighted ID run in several slots, and would \
                   meet other kinds";
    Err(Rejection::new(Reason::Contradictory, "weight_quantum", quantum, allowed))
}

/// A job to compare: a schedule, of one of its kinds if it declares some.
#[derive(Debug, Clone)]
pub struct Job {
    schedule: Schedule,
    run_time: Option<Span>,
}

impl Job {
    /// A job whose runs take `run_time` at most, or what the schedule says of its kind.
    ///
    /// # Errors
    /// When the kind is none of the schedule's, or the run time is not 0 to one period; naming `kind`
    /// or `run_time`.
    pub fn try_new(
        schedule: &Schedule,
        kind: Option<&str>,
        run_time: Option<Span>,
    ) -> Result<Self, Rejection> {
        let schedule = schedule.of_kind(kind)?;
        if let Some(run_time) = run_time {
            schedule.slots_needed(run_time).map_err(|refused| refused.under("run_time"))?;
        }
        let declared = schedule.kinds().zip(schedule.kind());
        let declared = declared.and_then(|(kinds, kind)| kinds.get(kind)?.run_time);
        Ok(Self { schedule, run_time: run_time.or(declared) })
    }
}

/// Whether jobs are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Separation {
    /// On every ID, a run of one has ended before the next of the other starts.
    Apart,
    /// The distance differs from ID to ID, or from cycle to cycle.
    Unknown,
    /// There are IDs on which they meet.
    Meet,
}

/// How two jobs stand to one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Whether they are kept apart.
    pub separation: Separation,
    /// Why, in a sentence.
    pub reason: String,
    /// The shortest time from a run of the first to the next of the second, and from the second to the
    /// first, where every ID has the same.
    pub distances: Option<(Span, Span)>,
}

/// Compares two jobs.
///
/// ```
/// use offbeat_core::comparison::{Job, Separation, compare};
/// use offbeat_core::{Moment, Schedule, ScheduleSpec, Span};
///
/// let every = |anchor: i64| {
///     let anchor_time = Some(Moment::try_new(anchor, 0)?);
///     let spec = ScheduleSpec { anchor_time, ..ScheduleSpec::every(Span::from_seconds(28_800)) };
///     Job::try_new(&Schedule::try_new(&spec)?, None, Some(Span::from_seconds(600)))
/// };
/// // The same hours: another name for a job moves nothing.
/// assert_eq!(compare(&every(0)?, &every(0)?).separation, Separation::Meet);
/// assert_eq!(compare(&every(0)?, &every(3_600)?).separation, Separation::Apart);
/// assert_eq!(compare(&every(0)?, &every(300)?).separation, Separation::Meet);
/// # Ok::<(), offbeat_core::Rejection>(())
/// ```
#[must_use]
pub fn compare(first: &Job, second: &Job) -> Pair {
    let (forward, backward) = match distances(&first.schedule, &second.schedule) {
        Ok(distances) => distances,
        Err(reason) => {
            let (separation, reason) = (Separation::Unknown, reason.to_owned());
            return Pair { separation, reason, distances: None };
        }
    };
    let none = Span::from_seconds(0);
    let meets = |run_time: Option<Span>, distance: Span| {
        distance <= none || run_time.is_some_and(|run_time| run_time > distance)
    };
    let known = |job: &Job| {
        job.run_time.map_or("of unknown length".to_owned(), |time| format!("of {time}"))
    };
    let (separation, reason) = if forward <= none || backward <= none {
        (Separation::Meet, "they run at the same time".to_owned())
    } else if meets(first.run_time, forward) {
        (
            Separation::Meet,
            format!("a run {} goes on when the second starts, {forward} later", known(first)),
        )
    } else if meets(second.run_time, backward) {
        (
            Separation::Meet,
            format!("a run {} goes on when the first starts, {backward} later", known(second)),
        )
    } else {
        let text = format!(
            "the second starts {forward} or more after a run {} of the first, and the first {backward} or \
             more after one {} of the second",
            known(first),
            known(second)
        );
        (Separation::Apart, text)
    };
    Pair { separation, reason, distances: Some((forward, backward)) }
}

/// The shortest times from a run of one to the next of the other, both ways; or why they differ from
/// ID to ID.
fn distances(one: &Schedule, other: &Schedule) -> Result<(Span, Span), &'static str> {
    for schedule in [one, other] {
        if schedule.weight_quantum().is_some() {
            return Err("the pieces of weighted IDs run in several slots");
        }
        if schedule.defers() {
            return Err("deferred runs have no fixed distance");
        }
    }
    if one.placement() != other.placement() {
        return Err("IDs stand in unrelated places: the placements or their salts differ");
    }
    if one.tick_millis() != other.tick_millis() {
        return Err("the resolutions differ, and places are rounded apart");
    }
    let is_drawn = matches!(one.placement(), Placement::Twister { .. });
    if is_drawn && (one.slot_count(), one.slot_ticks()) != (other.slot_count(), other.slot_ticks())
    {
        return Err("TWISTER draws other places in slots of another number or length");
    }
    if one.calendar().is_none() && !one.has_windows() && !other.has_windows() {
        return elapsed(one, other);
    }
    // In parts of a cycle that both slot counts divide.
    let (slots, others) = (u64::from(one.slot_count()), u64::from(other.slot_count()));
    let parts = slots / greatest_common_divisor(slots, others) * others;
    let place =
        |schedule: &Schedule, slots: u64| u64::from(schedule.grid().rotation()) * (parts / slots);
    let forward = (place(other, others) + parts - place(one, slots)) % parts;
    let parts = u32::try_from(parts).map_err(|_| "the slot counts have no common part")?;
    let forward = u32::try_from(forward).unwrap_or_default();
    if let Some(plan) = one.plan().filter(|_| one.is_cut_like(other)) {
        let is_rounded = matches!(one.placement(), Placement::Fraction);
        let (ahead, behind) = match forward {
            0 => (0, 0),
            _ => shortest_both_ways(plan, parts, forward, is_rounded),
        };
        return Ok((one.span(ahead.unsigned_abs()), one.span(behind.unsigned_abs())));
    }
    // Shifted by their anchors alone, jobs are as far apart in each window.
    elapsed(one, other)
        .ok()
        .filter(|_| forward == 0 && one.has_windows_of(other))
        .ok_or("the cycles or their active windows differ")
}

/// The same where cycles are periods, without windows between the places.
fn elapsed(one: &Schedule, other: &Schedule) -> Result<(Span, Span), &'static str> {
    let period = one.shortest_cycle_millis();
    if other.calendar().is_some() || period != other.shortest_cycle_millis() {
        return Err(
            "the cycles are of different lengths: the distance differs from cycle to cycle",
        );
    }
    let start = |schedule: &Schedule| schedule.anchor_millis() + schedule.rotation_millis();
    let forward = (start(other) - start(one)).rem_euclid(period);
    let span = |millis: i64| Span::from_millis(millis.unsigned_abs());
    Ok(if forward == 0 { (span(0), span(0)) } else { (span(forward), span(period - forward)) })
}
