//! Results for the customers of each partner.

use serde::Serialize;

use super::Digest;
use crate::distribution::real;
use crate::scenario::{Partner, Scenario};
use crate::world::{PartnerStep, PartnerTally};

/// A partner of the scenario in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartnerInQuestion {
    /// Name of the partner.
    pub name: String,
    /// The calls per second that it answers, or that the limiter lets through if that is less.
    pub max_per_second: Option<u32>,
    /// Its outages (from, to), in seconds.
    pub outages: Vec<(f64, f64)>,
}

/// Results of the jobs of a partner's customers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartnerFigures {
    /// Name of the partner.
    pub name: String,
    /// Jobs that were done.
    pub jobs_finished: f64,
    /// Attempts that it refused.
    pub throttled: f64,
    /// Attempts that failed because it was down.
    pub failed: f64,
    /// From enqueuing to the first attempt, in seconds.
    pub mean_wait: f64,
    /// Time series of the first seed.
    pub series: PartnerSeries,
}

/// Time series of the jobs of a partner's customers, in the steps of [`Series`](super::Series).
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PartnerSeries {
    /// Jobs that were done.
    pub finished: Vec<u32>,
    /// Attempts that it refused.
    pub throttled: Vec<u32>,
    /// Attempts that failed because it was down.
    pub failed: Vec<u32>,
    /// The mean wait of the jobs whose first attempt began, in seconds; `None` where none did.
    pub mean_wait: Vec<Option<f64>>,
}

pub(super) fn in_seconds<'a>(spans: impl IntoIterator<Item = &'a (u64, u64)>) -> Vec<(f64, f64)> {
    spans.into_iter().map(|(from, to)| (real(*from) / 1e6, real(*to) / 1e6)).collect()
}

impl PartnerInQuestion {
    pub(super) fn of(partner: &Partner) -> Self {
        Self {
            name: partner.name.clone(),
            max_per_second: partner.allowed_per_second(),
            outages: in_seconds(&partner.outages),
        }
    }
}

impl PartnerSeries {
    fn of(steps: &[PartnerStep]) -> Self {
        let wait = |step: &PartnerStep| {
            let seconds = real(step.wait_micros) / 1e6 / f64::from(step.waited.max(1));
            (step.waited > 0).then_some(seconds)
        };
        Self {
            finished: steps.iter().map(|step| step.finished).collect(),
            throttled: steps.iter().map(|step| step.throttled).collect(),
            failed: steps.iter().map(|step| step.failed).collect(),
            mean_wait: steps.iter().map(wait).collect(),
        }
    }
}

pub(super) fn partners(scenario: &Scenario, digests: &[Digest]) -> Vec<PartnerFigures> {
    let details = digests.iter().find_map(|digest| digest.details.as_ref());
    let figures = |(place, partner): (usize, &Partner)| {
        let steps = details.and_then(|details| details.partners.get(place));
        let mean = |of: &dyn Fn(&PartnerTally) -> f64| {
            let tallies = digests.iter().filter_map(|digest| digest.partners.get(place));
            tallies.map(of).sum::<f64>() / real((digests.len() as u64).max(1))
        };
        #[expect(clippy::cast_precision_loss, reason = "a mean")]
        let wait =
            |tally: &PartnerTally| tally.wait_micros as f64 / 1e6 / real(tally.waited.max(1));
        PartnerFigures {
            name: partner.name.clone(),
            jobs_finished: mean(&|tally| real(tally.finished)),
            throttled: mean(&|tally| real(tally.throttled)),
            failed: mean(&|tally| real(tally.failed)),
            mean_wait: mean(&wait),
            series: PartnerSeries::of(steps.map_or(&[], Vec::as_slice)),
        }
    };
    scenario.partners.iter().enumerate().map(figures).collect()
}
