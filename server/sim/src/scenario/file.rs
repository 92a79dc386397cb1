//! Scenarios as files: TOML, checked field by field.

use offbeat_core::ids::check_names;
use offbeat_core::{Reason, Rejection};
use serde::Deserialize;

use super::fields::{count, positive, within};
use super::hours::timing;
use super::jobs::{
    ChildrenEntry, DequeueEntry, KindEntry, LockEntry, StageEntry, children, cycle, dequeue, lock,
};
use super::outages::ProducerEntry;
use super::partners::PartnerEntry;
use super::retries::RetriesEntry;
use super::run_time::Load;
use super::strategy::{KindName, StrategyEntry, Surroundings, named_apart};
use super::workers::{AutoscalerEntry, Workers, workers};
use super::{Kind, KindPlacement, Scenario, jobs_of_a_user};
use crate::limits::{
    SCENARIO_EVENTS, SCENARIO_JOBS, SCENARIO_KINDS, SCENARIO_PARTNERS, SCENARIO_RUN_SECONDS,
    SCENARIO_SECONDS, SCENARIO_SEEDS, SCENARIO_STRATEGIES, SCENARIO_USERS,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    description: String,
    duration: String,
    workers: Workers,
    #[serde(default = "one_seed")]
    seeds: Vec<u64>,
    tick: Option<String>,
    users: Users,
    #[serde(default)]
    kinds: Vec<KindEntry>,
    /// Only in pipelines.
    #[serde(default)]
    stages: Vec<StageEntry>,
    lock: Option<LockEntry>,
    dequeue: Option<DequeueEntry>,
    autoscaler: Option<AutoscalerEntry>,
    producer: Option<ProducerEntry>,
    #[serde(default)]
    partners: Vec<PartnerEntry>,
    retries: Option<RetriesEntry>,
    children: Option<ChildrenEntry>,
    strategies: Vec<StrategyEntry>,
}

