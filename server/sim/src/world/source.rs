//! When the jobs of a strategy come.

use offbeat_core::reciprocal::{Reciprocals, Spacing};
use offbeat_core::schedule::Kinds;
use offbeat_core::spread::{Groups, Spread, SpreadSpec, Turn};
use offbeat_core::{Id, Moment, Rejection, Schedule, ScheduleSpec, Span};

use super::ascending::Ascending;
use crate::generator::Generator;
use crate::scenario::{KindPlacement, Scenario, SlotSchedule, Strategy, StrategyKind};

/// A job that is due: when in the cycle, whose, of which kind.
type Due = (u64, u32, u8);

/// What comes by itself.
#[derive(Debug)]
pub(super) enum Source {
    /// The same every cycle, or redrawn in each.
    Cycles(Cycles),
    /// Batches of those who waited longest.
    LeastRecent(LeastRecent),
}

/// Jobs by their place in the cycle.
#[derive(Debug)]
pub(super) struct Cycles {
    due: Vec<Due>,
    place: usize,
    base: u64,
    cycle: u64,
    /// Where times are redrawn in each cycle: how far each kind stands behind the first; a kind
    /// without has a time of its own.
    redrawn: Option<Vec<Option<u64>>>,
}

/// Users by the time of their last run.
#[derive(Debug)]
pub(super) struct LeastRecent {
    idle: Ascending<(u64, u32)>,
    pub(super) interval: u64,
    pub(super) batch: u32,
    pub(super) spread: u64,
    pub(super) cycle: u64,
    pub(super) next: u64,
}

impl LeastRecent {
    /// Those who are due and waited longest; they are not idle any more.
    pub(super) fn take(&mut self, now: u64) -> Vec<u32> {
        let mut taken = Vec::new();
        while taken.len() < self.batch as usize {
            match self.idle.first() {
                Some((last, _)) if *last == 0 || last + self.cycle <= now => {}
                _ => break,
            }
            taken.extend(self.idle.pop().map(|(_, user)| user));
        }
        taken
    }

    /// A user's run has ended; if it came to nothing, it counts as it was.
    pub(super) fn ended(&mut self, user: u32, last: u64) {
        self.idle.push((last, user));
    }
}

impl Source {
    /// What a strategy brings; `None` of what only its own jobs bring.
    pub(super) fn new(
        scenario: &Scenario,
        strategy: &Strategy,
        generator: &mut Generator,
    ) -> Result<Self, Rejection> {
        let kind = &strategy.kind;
        let cycle = scenario.cycle;
        let users = || 0..scenario.population;
        let first: Vec<u64> = match kind {
            StrategyKind::AtOnce => users().map(|_| 0).collect(),
            StrategyKind::RandomSmear | StrategyKind::SelfRescheduling => {
                users().map(|_| anywhere(cycle, generator)).collect()
            }
            StrategyKind::Slots(slots) => {
                offsets(&first_kind(&slots.schedule)?, scenario.population)?
            }
            StrategyKind::Spread { feeders } => spread(scenario, *feeders)?,
            StrategyKind::Workers { .. } | StrategyKind::FixedWorkers => Vec::new(), // of pipelines
            StrategyKind::LeastRecent { interval, batch, spread } => {
                let idle = users().map(|user| (0, user)).collect();
                return Ok(Self::LeastRecent(LeastRecent {
                    idle,
                    interval: *interval,
                    batch: *batch,
                    spread: *spread,
                    cycle,
                    next: 0,
                }));
            }
        };
        let mut due: Vec<Due> = first.iter().zip(0..).map(|(at, user)| (*at, user, 0)).collect();
        let all_shifts = shifts(scenario, strategy)?;
        let shifts = all_shifts.iter().copied();
        for ((kind, place), shift) in scenario.kinds.iter().zip(0_u8..).zip(shifts).skip(1) {
            match strategy.placement_of(kind) {
                KindPlacement::Independent => {
                    let schedule = hashed(cycle, &kind.name)?;
                    let own = offsets(&schedule, scenario.population)?;
                    due.extend(own.into_iter().zip(0..).map(|(at, user)| (at, user, place)));
                }
                KindPlacement::Same | KindPlacement::Reciprocal => {
                    let at = |at: &u64| (at + shift) % cycle;
                    due.extend(first.iter().zip(0..).map(|(t, user)| (at(t), user, place)));
                }
            }
        }
        due.sort_by_key(|(at, ..)| *at);
        let behind = scenario.kinds.iter().zip(all_shifts).enumerate();
        let behind = behind.map(|(place, (kind, shift))| {
            let is_own = strategy.placement_of(kind) == KindPlacement::Independent;
            (place == 0 || !is_own).then_some(shift)
        });
        let redrawn = matches!(kind, StrategyKind::RandomSmear).then(|| behind.collect());
        Ok(Self::Cycles(Cycles { due, place: 0, base: 0, cycle, redrawn }))
    }

    /// When the next is due.
    #[inline]
    pub(super) fn next_time(&self) -> u64 {
        match self {
            Self::Cycles(cycles) => {
                cycles.due.get(cycles.place).map_or(u64::MAX, |(at, ..)| cycles.base + at)
            }
            Self::LeastRecent(recent) => recent.next,
        }
    }
}

impl Cycles {
    /// Takes the next.
    #[inline]
    pub(super) fn next(&mut self, generator: &mut Generator) -> Option<(u32, u8)> {
        let (_, user, kind) = *self.due.get(self.place)?;
        self.place += 1;
        if self.place == self.due.len() {
            self.place = 0;
            self.base += self.cycle;
            if self.redrawn.is_some() {
                self.draw(generator);
            }
        }
        Some((user, kind))
    }

