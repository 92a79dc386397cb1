//! Due runs: those in [watermark, now), each once however irregularly it is asked, and what
//! becomes of those that were missed.
//!
//! Instants are taken to whole milliseconds, rounded up: as runs start on whole milliseconds, none
//! lies between an instant and its rounding.

use super::engine::{BEFORE, CycleCache};
use super::starts::StartTimes;
use super::{Run, smear};
use crate::calendar::Exhausted;
use crate::ids::Id;
use crate::limits::{CATCH_UP_HORIZON, DUE_CYCLES, DUE_RUNS};
use crate::placement::{Place, piece_hash};
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::{Moment, Span};

/// What becomes of runs that were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedRunPolicy {
    /// None of them runs.
    Skip,
    /// The latest of each piece runs, unless a run that is on time does.
    #[default]
    RunOnce,
    /// All of them run.
    RunAll,
}

/// A question for due runs as a caller puts it, not yet checked. `None` means the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueSpec {
    /// Runs before this are due.
    pub now_time: Moment,
    /// What becomes of runs that are due and no longer on time.
    pub missed_run_policy: MissedRunPolicy,
    /// How long before now a run is on time: 0 to one period. Default: 60 s, or one period.
    pub on_time_tolerance: Option<Span>,
    /// How long before now a missed run may run: `on_time_tolerance` to 3,660 days. Default: one
    /// period.
    pub catch_up_horizon: Option<Span>,
    /// Over which span from now missed runs start: 0 to one period. Default: 0.
    pub smear_span: Option<Span>,
    /// How far after now a watermark may lie: 0 to one period. Default: 60 s, or one period.
    pub max_clock_skew: Option<Span>,
}

impl DueSpec {
    /// What is due until `now_time`, with every default.
    #[must_use]
    pub const fn until(now_time: Moment) -> Self {
        Self {
            now_time,
            missed_run_policy: MissedRunPolicy::RunOnce,
            on_time_tolerance: None,
            catch_up_horizon: None,
            smear_span: None,
            max_clock_skew: None,
        }
    }
}

const DEFAULT_TOLERANCE: Span = Span::from_seconds(60);

/// A checked question for due runs; times are milliseconds since the Unix epoch.
///
/// ```
/// use offbeat_core::runs::{Due, DueRuns, DueSpec};
/// use offbeat_core::{Id, Moment, Schedule, ScheduleSpec, Span};
///
/// let hourly = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(3_600)))?;
/// let due = Due::try_new(&hourly, &DueSpec::until(Moment::try_new(7_200, 0)?))?;
/// let id = Id::text("acme")?;
/// let mut rows = DueRuns::default();
/// due.add(&mut rows, (0, 0), &id, &hourly.place(&id)?, 0);
/// let rows = rows.within_limit()?;
/// assert_eq!(rows.cycle_indexes, [1]); // once, though two were due
/// assert_eq!((rows.late, rows.dropped), (1, 1));
/// # Ok::<(), offbeat_core::Rejection>(())
/// ```
#[derive(Debug, Clone)]
pub struct Due<'a> {
    schedule: &'a Schedule,
    cycles: CycleCache<'a>,
    policy: MissedRunPolicy,
    now: i64,
    /// Runs before this are late.
    on_time_from: i64,
    /// Late runs before this are dropped.
    caught_up_from: i64,
    smear_millis: u64,
    /// Where late runs may start.
    starts: StartTimes,
    max_clock_skew: Span,
    /// Watermarks after this are refused.
    last_watermark: i64,
}