fn one_seed() -> Vec<u64> {
    vec![1]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Users {
    count: i64,
    cycle: String,
    #[serde(default)]
    active_windows: Vec<String>,
}

/// Reads a scenario; `load` reads the samples of files that it names.
///
/// # Errors
/// When the text is not a scenario, or a field is out of its range.
pub fn parse(text: &str, load: Load<'_>) -> Result<Scenario, Rejection> {
    let file: File = toml::from_str(text).map_err(|unreadable| {
        let allowed = format!("must be TOML of this form: {}", unreadable.message());
        let offset = unreadable.span().map_or(0, |span| span.start);
        let line = 1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
        let field = format!("scenario, line {line}");
        Rejection::new(Reason::Malformed, field, "a text that cannot be read", allowed)
    })?;
    file.check(load)
}

impl File {
    fn check(self, load: Load<'_>) -> Result<Scenario, Rejection> {
        let duration = positive("duration", &self.duration)?;
        within("duration", (duration / 1_000_000).cast_signed(), SCENARIO_SECONDS)?;
        let written = (duration, self.duration.as_str());
        let shared = cycle("users.cycle", &self.users.cycle, written)?;
        let shared = timing("users.active_windows", shared, &self.users.active_windows)?;
        let population = within("users.count", self.users.count, SCENARIO_USERS)?;
        self.one_form()?;
        let kind_count = self.kinds.len() + self.stages.len();
        count(if self.stages.is_empty() { "kinds" } else { "stages" }, kind_count, SCENARIO_KINDS)?;
        count("strategies", self.strategies.len(), SCENARIO_STRATEGIES)?;
        count("seeds", self.seeds.len(), SCENARIO_SEEDS)?;
        count("partners", self.partners.len(), SCENARIO_PARTNERS)?;
        let kinds = self.kinds.iter().enumerate().map(|(place, kind)| {
            kind.heeds(place, !self.partners.is_empty())?;
            kind.check(place, &shared, written, load)
        });
        let kinds: Vec<Kind> = kinds.collect::<Result<_, Rejection>>()?;
        let runs = self.strategies.len() * self.seeds.len();
        let outages = self.producer.as_ref().map_or(0, ProducerEntry::outage_count);
        let cycles = kinds.iter().map(|kind| kind.timing.as_ref().unwrap_or(&shared).cycle);
        let cycles = cycles.chain(self.stages.iter().map(|_| shared.cycle));
        let jobs =
            u128::from(population) * jobs_of_a_user(duration, cycles, outages) * runs as u128;
        if !SCENARIO_JOBS.allows(i128::try_from(jobs).unwrap_or(i128::MAX)) {
            let allowed = format!(
                "must make {SCENARIO_JOBS}: fewer users, strategies, seeds, cycles or outages"
            );
            return Err(Rejection::new(Reason::OutOfRange, "users.count", jobs, allowed));
        }
        let seconds =
            u128::from(duration / 1_000_000) * (self.strategies.len() * self.seeds.len()) as u128;
        if !SCENARIO_RUN_SECONDS.allows(i128::try_from(seconds).unwrap_or(i128::MAX)) {
            let allowed = format!("must make {SCENARIO_RUN_SECONDS} of all strategies and seeds");
            return Err(Rejection::new(Reason::OutOfRange, "duration", &self.duration, allowed));
        }
        self.no_names_or_seeds_twice()?;
        self.placements_are_heeded()?;
        self.partners_are_heeded()?;
        let stages = self.stages.iter().enumerate().map(|(place, stage)| {
            let run_time = stage.run_time.read(&format!("stages[{place}].run_time"), load)?;
            let (name, placement) = (stage.name.clone(), KindPlacement::Same);
            Ok(Kind { name, run_time, placement, timing: None, calls: 0 })
        });
        let is_shared = |(_, kind): &(usize, &KindEntry)| !kind.has_own_timing();
        let shared_kinds: Vec<(usize, &KindEntry)> =
            self.kinds.iter().enumerate().filter(is_shared).collect();
        let places: Vec<usize> = shared_kinds.iter().map(|(place, _)| *place).collect();
        let around = Surroundings {
            timing: &shared,
            shared_kinds: &places,
            are_opposite: shared_kinds.iter().skip(1).all(|(_, kind)| kind.is_opposite()),
            has_outages: self.producer.is_some(),
            workers: match &self.workers {
                Workers::Constant(count) => u32::try_from(*count).ok(),
                Workers::Changing(_) => None,
            },
            is_autoscaled: self.autoscaler.is_some(),
        };
        let strategies = self.strategies.iter().enumerate().map(|(place, entry)| {
            entry.check(around).map_err(|refused| refused.under(&format!("strategies[{place}]")))
        });
        let calls = kinds.iter().map(|kind| kind.calls).max().unwrap_or(0);
        let partners = self.partners.iter().enumerate().map(|(place, entry)| {
            entry.check(calls).map_err(|refused| refused.under(&format!("partners[{place}]")))
        });
        let notes = self.notes(duration, shared.cycle);
        Ok(Scenario {
            workers: workers(&self.workers)?,
            autoscaler: self.autoscaler.as_ref().map(AutoscalerEntry::check).transpose()?,
            stages: stages.collect::<Result<_, Rejection>>()?,
            children: self.children.as_ref().map(|entry| children(entry, load)).transpose()?,
            dequeue: self.dequeue.as_ref().map(dequeue).transpose()?,
            producer: self
                .producer
                .as_ref()
                .map(|entry| entry.check(shared.cycle).map_err(|refused| refused.under("producer")))
                .transpose()?,
            partners: partners.collect::<Result<_, _>>()?,
            retries: self.retries.as_ref().map(RetriesEntry::check).transpose()?,
            lock: self.lock.as_ref().map(lock).transpose()?,
            tick: self.tick.as_ref().map(|tick| positive("tick", tick)).transpose()?,
            strategies: named_apart(strategies.collect::<Result<_, _>>()?)?,
            notes,
            max_events: SCENARIO_EVENTS.maximum.unsigned_abs(),
            keeps_rows: true,
            name: self.name,
            description: self.description,
            duration,
            population,
            kinds,
            timing: shared,
            seeds: self.seeds,
        })
    }
}

impl File {
    fn no_names_or_seeds_twice(&self) -> Result<(), Rejection> {
        let kinds = self.kinds.iter().map(|kind| kind.name.as_str());
        let stages = self.stages.iter().map(|stage| stage.name.as_str());
        let partners = self.partners.iter().map(|partner| partner.name.as_str());
        check_names(kinds).map_err(|refused| refused.under("kinds"))?;
        check_names(stages).map_err(|refused| refused.under("stages"))?;
        check_names(partners).map_err(|refused| refused.under("partners"))?;
        for (place, seed) in self.seeds.iter().enumerate() {
            if let Some(other) = self.seeds.iter().take(place).position(|other| other == seed) {
                let allowed = format!("must not be seeds[{other}] too: it would be the same run");
                let field = format!("seeds[{place}]");
                return Err(Rejection::new(Reason::Contradictory, field, seed, allowed));
            }
        }
        Ok(())
    }

    /// The `placement` of a kind must matter to some strategy.
    fn placements_are_heeded(&self) -> Result<(), Rejection> {
        let told = self.kinds.iter().position(|kind| kind.placement.is_some());
        let Some(place) = told else { return Ok(()) };
        let allowed = match place {
            0 => "must not be set for the first kind, which strategies place",
            _ if self.strategies.iter().any(StrategyEntry::heeds_placements) => return Ok(()),
            _ => {
                "must be set only where a strategy heeds it: all are least_recent, which enqueues \
                 all kinds of a user together, or have other_kinds"
            }
        };
        let field = format!("kinds[{place}].placement");
        Err(Rejection::new(Reason::Contradictory, field, "a value", allowed))
    }

    /// Refuses settings of partners that have no effect.
    fn partners_are_heeded(&self) -> Result<(), Rejection> {
        let has_outages = self.partners.iter().any(PartnerEntry::has_outages);
        if self.retries.is_some() && !has_outages {
            let allowed = "must be set only beside partners with outages, which make attempts fail";
            return Err(Rejection::new(Reason::Contradictory, "retries", "a value", allowed));
        }
        let limited = self.partners.iter().position(PartnerEntry::limits_concurrency);
        let has_lanes = self.strategies.iter().any(StrategyEntry::has_lanes);
        match limited.filter(|_| has_lanes) {
            None => Ok(()),
            Some(place) => {
                let field = format!("partners[{place}].limiter.max_concurrent");
                let allowed = "must not be set beside lanes";
                Err(Rejection::new(Reason::Contradictory, field, "a value", allowed))
            }
        }
    }

    /// Notes on how the scenario was interpreted.
    fn notes(&self, duration: u64, cycle: u64) -> Vec<String> {
        let run_times = self.kinds.iter().map(|kind| (&kind.name, &kind.run_time));
        let run_times = run_times.chain(self.stages.iter().map(|one| (&one.name, &one.run_time)));
        let mut notes: Vec<String> = run_times
            .filter_map(|(name, time)| Some(format!("{name}: {}", time.note()?)))
            .collect();
        if self.stages.is_empty() && duration < 2 * cycle {
            notes.push(format!(
                "duration: {} are less than two cycles of {}: few users run twice, so that their \
                 intervals, and the ranks for a consistent delay, say little",
                self.duration, self.users.cycle
            ));
        }
        let ignores = |entry: &StrategyEntry| entry.kind == KindName::LeastRecent;
        if self.kinds.len() > 1 && self.strategies.iter().any(ignores) {
            notes.push(
                "least_recent enqueues all kinds of a user together, wherever they should stand"
                    .to_owned(),
            );
        }
        notes
    }

    /// Refuses a mixture of kinds of job and stages of a pipeline, or strategies of the other form.
    fn one_form(&self) -> Result<(), Rejection> {
        let refuse = |field: &str, allowed: &str| {
            Err(Rejection::new(Reason::Contradictory, field, "a value", allowed))
        };
        let is_pipeline = !self.stages.is_empty();
        let strange =
            self.strategies.iter().position(|entry| entry.kind.is_of_pipelines() != is_pipeline);
        if let Some(place) = strange {
            let allowed = "must be minimum_score, d_hondt, latency or fixed_workers in a pipeline, \
                           with stages, and another where there are kinds";
            return refuse(&format!("strategies[{place}].kind"), allowed);
        }
        if !is_pipeline {
            return Ok(());
        }
        let beside = [
            ("kinds", !self.kinds.is_empty()),
            ("lock", self.lock.is_some()),
            ("dequeue", self.dequeue.is_some()),
            ("autoscaler", self.autoscaler.is_some()),
            ("producer", self.producer.is_some()),
            ("partners", !self.partners.is_empty()),
            ("retries", self.retries.is_some()),
            ("users.active_windows", !self.users.active_windows.is_empty()),
            ("children", self.children.is_some()),
            ("tick", self.tick.is_some()),
            ("workers", matches!(&self.workers, Workers::Changing(_))),
        ];
        match beside.iter().find(|(_, is_set)| *is_set) {
            Some((field, _)) => refuse(field, "must not be set, or not change, beside stages"),
            None => Ok(()),
        }
    }
}
