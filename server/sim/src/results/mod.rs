//! Results of the runs of a scenario, and the best strategy.

mod feasibility;
mod figures;
mod findings;
mod histogram;
mod lanes;
mod partners;
mod series;
mod slots;
mod stats;
pub mod words;

pub use feasibility::{Feasibility, Phase, PhaseOfPartner};
pub use figures::Figures;
pub use histogram::Histogram;
pub use lanes::{LaneCurve, LaneCutoff};
pub use partners::{PartnerFigures, PartnerInQuestion, PartnerSeries};
pub use series::Series;
pub use slots::{KindSlot, Slots};

use serde::Serialize;

use crate::distribution::real;
use crate::scenario::Scenario;
use crate::world::{LateRuns, PartnerStep, PartnerTally, PhaseTally, Tail, Trace};
use partners::{in_seconds, partners};
use stats::quantiles;

/// The results of all runs; its JSON is what the report shows. Times are in seconds.
#[derive(Debug, Clone, Serialize)]
pub struct Results {
    /// The scenario in short.
    pub scenario: Question,
    /// Names of the strategies, the best first; those that were cut short, or whose jobs pile up,
    /// come last.
    pub ranking: Vec<String>,
    /// What a reader should see first, in words: what is overloaded, and when and why jobs waited.
    pub findings: Vec<String>,
    /// The results of each strategy, in the order of the scenario.
    pub strategies: Vec<Outcome>,
    /// The effect of lanes on this work, if a strategy has lanes.
    pub lanes: Option<LaneCurve>,
}

/// A scenario in short.
#[derive(Debug, Clone, Serialize)]
pub struct Question {
    /// Name of the scenario.
    pub name: String,
    /// Text of its author.
    pub description: String,
    /// Simulated time, in seconds.
    pub duration: f64,
    /// Workers at its beginning.
    pub workers: u32,
    /// Number of users.
    pub population: u32,
    /// Length of a cycle, in seconds.
    pub cycle: f64,
    /// The parts of a cycle in which jobs may come, in seconds.
    pub active: Vec<(f64, f64)>,
    /// One run of each strategy for each seed.
    pub seeds: Vec<u64>,
    /// Whether runs were stopped before their end.
    pub is_cut: bool,
    /// Notes on how the scenario was interpreted.
    pub notes: Vec<String>,
    /// Outages of the producer (from, to), in seconds.
    pub outages: Vec<(f64, f64)>,
    /// Partners that jobs call.
    pub partners: Vec<PartnerInQuestion>,
}

/// The results of a strategy.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Name of the strategy.
    pub name: String,
    /// Kind of the strategy, as in scenarios.
    pub kind: &'static str,
    /// Means over the seeds.
    pub figures: Figures,
    /// 1 is best; strategies within a hundredth have the same rank. `None` if the strategy cannot
    /// be compared, because it was cut short or its jobs pile up.
    pub ranks: Option<Ranks>,
    /// Whether the workers, and the partners, can do what comes.
    pub feasibility: Feasibility,
    /// Whether it was stopped before its end, so that it cannot be compared.
    pub is_cut: bool,
    /// Time series of the first seed.
    pub series: Series,
    /// Histogram of the time between runs of a user, of the first seed.
    pub interval_histogram: Histogram,
    /// The slots, if the strategy has some.
    pub slots: Option<Slots>,
    /// Figures by partner, in the order of the scenario; means over the seeds.
    pub partners: Vec<PartnerFigures>,
    /// Late runs after outages of the producer, if it has outages; means over the seeds.
    pub late_runs: Option<LateRunFigures>,
    /// The least time between two enqueued runs of different kinds of a user, over all seeds, in
    /// seconds. `None` with only one kind.
    pub least_kind_distance: Option<f64>,
}

/// Runs that were due while the producer was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LateRunFigures {
    /// Runs that came late.
    pub late: f64,
    /// Late runs that did not come, because the next run of the user would come before them.
    pub superseded: f64,
    /// Late runs that did not come, by the policy for missed runs.
    pub dropped: f64,
}

