//! Strategies, as scenarios write them.

use offbeat_core::ids::check_names;
use offbeat_core::lanes::{LaneSet, LaneSetSpec, LaneSpec, OnTimeout};
use offbeat_core::runs::{Due, DueSpec};
use offbeat_core::schedule::KindSpec;
use offbeat_core::stages::{Rule, Weighting};
use offbeat_core::{Moment, PlacementKind, Reason, Rejection, Schedule, ScheduleSpec, Span};
use serde::Deserialize;

use super::fields::{micros, positive, span, within};
use super::{KindPlacement, SlotSchedule, Strategy, StrategyKind, Timing};
use crate::limits::SCENARIO_USERS;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StrategyEntry {
    pub(super) kind: KindName,
    name: Option<String>,
    /// Only with `slots`, as the next five.
    placement: Option<SlotPlacement>,
    slot_count: Option<i64>,
    bucket_count: Option<i64>,
    declare_kinds: Option<bool>,
    catch_up_span: Option<String>,
    smear_span: Option<String>,
    /// Only with `least_recent`, as the next two.
    interval: Option<String>,
    batch: Option<i64>,
    spread: Option<String>,
    /// Only with `spread`.
    feeders: Option<i64>,
    /// With every strategy that places jobs of several kinds, except `least_recent`.
    other_kinds: Option<KindPlacement>,
    #[serde(default)]
    lanes: Vec<LaneEntry>,
    suspend: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindName {
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
    /// The name in scenarios.
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

    /// Whether it divides the workers of a pipeline, and places no jobs.
    pub(super) const fn is_of_pipelines(self) -> bool {
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

/// The parts of the scenario that a strategy must fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// The timing of the kinds that have none of their own.
    pub(super) timing: &'a Timing,
    /// The places of these kinds.
    pub(super) shared_kinds: &'a [usize],
    /// Whether all of them are reciprocal to the first.
    pub(super) are_opposite: bool,
    pub(super) has_outages: bool,
    /// The number of workers; `None` if it changes.
    pub(super) workers: Option<u32>,
    pub(super) is_autoscaled: bool,
}

impl StrategyEntry {
    pub(super) fn check(&self, around: Surroundings<'_>) -> Result<Strategy, Rejection> {
        self.only_its_own()?;
        self.has_other_kinds(around)?;
        let lanes = self.lanes(around)?;
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
            KindName::Slots => StrategyKind::Slots(Box::new(self.slots(around)?)),
            KindName::Spread => StrategyKind::Spread {
                feeders: within(
                    "feeders",
                    self.feeders.unwrap_or(16),
                    offbeat_core::limits::FEEDER_COUNT,
                )?,
            },
        };
        let name = self.name.clone().unwrap_or_else(|| {
            let plain = match self.placement {
                Some(SlotPlacement::Twister) => "slots, twister".to_owned(),
                _ => kind.name().replace('_', " "),
            };
            match self.other_kinds {
                None => plain,
                Some(KindPlacement::Reciprocal) => plain + ", reciprocal",
                Some(KindPlacement::Independent) => plain + ", independent",
                Some(KindPlacement::Same) => plain + ", same",
            }
        });
        Ok(Strategy { name, kind, other_kinds: self.other_kinds, lanes })
    }

    /// A field of another strategy would be ignored, so it is refused.
    fn only_its_own(&self) -> Result<(), Rejection> {
        let fields = [
            ("placement", self.placement.is_some(), KindName::Slots),
            ("slot_count", self.slot_count.is_some(), KindName::Slots),
            ("bucket_count", self.bucket_count.is_some(), KindName::Slots),
            ("declare_kinds", self.declare_kinds.is_some(), KindName::Slots),
            ("catch_up_span", self.catch_up_span.is_some(), KindName::Slots),
            ("smear_span", self.smear_span.is_some(), KindName::Slots),
            ("interval", self.interval.is_some(), KindName::LeastRecent),
            ("batch", self.batch.is_some(), KindName::LeastRecent),
            ("spread", self.spread.is_some(), KindName::LeastRecent),
            ("feeders", self.feeders.is_some(), KindName::Spread),
        ];
        let strange = fields.iter().find(|(_, is_set, owner)| *is_set && *owner != self.kind);
        strange.map_or(Ok(()), |(field, _, owner)| {
            let allowed =
                format!("must be set only with another kind of strategy: {}", owner.name());
            Err(Rejection::new(Reason::Contradictory, *field, "a value", allowed))
        })
    }

    fn slots(&self, around: Surroundings<'_>) -> Result<SlotSchedule, Rejection> {
        let mut spec = ScheduleSpec::every(Span::from_millis(around.timing.cycle / 1_000));
        spec.active_windows = around.timing.active_windows();
        spec.slot_count = self.slot_count;
        spec.bucket_count = self.bucket_count;
        spec.placement = match self.placement {
            None | Some(SlotPlacement::Hash) => PlacementKind::Hash,
            Some(SlotPlacement::Twister) => PlacementKind::Twister,
        };
        if self.declares_kinds(around)? {
            let named = |place: &usize| KindSpec::named(&place.to_string());
            spec.kinds = around.shared_kinds.iter().map(named).collect();
        }
        let late = |field: &str, text: &Option<String>, with_kinds: bool| {
            let Some(text) = text else { return Ok(None) };
            let allowed = match (around.has_outages, with_kinds == spec.kinds.is_empty()) {
                (true, false) => return span(field, text).map(Some),
                (false, _) => "must be set only beside [producer], whose outages make runs late",
                (true, true) if with_kinds => "must be set only where kinds are declared",
                (true, true) => {
                    "must not be set where kinds are declared: catch_up_span says where late runs start"
                }
            };
            Err(Rejection::new(Reason::Contradictory, field, text, allowed))
        };
        let smear_span = late("smear_span", &self.smear_span, false)?;
        spec.catch_up_span = late("catch_up_span", &self.catch_up_span, true)?;
        let schedule = Schedule::try_new(&spec)?;
        if smear_span.is_some() {
            Due::try_new(&schedule, &DueSpec { smear_span, ..DueSpec::until(Moment::UNIX_EPOCH) })?;
        }
        Ok(SlotSchedule { spec, schedule, smear_span })
    }

    /// Whether the schedule declares the kinds of the scenario: declared kinds stand opposite one
    /// another, and stay apart when they are late.
    fn declares_kinds(&self, around: Surroundings<'_>) -> Result<bool, Rejection> {
        let are_opposite = self
            .other_kinds
            .map_or(around.are_opposite, |other| other == KindPlacement::Reciprocal);
        let can = around.shared_kinds.len() > 1 && are_opposite;
        match self.declare_kinds {
            Some(true) if !can => {
                let allowed =
                    "must be true where 2 kinds or more share a cycle, all of them reciprocal";
                Err(Rejection::new(Reason::Contradictory, "declare_kinds", true, allowed))
            }
            told => Ok(told.unwrap_or(can)),
        }
    }

    pub(super) const fn has_lanes(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// Whether it respects the `placement` of kinds.
    pub(super) fn heeds_placements(&self) -> bool {
        self.other_kinds.is_none() && self.kind != KindName::LeastRecent
    }

    fn has_other_kinds(&self, around: Surroundings<'_>) -> Result<(), Rejection> {
        let allowed = match self.other_kinds {
            Some(_) if self.kind == KindName::LeastRecent => {
                "must not be set with least_recent, which enqueues all kinds of a user together"
            }
            Some(_) if around.shared_kinds.len() < 2 || self.kind.is_of_pipelines() => {
                "must be set only where 2 kinds or more share a cycle"
            }
            _ => return Ok(()),
        };
        Err(Rejection::new(Reason::Contradictory, "other_kinds", "a value", allowed))
    }

    fn lanes(&self, around: Surroundings<'_>) -> Result<Option<LaneSet>, Rejection> {
        let refuse = |field: &str, value: &dyn std::fmt::Display, allowed: &str| {
            Err(Rejection::new(Reason::Contradictory, field, value, allowed))
        };
        if self.lanes.is_empty() {
            return match self.suspend {
                Some(value) => refuse("suspend", &value, "must be set only with lanes"),
                None => Ok(None),
            };
        }
        if self.kind.is_of_pipelines() {
            return refuse("lanes", &"a value", "must not be set in a pipeline, with stages");
        }
        if around.is_autoscaled {
            let allowed = "must not be set beside [autoscaler]: the workers of lanes are constant";
            return refuse("lanes", &"a value", allowed);
        }
        let lane = |(place, lane): (usize, &LaneEntry)| {
            let timeout = lane
                .timeout
                .as_ref()
                .map(|timeout| span(&format!("lanes[{place}].timeout"), timeout));
            Ok(LaneSpec { worker_count: lane.workers, attempt_timeout: timeout.transpose()? })
        };
        let lanes = self.lanes.iter().enumerate().map(lane).collect::<Result<_, Rejection>>()?;
        let on_timeout =
            if self.suspend == Some(true) { OnTimeout::Suspend } else { OnTimeout::Abort };
        let set = LaneSetSpec { lanes, on_timeout, ..LaneSetSpec::default() }.check();
        let set = set.map_err(|mut refused| {
            refused.field = refused
                .field
                .replace("attempt_timeout", "timeout")
                .replace("worker_count", "workers");
            refused
        })?;
        let own: u64 = set.lanes().iter().map(|lane| lane.workers).sum();
        if around.workers.map(u64::from) != Some(own) {
            let value = format!("{own} workers in all");
            let allowed = around.workers.map_or_else(
                || "must not be set where workers change".to_owned(),
                |all| format!("must have {all} workers in all, as the scenario has"),
            );
            return refuse("lanes", &value, &allowed);
        }
        Ok(Some(set))
    }
}

/// Refuses two strategies with the same name: results are told apart by name.
pub(super) fn named_apart(strategies: Vec<Strategy>) -> Result<Vec<Strategy>, Rejection> {
    check_names(strategies.iter().map(|strategy| strategy.name.as_str()))
        .map_err(|refused| refused.under("strategies"))?;
    Ok(strategies)
}

const fn workers_by(rule: Rule, weighting: Weighting) -> StrategyKind {
    StrategyKind::Workers { rule, weighting }
}
