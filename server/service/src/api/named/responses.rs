//! Converts results of a store to responses.

use offbeat_core::Span;
use offbeat_core::spread::Policy;
use offbeat_core::spread::lease::{Cause, SettleOutcome};
use offbeat_core::spread::named::{
    Counts, DeadLetter, EmptyReason, GroupState, GroupStatus, LeasedJob, NamedSpreadSpec, NextJob,
    Receipt, SpreadLimits, SpreadState,
};

use tokio::time::Instant;

use crate::api::convert::{count, duration, timestamp, wide};
use crate::api::spread::certificate;
use crate::spreads::{Description, LeasedJobs, SettlementResults};
use offbeat_proto as proto;

/// A number that was checked against a limit below 2^31.
fn narrow(number: i64) -> Option<i32> {
    i32::try_from(number).ok()
}

fn millis(millis: u64) -> prost_types::Duration {
    duration(Span::from_millis(millis))
}

/// The time from `zero` to `moment`, rounded down to whole milliseconds.
pub(super) fn since(zero: Instant, moment: Instant) -> prost_types::Duration {
    let passed = moment.saturating_duration_since(zero).as_millis();
    millis(u64::try_from(passed).unwrap_or(u64::MAX))
}

fn spec(spec: &NamedSpreadSpec) -> proto::NamedSpreadSpec {
    let NamedSpreadSpec { order, lease_millis, limits } = *spec;
    let SpreadLimits {
        max_attempt_count,
        max_consumer_lease_count,
        max_group_count,
        max_job_count,
        max_byte_count,
    } = limits;
    let policy = match order.policy {
        Policy::RoundRobin => proto::SpreadPolicy::RoundRobin,
        Policy::Cooldown => proto::SpreadPolicy::Cooldown,
    };
    proto::NamedSpreadSpec {
        order: Some(proto::SpreadOrder {
            policy: policy.into(),
            feeder_count: narrow(order.feeder_count),
            max_open_group_count: order.max_open_group_count.and_then(narrow),
        }),
        lease_duration: Some(millis(lease_millis.unsigned_abs())),
        limits: Some(proto::SpreadLimits {
            max_attempt_count: narrow(max_attempt_count),
            max_consumer_lease_count: narrow(max_consumer_lease_count),
            max_group_count: narrow(max_group_count),
            max_job_count: narrow(max_job_count),
            max_byte_count: Some(max_byte_count),
        }),
    }
}

pub(super) fn description(description: Description) -> proto::SpreadDescription {
    let Description { name, epoch, spec: parameters, state, counts, certificate: reached } =
        description;
    let state = match state {
        SpreadState::Open => proto::SpreadState::Open,
        SpreadState::Draining => proto::SpreadState::Draining,
        SpreadState::Closed => proto::SpreadState::Closed,
    };
    proto::SpreadDescription {
        spread_name: name,
        spec: Some(spec(&parameters)),
        state: state.into(),
        epoch: epoch.cast_signed(),
        counts: Some(counts_of(counts)),
        certificate: Some(certificate(&reached)),
    }
}

fn counts_of(counts: Counts) -> proto::SpreadCounts {
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
    proto::SpreadCounts {
        group_count: wide(groups),
        partial_group_count: wide(partial_groups),
        quarantined_group_count: wide(quarantined_groups),
        ready_job_count: wide(ready_jobs),
        leased_job_count: wide(leased_jobs),
        returned_job_count: wide(returned_jobs),
        settled_job_count: wide(settled_jobs),
        dead_letter_count: wide(dead_letters),
        byte_count: wide(bytes),
        consumer_count: wide(consumers),
    }
}

pub(super) fn next_job(job: NextJob) -> proto::NextJob {
    let NextJob { group_id, job_index } = job;
    proto::NextJob { group_id: group_id.to_string(), job_index: job_index.into() }
}

pub(super) fn receipt(receipt: Receipt) -> proto::Receipt {
    let Receipt { epoch, lease_millis } = receipt;
    let lease_duration = Some(millis(lease_millis.unsigned_abs()));
    proto::Receipt { epoch: epoch.cast_signed(), lease_duration }
}