/// The ranks of a strategy among the others, by each of the four criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Ranks {
    /// By the variation of the interval between a user's runs; users without a run that was done
    /// count, too.
    pub consistent_delay: u32,
    /// By the most jobs that are enqueued in a second.
    pub no_spikes: u32,
    /// By the variation of the jobs that are finished in a minute.
    pub even_throughput: u32,
    /// By attempts that found their lock held.
    pub no_conflicts: u32,
}

impl Ranks {
    const fn sum(self) -> u32 {
        self.consistent_delay + self.no_spikes + self.even_throughput + self.no_conflicts
    }
}

/// What results need of a run, so that the rest of its trace can be freed before the next one.
#[derive(Debug)]
pub struct Digest {
    figures: Figures,
    is_cut: bool,
    partners: Vec<PartnerTally>,
    phases: Vec<PhaseTally>,
    tail: Tail,
    enqueued_jobs: u64,
    late_runs: LateRuns,
    least_kind_distance: Option<u64>,
    /// Only of the first seed of a strategy.
    details: Option<RunDetails>,
}

/// Results that are shown for one run only.
#[derive(Debug)]
struct RunDetails {
    series: Series,
    partners: Vec<Vec<PartnerStep>>,
    /// Kept until all strategies have been run: their histograms share their edges.
    intervals: Vec<u64>,
    /// All but a thousandth of the intervals are no longer.
    late_interval: u64,
}

impl Digest {
    /// The digest of a run of `scenario`. `number` is that of the run among all runs, as `run_each`
    /// passes it.
    #[must_use]
    pub fn of(scenario: &Scenario, number: usize, mut trace: Trace) -> Self {
        let figures = Figures::of(&mut trace, scenario.timing.cycle);
        let details = number.is_multiple_of(scenario.seeds.len().max(1)).then(|| {
            let series = Series::of(&trace, scenario.duration);
            let mut intervals = std::mem::take(&mut trace.intervals);
            let [late_interval] = quantiles(&mut intervals, [0.999]);
            let partners = std::mem::take(&mut trace.partner_steps);
            RunDetails { series, partners, intervals, late_interval }
        });
        let Trace { is_cut, partners, phases, tail, enqueued_jobs, .. } = trace;
        let Trace { late_runs, least_kind_distance, .. } = trace;
        Self {
            figures,
            is_cut,
            partners,
            phases,
            tail,
            enqueued_jobs,
            late_runs,
            least_kind_distance,
            details,
        }
    }
}

