//! Whom jobs ask, as scenarios write it.

use offbeat_core::{Reason, Rejection};
use serde::Deserialize;

use super::Partner;
use super::fields::{micros, positive, within};
use super::outages::Outage;
use crate::limits::SCENARIO_USERS;

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
    pub(super) fn check(&self) -> Result<Partner, Rejection> {
        if !(self.share > 0.0 && self.share.is_finite()) {
            let allowed = "must be above 0";
            return Err(Rejection::new(Reason::OutOfRange, "share", self.share, allowed));
        }
        let most = self.max_per_second.map(|most| within("max_per_second", most, SCENARIO_USERS));
        Ok(Partner {
            name: self.name.clone(),
            share: self.share,
            max_per_second: most.transpose()?,
            refusal_time: micros("refusal_time", &self.refusal_time)?,
            retry_after: positive("retry_after", &self.retry_after)?,
            outages: self.outages.iter().map(Outage::check).collect::<Result<_, _>>()?,
            outage_time: micros("outage_time", &self.outage_time)?,
        })
    }
}
