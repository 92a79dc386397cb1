//! New IDs: the first run of an ID that is created in the middle of a cycle.

use super::catch_up::CatchUp;
use super::cycle_cache::CycleCache;
use super::starts::StartTimes;
use super::{Run, smear};
use crate::calendar::WorkBudgetExhausted;
use crate::ids::Id;
use crate::placement::{Place, piece_hash};
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::{Moment, Span};

/// When an ID first runs, if its time in the current cycle has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FirstRunPolicy {
    /// At its time in the next cycle.
    #[default]
    NextCycle,
    /// Within a span after its creation, unless its next time comes first.
    NowSmeared,
}

/// A new ID as a caller describes it, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIdSpec {
    /// When the ID was created: at most `max_clock_skew` after the instant of the query.
    pub create_time: Moment,
    /// When the ID first runs if its time has passed.
    pub policy: FirstRunPolicy,
    /// `NowSmeared` only: 1 tick to one period; not where the schedule declares kinds.
    pub smear_span: Option<Span>,
    /// How far `create_time` may be after the instant of the query, for clocks that are fast: 0 to
    /// one period. Default: 60 s, or one period if that is less.
    pub max_clock_skew: Option<Span>,
}

const DEFAULT_SKEW: Span = Span::from_seconds(60);

/// IDs that were created at one instant, checked.
///
/// ```
/// use offbeat_core::runs::{NewId, FirstRunPolicy, NewIdSpec};
/// use offbeat_core::{Id, Moment, Schedule, ScheduleSpec, Span};
///
/// // It comes at the end of the first day, and runs within a minute.
/// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
/// let create_time = Moment::try_new(86_400 - 120, 0)?;
/// let spec = NewIdSpec {
///     create_time,
///     policy: FirstRunPolicy::NowSmeared,
///     smear_span: Some(Span::from_seconds(60)),
///     max_clock_skew: None,
/// };
/// let id = Id::text("acme")?;
/// let first = NewId::try_new(&daily, &spec, create_time)?.first_run(&id, &daily.place(&id)?, 0)?;
/// let first = first.unwrap().run;
/// assert_eq!(first.cycle_index, 0);
/// assert!((86_280_000..86_340_000).contains(&first.unix_millis));
/// # Ok::<(), offbeat_core::Rejection>(())
/// ```
#[derive(Debug, Clone)]
pub struct NewId<'a> {
    schedule: &'a Schedule,
    cycles: CycleCache<'a>,
    created: i64,
    /// The cycle in which the ID was created.
    cycle_index: i64,
    /// Places a smeared run; `None` if there is none.
    smear: Option<Smear<'a>>,
}

/// Places a smeared run.
#[derive(Debug, Clone)]
enum Smear<'a> {
    /// Over a span of usable time.
    Over(StartTimes),
    /// In a turn of the catch-up clock.
    InTurns(CatchUp<'a>),
}

/// The first run of a new ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstRun {
    /// When it starts, and the cycle that it is the run of.
    pub run: Run,
    /// For a smeared run, when its cycle would have run it; for a deferred run, when it would start
    /// without the exclusion. In milliseconds since the Unix epoch.
    pub regular_unix_millis: Option<i64>,
}

impl<'a> NewId<'a> {
    /// Checks a description; `from` is the instant of the query.
    ///
    /// # Errors
    /// When `create_time` is after `from` by more than the skew, or too near to the end of time;
    /// when the skew or the span is out of range; or when the span does not go with the policy or
    /// with kinds. The field is named as in `NewIdSpec`. When kinds are declared and the schedule
    /// is of none of them, naming `kind`.
    pub fn try_new(
        schedule: &'a Schedule,
        spec: &NewIdSpec,
        from: Moment,
    ) -> Result<Self, Rejection> {
        let &NewIdSpec { create_time, policy, smear_span, max_clock_skew } = spec;
        let longest = Span::from_millis(schedule.shortest_cycle_millis().unsigned_abs());
        let skew = max_clock_skew.unwrap_or(DEFAULT_SKEW.min(longest));
        if !(Span::from_seconds(0)..=longest).contains(&skew) {
            let allowed = format!("must be 0s to {longest}, {}", schedule.shortest_cycle_name());
            return Err(Rejection::new(Reason::OutOfRange, "max_clock_skew", skew, allowed));
        }
        if create_time.nanos_since(from) > skew.nanos() {
            let allowed =
                format!("must be at most max_clock_skew, {skew}, after from_time, {from}");
            let reason = Reason::Contradictory;
            return Err(Rejection::new(reason, "create_time", create_time, allowed));
        }
        schedule
            .check_from(create_time, 1)
            .map_err(|refused| Rejection { field: "create_time".to_owned(), ..refused })?;
        let created = create_time.unix_millis_ceil();
        let catch_up = CatchUp::of(schedule)?;
        let smear = match catch_up {
            None => check_span(schedule, policy, smear_span)?
                .map(|span| Smear::Over(StartTimes::new(schedule, created, span))),
            Some(clock) => {
                if let Some(span) = smear_span {
                    return Err(CatchUp::refuse("smear_span", &span));
                }
                (policy == FirstRunPolicy::NowSmeared).then_some(Smear::InTurns(clock))
            }
        };
        Ok(Self {
            schedule,
            cycles: schedule.cycle_cache(create_time),
            created,
            cycle_index: schedule.cycle_of_millis(create_time.unix_millis_floor()),
            smear,
        })
    }