impl Results {
    /// The results of all runs: for each strategy, one digest for each seed.
    ///
    /// # Errors
    /// When a schedule refuses a user, which none does.
    pub fn new(
        scenario: &Scenario,
        digests: Vec<Vec<Digest>>,
    ) -> Result<Self, offbeat_core::Rejection> {
        let mean = |digests: &Vec<Digest>| {
            Figures::mean(&digests.iter().map(|digest| digest.figures).collect::<Vec<_>>())
        };
        let figures: Vec<Figures> = digests.iter().map(mean).collect();
        let is_cut = digests.iter().flatten().any(|digest| digest.is_cut);
        let edges = edges(&digests);
        let feasible: Vec<Feasibility> =
            digests.iter().map(|digests| Feasibility::of(scenario, digests)).collect();
        // Where jobs pile up, the figures describe only the jobs that got through.
        let rivals = figures.iter().zip(&feasible).filter(|(_, own)| !own.jobs_pile_up);
        let rivals: Vec<Figures> = rivals.map(|(figures, _)| *figures).collect();
        let mut strategies = Vec::new();
        let each = scenario.strategies.iter().zip(digests).zip(&figures).zip(feasible);
        for (((strategy, digests), own), feasibility) in each {
            let (partners, is_cut) =
                (partners(scenario, &digests), digests.iter().any(|digest| digest.is_cut));
            let late_runs = scenario.producer.as_ref().map(|_| late_runs(&digests));
            let least = digests.iter().filter_map(|digest| digest.least_kind_distance).min();
            let details = digests.into_iter().find_map(|digest| digest.details);
            let (series, intervals) = details
                .map_or_else(Default::default, |details| (details.series, details.intervals));
            strategies.push(Outcome {
                name: strategy.name.clone(),
                kind: strategy.kind.name(),
                figures: *own,
                ranks: (!is_cut && !feasibility.jobs_pile_up)
                    .then(|| ranks(scenario, own, &rivals)),
                feasibility,
                is_cut,
                series,
                interval_histogram: Histogram::of(&edges, &intervals),
                slots: Slots::of(scenario, strategy)?,
                partners,
                late_runs,
                least_kind_distance: least.map(|micros| real(micros) / 1e6),
            });
        }
        let mut ranking: Vec<&Outcome> = strategies.iter().collect();
        ranking.sort_by(|a, b| {
            let sum = |one: &Outcome| one.ranks.map_or(u32::MAX, Ranks::sum);
            let by_wait = a.figures.mean_wait.total_cmp(&b.figures.mean_wait);
            sum(a).cmp(&sum(b)).then(by_wait)
        });
        Ok(Self {
            scenario: Question {
                name: scenario.name.clone(),
                description: scenario.description.clone(),
                duration: real(scenario.duration) / 1e6,
                workers: scenario.workers.first().map_or(0, |(_, count)| *count),
                population: scenario.population,
                cycle: real(scenario.timing.cycle) / 1e6,
                active: in_seconds(&scenario.timing.parts()),
                seeds: scenario.seeds.clone(),
                is_cut,
                notes: scenario.notes.clone(),
                outages: in_seconds(
                    scenario.producer.iter().flat_map(|producer| &producer.outages),
                ),
                partners: scenario.partners.iter().map(PartnerInQuestion::of).collect(),
            },
            ranking: ranking.iter().map(|outcome| outcome.name.clone()).collect(),
            findings: findings::findings(scenario, &ranking),
            strategies,
            lanes: LaneCurve::of(scenario),
        })
    }
}

fn late_runs(digests: &[Digest]) -> LateRunFigures {
    let mean = |of: &dyn Fn(&LateRuns) -> u64| {
        let counts = digests.iter().map(|digest| real(of(&digest.late_runs)));
        counts.sum::<f64>() / real((digests.len() as u64).max(1))
    };
    LateRunFigures {
        late: mean(&|runs| runs.late),
        superseded: mean(&|runs| runs.superseded),
        dropped: mean(&|runs| runs.dropped),
    }
}

fn ranks(scenario: &Scenario, own: &Figures, all: &[Figures]) -> Ranks {
    // A user that is never served has waited longer than any figure says. So have jobs that are
    // left, if they are many.
    let delay = |figures: &Figures| {
        let done = figures.jobs_finished.max(1.0);
        figures.interval_variation
            + figures.jobs_failed / done
            + figures.jobs_left / done
            + 10.0 * figures.never_served / f64::from(scenario.population)
    };
    let rank = |of: &dyn Fn(&Figures) -> f64| {
        let better = all.iter().filter(|other| of(other) * 1.01 < of(own));
        u32::try_from(better.count()).unwrap_or(u32::MAX).saturating_add(1)
    };
    Ranks {
        consistent_delay: rank(&delay),
        no_spikes: rank(&|figures| figures.peak_enqueued_per_second),
        even_throughput: rank(&|figures| figures.throughput_variation),
        no_conflicts: rank(&|figures| figures.lock_conflicts),
    }
}

/// The edges of the histograms: the same for all strategies, so that they can be compared.
fn edges(digests: &[Vec<Digest>]) -> Vec<f64> {
    let details = || digests.iter().flatten().filter_map(|digest| digest.details.as_ref());
    let low = details().filter_map(|details| details.intervals.iter().min()).min().copied();
    let high = details().map(|details| details.late_interval).max();
    Histogram::edges(low.unwrap_or(0), high.unwrap_or(0))
}
