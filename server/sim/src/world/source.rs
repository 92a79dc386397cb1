//! The jobs of a strategy, and when they come.

mod cycles;
mod least_recent;
mod offsets;

use offbeat_core::Rejection;

use crate::generator::Generator;
use crate::scenario::{KindPlacement, Scenario, Strategy, StrategyKind, Timing};
pub(super) use cycles::Cycles;
pub(super) use least_recent::LeastRecent;
pub(super) use offsets::kind_schedules;
pub(crate) use offsets::{first_kind, offsets, shifts};
use offsets::{hashed, spread};

/// A job that is due: its time in the cycle, its user and its kind.
pub(super) type DueJob = (u64, u32, u8);

/// The source of jobs: one track for the kinds that share a cycle, and one for each kind with its
/// own.
#[derive(Debug)]
pub(super) struct Source {
    tracks: Vec<Track>,
    /// When the next job comes, and the index of its track.
    next: u64,
    turn: usize,
}

/// Kinds of one timing.
#[derive(Debug)]
pub(super) enum Track {
    /// The same every cycle, or redrawn in each.
    Cycles(Cycles),
    /// Batches of the users that waited longest.
    LeastRecent(LeastRecent),
}

impl Source {
    /// The jobs of a strategy.
    pub(super) fn new(
        scenario: &Scenario,
        strategy: &Strategy,
        generator: &mut Generator,
    ) -> Result<Self, Rejection> {
        let mut tracks = vec![Track::shared(scenario, strategy, generator)?];
        for (kind, place) in scenario.kinds.iter().zip(0_u8..) {
            if let Some(timing) = &kind.timing {
                tracks.push(Track::own(scenario, strategy, (place, timing), generator)?);
            }
        }
        let mut source = Self { tracks, next: 0, turn: 0 };
        source.settle();
        Ok(source)
    }

    /// When the next job is due.
    #[inline]
    pub(super) const fn next_time(&self) -> u64 {
        self.next
    }

    /// The track that has the next job. Call [`settle`](Self::settle) once the job was taken.
    #[inline]
    pub(super) fn turn(&mut self) -> Option<&mut Track> {
        self.tracks.get_mut(self.turn)
    }

    /// Finds the track that has the next job.
    #[inline]
    pub(super) fn settle(&mut self) {
        let next = self.tracks.iter().map(Track::next_time).zip(0..).min();
        (self.next, self.turn) = next.unwrap_or((u64::MAX, 0));
    }

    /// All tracks.
    pub(super) fn tracks(&mut self) -> impl Iterator<Item = &mut Track> {
        self.tracks.iter_mut()
    }

    /// A run of a kind has ended; `last` is when the last run that was done ended.
    #[inline]
    pub(super) fn ended(&mut self, user: u32, kind: u8, last: u64) {
        for track in &mut self.tracks {
            if let Track::LeastRecent(recent) = track {
                recent.ended(user, kind, last);
            }
        }
    }
}

impl Track {
    /// The track of the kinds that share the cycle of the scenario.
    fn shared(
        scenario: &Scenario,
        strategy: &Strategy,
        generator: &mut Generator,
    ) -> Result<Self, Rejection> {
        let timing = &scenario.timing;
        let kinds: Vec<u8> =
            scenario.shared_kinds().filter_map(|kind| kind.try_into().ok()).collect();
        let Some(first) = active_offsets(scenario, strategy, timing, generator)? else {
            return Ok(Self::least_recent(scenario, strategy, timing, kinds));
        };
        let mut due: Vec<DueJob> = Vec::with_capacity(first.len() * kinds.len());
        let mut behind = Vec::with_capacity(kinds.len());
        let shifts = shifts(scenario, strategy)?;
        for (rank, place) in kinds.iter().enumerate() {
            let Some(kind) = scenario.kinds.get(usize::from(*place)) else { continue };
            let shift = shifts.get(usize::from(*place)).copied().unwrap_or_default();
            let is_own = strategy.placement_of(kind) == KindPlacement::Independent;
            if rank > 0 && is_own {
                let own = offsets(&hashed(timing, &kind.name)?, scenario.population)?;
                due.extend(own.into_iter().zip(0..).map(|(at, user)| (at, user, *place)));
            } else {
                let at = |active: &u64| timing.offset_at((active + shift) % timing.active());
                due.extend(first.iter().zip(0..).map(|(t, user)| (at(t), user, *place)));
            }
            behind.push((*place, (rank == 0 || !is_own).then_some(shift)));
        }
        due.sort_by_key(|(at, ..)| *at);
        let redrawn = matches!(strategy.kind, StrategyKind::RandomSmear).then_some(behind);
        Ok(Self::Cycles(Cycles::new(due, timing.clone(), redrawn)))
    }