    /// Begins another answer, which has the whole work budget again.
    pub fn begin_answer(&self) {
        self.cycles.begin_answer();
    }

    /// The first run of a piece of `id`, which stands at `place`: its regular run in the cycle of
    /// the creation, if that is still to come; otherwise, what the policy says, and never two runs.
    /// `None` if exclusions skip 1,000 cycles.
    ///
    /// # Errors
    /// When the answer needs more work than its budget allows.
    pub fn first_run(
        &self,
        id: &Id<'_>,
        place: &Place,
        piece: u32,
    ) -> Result<Option<FirstRun>, WorkBudgetExhausted> {
        let times = self.cycles.runs_of(place);
        let Some(next) = times.next(self.created)? else { return Ok(None) };
        let deferred_from = Some(next.regular_unix_millis).filter(|time| *time != next.unix_millis);
        let regular = FirstRun { run: next, regular_unix_millis: deferred_from };
        // A run of the cycle before can be deferred to a time that is still to come.
        let has_passed = next.cycle_index > self.cycle_index;
        let Some(smear) = self.smear.as_ref().filter(|_| has_passed) else {
            return Ok(Some(regular));
        };
        let hash = piece_hash(self.schedule.smear_hash(id), piece);
        let start = match smear {
            Smear::Over(starts) => starts.at(smear::position(hash, 0, 1, starts.span())),
            Smear::InTurns(clock) => {
                clock.late_runs(&self.cycles, place, hash).start(self.created, next.unix_millis)?
            }
        };
        let Some(start) = start.filter(|start| *start < next.unix_millis) else {
            return Ok(Some(regular));
        };
        let passed = times.last(self.created)?;
        let own = passed.filter(|passed| passed.cycle_index == self.cycle_index);
        Ok(Some(FirstRun {
            run: Run {
                cycle_index: self.cycle_index,
                unix_millis: start,
                regular_unix_millis: own.map_or(start, |own| own.unix_millis),
            },
            regular_unix_millis: own.map(|own| own.unix_millis),
        }))
    }
}

fn check_span(
    schedule: &Schedule,
    policy: FirstRunPolicy,
    span: Option<Span>,
) -> Result<Option<u64>, Rejection> {
    const FIELD: &str = "smear_span";
    let longest = Span::from_millis(schedule.shortest_cycle_millis().unsigned_abs());
    let cycle = schedule.shortest_cycle_name();
    let allowed = || format!("must be {} to {longest}, {cycle}", schedule.resolution());
    match (policy, span) {
        (FirstRunPolicy::NextCycle, None) => Ok(None),
        (FirstRunPolicy::NextCycle, Some(span)) => {
            let allowed = "must not be set with the policy NEXT_CYCLE, which smears nothing";
            Err(Rejection::new(Reason::Contradictory, FIELD, span, allowed))
        }
        (FirstRunPolicy::NowSmeared, None) => {
            Err(Rejection::new(Reason::FieldMissing, FIELD, "nothing", allowed()))
        }
        (FirstRunPolicy::NowSmeared, Some(span)) => {
            if span < schedule.resolution() || span > longest {
                return Err(Rejection::new(Reason::OutOfRange, FIELD, span, allowed()));
            }
            Ok(Some(span.millis_floor()))
        }
    }
}