    /// Other times for the next cycle.
    fn draw(&mut self, generator: &mut Generator) {
        let users = self.due.iter().map(|(_, user, _)| *user as usize + 1).max().unwrap_or(0);
        let first: Vec<u64> = (0..users).map(|_| anywhere(self.cycle, generator)).collect();
        for (at, user, kind) in &mut self.due {
            let behind = self.redrawn.as_ref().and_then(|all| all.get(usize::from(*kind)).copied());
            *at = match (behind.flatten(), first.get(*user as usize)) {
                (Some(behind), Some(first)) => (first + behind) % self.cycle,
                _ => anywhere(self.cycle, generator),
            };
        }
        self.due.sort_unstable();
    }

    /// One cycle alone: what comes later is planned by the jobs themselves.
    pub(super) fn once(&mut self) -> Vec<Due> {
        std::mem::take(&mut self.due)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "below the cycle"
)]
pub(super) fn anywhere(span: u64, generator: &mut Generator) -> u64 {
    (generator.uniform() * span as f64) as u64
}

/// Where each user stands in the cycle, in microseconds, as the service says.
pub(crate) fn offsets(schedule: &Schedule, population: u32) -> Result<Vec<u64>, Rejection> {
    let tick = u64::try_from(schedule.resolution().nanos() / 1_000).unwrap_or_default();
    let mut offsets = Vec::with_capacity(population as usize);
    let mut refused = None;
    schedule.place_all(
        (0..population).map(|user| Ok(Id::Integer(i64::from(user).into()))),
        |placed| match placed {
            Ok(place) => offsets.push(place.cycle_offset * tick),
            Err(rejection) => refused = Some(rejection),
        },
    );
    refused.map_or(Ok(offsets), Err)
}

/// The schedule as the first kind has it.
pub(crate) fn first_kind(schedule: &Schedule) -> Result<Schedule, Rejection> {
    let kinds = schedule.kinds().map(Kinds::as_slice);
    let first = kinds.and_then(|kinds| kinds.first()).map(|kind| kind.name.clone());
    schedule.of_kind(first.as_deref())
}

/// What each kind is asked about with: the schedule that declares it, or one for it alone, which
/// stands where the caller shifts it.
pub(super) fn kind_schedules(
    scenario: &Scenario,
    strategy: &Strategy,
    slots: &SlotSchedule,
) -> Result<Vec<Schedule>, Rejection> {
    if let Some(kinds) = slots.schedule.kinds() {
        let names = kinds.as_slice().iter().map(|kind| kind.name.as_str());
        return names.map(|name| slots.schedule.of_kind(Some(name))).collect();
    }
    let shifts = shifts(scenario, strategy)?;
    let own = |(place, (kind, shift)): (usize, (&crate::scenario::Kind, u64))| {
        if place > 0 && strategy.placement_of(kind) == KindPlacement::Independent {
            return hashed(scenario.cycle, &kind.name);
        }
        let mut spec = slots.spec.clone();
        let millis = (shift / 1_000).cast_signed();
        spec.anchor_time = Moment::from_unix_millis(millis);
        Schedule::try_new(&spec)
    };
    scenario.kinds.iter().zip(shifts).enumerate().map(own).collect()
}

/// A schedule of the same cycle, of another salt.
pub(crate) fn hashed(cycle: u64, salt: &str) -> Result<Schedule, Rejection> {
    let mut spec = ScheduleSpec::every(Span::from_millis(cycle / 1_000));
    spec.resolution = Some(Span::from_millis(1));
    spec.slot_count = Some(1);
    spec.salt = salt.to_owned();
    Schedule::try_new(&spec)
}

/// How far each kind stands behind the first.
pub(crate) fn shifts(scenario: &Scenario, strategy: &Strategy) -> Result<Vec<u64>, Rejection> {
    let kinds = scenario.kinds.len() as u64;
    let even = |place: u64| scenario.cycle / kinds * place;
    let reciprocal: Vec<u64> = match &strategy.kind {
        StrategyKind::Slots(slots) if u64::from(slots.schedule.slot_count()) >= kinds => {
            let count = slots.schedule.slot_count();
            let placed = Reciprocals::try_new(count.into(), kinds.cast_signed(), Spacing::Even)?;
            let slot = scenario.cycle / u64::from(count);
            placed.seen_from(0)?.iter().map(|kind| u64::from(kind.offset) * slot).collect()
        }
        _ => (0..kinds).map(even).collect(),
    };
    let shift =
        |(kind, reciprocal): (&crate::scenario::Kind, u64)| match strategy.placement_of(kind) {
            KindPlacement::Reciprocal => reciprocal,
            KindPlacement::Independent | KindPlacement::Same => 0,
        };
    Ok(scenario.kinds.iter().zip(reciprocal).map(shift).collect())
}

/// All at the beginning of the cycle, in the order of a spread over the groups: a microsecond
/// after the other.
fn spread(scenario: &Scenario, feeders: u32) -> Result<Vec<u64>, Rejection> {
    let size = scenario.lock.map_or(1, |lock| lock.group_size.max(1));
    let population = scenario.population;
    let starts = (0..population).step_by(size as usize);
    let mut groups = Groups::new(starts.map(|start| start..(start + size).min(population)));
    let mut spread = Spread::try_new(&SpreadSpec::round_robin(feeders.into()))?;
    let mut offsets = vec![0; population as usize];
    while let Turn::Job(dealt) = spread.next(&mut groups) {
        let place = usize::try_from(dealt.job).unwrap_or_default();
        offsets.get_mut(place).into_iter().for_each(|offset| *offset = dealt.sequence);
    }
    Ok(offsets)
}
