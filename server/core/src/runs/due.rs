//! Due runs: those in [watermark, now), each once however irregularly it is asked, and what
//! becomes of those that were missed.
//!
//! Instants are taken to whole milliseconds, rounded up: as runs start on whole milliseconds, none
//! lies between an instant and its rounding.

use super::catch_up::{CatchUp, Late};
use super::cycle_cache::{BEFORE, CycleCache};
use super::place_runs::PlaceRuns;
use super::starts::StartTimes;
use super::{Run, smear};
use crate::calendar::Exhausted;
use crate::ids::Id;
use crate::limits::{CATCH_UP_HORIZON, DUE_CYCLES, DUE_PAGED_RUNS, DUE_RUNS};
use crate::placement::{Place, piece_hash};
use crate::rejection::{Reason, Rejection};
use crate::schedule::{Kinds, Schedule};
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
    /// How far after now a watermark may lie, and `look_ahead` more: 0 to one period. Default: 60 s,
    /// or one period.
    pub max_clock_skew: Option<Span>,
    /// Runs before now and so much are listed, and late are those that are so now: 0 to one period.
    /// Default: 0.
    pub look_ahead: Option<Span>,
    /// `RunOnce`: a late run that would start within this of the next run of its ID, or after it, is
    /// superseded: 0 to one period. Default: 0.
    pub min_gap: Option<Span>,
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
            look_ahead: None,
            min_gap: None,
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
    /// Where late runs start, if kinds are declared.
    catch_up: Option<CatchUp<'a>>,
    /// Where they start without kinds.
    starts: StartTimes,
    /// What a watermark may lie after now.
    latest_skew: Span,
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
        let horizon = check_horizon(spec.catch_up_horizon.unwrap_or(period), tolerance)?;
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

    /// The watermark of the next question, after `watermark`: it never goes back.
    #[must_use]
    pub fn next_watermark(&self, watermark: i64) -> i64 {
        self.end.max(watermark)
    }

    /// Adds the due runs of piece `piece` of `id`, which stands at `place`: late ones first, in the
    /// order of their cycles. Behind a page that is full, nothing is looked at any more.
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
        let [too_old, late, now] = [self.caught_up_from, self.on_time_from, self.now]
            .map(|bound| bound.clamp(watermark, self.end.max(watermark)));
        let bounds = [watermark, too_old, late, now, self.end.max(watermark)];
        let ([old_count, late_count, due_count, ahead_count, _], skipped) = times.tally(bounds)?;
        let (on_time, late) = (late..self.end.max(watermark), too_old..late);
        // Runs that are listed before they are due take no missed run's place.
        let wanted = match self.policy {
            MissedRunPolicy::Skip => 0,
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
                MissedRunPolicy::Skip | MissedRunPolicy::RunAll => i64::MAX,
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
    fn last_start(&self, times: &PlaceRuns<'_>) -> Result<i64, Exhausted> {
        let next = times.next(self.now)?;
        Ok(next.map_or(i64::MAX, |next| next.unix_millis - self.min_gap.max(1)))
    }

    /// Where the late runs of a piece start, in their order.
    fn late_starts(&self, id: &Id<'_>, place: &Place, piece: u32, count: u64) -> LateStarts<'_> {
        let hash = || piece_hash(self.schedule.smear_hash(id), piece);
        match self.catch_up {
            None if self.starts.span() == 0 => {
                LateStarts::Smeared { due: self, hash: 0, index: 0, count }
            }
            None => LateStarts::Smeared { due: self, hash: hash(), index: 0, count },
            Some(clock) => {
                let until = self.now.saturating_add(2 * self.schedule.longest_cycle_millis());
                let late = clock.late(&self.cycles, place, hash());
                LateStarts::InTurns { late, from: self.now, until }
            }
        }
    }
}

/// Where the late runs of a piece start, one after another.
enum LateStarts<'a> {
    /// Over the span of the question, each in its own part of it.
    Smeared { due: &'a Due<'a>, hash: u64, index: u64, count: u64 },
    /// In successive turns of the catch-up clock, within two cycles.
    InTurns { late: Late<'a>, from: i64, until: i64 },
}

impl LateStarts<'_> {
    /// The next start; `None` if there is none any more.
    fn next(&mut self) -> Result<Option<i64>, Exhausted> {
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

/// With kinds a run may start late by what the run time leaves of the smallest gap, and no more.
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
        return Err(Rejection::new(Reason::OutOfRange, "catch_up_horizon", horizon, allowed));
    }
    Ok(horizon)
}

