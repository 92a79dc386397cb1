//! What producers and consumers sent, checked.

use std::collections::BTreeSet;
use std::time::Duration;

use offbeat_core::limits::{
    CALL_GROUPS, CALL_JOBS, DEFAULT_PAGE_SIZE, GROUP_ID, Limit, NACK_DELAY_MILLIS, PAGE_SIZE,
};
use offbeat_core::spread::SpreadSpec;
use offbeat_core::spread::lease::{LeaseId, Verdict};
use offbeat_core::spread::named::{Commit, GroupPart, NamedSpreadSpec, Receipt};
use offbeat_core::{Reason, Rejection};

use crate::api::convert::{required, span, unknown_enum_value};
use crate::api::spread::policy_of;
use crate::limits::WAIT_MILLIS;
use crate::spreads::CloseMode;
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

/// How long to wait; `longest` is what the server's own deadline leaves.
pub(super) fn wait(
    wait: Option<prost_types::Duration>,
    longest: Duration,
) -> Result<Duration, Rejection> {
    let Some(wait) = wait else { return Ok(Duration::ZERO) };
    let wait = millis("wait", wait, WAIT_MILLIS)?;
    Ok(Duration::from_millis(wait.unsigned_abs()).min(longest))
}

pub(super) fn spec(message: Option<proto::NamedSpreadSpec>) -> Result<NamedSpreadSpec, Rejection> {
    let message = required("spec", message, "it must be set")?;
    checked_spec(message).map_err(|rejection| rejection.under("spec"))
}

fn checked_spec(message: proto::NamedSpreadSpec) -> Result<NamedSpreadSpec, Rejection> {
    let proto::NamedSpreadSpec {
        policy,
        feeder_count,
        max_open_groups,
        lease,
        max_attempts,
        max_consumer_leases,
        max_groups,
        max_jobs,
        max_bytes,
    } = message;
    let feeders = required("feeder_count", feeder_count, "must be 1 to 65536 feeders")?;
    let defaults = NamedSpreadSpec::new(SpreadSpec {
        policy: policy_of(policy)?,
        feeder_count: feeders.into(),
        max_open_groups: max_open_groups.map(i64::from),
        on_shortage: None,
    });
    let or = |value: Option<i32>, default: i64| value.map_or(default, i64::from);
    let lease = lease.map(|lease| span("lease", lease)).transpose()?;
    let lease_millis = match lease {
        None => defaults.lease_millis,
        Some(lease) => {
            lease.whole_millis().and_then(|millis| i64::try_from(millis).ok()).ok_or_else(|| {
                let allowed = "must be 1 s to 600 s, in whole milliseconds";
                Rejection::new(Reason::OutOfRange, "lease", lease, allowed)
            })?
        }
    };
    Ok(NamedSpreadSpec {
        lease_millis,
        max_attempts: or(max_attempts, defaults.max_attempts),
        max_consumer_leases: or(max_consumer_leases, defaults.max_consumer_leases),
        max_groups: or(max_groups, defaults.max_groups),
        max_jobs: or(max_jobs, defaults.max_jobs),
        max_bytes: max_bytes.unwrap_or(defaults.max_bytes),
        ..defaults
    })
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
    let proto::GroupPart { group_id, first_index, jobs, commit, first_receipt, settled_ranges } =
        message;
    let commit = commit.map(|commit| {
        let proto::GroupCommit { job_count, sha256 } = commit;
        Commit { job_count, sha256 }
    });
    let first_receipt = first_receipt.map(receipt).transpose()?;
    Ok(GroupPart { group_id, first_index, jobs, commit, first_receipt, settled_ranges })
}

fn receipt(message: proto::Receipt) -> Result<Receipt, Rejection> {
    let proto::Receipt { epoch, lease } = message;
    let field = "first_receipt.lease";
    let lease = required(field, lease, "must be 1 s to 600 s")?;
    let lease_millis = millis(field, lease, offbeat_core::limits::LEASE_MILLIS)?;
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

pub(super) fn job_count(max_jobs: Option<i32>) -> Result<usize, Rejection> {
    let max_jobs = required("max_jobs", max_jobs, &format!("must be {CALL_JOBS}"))?;
    size("max_jobs", max_jobs.into(), CALL_JOBS)
}

pub(super) fn verdicts(
    epoch: i64,
    verdicts: Vec<proto::JobVerdict>,
) -> Result<Vec<(LeaseId, Verdict)>, Rejection> {
    check_count("verdicts", verdicts.len(), CALL_JOBS)?;
    let checked = verdicts.into_iter().enumerate().map(|(place, message)| {
        verdict(epoch, message).map_err(|rejection| rejection.under(&format!("verdicts[{place}]")))
    });
    checked.collect()
}

fn verdict(epoch: i64, message: proto::JobVerdict) -> Result<(LeaseId, Verdict), Rejection> {
    let proto::JobVerdict { sequence, attempt, verdict, delay } = message;
    let sequence = u64::try_from(sequence).map_err(|_| {
        Rejection::new(Reason::OutOfRange, "sequence", sequence, "must be that of a leased job")
    })?;
    let attempt = u32::try_from(attempt).ok().filter(|attempt| *attempt > 0).ok_or_else(|| {
        Rejection::new(Reason::OutOfRange, "attempt", attempt, "must be that of a leased job")
    })?;
    let allowed = "must be 1 to 5, a value of Verdict";
    let known = proto::Verdict::try_from(verdict)
        .map_err(|_| unknown_enum_value("verdict", verdict, "1 to 5, a value of Verdict"))?;
    if let (true, Some(delay)) = (known != proto::Verdict::Nack, &delay) {
        let allowed = "must be set with VERDICT_NACK alone";
        let shown = span("delay", *delay)?;
        return Err(Rejection::new(Reason::Contradictory, "delay", shown, allowed));
    }
    let verdict = match known {
        proto::Verdict::Unspecified => {
            return Err(Rejection::new(Reason::FieldMissing, "verdict", "nothing", allowed));
        }
        proto::Verdict::Ack => Verdict::Ack,
        proto::Verdict::Nack => {
            let delay = delay.map(|delay| millis("delay", delay, NACK_DELAY_MILLIS)).transpose()?;
            Verdict::Nack { delay: delay.unwrap_or_default().unsigned_abs() }
        }
        proto::Verdict::Release => Verdict::Release,
        proto::Verdict::Extend => Verdict::Extend,
        proto::Verdict::Terminate => Verdict::Terminate,
    };
    // A number that no spread has is stale, too.
    let epoch = epoch.cast_unsigned();
    Ok((LeaseId { epoch, sequence, attempt }, verdict))
}

pub(super) fn page_size(page_size: Option<i32>) -> Result<usize, Rejection> {
    size("page_size", page_size.map_or(DEFAULT_PAGE_SIZE, i64::from), PAGE_SIZE)
}

/// Numbers of dead letters.
pub(super) fn numbers(numbers: &[i64]) -> Result<Vec<u64>, Rejection> {
    check_count("numbers", numbers.len(), CALL_JOBS)?;
    let checked = numbers.iter().enumerate();
    checked.map(|(place, number)| letter_number(&format!("numbers[{place}]"), *number)).collect()
}

pub(super) fn letter_number(field: &str, number: i64) -> Result<u64, Rejection> {
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
