//! Converts the spec of a spread.

use offbeat_core::limits::{DEFAULT_JOB_WINDOW, FEEDER_COUNT, GROUP_WINDOW, JOB_WINDOW, Limit};
use offbeat_core::spread::{OnShortage, OrderDigest, Place, Policy, Spread, SpreadSpec};
use offbeat_core::{Reason, Rejection};

use prost::Message as _;

use super::inputs::Inputs;
use crate::api::convert::{required, unknown_enum_value};
use crate::api::tokens;
use offbeat_proto as proto;

/// A spread and its inputs, both empty.
pub(super) fn begin(message: proto::SpreadSpec) -> Result<(Spread<usize>, Inputs), Rejection> {
    let proto::SpreadSpec { order, on_shortage, job_window, group_window } = message;
    let order = required("order", order, "it must be set")?;
    let spec = SpreadSpec { on_shortage: on_shortage_of(on_shortage)?, ..order_of(order)? };
    let policy = spec.policy;
    let spread = Spread::try_new(&spec).map_err(|refused| match refused.field.as_str() {
        "on_shortage" => refused,
        _ => refused.under("order"),
    })?;
    let job_window = job_window.map_or(DEFAULT_JOB_WINDOW, i64::from);
    let job_window = window("job_window", job_window, JOB_WINDOW)?;
    let group_window = window("group_window", group_window.into(), GROUP_WINDOW)?;
    Ok((spread, Inputs::new(policy == Policy::Cooldown, job_window, group_window)))
}

/// The order of groups; `on_shortage` keeps its default.
pub(in crate::api) fn order_of(message: proto::SpreadOrder) -> Result<SpreadSpec, Rejection> {
    let proto::SpreadOrder { policy, feeder_count, max_open_group_count } = message;
    let read = || {
        let allowed = format!("must be {FEEDER_COUNT}");
        Ok(SpreadSpec {
            policy: policy_of(policy)?,
            feeder_count: required("feeder_count", feeder_count, &allowed)?.into(),
            max_open_group_count: max_open_group_count.map(i64::from),
            on_shortage: None,
        })
    };
    read().map_err(|refused: Rejection| refused.under("order"))
}

/// The form of a token: how many turns came before, their digest, both big-endian, and the spec.
const FORM: u8 = 1;
const TOKEN: &str = "resume_token";
const ORIGIN: &str = "SpreadTurns.resume_token";

/// The token of a message whose turns come after `sequence` others.
pub(super) fn token(sequence: u64, digest: OrderDigest, spec: &[u8]) -> Vec<u8> {
    let mut content = sequence.to_be_bytes().to_vec();
    content.extend(digest.value().to_be_bytes());
    content.extend(spec);
    tokens::seal(FORM, &content)
}

/// The place that a client continues from, and the spec of its spread.
pub(super) fn place(resume: proto::SpreadResume) -> Result<(proto::SpreadSpec, Place), Rejection> {
    let proto::SpreadResume { resume_token, taken_group_indexes } = resume;
    let content = tokens::open(FORM, &resume_token, TOKEN, ORIGIN)?;
    let malformed = || tokens::malformed(resume_token.len(), TOKEN, ORIGIN);
    let (sequence, rest) = content.split_first_chunk::<8>().ok_or_else(malformed)?;
    let (digest, spec) = rest.split_first_chunk::<8>().ok_or_else(malformed)?;
    let spec = proto::SpreadSpec::decode(spec).map_err(|_| malformed())?;
    let first_turn_index = i64::from_be_bytes(*sequence);
    let place = Place::try_new(first_turn_index, u64::from_be_bytes(*digest), taken_group_indexes)?;
    Ok((spec, place))
}

fn window(field: &str, asked: i64, limit: Limit) -> Result<u64, Rejection> {
    u64::try_from(asked)
        .ok()
        .filter(|_| limit.allows(asked.into()))
        .ok_or_else(|| Rejection::new(Reason::OutOfRange, field, asked, format!("must be {limit}")))
}

fn policy_of(number: i32) -> Result<Policy, Rejection> {
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
