//! Lanes without timeouts: jobs of some types go to the slow lane, all others to the express lane.
//!
//! Workers of the slow lane take jobs of its types first, and other jobs if there are none. Workers
//! of the express lane take no jobs of the slow types.

use offbeat_core::lanes::{LaneSet, LaneSetSpec, LaneSpec};
use offbeat_core::limits::LANE_TIMEOUT_MILLIS;
use offbeat_core::{Rejection, Span};

use super::selection::{Lanes, Room};
use super::split::{by_work, moved, two_lanes};
use super::trial::Trial;
use super::types::TypeFigures;
use crate::formulas::mgc_wait;

/// How many of the best candidates by formula are simulated.
const SIMULATED: usize = 4;

/// Which types go to which lane, and how the workers are split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Routing {
    /// How many of the types, those with the longest mean first, go to the slow lane.
    pub(super) slow_types: usize,
    /// Workers of the express lane and of the slow lane.
    pub(super) workers: Vec<u32>,
}

/// Lanes by type that may be good, by formula.
#[derive(Debug)]
pub(super) struct Routings<'a> {
    /// The longest mean first.
    pub(super) types: &'a [TypeFigures],
    pub(super) workers: u32,
    /// Jobs per second, and a fifth more.
    pub(super) rate: f64,
    pub(super) more: f64,
}

/// Sums over jobs of some types.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    share: f64,
    first: f64,
    second: f64,
    /// ∫1/max(x, floor)
    inverse: f64,
}

impl Routings<'_> {
    fn sums(types: &[TypeFigures]) -> Sums {
        let add = |sums: Sums, kind: &TypeFigures| Sums {
            share: sums.share + kind.share,
            first: sums.first + kind.first,
            second: sums.second + kind.second,
            inverse: sums.inverse + kind.inverse,
        };
        types.iter().fold(Sums::default(), add)
    }

    /// The sums of the slow lane and of the express lane.
    fn halves(&self, slow_types: usize) -> (Sums, Sums) {
        let (slow, express) = self.types.split_at(slow_types.min(self.types.len()));
        (Self::sums(slow), Self::sums(express))
    }

    /// Slowdown times the fourth root of sojourn, if each lane were a queue of its own.
    fn cost(&self, routing: &Routing) -> f64 {
        let (slow, express) = self.halves(routing.slow_types);
        let (mut slowdown, mut sojourn) = (1.0, slow.first + express.first);
        for (workers, jobs) in routing.workers.iter().zip([express, slow]) {
            let (mean, square) = (jobs.first / jobs.share, jobs.second / jobs.share);
            let wait = mgc_wait(*workers, self.rate * jobs.share, mean, square);
            slowdown += wait * jobs.inverse;
            sojourn += wait * jobs.share;
        }
        slowdown * libm::sqrt(libm::sqrt(sojourn))
    }

    /// The best candidates by formula: one for each number of slow types, with its best split,
    /// where splits with room come first. Where the formula finds no split, because it knows no
    /// slow lane that helps, the workers are split by the work of both lanes.
    pub(super) fn by_formula(&self, room: Room) -> Vec<Routing> {
        let best_split = |slow_types: usize| {
            let splits = two_lanes(self.workers).map(|workers| Routing { slow_types, workers });
            let costs = splits.map(|routing| (self.cost(&routing), routing));
            let costs = costs.filter(|(cost, _)| cost.is_finite());
            let lacks_room = |routing: &Routing| !self.has_room(routing, room);
            costs.min_by(|(a, one), (b, other)| {
                lacks_room(one).cmp(&lacks_room(other)).then(a.total_cmp(b))
            })
        };
        let prefixes = 1..self.types.len();
        let mut judged: Vec<_> = prefixes.clone().filter_map(best_split).collect();
        judged.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut chosen: Vec<_> = judged.into_iter().map(|(_, routing)| routing).collect();
        for slow_types in prefixes {
            if !chosen.iter().any(|other| other.slow_types == slow_types) {
                chosen.extend(self.even_split(slow_types));
            }
        }
        chosen.truncate(SIMULATED);
        chosen
    }

    fn even_split(&self, slow_types: usize) -> Option<Routing> {
        let (slow, express) = self.halves(slow_types);
        let workers = by_work(self.workers, express.first / (express.first + slow.first))?;
        Some(Routing { slow_types, workers })
    }

    /// Whether the slow lane keeps up with its types, and all workers with all jobs: workers of the
    /// slow lane help with the other jobs in the rest of their time.
    fn fits(&self, routing: &Routing, rate: f64) -> bool {
        let (slow, express) = self.halves(routing.slow_types);
        let workers = routing.workers.last().copied().unwrap_or_default();
        let all: u32 = routing.workers.iter().sum();
        rate * slow.first < f64::from(workers)
            && rate * (slow.first + express.first) < f64::from(all)
    }
}

impl Lanes for Routings<'_> {
    type Candidate = Routing;
    const FINALISTS: usize = 2;

    fn keeps_up(&self, routing: &Routing) -> bool {
        self.fits(routing, self.rate)
    }

    fn keeps_up_with_more(&self, routing: &Routing) -> bool {
        self.fits(routing, self.more)
    }

    /// One type more or less in the slow lane, or some workers moved from one lane to the other.
    fn neighbours(&self, routing: &Routing) -> Vec<Routing> {
        let types = [routing.slow_types + 1, routing.slow_types - 1];
        let types = types.into_iter().filter(|slow| (1..self.types.len()).contains(slow));
        let with_types = types.map(|slow_types| Routing { slow_types, ..routing.clone() });
        let splits = moved(&routing.workers).into_iter();
        with_types.chain(splits.map(|workers| Routing { workers, ..*routing })).collect()
    }

    fn trial(&self, routing: &Routing) -> Result<Trial, Rejection> {
        let mut entries = vec![0; self.types.len()];
        for kind in self.types.iter().take(routing.slow_types) {
            entries.get_mut(kind.place).into_iter().for_each(|entry| *entry = 1);
        }
        Ok(Trial::by_type(lane_set(&routing.workers)?, entries))
    }
}

/// No run time is longer than the longest timeout, so nothing reaches it.
fn lane_set(workers: &[u32]) -> Result<LaneSet, Rejection> {
    let longest = Span::from_millis(LANE_TIMEOUT_MILLIS.maximum.unsigned_abs());
    let lanes = workers.iter().zip([Some(longest), None]);
    let lanes = lanes.map(|(workers, attempt_timeout)| LaneSpec {
        worker_count: (*workers).into(),
        attempt_timeout,
    });
    LaneSetSpec { lanes: lanes.collect(), ..LaneSetSpec::default() }.check()
}
