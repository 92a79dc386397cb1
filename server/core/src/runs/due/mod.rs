//! Due runs: the runs in [watermark, now), each once however irregularly a caller polls, and what
//! becomes of missed runs.
//!
//! Instants are rounded up to whole milliseconds. Runs start on whole milliseconds, so none lies
//! between an instant and its rounding.

mod rows;
mod spec;

pub use self::rows::DueRuns;
pub use self::spec::{DueSpec, MissedRunPolicy};

use self::rows::Obstacle;
use super::catch_up::{CatchUp, LateRuns};
use super::cycle_cache::{BEFORE, CycleCache};
use super::place_runs::PlaceRuns;
use super::smear;
use super::starts::StartTimes;
use crate::calendar::WorkBudgetExhausted;
use crate::ids::Id;
use crate::limits::{CATCH_UP_HORIZON, DUE_CYCLES, DUE_PAGED_RUNS};
use crate::placement::{Place, piece_hash};
use crate::rejection::{Reason, Rejection};
use crate::schedule::{Kinds, Schedule};
use crate::time::{Moment, Span};

const DEFAULT_TOLERANCE: Span = Span::from_seconds(60);

/// A checked query for due runs; times are milliseconds since the Unix epoch.
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
/// let rows = rows.complete()?;
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
    /// Runs before this are listed.
    end: i64,
    min_gap: i64,
    /// Runs before this are late.
    on_time_from: i64,
    /// Late runs before this are dropped.
    caught_up_from: i64,
    /// Places late runs, if kinds are declared.
    catch_up: Option<CatchUp<'a>>,
    /// Places late runs without kinds.
    starts: StartTimes,
    /// How far a watermark may be after now.
    latest_skew: Span,
    /// Watermarks after this are refused.
    last_watermark: i64,
}

