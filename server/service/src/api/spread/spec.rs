//! How to spread, as a client says it.

use offbeat_core::limits::{DEFAULT_JOB_WINDOW, FEEDER_COUNT, GROUP_WINDOW, JOB_WINDOW, Limit};
use offbeat_core::spread::{OnShortage, Place, Policy, Spread, SpreadSpec};
use offbeat_core::{Reason, Rejection};

use super::inputs::Inputs;
use crate::api::convert::{required, unknown_enum_value};
use offbeat_proto as proto;

/// A spread and its inputs, both empty.
pub(super) fn begin(message: proto::SpreadSpec) -> Result<(Spread<usize>, Inputs), Rejection> {
    let proto::SpreadSpec {
        policy,
        feeder_count,
        max_open_groups,
        on_shortage,
        job_window,
        group_window,
    } = message;
    let policy = policy_of(policy)?;
    let feeder_count =
        required("feeder_count", feeder_count, &format!("must be {FEEDER_COUNT}"))?.into();
    let spread = Spread::try_new(&SpreadSpec {
        policy,
        feeder_count,
        max_open_groups: max_open_groups.map(i64::from),
        on_shortage: on_shortage_of(on_shortage)?,
    })?;
    let job_window = job_window.map_or(DEFAULT_JOB_WINDOW, i64::from);
    let job_window = window("job_window", job_window, JOB_WINDOW)?;
    let group_window = window("group_window", group_window.into(), GROUP_WINDOW)?;
    Ok((spread, Inputs::new(policy == Policy::Cooldown, job_window, group_window)))
}

/// The place that a token names, and how its spread was begun.
pub(super) fn place(
    token: proto::ResumeToken,
) -> Result<(Option<proto::SpreadSpec>, Place), Rejection> {
    let proto::ResumeToken { spec, first_sequence, digest, group_indexes } = token;
    Ok((spec, Place::try_new(first_sequence, digest.cast_unsigned(), group_indexes)?))
}

fn window(field: &str, asked: i64, limit: Limit) -> Result<u64, Rejection> {
    u64::try_from(asked)
        .ok()
        .filter(|_| limit.allows(asked.into()))
        .ok_or_else(|| Rejection::new(Reason::OutOfRange, field, asked, format!("must be {limit}")))
}

pub(in crate::api) fn policy_of(number: i32) -> Result<Policy, Rejection> {
    match proto::SpreadPolicy::try_from(number) {
        Ok(proto::SpreadPolicy::Unspecified | proto::SpreadPolicy::RoundRobin) => {
            Ok(Policy::RoundRobin)
        }
        Ok(proto::SpreadPolicy::Cooldown) => Ok(Policy::Cooldown),
        Err(_) => Err(unknown_enum_value("policy", number, "0 to 2, a value of SpreadPolicy")),
    }
}

fn on_shortage_of(number: i32) -> Result<Option<OnShortage>, Rejection> {
    match proto::ShortagePolicy::try_from(number) {
        Ok(proto::ShortagePolicy::Unspecified) => Ok(None),
        Ok(proto::ShortagePolicy::Emit) => Ok(Some(OnShortage::Emit)),
        Ok(proto::ShortagePolicy::Wait) => Ok(Some(OnShortage::Wait)),
        Err(_) => {
            Err(unknown_enum_value("on_shortage", number, "0 to 2, a value of ShortagePolicy"))
        }
    }
}