impl<'a> Due<'a> {
    /// Checks a question.
    ///
    /// # Errors
    /// When a span is out of its range, naming it as in `DueSpec`.
    pub fn try_new(schedule: &'a Schedule, spec: &DueSpec) -> Result<Self, Rejection> {
        let &DueSpec { now_time, missed_run_policy, .. } = spec;
        let period = Span::from_millis(schedule.shortest_cycle_millis().unsigned_abs());
        let up_to_a_period = |field: &str, span: Option<Span>, default: Span| {
            let span = span.unwrap_or(default);
            if !(Span::from_seconds(0)..=period).contains(&span) {
                let cycle = schedule.shortest_cycle_name();
                let allowed = format!("must be 0s to {period}, {cycle}");
                return Err(Rejection::new(Reason::OutOfRange, field, span, allowed));
            }
            Ok(span)
        };
        let a_minute = DEFAULT_TOLERANCE.min(period);
        let tolerance = up_to_a_period("on_time_tolerance", spec.on_time_tolerance, a_minute)?;
        let smear = up_to_a_period("smear_span", spec.smear_span, Span::from_seconds(0))?;
        let skew = up_to_a_period("max_clock_skew", spec.max_clock_skew, a_minute)?;
        let horizon = check_horizon(spec.catch_up_horizon.unwrap_or(period), tolerance)?;
        let now = now_time.unix_millis_ceil();
        Ok(Self {
            schedule,
            // Most watermarks lie a cycle or two before now.
            cycles: schedule.cycle_cache_around(schedule.cycle_at(now_time) - 2 * BEFORE),
            policy: missed_run_policy,
            now,
            on_time_from: now_time.millis_ceil_minus(tolerance),
            caught_up_from: now_time.millis_ceil_minus(horizon),
            smear_millis: smear.millis_floor(),
            starts: StartTimes::new(schedule, now, smear.millis_floor()),
            max_clock_skew: skew,
            last_watermark: now_time.millis_ceil_plus(skew),
        })
    }

    /// A watermark that a caller gives, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// When it lies outside of the years 1 to 9999, or further after now than clocks may differ;
    /// without a field.
    pub fn check_watermark(&self, unix_millis: i64) -> Result<i64, Rejection> {
        let shown = Moment::from_unix_millis(unix_millis);
        if unix_millis > self.last_watermark {
            let latest = Moment::from_unix_millis(self.last_watermark).unwrap_or(Moment::MAX);
            let allowed = format!(
                "must be at most {latest}: max_clock_skew, {}, after now_time",
                self.max_clock_skew
            );
            let value = shown.map_or_else(|| format!("{unix_millis} ms"), |time| time.to_string());
            return Err(Rejection::new(Reason::OutOfRange, "", value, allowed));
        }
        if shown.is_none() {
            let value = format_args!("{unix_millis} ms since the Unix epoch");
            let allowed = format!("must be {} to {}", Moment::MIN, Moment::MAX);
            return Err(Rejection::new(Reason::OutOfRange, "", value, allowed));
        }
        Ok(unix_millis)
    }

    /// The watermark of the next question, after `watermark`: it never goes back.
    #[must_use]
    pub fn next_watermark(&self, watermark: i64) -> i64 {
        self.now.max(watermark)
    }

    /// Adds the due runs of piece `piece` of `id`, which stands at `place`: late ones first, in the
    /// order of their cycles. Above the limit of rows they are only counted.
    pub fn add(
        &self,
        rows: &mut DueRuns,
        indexes: (u32, u32),
        id: &Id<'_>,
        place: &Place,
        watermark: i64,
    ) {
        let cycles = self.cycles.cycles_to_count(&(watermark..self.now));
        if !DUE_CYCLES.allows(i128::from(rows.work) + i128::from(cycles)) {
            rows.obstacle = Some(Obstacle::ManyCycles);
        }
        if rows.obstacle.is_some() {
            return;
        }
        let before = self.cycles.looked_through();
        if self.add_runs(rows, indexes, id, place, watermark) == Err(Exhausted) {
            rows.obstacle = Some(Obstacle::ManyCycles);
        }
        rows.work = rows.work.saturating_add(self.cycles.looked_through() - before);
    }

