//! Checks requests of producers and consumers.

use std::collections::BTreeSet;
use std::time::Duration;

use offbeat_core::limits::{
    CALL_GROUPS, CALL_JOBS, DEFAULT_PAGE_SIZE, GROUP_ID, LEASE_MILLIS, Limit, NACK_DELAY_MILLIS,
    NEXT_JOBS, PAGE_SIZE,
};
use offbeat_core::spread::lease::{LeaseId, SettleAction};
use offbeat_core::spread::named::{Commit, GroupPart, LimitChanges, NamedSpreadSpec, Receipt};
use offbeat_core::{Reason, Rejection};

use crate::api::convert::{required, span, unknown_enum_value};
use crate::api::spread::order_of;
use crate::limits::WAIT_MILLIS;
use crate::spreads::{CloseMode, DeadLetterIds};
use offbeat_proto as proto;

fn out_of_range(field: &str, value: impl std::fmt::Display, limit: Limit) -> Rejection {
    Rejection::new(Reason::OutOfRange, field, value, format!("must be {limit}"))
}

fn size(field: &str, value: i64, limit: Limit) -> Result<usize, Rejection> {
    let size = usize::try_from(value).ok().filter(|_| limit.allows(value.into()));
    size.ok_or_else(|| out_of_range(field, value, limit))
}

/// A length of time in whole milliseconds.
fn millis(field: &str, time: prost_types::Duration, limit: Limit) -> Result<i64, Rejection> {
    let time = span(field, time)?;
    let millis = time.whole_millis().and_then(|millis| i64::try_from(millis).ok());
    let millis = millis.filter(|millis| limit.allows((*millis).into()));
    millis.ok_or_else(|| {
        let allowed = format!("must be {limit}, in whole milliseconds");
        Rejection::new(Reason::OutOfRange, field, time, allowed)
    })
}

/// How long to wait: zero if not set, and `longest` at most.
pub(super) fn wait(
    wait: Option<prost_types::Duration>,
    longest: Duration,
) -> Result<Duration, Rejection> {
    let Some(wait) = wait else { return Ok(Duration::ZERO) };
    let wait = millis("max_wait_duration", wait, WAIT_MILLIS)?;
    Ok(Duration::from_millis(wait.unsigned_abs()).min(longest))
}

pub(super) fn spec(message: Option<proto::NamedSpreadSpec>) -> Result<NamedSpreadSpec, Rejection> {
    let message = required("spec", message, "it must be set")?;
    checked_spec(message).map_err(|rejection| rejection.under("spec"))
}

fn checked_spec(message: proto::NamedSpreadSpec) -> Result<NamedSpreadSpec, Rejection> {
    let proto::NamedSpreadSpec { order, lease_duration, limits } = message;
    let order = required("order", order, "it must be set")?;
    let defaults = NamedSpreadSpec::new(order_of(order)?);
    let lease = lease_duration.map(|lease| millis("lease_duration", lease, LEASE_MILLIS));
    let changes = limits.map(limit_changes).unwrap_or_default();
    Ok(NamedSpreadSpec {
        lease_millis: lease.transpose()?.unwrap_or(defaults.lease_millis),
        limits: defaults.limits.with(&changes),
        ..defaults
    })
}

/// The limits that a message sets.
pub(super) fn limit_changes(message: proto::SpreadLimits) -> LimitChanges {
    let proto::SpreadLimits {
        max_attempt_count,
        max_consumer_lease_count,
        max_group_count,
        max_job_count,
        max_byte_count,
    } = message;
    LimitChanges {
        max_attempt_count: max_attempt_count.map(i64::from),
        max_consumer_lease_count: max_consumer_lease_count.map(i64::from),
        max_group_count: max_group_count.map(i64::from),
        max_job_count: max_job_count.map(i64::from),
        max_byte_count,
    }
}

pub(super) fn parts(groups: Vec<proto::GroupPart>) -> Result<Vec<GroupPart>, Rejection> {
    check_count("groups", groups.len(), CALL_GROUPS)?;
    let parts = groups.into_iter().enumerate();
    parts
        .map(|(place, group)| {
            part(group).map_err(|rejection| rejection.under(&format!("groups[{place}]")))
        })
        .collect()
}

fn part(message: proto::GroupPart) -> Result<GroupPart, Rejection> {
    let proto::GroupPart { group_id, first_job_index, jobs, commit } = message;
    let commit = commit.map(commit_of).transpose().map_err(|refused| refused.under("commit"))?;
    let payloads = jobs.into_iter().map(|job| job.payload).collect();
    Ok(GroupPart { group_id, first_job_index, payloads, commit })
}

fn commit_of(message: proto::GroupCommit) -> Result<Commit, Rejection> {
    let proto::GroupCommit { job_count, sha256, first_receipt, settled_ranges } = message;
    let first_receipt = first_receipt.map(receipt).transpose()?;
    let ranges = settled_ranges.into_iter();
    let ranges =
        ranges.map(|proto::IndexRange { start_index, end_index }| (start_index, end_index));
    Ok(Commit { job_count, sha256, first_receipt, settled_ranges: ranges.collect() })
}

fn receipt(message: proto::Receipt) -> Result<Receipt, Rejection> {
    let proto::Receipt { epoch, lease_duration } = message;
    let field = "first_receipt.lease_duration";
    let lease = required(field, lease_duration, "must be 1 s to 600 s")?;
    let lease_millis = millis(field, lease, LEASE_MILLIS)?;
    Ok(Receipt { epoch: epoch.cast_unsigned(), lease_millis })
}

fn check_count(field: &str, count: usize, limit: Limit) -> Result<(), Rejection> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    size(field, count, limit).map(drop)
}

