//! Scenarios as files: TOML, checked field by field.

use jiff::SpanRelativeTo;
use offbeat_core::lanes::{LaneSet, LaneSetSpec, LaneSpec, OnTimeout};
use offbeat_core::limits::Limit;
use offbeat_core::names::check_names;
use offbeat_core::stages::{Rule, Weighting};
use offbeat_core::{PlacementKind, Reason, Rejection, Schedule, ScheduleSpec, Span};
use serde::Deserialize;

use super::run_time::RunTime;
use super::{
    Autoscaler, Children, Dequeue, Kind, KindPlacement, Lock, Partner, Scenario, Strategy,
    StrategyKind,
};
use crate::limits::{
    SCENARIO_EVENTS, SCENARIO_JOBS, SCENARIO_KINDS, SCENARIO_PARTNERS, SCENARIO_RUN_SECONDS,
    SCENARIO_SECONDS, SCENARIO_SEEDS, SCENARIO_STRATEGIES, SCENARIO_USERS, SCENARIO_WORKERS,
};

/// Reads the samples of a file that a scenario names, in microseconds.
pub type Load<'a> = &'a dyn Fn(&str) -> Result<Vec<i64>, Rejection>;

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
    /// Of pipelines.
    #[serde(default)]
    stages: Vec<StageEntry>,
    lock: Option<LockEntry>,
    dequeue: Option<DequeueEntry>,
    autoscaler: Option<AutoscalerEntry>,
    #[serde(default)]
    partners: Vec<PartnerEntry>,
    children: Option<ChildrenEntry>,
    strategies: Vec<StrategyEntry>,
}

