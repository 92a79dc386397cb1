//! Outages, as scenarios write them.

use offbeat_core::runs::MissedRunPolicy;
use offbeat_core::{Reason, Rejection, Span};
use serde::Deserialize;

use super::Producer;
use super::fields::{count, span};
use super::hours::instant;
use crate::limits::SCENARIO_OUTAGES;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outage {
    from: String,
    to: String,
}

impl Outage {
    /// The outage (from, to), in microseconds; not empty.
    pub(super) fn check(&self) -> Result<(u64, u64), Rejection> {
        let (from, to) = (instant("outages.from", &self.from)?, instant("outages.to", &self.to)?);
        if from < to {
            return Ok((from, to));
        }
        let allowed = format!("must be later than {}, from", self.from);
        Err(Rejection::new(Reason::Contradictory, "outages.to", &self.to, allowed))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProducerEntry {
    outages: Vec<Outage>,
    #[serde(default)]
    missed_runs: MissedRuns,
    min_gap: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MissedRuns {
    #[default]
    Once,
    All,
    Drop,
}

impl ProducerEntry {
    pub(super) fn outage_count(&self) -> usize {
        self.outages.len()
    }

    pub(super) fn check(&self, cycle: u64) -> Result<Producer, Rejection> {
        count("outages", self.outages.len(), SCENARIO_OUTAGES)?;
        let mut outages: Vec<(u64, u64)> = Vec::with_capacity(self.outages.len());
        for outage in &self.outages {
            let (from, to) = outage.check()?;
            if outages.last().is_some_and(|(_, last)| from <= *last) {
                let (field, allowed) =
                    ("outages.from", "must be after the end of the outage before");
                return Err(Rejection::new(Reason::Contradictory, field, &outage.from, allowed));
            }
            outages.push((from, to));
        }
        let missed_runs = match self.missed_runs {
            MissedRuns::Once => MissedRunPolicy::RunOnce,
            MissedRuns::All => MissedRunPolicy::RunAll,
            MissedRuns::Drop => MissedRunPolicy::Drop,
        };
        let min_gap =
            self.min_gap.as_ref().map(|text| up_to(cycle, "min_gap", text)).transpose()?;
        Ok(Producer { outages, missed_runs, min_gap })
    }
}

fn up_to(cycle: u64, field: &str, text: &str) -> Result<Span, Rejection> {
    let (found, cycle) = (span(field, text)?, Span::from_millis(cycle / 1_000));
    if (Span::from_seconds(0)..=cycle).contains(&found) {
        return Ok(found);
    }
    let allowed = format!("must be 0s to {cycle}, the cycle");
    Err(Rejection::new(Reason::OutOfRange, field, text, allowed))
}