    fn add_runs(
        &self,
        rows: &mut DueRuns,
        (id_index, piece_index): (u32, u32),
        id: &Id<'_>,
        place: &Place,
        watermark: i64,
    ) -> Result<(), Exhausted> {
        let times = self.cycles.runs_of(place);
        let on_time = watermark.max(self.on_time_from)..self.now;
        let late = watermark.max(self.caught_up_from)..self.on_time_from;
        let late_count = times.count(late.clone())?;
        let on_time_count = times.count(on_time.clone())?;
        let caught_up = match self.policy {
            MissedRunPolicy::Skip => 0,
            MissedRunPolicy::RunOnce => late_count.min(u64::from(on_time_count == 0)),
            MissedRunPolicy::RunAll => late_count,
        };
        let too_old = times.count(watermark..self.caught_up_from.min(self.now))?;
        rows.dropped += u128::from(too_old + late_count - caught_up);
        rows.late += u128::from(caught_up);
        rows.wanted += u128::from(caught_up + on_time_count);
        if !rows.fit() {
            return Ok(());
        }
        let mut push = |run: Run, start: i64| {
            rows.id_indexes.push(id_index);
            rows.piece_indexes.push(piece_index);
            rows.cycle_indexes.push(run.cycle_index);
            rows.scheduled_unix_millis.push(run.unix_millis);
            rows.start_unix_millis.push(start);
        };
        if caught_up > 0 {
            let latest = (caught_up < late_count).then(|| times.between(late.clone()).next_back());
            let all = latest.is_none().then(|| times.between(late));
            let runs = latest.flatten().into_iter().chain(all.into_iter().flatten());
            let hash = match self.smear_millis {
                0 => 0, // nothing to place
                _ => piece_hash(self.schedule.smear_hash(id), piece_index),
            };
            for (index, run) in (0..).zip(runs) {
                let later = smear::position(hash, index, caught_up, self.smear_millis);
                match self.starts.at(later) {
                    Some(start) => push(run?, start),
                    None => rows.obstacle = Some(Obstacle::NoStart(self.now)),
                }
            }
        }
        for run in times.between(on_time) {
            let run = run?;
            push(run, run.unix_millis);
        }
        Ok(())
    }
}

fn check_horizon(horizon: Span, tolerance: Span) -> Result<Span, Rejection> {
    let longest = Span::from_millis(CATCH_UP_HORIZON.maximum.unsigned_abs());
    if !(tolerance..=longest).contains(&horizon) {
        let allowed = format!("must be on_time_tolerance, {tolerance}, to {longest} (3660 days)");
        return Err(Rejection::new(Reason::OutOfRange, "catch_up_horizon", horizon, allowed));
    }
    Ok(horizon)
}

/// Due runs as columns of equal length; times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DueRuns {
    /// The ID of each row, by the index that it was added with.
    pub id_indexes: Vec<u32>,
    /// The piece of the ID, from 0.
    pub piece_indexes: Vec<u32>,
    /// The cycle of the run; with the ID and the piece it is the run's identity.
    pub cycle_indexes: Vec<i64>,
    /// When the run should have started, exclusions considered.
    pub scheduled_unix_millis: Vec<i64>,
    /// When to start it: the same for runs on time, and later for missed ones.
    pub start_unix_millis: Vec<i64>,
    /// Rows that were missed.
    pub late: u128,
    /// Missed runs that are no rows.
    pub dropped: u128,
    wanted: u128,
    /// What was looked through for it.
    work: u64,
    obstacle: Option<Obstacle>,
}

/// Why runs are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Obstacle {
    /// Too much would have to be looked through.
    ManyCycles,
    /// Late runs have no time to start at, from this on.
    NoStart(i64),
}

impl DueRuns {
    fn fit(&self) -> bool {
        i128::try_from(self.wanted).is_ok_and(|wanted| DUE_RUNS.allows(wanted))
    }

    /// The rows, if there are no more than may be.
    ///
    /// # Errors
    /// When there are more, saying how many; naming `ids`.
    pub fn within_limit(self) -> Result<Self, Rejection> {
        match self.obstacle {
            Some(Obstacle::ManyCycles) => {
                let value = "IDs with runs in so many cycles";
                let allowed = format!(
                    "must need {DUE_CYCLES} looked through: ask for fewer IDs at once, with later \
                     watermarks"
                );
                return Err(Rejection::new(Reason::OutOfRange, "ids", value, allowed));
            }
            Some(Obstacle::NoStart(now)) => {
                let now = Moment::from_unix_millis(now).unwrap_or(Moment::MAX);
                let allowed = "must be such that late runs can start soon after: active windows and \
                               exclusions leave too little of the next 64 cycles for smear_span";
                return Err(Rejection::new(Reason::NoRun, "now_time", now, allowed));
            }
            None => {}
        }
        if self.fit() {
            return Ok(self);
        }
        let value = format_args!("IDs with {} due runs, {} of them late", self.wanted, self.late);
        let allowed =
            format!("must have {DUE_RUNS}: ask for fewer IDs at once, or shorten catch_up_horizon");
        Err(Rejection::new(Reason::OutOfRange, "ids", value, allowed))
    }
}
