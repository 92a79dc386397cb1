//! Parameters of a spread.

use serde::{Deserialize, Serialize};

use crate::limits::{DEFAULT_MAX_OPEN_GROUP_COUNT, FEEDER_COUNT, MAX_OPEN_GROUP_COUNT};
use crate::rejection::{Reason, Rejection};

/// In which order groups are dealt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Policy {
    /// F feeders in turn; sizes need not be known.
    #[default]
    RoundRobin,
    /// The largest rested group first; sizes are declared.
    Cooldown,
}

/// Behaviour of `COOLDOWN` when every open group must still rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum OnShortage {
    /// Deals the one that has rested longest, and counts a close pair.
    #[default]
    Emit,
    /// Lets the turn pass.
    Wait,
}

/// A spread as a caller describes it, not yet checked. `None` means the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpreadSpec {
    /// The order of groups. Default: `ROUND_ROBIN`.
    pub policy: Policy,
    /// F, the distance to reach, in turns: how many groups take turns.
    pub feeder_count: i64,
    /// `COOLDOWN` only: W, how many groups may be open at once; F or more. Default: 1,024, or F if
    /// that is more.
    pub max_open_group_count: Option<i64>,
    /// `COOLDOWN` only. Default: `EMIT`.
    pub on_shortage: Option<OnShortage>,
}

/// The checked spec, with defaults.
pub(super) struct Checked {
    pub(super) feeder_count: u32,
    pub(super) max_open_group_count: u32,
    pub(super) on_shortage: OnShortage,
}

impl SpreadSpec {
    /// `ROUND_ROBIN` with this number of feeders.
    #[must_use]
    pub const fn round_robin(feeder_count: i64) -> Self {
        Self {
            policy: Policy::RoundRobin,
            feeder_count,
            max_open_group_count: None,
            on_shortage: None,
        }
    }

    /// `COOLDOWN` with this distance, in turns.
    #[must_use]
    pub const fn cooldown(feeder_count: i64) -> Self {
        Self {
            policy: Policy::Cooldown,
            feeder_count,
            max_open_group_count: None,
            on_shortage: None,
        }
    }

    /// The same spec with every default of its policy.
    pub(crate) fn resolved(&self) -> Result<Self, Rejection> {
        let Checked { max_open_group_count, on_shortage, .. } = self.check()?;
        Ok(match self.policy {
            Policy::RoundRobin => *self,
            Policy::Cooldown => Self {
                max_open_group_count: Some(max_open_group_count.into()),
                on_shortage: Some(on_shortage),
                ..*self
            },
        })
    }

    pub(super) fn check(&self) -> Result<Checked, Rejection> {
        let out_of_range = |field: &str, value: i64, allowed: String| {
            Rejection::new(Reason::OutOfRange, field, value, allowed)
        };
        let feeders = self.feeder_count;
        let feeder_count = u32::try_from(feeders)
            .ok()
            .filter(|_| FEEDER_COUNT.allows(feeders.into()))
            .ok_or_else(|| {
                out_of_range("feeder_count", feeders, format!("must be {FEEDER_COUNT}"))
            })?;
        if self.policy == Policy::RoundRobin {
            let contradictory = |field: &str, value: &dyn core::fmt::Debug| {
                let allowed = "must not be set with policy ROUND_ROBIN: only COOLDOWN reads it";
                let value = format_args!("{value:?}");
                Err(Rejection::new(Reason::Contradictory, field, value, allowed))
            };
            if let Some(groups) = self.max_open_group_count {
                return contradictory("max_open_group_count", &groups);
            }
            if let Some(on_shortage) = self.on_shortage {
                return contradictory("on_shortage", &on_shortage);
            }
        }
        let groups = self.max_open_group_count.unwrap_or(DEFAULT_MAX_OPEN_GROUP_COUNT.max(feeders));
        let max_open_group_count = u32::try_from(groups)
            .ok()
            .filter(|count| MAX_OPEN_GROUP_COUNT.allows(groups.into()) && *count >= feeder_count)
            .ok_or_else(|| {
                let allowed =
                    format!("must be feeder_count ({feeders}) to {}", MAX_OPEN_GROUP_COUNT.maximum);
                out_of_range("max_open_group_count", groups, allowed)
            })?;
        let on_shortage = self.on_shortage.unwrap_or_default();
        Ok(Checked { feeder_count, max_open_group_count, on_shortage })
    }
}
