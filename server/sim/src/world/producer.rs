//! The producer of jobs. It may stop; runs that were due in the meantime are late.

use offbeat_core::runs::{Due, DueRuns, DueSpec, MissedRunPolicy};
use offbeat_core::{Id, Moment, Rejection, Schedule, Span};

use super::clock::NEVER;
use super::metrics::LateRuns;
use super::source::kind_schedules;
use crate::scenario::{Scenario, Strategy, StrategyKind};

/// A late run: when it comes, its user and its kind.
type LateRun = (u64, u32, u8);

#[derive(Debug)]
pub(super) struct Producer {
    /// Its outages: from, to.
    outages: Vec<(u64, u64)>,
    /// How many outages are over.
    over: usize,
    policy: MissedRunPolicy,
    min_gap: Option<Span>,
    population: u32,
    /// By kind, the schedule in requests to the service; empty if the service is not called.
    schedules: Vec<Schedule>,
    /// The span over which late runs are smeared, without declared kinds.
    smear_span: Option<Span>,
    /// Users and kinds whose runs were missed in this outage, if the service is not called.
    missed: Vec<(u32, u8)>,
    tally: LateRuns,
}

impl Producer {
    pub(super) fn new(scenario: &Scenario, strategy: &Strategy) -> Result<Self, Rejection> {
        let producer = scenario.producer.as_ref();
        let (schedules, smear_span) = match &strategy.kind {
            StrategyKind::Slots(slots) if producer.is_some() => {
                (kind_schedules(scenario, strategy, slots)?, slots.smear_span)
            }
            _ => (Vec::new(), None),
        };
        Ok(Self {
            outages: producer.map(|producer| producer.outages.clone()).unwrap_or_default(),
            over: 0,
            policy: producer.map_or_else(Default::default, |producer| producer.missed_runs),
            min_gap: producer.and_then(|producer| producer.min_gap),
            population: scenario.population,
            schedules,
            smear_span,
            missed: Vec::new(),
            tally: LateRuns::default(),
        })
    }

    /// When it is back from its next outage; `u64::MAX` if there is none.
    #[inline]
    pub(super) fn back_at(&self) -> u64 {
        self.outages.get(self.over).map_or(NEVER, |(_, to)| *to)
    }

    /// Whether it is stopped now. All outages that have ended by now must have been taken.
    #[inline]
    pub(super) fn is_down(&self, now: u64) -> bool {
        self.outages.get(self.over).is_some_and(|(from, _)| *from <= now)
    }

    /// When it enqueues a run that is due at a time: at that time, or when it is back.
    pub(super) fn up_from(&self, at: u64) -> u64 {
        let outage = self.outages.iter().find(|(from, to)| (*from..*to).contains(&at));
        outage.map_or(at, |(_, to)| *to)
    }

    /// Counts a run that was due and was not enqueued.
    pub(super) fn miss(&mut self, user: u32, kind: u8) {
        if self.schedules.is_empty() {
            self.missed.push((user, kind));
        }
    }

    /// Counts a late run that needs no decision.
    pub(super) const fn mark_late(&mut self) {
        self.tally.late += 1;
    }

    /// Ends an outage, and returns its late runs, which come from now on, in their order.
    pub(super) fn come_back(&mut self) -> Result<Vec<LateRun>, Rejection> {
        let Some((from, to)) = self.outages.get(self.over).copied() else { return Ok(Vec::new()) };
        self.over += 1;
        let mut runs =
            if self.schedules.is_empty() { self.at_once(to) } else { self.ask(from, to)? };
        runs.sort_unstable();
        Ok(runs)
    }

    /// Without a schedule, all late runs come at once.
    fn at_once(&mut self, now: u64) -> Vec<LateRun> {
        let missed = core::mem::take(&mut self.missed);
        let count = missed.len() as u64;
        let mut runs: Vec<LateRun> = match self.policy {
            MissedRunPolicy::Drop => Vec::new(),
            MissedRunPolicy::RunOnce | MissedRunPolicy::RunAll => {
                missed.into_iter().map(|(user, kind)| (now, user, kind)).collect()
            }
        };
        if self.policy == MissedRunPolicy::RunOnce {
            runs.sort_unstable();
            runs.dedup();
        }
        self.tally.late += runs.len() as u64;
        self.tally.dropped += count - runs.len() as u64;
        runs
    }

    /// The answer of the service, for each kind, to a query for what has been due since `from`.
    fn ask(&mut self, from: u64, now: u64) -> Result<Vec<LateRun>, Rejection> {
        let mut runs = Vec::new();
        for (kind, schedule) in (0_u8..).zip(&self.schedules) {
            let due = Due::try_new(
                schedule,
                &DueSpec {
                    missed_run_policy: self.policy,
                    on_time_tolerance: Some(Due::default_tolerance(schedule)),
                    smear_span: self.smear_span,
                    min_gap: self.min_gap,
                    ..DueSpec::until(moment(now)?)
                },
            )?;
            let watermark = due.check_watermark(moment(from)?.unix_millis_ceil())?;
            for user in 0..self.population {
                let id = Id::Integer(i64::from(user).into());
                let mut rows = DueRuns::default();
                due.add(&mut rows, (0, 0), &id, &schedule.place(&id)?, watermark);
                let rows = rows.complete()?;
                let start = |millis: &i64| {
                    let micros = u64::try_from(*millis).unwrap_or_default().saturating_mul(1_000);
                    (micros.max(now), user, kind)
                };
                runs.extend(rows.start_unix_millis.iter().map(start));
                let count = |runs: u128| u64::try_from(runs).unwrap_or(u64::MAX);
                self.tally.late += count(rows.late);
                self.tally.superseded += count(rows.superseded);
                self.tally.dropped += count(rows.dropped);
            }
        }
        Ok(runs)
    }

    pub(super) const fn tally(&self) -> LateRuns {
        self.tally
    }
}

/// The scenario begins with the Unix epoch.
fn moment(micros: u64) -> Result<Moment, Rejection> {
    let nanos = i32::try_from(micros % 1_000_000 * 1_000).unwrap_or_default();
    Moment::try_new((micros / 1_000_000).cast_signed(), nanos)
}