fn one_seed() -> Vec<u64> {
    vec![1]
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Workers {
    Constant(i64),
    Changing(Vec<WorkersFrom>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkersFrom {
    from: String,
    count: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Users {
    count: i64,
    cycle: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindEntry {
    name: String,
    run_time: RunTime,
    #[serde(default)]
    placement: PlacementEntry,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StageEntry {
    name: String,
    run_time: RunTime,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PlacementEntry {
    #[default]
    Reciprocal,
    Independent,
    Same,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockEntry {
    #[serde(default = "one_user")]
    group_size: i64,
    retry_after: String,
}

const fn one_user() -> i64 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DequeueEntry {
    #[serde(default = "nothing")]
    base: String,
    #[serde(default = "nothing")]
    per_waiting: String,
    #[serde(default)]
    contention: bool,
}

fn nothing() -> String {
    "0s".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AutoscalerEntry {
    interval: String,
    up_at: i64,
    down_at: i64,
    step: i64,
    minimum: i64,
    maximum: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartnerEntry {
    name: String,
    share: f64,
    max_per_second: Option<i64>,
    #[serde(default = "a_tenth")]
    refusal_time: String,
    #[serde(default = "a_minute")]
    retry_after: String,
    #[serde(default)]
    outages: Vec<Outage>,
    #[serde(default = "a_half_minute")]
    outage_time: String,
}

fn a_tenth() -> String {
    "100ms".to_owned()
}

fn a_minute() -> String {
    "1m".to_owned()
}

fn a_half_minute() -> String {
    "30s".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outage {
    from: String,
    to: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChildrenEntry {
    mean_count: f64,
    run_time: RunTime,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StrategyEntry {
    kind: KindName,
    name: Option<String>,
    /// Of `slots`.
    placement: Option<SlotPlacement>,
    slot_count: Option<i64>,
    /// Of `least_recent`.
    interval: Option<String>,
    batch: Option<i64>,
    spread: Option<String>,
    /// Of `spread`.
    feeders: Option<i64>,
    #[serde(default)]
    lanes: Vec<LaneEntry>,
    #[serde(default)]
    suspend: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindName {
    AtOnce,
    RandomSmear,
    LeastRecent,
    SelfRescheduling,
    Slots,
    Spread,
    MinimumScore,
    DHondt,
    Latency,
    FixedWorkers,
}

impl KindName {
    /// As a scenario writes it.
    const fn name(self) -> &'static str {
        match self {
            Self::AtOnce => "at_once",
            Self::RandomSmear => "random_smear",
            Self::LeastRecent => "least_recent",
            Self::SelfRescheduling => "self_rescheduling",
            Self::Slots => "slots",
            Self::Spread => "spread",
            Self::MinimumScore => "minimum_score",
            Self::DHondt => "d_hondt",
            Self::Latency => "latency",
            Self::FixedWorkers => "fixed_workers",
        }
    }

    /// Whether it shares the workers of a pipeline out, and places no jobs.
    const fn is_of_pipelines(self) -> bool {
        matches!(self, Self::MinimumScore | Self::DHondt | Self::Latency | Self::FixedWorkers)
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SlotPlacement {
    Hash,
    Twister,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LaneEntry {
    workers: i64,
    timeout: Option<String>,
}

/// Reads a scenario; `load` reads the samples of files that it names.
///
/// # Errors
/// When the text is no scenario, or a field is out of its range.
pub fn parse(text: &str, load: Load<'_>) -> Result<Scenario, Rejection> {
    let file: File = toml::from_str(text).map_err(|error| {
        let allowed = format!("must be TOML of this form: {}", error.message());
        let line =
            error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let field =
            line.map_or_else(|| "scenario".to_owned(), |line| format!("scenario, line {line}"));
        Rejection::new(Reason::Malformed, field, "a text that cannot be read", allowed)
    })?;
    file.check(load)
}

impl File {
    fn check(self, load: Load<'_>) -> Result<Scenario, Rejection> {
        let duration = positive("duration", &self.duration)?;
        within("duration", (duration / 1_000_000).cast_signed(), SCENARIO_SECONDS)?;
        let population = within("users.count", self.users.count, SCENARIO_USERS)?;
        let cycle = positive("users.cycle", &self.users.cycle)?;
        if cycle % 1_000 != 0 {
            let allowed = "must be a whole number of milliseconds";
            let (field, value) = ("users.cycle", &self.users.cycle);
            return Err(Rejection::new(Reason::OutOfRange, field, value, allowed));
        }
        self.one_form()?;
        let kind_count = self.kinds.len() + self.stages.len();
        count(if self.stages.is_empty() { "kinds" } else { "stages" }, kind_count, SCENARIO_KINDS)?;
        count("strategies", self.strategies.len(), SCENARIO_STRATEGIES)?;
        count("seeds", self.seeds.len(), SCENARIO_SEEDS)?;
        count("partners", self.partners.len(), SCENARIO_PARTNERS)?;
        let runs = self.strategies.len() * self.seeds.len() * kind_count;
        let jobs = u128::from(population) * u128::from(duration.div_ceil(cycle)) * runs as u128;
        if !SCENARIO_JOBS.allows(i128::try_from(jobs).unwrap_or(i128::MAX)) {
            let allowed =
                format!("must make {SCENARIO_JOBS}: fewer users, strategies, seeds or cycles");
            return Err(Rejection::new(Reason::OutOfRange, "users.count", jobs, allowed));
        }
        let seconds =
            u128::from(duration / 1_000_000) * (self.strategies.len() * self.seeds.len()) as u128;
        if !SCENARIO_RUN_SECONDS.allows(i128::try_from(seconds).unwrap_or(i128::MAX)) {
            let allowed = format!("must make {SCENARIO_RUN_SECONDS} of all strategies and seeds");
            return Err(Rejection::new(Reason::OutOfRange, "duration", &self.duration, allowed));
        }
        check_names(self.kinds.iter().map(|kind| kind.name.as_str()))
            .map_err(|refused| refused.under("kinds"))?;
        let kinds = self.kinds.iter().enumerate().map(|(place, kind)| {
            let run_time = kind.run_time.read(&format!("kinds[{place}].run_time"), load)?;
            let placement = match kind.placement {
                PlacementEntry::Reciprocal => KindPlacement::Reciprocal,
                PlacementEntry::Independent => KindPlacement::Independent,
                PlacementEntry::Same => KindPlacement::Same,
            };
            Ok(Kind { name: kind.name.clone(), run_time, placement })
        });
        let stages = self.stages.iter().enumerate().map(|(place, stage)| {
            let run_time = stage.run_time.read(&format!("stages[{place}].run_time"), load)?;
            Ok(Kind { name: stage.name.clone(), run_time, placement: KindPlacement::Same })
        });
        let strategies = self.strategies.iter().enumerate().map(|(place, entry)| {
            entry.check(cycle).map_err(|refused| refused.under(&format!("strategies[{place}]")))
        });
        let partners = self.partners.iter().enumerate().map(|(place, entry)| {
            entry.check().map_err(|refused| refused.under(&format!("partners[{place}]")))
        });
        let run_times = self.kinds.iter().map(|kind| (&kind.name, &kind.run_time));
        let run_times = run_times.chain(self.stages.iter().map(|one| (&one.name, &one.run_time)));
        let notes = run_times.filter_map(|(name, time)| Some(format!("{name}: {}", time.note()?)));
        let notes = notes.collect();
        Ok(Scenario {
            workers: workers(&self.workers)?,
            autoscaler: self.autoscaler.as_ref().map(AutoscalerEntry::check).transpose()?,
            kinds: kinds.collect::<Result<_, _>>()?,
            stages: stages.collect::<Result<_, Rejection>>()?,
            children: self.children.as_ref().map(|entry| children(entry, load)).transpose()?,
            dequeue: self.dequeue.as_ref().map(dequeue).transpose()?,
            partners: partners.collect::<Result<_, _>>()?,
            lock: self.lock.as_ref().map(lock).transpose()?,
            tick: self.tick.as_ref().map(|tick| positive("tick", tick)).transpose()?,
            strategies: named_apart(strategies.collect::<Result<_, _>>()?)?,
            notes,
            max_events: SCENARIO_EVENTS.maximum.unsigned_abs(),
            name: self.name,
            description: self.description,
            duration,
            population,
            cycle,
            seeds: self.seeds,
        })
    }
}

impl File {
    /// A scenario has kinds of job, or the stages of a pipeline, and the strategies of either.
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
            ("partners", !self.partners.is_empty()),
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

impl StrategyEntry {
    fn check(&self, cycle: u64) -> Result<Strategy, Rejection> {
        self.only_its_own()?;
        let kind = match self.kind {
            KindName::AtOnce => StrategyKind::AtOnce,
            KindName::RandomSmear => StrategyKind::RandomSmear,
            KindName::SelfRescheduling => StrategyKind::SelfRescheduling,
            KindName::LeastRecent => StrategyKind::LeastRecent {
                interval: positive("interval", self.interval.as_deref().unwrap_or("1m"))?,
                batch: within("batch", self.batch.unwrap_or(1_000), SCENARIO_USERS)?,
                spread: micros("spread", self.spread.as_deref().unwrap_or("0s"))?,
            },
            KindName::MinimumScore => workers_by(Rule::MinimumScore, Weighting::Even),
            KindName::DHondt => workers_by(Rule::DHondt, Weighting::Even),
            KindName::Latency => workers_by(Rule::MinimumScore, Weighting::Latency),
            KindName::FixedWorkers => StrategyKind::FixedWorkers,
            KindName::Slots => StrategyKind::Slots(self.schedule(cycle)?),
            KindName::Spread => StrategyKind::Spread {
                feeders: within(
                    "feeders",
                    self.feeders.unwrap_or(16),
                    offbeat_core::limits::FEEDER_COUNT,
                )?,
            },
        };
        let name = self.name.clone().unwrap_or_else(|| match self.placement {
            Some(SlotPlacement::Twister) => "slots, twister".to_owned(),
            _ => kind.name().replace('_', " "),
        });
        Ok(Strategy { name, kind, lanes: self.lanes()? })
    }

    /// A field of another strategy would be ignored, so it is refused.
    fn only_its_own(&self) -> Result<(), Rejection> {
        let fields = [
            ("placement", self.placement.is_some(), KindName::Slots),
            ("slot_count", self.slot_count.is_some(), KindName::Slots),
            ("interval", self.interval.is_some(), KindName::LeastRecent),
            ("batch", self.batch.is_some(), KindName::LeastRecent),
            ("spread", self.spread.is_some(), KindName::LeastRecent),
            ("feeders", self.feeders.is_some(), KindName::Spread),
        ];
        let strange = fields.iter().find(|(_, is_set, owner)| *is_set && *owner != self.kind);
        strange.map_or(Ok(()), |(field, _, owner)| {
            let allowed =
                format!("must be set with another kind of strategy alone: {}", owner.name());
            Err(Rejection::new(Reason::Contradictory, *field, "a value", allowed))
        })
    }

    fn schedule(&self, cycle: u64) -> Result<Schedule, Rejection> {
        let mut spec = ScheduleSpec::every(Span::from_millis(cycle / 1_000));
        spec.slot_count = self.slot_count;
        spec.placement = match self.placement {
            None | Some(SlotPlacement::Hash) => PlacementKind::Hash,
            Some(SlotPlacement::Twister) => PlacementKind::Twister,
        };
        Schedule::try_new(&spec)
    }

    fn lanes(&self) -> Result<Option<LaneSet>, Rejection> {
        if self.lanes.is_empty() {
            return Ok(None);
        }
        let lane = |(place, lane): (usize, &LaneEntry)| {
            let timeout = lane
                .timeout
                .as_ref()
                .map(|timeout| span(&format!("lanes[{place}].timeout"), timeout));
            Ok(LaneSpec { worker_count: lane.workers, attempt_timeout: timeout.transpose()? })
        };
        let lanes = self.lanes.iter().enumerate().map(lane).collect::<Result<_, Rejection>>()?;
        let on_timeout = if self.suspend { OnTimeout::Suspend } else { OnTimeout::Abort };
        let set = LaneSetSpec { lanes, on_timeout, ..LaneSetSpec::default() }.check();
        set.map(Some).map_err(|mut refused| {
            refused.field = refused
                .field
                .replace("attempt_timeout", "timeout")
                .replace("worker_count", "workers");
            refused
        })
    }
}

/// Results are told apart by name.
fn named_apart(strategies: Vec<Strategy>) -> Result<Vec<Strategy>, Rejection> {
    check_names(strategies.iter().map(|strategy| strategy.name.as_str()))
        .map_err(|refused| refused.under("strategies"))?;
    Ok(strategies)
}

const fn workers_by(rule: Rule, weighting: Weighting) -> StrategyKind {
    StrategyKind::Workers { rule, weighting }
}

impl PartnerEntry {
    fn check(&self) -> Result<Partner, Rejection> {
        if !(self.share > 0.0 && self.share.is_finite()) {
            let allowed = "must be above 0";
            return Err(Rejection::new(Reason::OutOfRange, "share", self.share, allowed));
        }
        let most = self.max_per_second.map(|most| within("max_per_second", most, SCENARIO_USERS));
        let outage = |outage: &Outage| {
            let (from, to) =
                (micros("outages.from", &outage.from)?, micros("outages.to", &outage.to)?);
            if from < to {
                return Ok((from, to));
            }
            let allowed = format!("must be later than {}, from", outage.from);
            Err(Rejection::new(Reason::Contradictory, "outages.to", &outage.to, allowed))
        };
        Ok(Partner {
            name: self.name.clone(),
            share: self.share,
            max_per_second: most.transpose()?,
            refusal_time: micros("refusal_time", &self.refusal_time)?,
            retry_after: positive("retry_after", &self.retry_after)?,
            outages: self.outages.iter().map(outage).collect::<Result<_, Rejection>>()?,
            outage_time: micros("outage_time", &self.outage_time)?,
        })
    }
}

impl AutoscalerEntry {
    fn check(&self) -> Result<Autoscaler, Rejection> {
        let workers =
            |field: &str, value| within(&format!("autoscaler.{field}"), value, SCENARIO_WORKERS);
        let depth = |field: &str, value: i64| {
            u32::try_from(value).map_err(|_| {
                let (field, allowed) = (format!("autoscaler.{field}"), "must be 0 jobs or more");
                Rejection::new(Reason::OutOfRange, field, value, allowed)
            })
        };
        let (minimum, maximum) =
            (workers("minimum", self.minimum)?, workers("maximum", self.maximum)?);
        if maximum < minimum {
            let allowed = format!("must be {minimum} or more, minimum");
            let field = "autoscaler.maximum";
            return Err(Rejection::new(Reason::Contradictory, field, maximum, allowed));
        }
        Ok(Autoscaler {
            interval: positive("autoscaler.interval", &self.interval)?,
            up_at: depth("up_at", self.up_at)?,
            down_at: depth("down_at", self.down_at)?,
            step: workers("step", self.step)?,
            minimum,
            maximum,
        })
    }
}

fn workers(entry: &Workers) -> Result<Vec<(u64, u32)>, Rejection> {
    let changes = match entry {
        Workers::Constant(count) => {
            return Ok(vec![(0, within("workers", *count, SCENARIO_WORKERS)?)]);
        }
        Workers::Changing(changes) => changes,
    };
    let mut read: Vec<(u64, u32)> = Vec::new();
    for (place, WorkersFrom { from, count }) in changes.iter().enumerate() {
        let at = micros(&format!("workers[{place}].from"), from)?;
        let is_later = read.last().map_or(at == 0, |(before, _)| at > *before);
        if !is_later {
            let allowed = "must be 0s for the first, and later than that of the one before";
            let field = format!("workers[{place}].from");
            return Err(Rejection::new(Reason::Contradictory, field, from, allowed));
        }
        read.push((at, within(&format!("workers[{place}].count"), *count, SCENARIO_WORKERS)?));
    }
    if read.is_empty() {
        return Err(Rejection::new(Reason::FieldMissing, "workers", "none", "must be set"));
    }
    Ok(read)
}

fn children(entry: &ChildrenEntry, load: Load<'_>) -> Result<Children, Rejection> {
    if !(0.0..=100.0).contains(&entry.mean_count) {
        let (field, allowed) = ("children.mean_count", "must be 0 to 100 jobs");
        return Err(Rejection::new(Reason::OutOfRange, field, entry.mean_count, allowed));
    }
    let run_time = entry.run_time.read("children.run_time", load)?;
    Ok(Children { mean_count: entry.mean_count, run_time })
}

fn dequeue(entry: &DequeueEntry) -> Result<Dequeue, Rejection> {
    let per_waiting = span("dequeue.per_waiting", &entry.per_waiting)?;
    let nanos = u64::try_from(per_waiting.nanos()).ok().filter(|nanos| *nanos <= 1_000_000_000);
    let nanos_per_waiting = nanos.ok_or_else(|| {
        let (field, allowed) = ("dequeue.per_waiting", "must be 0 s to 1 s");
        Rejection::new(Reason::OutOfRange, field, &entry.per_waiting, allowed)
    })?;
    let base = micros("dequeue.base", &entry.base)?;
    Ok(Dequeue { base, nanos_per_waiting, contention: entry.contention })
}

fn lock(entry: &LockEntry) -> Result<Lock, Rejection> {
    Ok(Lock {
        group_size: within("lock.group_size", entry.group_size, SCENARIO_USERS)?,
        retry_after: positive("lock.retry_after", &entry.retry_after)?,
    })
}

/// A span such as 8h, 1.5s or 1d; days have 24 hours.
pub(super) fn span(field: &str, text: &str) -> Result<Span, Rejection> {
    let bad = || {
        let allowed = "must be a span with units, such as 8h, 90m, 1d or 1500ms";
        Rejection::new(Reason::Malformed, field, format!("{text:?}"), allowed)
    };
    let parsed: jiff::Span = text.parse().map_err(|_| bad())?;
    let duration = parsed.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| bad())?;
    Span::try_new(duration.as_secs(), duration.subsec_nanos()).map_err(|_| bad())
}

fn micros(field: &str, text: &str) -> Result<u64, Rejection> {
    let span = span(field, text)?;
    let most = SCENARIO_SECONDS.maximum.unsigned_abs() * 1_000_000;
    let micros = u64::try_from(span.nanos() / 1_000).ok().filter(|micros| *micros <= most);
    micros.ok_or_else(|| Rejection::new(Reason::OutOfRange, field, text, "must be 0 s to 366 days"))
}

fn positive(field: &str, text: &str) -> Result<u64, Rejection> {
    let micros = micros(field, text)?;
    if micros > 0 {
        return Ok(micros);
    }
    Err(Rejection::new(Reason::OutOfRange, field, text, "must be longer than 0 s"))
}

fn within(field: &str, value: i64, limit: Limit) -> Result<u32, Rejection> {
    let checked = u32::try_from(value).ok().filter(|_| limit.allows(value.into()));
    checked
        .ok_or_else(|| Rejection::new(Reason::OutOfRange, field, value, format!("must be {limit}")))
}

fn count(field: &str, count: usize, limit: Limit) -> Result<(), Rejection> {
    if limit.allows(count as i128) {
        return Ok(());
    }
    Err(Rejection::new(Reason::OutOfRange, field, count, format!("must be {limit}")))
}