pub(super) fn group_ids(ids: Vec<String>) -> Result<Vec<String>, Rejection> {
    check_count("group_ids", ids.len(), CALL_GROUPS)?;
    let mut seen = BTreeSet::new();
    if let Some(place) = ids.iter().position(|id| !seen.insert(id)) {
        let (field, allowed) = (format!("group_ids[{place}]"), "must be in a call once");
        let id = ids.get(place).cloned().unwrap_or_default();
        return Err(Rejection::new(Reason::Contradictory, field, id, allowed));
    }
    match ids.iter().position(|id| !GROUP_ID.allows(id.len() as i128)) {
        Some(place) => {
            let id = ids.get(place).cloned().unwrap_or_default();
            Err(out_of_range(&format!("group_ids[{place}]"), id, GROUP_ID))
        }
        None => Ok(ids),
    }
}

pub(super) fn job_count(max_pulled_job_count: Option<i32>) -> Result<usize, Rejection> {
    let field = "max_pulled_job_count";
    let count = required(field, max_pulled_job_count, &format!("must be {CALL_JOBS}"))?;
    size(field, count.into(), CALL_JOBS)
}

pub(super) fn settlements(
    epoch: i64,
    settlements: Vec<proto::JobSettlement>,
) -> Result<Vec<(LeaseId, SettleAction)>, Rejection> {
    check_count("settlements", settlements.len(), CALL_JOBS)?;
    let checked = settlements.into_iter().enumerate().map(|(place, message)| {
        settlement(epoch, message)
            .map_err(|rejection| rejection.under(&format!("settlements[{place}]")))
    });
    checked.collect()
}

fn settlement(
    epoch: i64,
    message: proto::JobSettlement,
) -> Result<(LeaseId, SettleAction), Rejection> {
    use proto::SettleAction as Wire;
    let proto::JobSettlement { sequence, attempt, action, delay } = message;
    let sequence = u64::try_from(sequence).map_err(|_| {
        Rejection::new(Reason::OutOfRange, "sequence", sequence, "must be that of a leased job")
    })?;
    let attempt = u32::try_from(attempt).ok().filter(|attempt| *attempt > 0).ok_or_else(|| {
        Rejection::new(Reason::OutOfRange, "attempt", attempt, "must be that of a leased job")
    })?;
    let known = Wire::try_from(action)
        .map_err(|_| unknown_enum_value("action", action, "1 to 5, a value of SettleAction"))?;
    if let (false, Some(delay)) = (matches!(known, Wire::Nack | Wire::Release), &delay) {
        let allowed = "must be set only with SETTLE_ACTION_NACK or SETTLE_ACTION_RELEASE";
        let shown = span("delay", *delay)?;
        return Err(Rejection::new(Reason::Contradictory, "delay", shown, allowed));
    }
    let delay = delay.map(|delay| millis("delay", delay, NACK_DELAY_MILLIS)).transpose()?;
    let delay = delay.unwrap_or_default().unsigned_abs();
    let action = match known {
        Wire::Unspecified => {
            let allowed = "must be 1 to 5, a value of SettleAction";
            return Err(Rejection::new(Reason::FieldMissing, "action", "nothing", allowed));
        }
        Wire::Ack => SettleAction::Ack,
        Wire::Nack => SettleAction::Nack { delay },
        Wire::Release => SettleAction::Release { delay },
        Wire::ExtendLease => SettleAction::ExtendLease,
        Wire::DeadLetter => SettleAction::DeadLetter,
    };
    // Any number is accepted: a lease with an epoch that no spread has is stale.
    let epoch = epoch.cast_unsigned();
    Ok((LeaseId { epoch, sequence, attempt }, action))
}

/// Maximum size of a page; 0 is the default.
pub(super) fn page_size(page_size: i32) -> Result<usize, Rejection> {
    let asked = if page_size == 0 { DEFAULT_PAGE_SIZE } else { page_size.into() };
    size("page_size", asked, PAGE_SIZE)
}

/// Maximum number of next jobs in a description.
pub(super) fn next_job_count(count: i32) -> Result<usize, Rejection> {
    size("max_next_job_count", count.into(), NEXT_JOBS)
}

/// The epoch and the numbers of dead letters.
pub(super) fn dead_letters(epoch: i64, numbers: &[i64]) -> Result<DeadLetterIds, Rejection> {
    let allowed = "must be the epoch that they were listed with";
    let epoch = match epoch {
        0 => return Err(Rejection::new(Reason::FieldMissing, "epoch", "nothing", allowed)),
        _ => u64::try_from(epoch)
            .map_err(|_| Rejection::new(Reason::OutOfRange, "epoch", epoch, allowed))?,
    };
    check_count("numbers", numbers.len(), CALL_JOBS)?;
    let checked = numbers.iter().enumerate();
    let number = |(place, number): (_, &i64)| letter_number(&format!("numbers[{place}]"), *number);
    Ok(DeadLetterIds { epoch, numbers: checked.map(number).collect::<Result<_, _>>()? })
}

fn letter_number(field: &str, number: i64) -> Result<u64, Rejection> {
    u64::try_from(number).map_err(|_| {
        Rejection::new(Reason::OutOfRange, field, number, "must be 0 or more, as it was listed")
    })
}

pub(super) fn close_mode(number: i32) -> Result<CloseMode, Rejection> {
    match proto::CloseMode::try_from(number) {
        Ok(proto::CloseMode::Unspecified | proto::CloseMode::Drain) => Ok(CloseMode::Drain),
        Ok(proto::CloseMode::Discard) => Ok(CloseMode::Discard),
        Err(_) => Err(unknown_enum_value("mode", number, "0 to 2, a value of CloseMode")),
    }
}
