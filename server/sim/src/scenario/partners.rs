//! Partners that jobs call, as scenarios write them.

use offbeat_core::{Reason, Rejection};
use serde::Deserialize;

use super::fields::{micros, positive, within};
use super::outages::Outage;
use super::{Limiter, Partner};
use crate::limits::{SCENARIO_OUTAGES, SCENARIO_USERS, SCENARIO_WORKERS};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartnerEntry {
    pub(super) name: String,
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
    limiter: Option<LimiterEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimiterEntry {
    max_per_second: Option<i64>,
    max_concurrent: Option<i64>,
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

impl PartnerEntry {
    /// Checks the partner; `calls` is the most calls of an attempt.
    pub(super) fn check(&self, calls: u32) -> Result<Partner, Rejection> {
        if !(self.share > 0.0 && self.share.is_finite()) {
            let allowed = "must be above 0";
            return Err(Rejection::new(Reason::OutOfRange, "share", self.share, allowed));
        }
        let most = self.max_per_second.map(|most| within("max_per_second", most, SCENARIO_USERS));
        let max_per_second = most.transpose()?;
        if let Some(most) = max_per_second.filter(|most| *most < calls) {
            let allowed =
                format!("must be {calls} or more, the calls of a job: it is never answered");
            return Err(Rejection::new(Reason::Contradictory, "max_per_second", most, allowed));
        }
        if !SCENARIO_OUTAGES.allows(self.outages.len().max(1) as i128) {
            let (count, allowed) =
                (self.outages.len(), format!("must be {SCENARIO_OUTAGES}, or none"));
            return Err(Rejection::new(Reason::OutOfRange, "outages", count, allowed));
        }
        let limiter = self.limiter.as_ref().map(LimiterEntry::check).transpose();
        Ok(Partner {
            name: self.name.clone(),
            share: self.share,
            max_per_second,
            refusal_time: micros("refusal_time", &self.refusal_time)?,
            retry_after: positive("retry_after", &self.retry_after)?,
            outages: self.outages.iter().map(Outage::check).collect::<Result<_, _>>()?,
            outage_time: micros("outage_time", &self.outage_time)?,
            limiter: limiter.map_err(|refused| refused.under("limiter"))?.unwrap_or_default(),
        })
    }

    pub(super) const fn has_outages(&self) -> bool {
        !self.outages.is_empty()
    }

    pub(super) fn limits_concurrency(&self) -> bool {
        self.limiter.as_ref().is_some_and(|limiter| limiter.max_concurrent.is_some())
    }
}

impl LimiterEntry {
    fn check(&self) -> Result<Limiter, Rejection> {
        let rate = self.max_per_second.map(|most| within("max_per_second", most, SCENARIO_USERS));
        let at_once =
            self.max_concurrent.map(|most| within("max_concurrent", most, SCENARIO_WORKERS));
        let max_concurrent = at_once.transpose()?;
        if max_concurrent == Some(0) {
            let allowed = "must be 1 attempt or more";
            return Err(Rejection::new(Reason::OutOfRange, "max_concurrent", 0, allowed));
        }
        Ok(Limiter { max_per_second: rate.transpose()?, max_concurrent })
    }
}