/// Due runs as columns of equal length; times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Missed runs that are no rows, by the policy or the horizon, or since nothing may start.
    pub dropped: u128,
    /// Missed runs that are no rows, as the next run of the ID would come before them or too soon
    /// after.
    pub superseded: u128,
    /// Runs that do not happen: exclusions skip them, or the clock skips their day.
    pub skipped: u128,
    /// When the first run of these IDs is due that is not listed; `None` if exclusions skip each of
    /// theirs for 64 cycles.
    pub next_due: Option<i64>,
    /// Runs on time and those that are to be caught up.
    wanted: u128,
    /// Rows that come before those of the page, and those that were met so far.
    first_row: u64,
    met: u64,
    page_size: usize,
    has_more: bool,
    /// What was looked through for it.
    work: u64,
    obstacle: Option<Obstacle>,
}

/// Why runs are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Obstacle {
    /// Too much would have to be looked through.
    ManyCycles,
    /// More than fit on all pages.
    ManyRuns,
}

impl DueRuns {
    /// No rows yet of a page that begins with row `first_row` and has so many at most.
    ///
    /// # Errors
    /// When there are no such pages, naming `page_size` or, where too many rows come before, `ids`.
    pub fn page(first_row: u64, page_size: i64) -> Result<Self, Rejection> {
        let Some(page_size) =
            usize::try_from(page_size).ok().filter(|_| DUE_RUNS.allows(page_size.into()))
        else {
            let allowed = format!("must be {DUE_RUNS}");
            return Err(Rejection::new(Reason::OutOfRange, "page_size", page_size, allowed));
        };
        if !DUE_PAGED_RUNS.allows(first_row.into()) {
            let value = format_args!("IDs with more than {first_row} due runs");
            let allowed = format!("must have {DUE_PAGED_RUNS}");
            return Err(Rejection::new(Reason::OutOfRange, "ids", value, allowed));
        }
        Ok(Self { first_row, page_size, ..Self::default() })
    }

    /// The first row of the next page, if there is one: then what counts all rows does not hold yet.
    #[must_use]
    pub fn next_row(&self) -> Option<u64> {
        self.has_more.then_some(self.first_row + self.page_size as u64)
    }

    fn push(&mut self, (id_index, piece_index): (u32, u32), run: &Run, start: i64) {
        let is_before = self.met < self.first_row;
        self.met += 1;
        if is_before {
            return;
        }
        if self.id_indexes.len() >= self.page_size {
            self.has_more = true;
            return;
        }
        self.id_indexes.push(id_index);
        self.piece_indexes.push(piece_index);
        self.cycle_indexes.push(run.cycle_index);
        self.scheduled_unix_millis.push(run.unix_millis);
        self.start_unix_millis.push(start);
    }

    /// The rows, if they were all looked through.
    ///
    /// # Errors
    /// When too much would have to be looked through, or there are more than fit on all pages; naming
    /// `ids`.
    pub fn complete(self) -> Result<Self, Rejection> {
        let refuse =
            |value: &str, allowed| Err(Rejection::new(Reason::OutOfRange, "ids", value, allowed));
        match self.obstacle {
            None => Ok(self),
            Some(Obstacle::ManyCycles) => refuse(
                "IDs with runs in so many cycles",
                format!(
                    "must need {DUE_CYCLES} looked through: ask for fewer IDs at once, with later \
                     watermarks"
                ),
            ),
            Some(Obstacle::ManyRuns) => refuse(
                &format!("IDs with {} or more due runs", self.wanted),
                format!(
                    "must have {DUE_PAGED_RUNS}: ask for fewer IDs at once, or shorten catch_up_horizon"
                ),
            ),
        }
    }
}

/// No rows yet of the first page, of any size that a page may have.
impl Default for DueRuns {
    fn default() -> Self {
        Self {
            id_indexes: Vec::new(),
            piece_indexes: Vec::new(),
            cycle_indexes: Vec::new(),
            scheduled_unix_millis: Vec::new(),
            start_unix_millis: Vec::new(),
            late: 0,
            dropped: 0,
            superseded: 0,
            skipped: 0,
            next_due: None,
            wanted: 0,
            first_row: 0,
            met: 0,
            page_size: DUE_RUNS.max_size(),
            has_more: false,
            work: 0,
            obstacle: None,
        }
    }
}
