//! What a store says, as callers get it.

use offbeat_core::Span;
use offbeat_core::spread::Policy;
use offbeat_core::spread::lease::{Cause, Settlement};
use offbeat_core::spread::named::{
    Counts, DeadLetter, GroupState, GroupStatus, LeasedJob, NamedSpreadSpec, Receipt, SpreadState,
};

use tokio::time::Instant;

use crate::api::convert::{count, duration, timestamp, wide};
use crate::api::spread::certificate;
use crate::spreads::{Description, Leased};
use offbeat_proto as proto;

/// A number that was checked against a limit below 2^31.
fn narrow(number: i64) -> Option<i32> {
    i32::try_from(number).ok()
}

fn millis(millis: u64) -> prost_types::Duration {
    duration(Span::from_millis(millis))
}

/// From one moment to another, in whole milliseconds, and never more than it was.
pub(super) fn since(zero: Instant, moment: Instant) -> prost_types::Duration {
    let passed = moment.saturating_duration_since(zero).as_millis();
    millis(u64::try_from(passed).unwrap_or(u64::MAX))
}

fn spec(spec: &NamedSpreadSpec) -> proto::NamedSpreadSpec {
    let NamedSpreadSpec {
        order,
        lease_millis,
        max_attempts,
        max_consumer_leases,
        max_groups,
        max_jobs,
        max_bytes,
    } = *spec;
    let policy = match order.policy {
        Policy::RoundRobin => proto::SpreadPolicy::RoundRobin,
        Policy::Cooldown => proto::SpreadPolicy::Cooldown,
    };
    proto::NamedSpreadSpec {
        policy: policy.into(),
        feeder_count: narrow(order.feeder_count),
        max_open_groups: order.max_open_groups.and_then(narrow),
        lease: Some(millis(lease_millis.unsigned_abs())),
        max_attempts: narrow(max_attempts),
        max_consumer_leases: narrow(max_consumer_leases),
        max_groups: narrow(max_groups),
        max_jobs: narrow(max_jobs),
        max_bytes: Some(max_bytes),
    }
}

pub(super) fn description(description: Description) -> proto::SpreadDescription {
    let Description { name, epoch, spec: parameters, state, counts, certificate: reached } =
        description;
    let Counts {
        groups,
        partial_groups,
        quarantined_groups,
        ready_jobs,
        leased_jobs,
        returned_jobs,
        settled_jobs,
        dead_letters,
        bytes,
        consumers,
    } = counts;
    let state = match state {
        SpreadState::Open => proto::SpreadState::Open,
        SpreadState::Draining => proto::SpreadState::Draining,
        SpreadState::Closed => proto::SpreadState::Closed,
    };
    proto::SpreadDescription {
        spread: name,
        spec: Some(spec(&parameters)),
        state: state.into(),
        epoch: epoch.cast_signed(),
        group_count: wide(groups),
        partial_group_count: wide(partial_groups),
        ready_job_count: wide(ready_jobs),
        quarantined_group_count: wide(quarantined_groups),
        leased_job_count: wide(leased_jobs),
        returned_job_count: wide(returned_jobs),
        settled_job_count: wide(settled_jobs),
        dead_letter_count: wide(dead_letters),
        byte_count: wide(bytes),
        consumer_count: wide(consumers),
        certificate: Some(certificate(&reached)),
    }
}

pub(super) fn receipt(receipt: Receipt) -> proto::Receipt {
    let Receipt { epoch, lease_millis } = receipt;
    proto::Receipt { epoch: epoch.cast_signed(), lease: Some(millis(lease_millis.unsigned_abs())) }
}

pub(super) fn group(status: GroupStatus) -> proto::GroupStatus {
    let GroupStatus { id, state, job_count, settled_count, dead_letter_count, settled_ranges } =
        status;
    let state = match state {
        GroupState::Unknown => proto::GroupState::Unknown,
        GroupState::Partial => proto::GroupState::Partial,
        GroupState::Received => proto::GroupState::Received,
        GroupState::Settled => proto::GroupState::Settled,
    };
    let numbers = settled_ranges.into_iter().flat_map(|(start, end)| [start, end]);
    proto::GroupStatus {
        group_id: id.to_string(),
        state: state.into(),
        job_count: wide(job_count),
        settled_count: wide(settled_count),
        dead_letter_count: wide(dead_letter_count),
        settled_ranges: numbers.map(i64::from).collect(),
    }
}

pub(super) fn leased(leased: Leased, zero: Instant) -> proto::LeasedJobs {
    let Leased { epoch, lease_millis, end_time, jobs, ended: _, stopped: _, lent_at } = leased;
    proto::LeasedJobs {
        epoch: epoch.cast_signed(),
        lease: Some(millis(lease_millis)),
        lease_end_time: end_time.map(timestamp),
        jobs: jobs.into_iter().map(job).collect(),
        lent_at: Some(since(zero, lent_at)),
    }
}

fn job(leased: LeasedJob) -> proto::LeasedJob {
    let LeasedJob { id, group_id, index, job, redelivered } = leased;
    proto::LeasedJob {
        sequence: wide(id.sequence),
        attempt: count(id.attempt),
        group_id: group_id.to_string(),
        index: index.into(),
        job,
        redelivered,
    }
}

pub(super) fn settlements(settlements: Vec<Settlement>) -> proto::SettleJobsResponse {
    let settlements = settlements.into_iter().map(|settlement| {
        i32::from(match settlement {
            Settlement::Settled => proto::Settlement::Settled,
            Settlement::Returned => proto::Settlement::Returned,
            Settlement::Extended { .. } => proto::Settlement::Extended,
            Settlement::DeadLettered => proto::Settlement::DeadLettered,
            Settlement::Stale => proto::Settlement::Stale,
        })
    });
    proto::SettleJobsResponse { settlements: settlements.collect() }
}

pub(super) fn dead_letter(letter: DeadLetter) -> proto::DeadLetter {
    let DeadLetter { number, group_id, index, job, attempts, cause } = letter;
    let cause = match cause {
        Cause::Attempts => proto::DeadLetterCause::Attempts,
        Cause::Terminated => proto::DeadLetterCause::Terminated,
    };
    proto::DeadLetter {
        number: wide(number),
        group_id: group_id.to_string(),
        index: index.into(),
        job,
        attempt_count: count(attempts),
        cause: cause.into(),
    }
}