    /// The track of a kind with its own timing: it stands where the strategy would place the first
    /// kind.
    fn own(
        scenario: &Scenario,
        strategy: &Strategy,
        (kind, timing): (u8, &Timing),
        generator: &mut Generator,
    ) -> Result<Self, Rejection> {
        let name = scenario.kinds.get(usize::from(kind)).map_or("", |kind| &kind.name);
        let offsets = match &strategy.kind {
            StrategyKind::Slots(_) => Some(offsets(&hashed(timing, name)?, scenario.population)?),
            _ => active_offsets(scenario, strategy, timing, generator)?
                .map(|active| active.into_iter().map(|at| timing.offset_at(at)).collect()),
        };
        let Some(offsets) = offsets else {
            return Ok(Self::least_recent(scenario, strategy, timing, vec![kind]));
        };
        let mut due: Vec<DueJob> =
            offsets.into_iter().zip(0..).map(|(at, user)| (at, user, kind)).collect();
        due.sort_by_key(|(at, ..)| *at);
        let redrawn =
            matches!(strategy.kind, StrategyKind::RandomSmear).then(|| vec![(kind, Some(0))]);
        Ok(Self::Cycles(Cycles::new(due, timing.clone(), redrawn)))
    }

    fn least_recent(
        scenario: &Scenario,
        strategy: &Strategy,
        timing: &Timing,
        kinds: Vec<u8>,
    ) -> Self {
        let (interval, batch, spread) = match strategy.kind {
            StrategyKind::LeastRecent { interval, batch, spread } => (interval, batch, spread),
            _ => (timing.cycle, 0, 0), // which has no offsets either: of pipelines
        };
        let mut recent = LeastRecent::new(scenario.population, timing.clone(), kinds);
        (recent.interval, recent.batch, recent.spread) = (interval, batch, spread);
        Self::LeastRecent(recent)
    }

    #[inline]
    fn next_time(&self) -> u64 {
        match self {
            Self::Cycles(cycles) => cycles.next_time(),
            Self::LeastRecent(recent) => recent.next,
        }
    }
}

/// The place of each user's first kind in the active time of its cycle; `None` for a strategy that
/// does not place users in the cycle.
fn active_offsets(
    scenario: &Scenario,
    strategy: &Strategy,
    timing: &Timing,
    generator: &mut Generator,
) -> Result<Option<Vec<u64>>, Rejection> {
    let users = 0..scenario.population;
    Ok(match &strategy.kind {
        StrategyKind::AtOnce => Some(users.map(|_| 0).collect()),
        StrategyKind::RandomSmear | StrategyKind::SelfRescheduling => {
            Some(users.map(|_| anywhere(timing.active(), generator)).collect())
        }
        StrategyKind::Slots(slots) => {
            let offsets = offsets(&first_kind(&slots.schedule)?, scenario.population)?;
            Some(offsets.into_iter().map(|at| timing.active_before(at)).collect())
        }
        StrategyKind::Spread { feeders } => Some(spread(scenario, *feeders)?),
        StrategyKind::Workers { .. } | StrategyKind::FixedWorkers => Some(Vec::new()), // of pipelines
        StrategyKind::LeastRecent { .. } => None,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "below the span"
)]
pub(super) fn anywhere(span: u64, generator: &mut Generator) -> u64 {
    (generator.uniform() * span as f64) as u64
}
