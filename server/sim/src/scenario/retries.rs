//! Retries of failed attempts, as scenarios write them.

use offbeat_core::{Reason, Rejection};
use serde::Deserialize;

use super::Retries;
use super::fields::{micros, positive, within};
use crate::limits::SCENARIO_ATTEMPTS;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetriesEntry {
    max_attempts: i64,
    first_delay: String,
    #[serde(default = "twice")]
    multiplier: f64,
    max_delay: Option<String>,
}

const fn twice() -> f64 {
    2.0
}

impl RetriesEntry {
    pub(super) fn check(&self) -> Result<Retries, Rejection> {
        if !(1.0..=100.0).contains(&self.multiplier) {
            let (field, allowed) = ("retries.multiplier", "must be 1 to 100");
            return Err(Rejection::new(Reason::OutOfRange, field, self.multiplier, allowed));
        }
        let first_delay = positive("retries.first_delay", &self.first_delay)?;
        let max_delay = match &self.max_delay {
            None => u64::MAX,
            Some(text) => micros("retries.max_delay", text)?,
        };
        if let Some(text) = self.max_delay.as_ref().filter(|_| max_delay < first_delay) {
            let allowed = format!("must be {} or longer, first_delay", self.first_delay);
            return Err(Rejection::new(Reason::Contradictory, "retries.max_delay", text, allowed));
        }
        Ok(Retries {
            max_attempts: within("retries.max_attempts", self.max_attempts, SCENARIO_ATTEMPTS)?,
            first_delay,
            multiplier: self.multiplier,
            max_delay,
        })
    }
}