impl<'a> Due<'a> {
    /// Checks a query.
    ///
    /// # Errors
    /// When a span is out of range or must not be set, or the tolerance is missing, naming it as in
    /// `DueSpec`; or when kinds are declared and the schedule is of none of them, naming `kind`.
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
        if missed_run_policy == MissedRunPolicy::Drop && spec.on_time_tolerance.is_none() {
            let allowed = "must be set with the policy DROP: at least the time between two requests, \
                           or runs are lost";
            let field = "on_time_tolerance";
            return Err(Rejection::new(Reason::FieldMissing, field, "nothing", allowed));
        }
        let a_minute = DEFAULT_TOLERANCE.min(period);
        let catch_up = CatchUp::of(schedule)?;
        let tolerance = match schedule.kinds() {
            None => up_to_a_period("on_time_tolerance", spec.on_time_tolerance, a_minute)?,
            Some(kinds) => check_tolerance(spec.on_time_tolerance, a_minute, kinds)?,
        };
        let none = Span::from_seconds(0);
        let smear = up_to_a_period("smear_span", spec.smear_span, none)?;
        if let (Some(_), Some(span)) = (&catch_up, spec.smear_span) {
            return Err(CatchUp::refuse("smear_span", &span));
        }
        let look_ahead = up_to_a_period("look_ahead", spec.look_ahead, none)?;
        let min_gap = up_to_a_period("min_gap", spec.min_gap, none)?;
        let skew = up_to_a_period("max_clock_skew", spec.max_clock_skew, a_minute)?;
        let latest_skew = look_ahead.plus(skew);
        let horizon = check_horizon(spec.horizon.unwrap_or(period), tolerance)?;
        let now = now_time.unix_millis_ceil();
        Ok(Self {
            schedule,
            // Most watermarks lie a cycle or two before now.
            cycles: schedule.cycle_cache_around(schedule.cycle_at(now_time) - 2 * BEFORE),
            policy: missed_run_policy,
            now,
            end: now_time.millis_ceil_plus(look_ahead),
            min_gap: min_gap.millis_ceil().cast_signed(),
            on_time_from: now_time.millis_ceil_minus(tolerance),
            caught_up_from: now_time.millis_ceil_minus(horizon),
            catch_up,
            starts: StartTimes::new(schedule, now, smear.millis_floor()),
            latest_skew,
            last_watermark: now_time.millis_ceil_plus(latest_skew),
        })
    }

    /// The default of `on_time_tolerance`, for callers that poll more often than it is long.
    #[must_use]
    pub fn default_tolerance(schedule: &Schedule) -> Span {
        let period = Span::from_millis(schedule.shortest_cycle_millis().unsigned_abs());
        let longest = schedule.kinds().map_or(period, Kinds::longest_tolerance);
        DEFAULT_TOLERANCE.min(period).min(longest)
    }

    /// Checks the watermark of a caller, in milliseconds since the Unix epoch, and returns it.
    ///
    /// # Errors
    /// When it is outside the years 1 to 9999, or further after now than clocks may differ. The
    /// rejection names no field.
    pub fn check_watermark(&self, unix_millis: i64) -> Result<i64, Rejection> {
        let shown = Moment::from_unix_millis(unix_millis);
        if unix_millis > self.last_watermark {
            let latest = Moment::from_unix_millis(self.last_watermark).unwrap_or(Moment::MAX);
            let allowed = format!(
                "must be at most {latest}: max_clock_skew and look_ahead, {}, after now_time",
                self.latest_skew
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

    /// The watermark of the next query, after `watermark`: it never goes back.
    #[must_use]
    pub fn next_watermark(&self, watermark: i64) -> i64 {
        self.end.max(watermark)
    }

    /// Adds the due runs of a piece of `id`, which stands at `place`: late runs first, in the order
    /// of their cycles. `indexes` are those of the ID and of the piece. Once there is a row beyond
    /// the page, nothing more is looked at.
    pub fn add(
        &self,
        rows: &mut DueRuns,
        indexes: (u32, u32),
        id: &Id<'_>,
        place: &Place,
        watermark: i64,
    ) {
        let cycles = self.cycles.cycles_to_count(&(watermark..self.end));
        if !DUE_CYCLES.allows(i128::from(rows.work) + i128::from(cycles)) {
            rows.obstacle = Some(Obstacle::ManyCycles);
        }
        if rows.obstacle.is_some() || rows.has_more {
            return;
        }
        let before = self.cycles.looked_through();
        if self.add_runs(rows, indexes, id, place, watermark) == Err(WorkBudgetExhausted) {
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
    ) -> Result<(), WorkBudgetExhausted> {
        let times = self.cycles.runs_of(place);
        let [too_old, late, now] = [self.caught_up_from, self.on_time_from, self.now]
            .map(|bound| bound.clamp(watermark, self.end.max(watermark)));
        let bounds = [watermark, too_old, late, now, self.end.max(watermark)];
        let ([old_count, late_count, due_count, ahead_count, _], skipped) = times.tally(bounds)?;
        let (on_time, late) = (late..self.end.max(watermark), too_old..late);
        // Runs that are listed before they are due do not replace a missed run.
        let wanted = match self.policy {
            MissedRunPolicy::Drop => 0,
            MissedRunPolicy::RunOnce => late_count.min(u64::from(due_count == 0)),
            MissedRunPolicy::RunAll => late_count,
        };
        rows.wanted += u128::from(wanted + due_count + ahead_count);
        if i128::try_from(rows.wanted).is_ok_and(|wanted| !DUE_PAGED_RUNS.allows(wanted)) {
            rows.obstacle = Some(Obstacle::ManyRuns);
            return Ok(());
        }
        rows.dropped += u128::from(old_count + late_count - wanted);
        rows.skipped += u128::from(skipped);
        if let Some(next) = times.next_soon(on_time.end)? {
            let next = next.unix_millis;
            rows.next_due = Some(rows.next_due.map_or(next, |due| due.min(next)));
        }
        if wanted > 0 {
            let latest = (wanted < late_count).then(|| times.between(late.clone()).next_back());
            let all = latest.is_none().then(|| times.between(late));
            let runs = latest.flatten().into_iter().chain(all.into_iter().flatten());
            let mut starts = self.late_starts(id, place, piece_index, wanted);
            let last_start = match self.policy {
                MissedRunPolicy::RunOnce => self.last_start(&times)?,
                MissedRunPolicy::Drop | MissedRunPolicy::RunAll => i64::MAX,
            };
            for run in runs {
                let run = run?;
                match starts.next()? {
                    None => rows.dropped += 1,
                    Some(start) if start > last_start => rows.superseded += 1,
                    Some(start) => {
                        rows.late += 1;
                        rows.push((id_index, piece_index), &run, start);
                    }
                }
                if rows.has_more {
                    return Ok(());
                }
            }
        }
        for run in times.between(on_time) {
            let run = run?;
            rows.push((id_index, piece_index), &run, run.unix_millis);
            if rows.has_more {
                break;
            }
        }
        Ok(())
    }

    /// The last start of a late run that the next regular run does not supersede.
    fn last_start(&self, times: &PlaceRuns<'_>) -> Result<i64, WorkBudgetExhausted> {
        let next = times.next(self.now)?;
        Ok(next.map_or(i64::MAX, |next| next.unix_millis - self.min_gap.max(1)))
    }

    /// Start times of the late runs of a piece, in their order.
    fn late_starts(&self, id: &Id<'_>, place: &Place, piece: u32, count: u64) -> LateStarts<'_> {
        let hash = || piece_hash(self.schedule.smear_hash(id), piece);
        match self.catch_up {
            None if self.starts.span() == 0 => {
                LateStarts::Smeared { due: self, hash: 0, index: 0, count }
            }
            None => LateStarts::Smeared { due: self, hash: hash(), index: 0, count },
            Some(clock) => {
                let until = self.now.saturating_add(2 * self.schedule.longest_cycle_millis());
                let late = clock.late_runs(&self.cycles, place, hash());
                LateStarts::InTurns { late, from: self.now, until }
            }
        }
    }
}

/// Start times of the late runs of a piece, one after another.
enum LateStarts<'a> {
    /// Over the smear span of the query, each in its own part of it.
    Smeared { due: &'a Due<'a>, hash: u64, index: u64, count: u64 },
    /// In successive turns of the catch-up clock, within two cycles.
    InTurns { late: LateRuns<'a>, from: i64, until: i64 },
}

impl LateStarts<'_> {
    /// The next start; `None` if there are no more.
    fn next(&mut self) -> Result<Option<i64>, WorkBudgetExhausted> {
        match self {
            Self::Smeared { due, hash, index, count } => {
                let later = smear::position(*hash, *index, *count, due.starts.span());
                *index += 1;
                Ok(due.starts.at(later))
            }
            Self::InTurns { late, from, until } => {
                let start = late.start(*from, *until)?;
                *from = start.map_or(*until, |start| start + 1);
                Ok(start)
            }
        }
    }
}

/// With kinds, a run may start late by what the run time leaves of the smallest gap, and no more.
fn check_tolerance(
    tolerance: Option<Span>,
    default: Span,
    kinds: &Kinds,
) -> Result<Span, Rejection> {
    let longest = kinds.longest_tolerance();
    let tolerance = tolerance.unwrap_or(default.min(longest));
    if !(Span::from_seconds(0)..=longest).contains(&tolerance) {
        let allowed = format!(
            "must be 0s to {longest}, what the run time of a kind leaves of the gap to the next one: a \
             run that starts later could meet it"
        );
        return Err(Rejection::new(Reason::OutOfRange, "on_time_tolerance", tolerance, allowed));
    }
    Ok(tolerance)
}

fn check_horizon(horizon: Span, tolerance: Span) -> Result<Span, Rejection> {
    let longest = Span::from_millis(CATCH_UP_HORIZON.maximum.unsigned_abs());
    if !(tolerance..=longest).contains(&horizon) {
        let allowed = format!("must be on_time_tolerance, {tolerance}, to {longest} (3660 days)");
        return Err(Rejection::new(Reason::OutOfRange, "horizon", horizon, allowed));
    }
    Ok(horizon)
}