pub(super) fn group(status: GroupStatus) -> proto::GroupStatus {
    let GroupStatus { id, state, job_count, settled_count, dead_letter_count, settled_ranges } =
        status;
    let state = match state {
        GroupState::Unknown => proto::GroupState::Unknown,
        GroupState::Partial => proto::GroupState::Partial,
        GroupState::Received => proto::GroupState::Received,
        GroupState::Stored => proto::GroupState::Stored,
        GroupState::Settled => proto::GroupState::Settled,
    };
    let ranges = settled_ranges
        .into_iter()
        .map(|(start, end)| proto::IndexRange { start_index: start.into(), end_index: end.into() });
    proto::GroupStatus {
        group_id: id.to_string(),
        state: state.into(),
        job_count: wide(job_count),
        settled_job_count: wide(settled_count),
        dead_letter_count: wide(dead_letter_count),
        settled_ranges: ranges.collect(),
    }
}

pub(super) fn leased(leased: LeasedJobs, zero: Instant) -> proto::LeasedJobs {
    let LeasedJobs { epoch, lease_millis, end_time, jobs, empty_reason: _, stopped: _, start } =
        leased;
    proto::LeasedJobs {
        epoch: epoch.cast_signed(),
        lease_duration: Some(millis(lease_millis)),
        lease_end_time: end_time.map(timestamp),
        jobs: jobs.into_iter().map(job).collect(),
        lease_start_uptime: Some(since(zero, start)),
    }
}

fn job(leased: LeasedJob) -> proto::LeasedJob {
    let LeasedJob { id, group_id, job_index, payload, redelivered } = leased;
    proto::LeasedJob {
        sequence: wide(id.sequence),
        attempt: count(id.attempt),
        group_id: group_id.to_string(),
        job_index: job_index.into(),
        payload,
        redelivered,
    }
}

pub(super) fn empty_reason(reason: Option<EmptyReason>) -> proto::EmptyReason {
    match reason {
        None => proto::EmptyReason::Unspecified,
        Some(EmptyReason::NoReadyJob) => proto::EmptyReason::NoReadyJob,
        Some(EmptyReason::ConsumerAtLimit) => proto::EmptyReason::ConsumerAtLimit,
        Some(EmptyReason::LeasesAtLimit) => proto::EmptyReason::LeasesAtLimit,
        Some(EmptyReason::Ended) => proto::EmptyReason::SpreadClosed,
    }
}

pub(super) fn results(settled: SettlementResults) -> Vec<proto::SettleResult> {
    let SettlementResults { outcomes, extended_end_time } = settled;
    let results = outcomes.into_iter().map(|outcome| {
        let (outcome, end_time) = match outcome {
            SettleOutcome::Acked => (proto::SettleOutcome::Acked, None),
            SettleOutcome::Returned => (proto::SettleOutcome::Returned, None),
            SettleOutcome::Extended { .. } => (proto::SettleOutcome::Extended, extended_end_time),
            SettleOutcome::DeadLettered => (proto::SettleOutcome::DeadLettered, None),
            SettleOutcome::Stale => (proto::SettleOutcome::Stale, None),
        };
        proto::SettleResult { outcome: outcome.into(), lease_end_time: end_time.map(timestamp) }
    });
    results.collect()
}

pub(super) fn dead_letter(letter: DeadLetter) -> proto::DeadLetter {
    let DeadLetter { number, group_id, job_index, payload, attempts, cause } = letter;
    let cause = match cause {
        Cause::AttemptsExhausted => proto::DeadLetterCause::AttemptsExhausted,
        Cause::Consumer => proto::DeadLetterCause::Consumer,
    };
    proto::DeadLetter {
        number: wide(number),
        group_id: group_id.to_string(),
        job_index: job_index.into(),
        payload,
        attempt_count: count(attempts),
        cause: cause.into(),
    }
}
