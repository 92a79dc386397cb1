//! How many elements large messages may have: they are counted before they are built.

use std::any::TypeId;

use offbeat_core::limits::{
    ACTIVE_WINDOWS, BATCH_IDS, CALL_GROUPS, CONFLICTS, DISPATCHED_JOBS, EXCLUSIONS, GROUP_WINDOW,
    HISTOGRAM_BUCKETS, KIND_COUNT, Limit, RUN_TIME_SAMPLES, STAGE_COUNT,
};
use offbeat_core::{Reason, Rejection};
use offbeat_wire::elements::{Repeated, first_over};

use crate::limits::{LATENESSES, MASK_PATHS, SUBMITTED_JOBS};
use crate::proto;

/// Shorter messages cannot swell to much.
const SMALL: usize = 16 << 10;

/// A repeated field, and how the refusal names it.
#[derive(Debug, Clone, Copy)]
struct Field {
    name: &'static str,
    limit: Limit,
    elements: Repeated,
}

/// Refused here at twice the limit: the method says it better.
const fn repeated(name: &'static str, path: &'static [u32], limit: Limit) -> Field {
    Field { name, limit, elements: Repeated::new(path, 2 * limit.max_size()) }
}

const fn exactly(name: &'static str, path: &'static [u32], limit: Limit) -> Field {
    Field { name, limit, elements: Repeated::new(path, limit.max_size()) }
}

const fn packed(name: &'static str, path: &'static [u32], limit: Limit) -> Field {
    let field = repeated(name, path, limit);
    Field { elements: field.elements.packed(), ..field }
}

static ASSIGNED_IDS: [Field; 6] = [
    repeated("schedule.spec.active_windows", &[1, 1, 10], ACTIVE_WINDOWS),
    repeated("schedule.spec.exclusions", &[1, 1, 11], EXCLUSIONS),
    repeated("ids.uuids", &[2, 2], BATCH_IDS),
    repeated("ids.decimals", &[2, 4], BATCH_IDS),
    repeated("ids.texts", &[2, 5], BATCH_IDS),
    exactly("read_mask.paths", &[6, 1], MASK_PATHS),
];
static IDS: [Field; 5] = [
    repeated("schedule.spec.active_windows", &[1, 1, 10], ACTIVE_WINDOWS),
    repeated("schedule.spec.exclusions", &[1, 1, 11], EXCLUSIONS),
    repeated("ids.uuids", &[2, 2], BATCH_IDS),
    repeated("ids.decimals", &[2, 4], BATCH_IDS),
    repeated("ids.texts", &[2, 5], BATCH_IDS),
];
static MIGRATED_IDS: [Field; 3] = [
    repeated("ids.uuids", &[5, 2], BATCH_IDS),
    repeated("ids.decimals", &[5, 4], BATCH_IDS),
    repeated("ids.texts", &[5, 5], BATCH_IDS),
];
static STREAMED_IDS: [Field; 6] = [
    repeated("schedule.spec.active_windows", &[1, 1, 10], ACTIVE_WINDOWS),
    repeated("schedule.spec.exclusions", &[1, 1, 11], EXCLUSIONS),
    repeated("ids.uuids", &[4, 2], BATCH_IDS),
    repeated("ids.decimals", &[4, 4], BATCH_IDS),
    repeated("ids.texts", &[4, 5], BATCH_IDS),
    exactly("read_mask.paths", &[6, 1], MASK_PATHS),
];
static GROUPS: [Field; 2] =
    [repeated("groups", &[2], CALL_GROUPS), exactly("groups.jobs", &[2, 3], SUBMITTED_JOBS)];
static GROUP_IDS: [Field; 1] = [repeated("group_ids", &[2], CALL_GROUPS)];
static STAGES: [Field; 2] = [
    repeated("stages", &[1], STAGE_COUNT),
    repeated("stages.service_times", &[1, 4], RUN_TIME_SAMPLES),
];
static JOBS: [Field; 2] = [
    repeated("jobs", &[3], DISPATCHED_JOBS),
    repeated("jobs.timed_out_lanes", &[3, 2], RUN_TIME_SAMPLES),
];
static RUN_TIMES: [Field; 2] = [
    packed("samples.micros", &[1, 1], RUN_TIME_SAMPLES),
    repeated("histogram.buckets", &[2, 1], HISTOGRAM_BUCKETS),
];
static SPREAD: [Field; 2] = [
    repeated("input.groups", &[2, 1], GROUP_WINDOW),
    packed("input.whole_group_sizes", &[2, 3], RUN_TIME_SAMPLES),
];
static KINDS: [Field; 3] = [
    repeated("run_times", &[5], KIND_COUNT),
    repeated("conflicts", &[6], CONFLICTS),
    repeated("kind_schedules", &[7], KIND_COUNT),
];
static LATE_RUNS: [Field; 1] = [packed("lateness_millis", &[3], LATENESSES)];

fn repeated_of<M: 'static>() -> &'static [Field] {
    let message = TypeId::of::<M>();
    let is = |other: TypeId| message == other;
    if is(TypeId::of::<proto::AssignSlotsRequest>()) {
        &ASSIGNED_IDS
    } else if is(TypeId::of::<proto::ListDueRunsRequest>())
        || is(TypeId::of::<proto::AuditIdsRequest>())
    {
        &IDS
    } else if is(TypeId::of::<proto::PlanMigrationRequest>()) {
        &MIGRATED_IDS
    } else if is(TypeId::of::<proto::StreamSlotAssignmentsRequest>()) {
        &STREAMED_IDS
    } else if is(TypeId::of::<proto::SubmitGroupsRequest>()) {
        &GROUPS
    } else if is(TypeId::of::<proto::WaitForGroupsRequest>()) {
        &GROUP_IDS
    } else if is(TypeId::of::<proto::AllocateWorkersRequest>())
        || is(TypeId::of::<proto::NextStageRequest>())
    {
        &STAGES
    } else if is(TypeId::of::<proto::DispatchJobsRequest>()) {
        &JOBS
    } else if is(TypeId::of::<proto::PlanLanesRequest>()) {
        &RUN_TIMES
    } else if is(TypeId::of::<proto::SpreadRequest>()) {
        &SPREAD
    } else if is(TypeId::of::<proto::GetReciprocalSlotsRequest>()) {
        &KINDS
    } else if is(TypeId::of::<proto::RecordLatenessRequest>()) {
        &LATE_RUNS
    } else {
        &[]
    }
}

/// Refuses a message with many more elements than its method takes. A few too many are left to
/// the method, which knows better what to say, and what is malformed to the decoder.
///
/// # Errors
/// Naming the field.
pub(super) fn check<M: 'static>(message: &[u8]) -> Result<(), Rejection> {
    if message.len() <= SMALL {
        return Ok(());
    }
    let fields = repeated_of::<M>();
    let elements = fields.iter().map(|field| &field.elements);
    let Some(field) = first_over(message, elements).and_then(|at| fields.get(at)) else {
        return Ok(());
    };
    let value = format_args!("more than {} elements", field.elements.most());
    let allowed = format!("must be {}", field.limit);
    Err(Rejection::new(Reason::OutOfRange, field.name, value, allowed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{IdColumn, IdFields};

    fn refused<M: prost::Message + 'static>(message: &M) -> Option<String> {
        check::<M>(&message.encode_to_vec()).err().map(|rejection| rejection.field)
    }

    #[test]
    fn twice_what_a_method_takes_is_let_through_and_one_more_is_refused() {
        let texts = |count| proto::AssignSlotsRequest {
            ids: Some(IdColumn(IdFields { texts: vec!["a".into(); count], ..Default::default() })),
            ..Default::default()
        };
        assert_eq!(refused(&texts(131_072)), None);
        assert_eq!(refused(&texts(131_073)).as_deref(), Some("ids.texts"));
        let stages = |count| proto::AllocateWorkersRequest {
            stages: vec![proto::Stage::default(); count],
            ..Default::default()
        };
        assert_eq!(refused(&stages(200_000)), None);
        assert_eq!(refused(&stages(200_001)).as_deref(), Some("stages"));
        let jobs = SUBMITTED_JOBS.max_size();
        let part = |jobs| proto::GroupPart { jobs: vec!["j".into(); jobs], ..Default::default() };
        let groups = |parts| proto::SubmitGroupsRequest { groups: parts, ..Default::default() };
        assert_eq!(refused(&groups(vec![part(4_096), part(jobs - 4_096)])), None);
        let over = groups(vec![part(4_096), part(jobs - 4_095)]);
        assert_eq!(refused(&over).as_deref(), Some("groups.jobs"), "of all groups together");
        assert_eq!(refused(&groups(vec![part(0); 8_193])).as_deref(), Some("groups"));
    }

    #[test]
    fn packed_integers_are_counted_one_by_one_and_those_that_are_not_too() {
        let samples = |count| {
            let samples = proto::RunTimeSamples { micros: vec![1_000; count] };
            let run_times = Some(proto::plan_lanes_request::RunTimes::Samples(samples));
            proto::PlanLanesRequest { run_times, ..Default::default() }
        };
        assert_eq!(refused(&samples(800_000)), None);
        assert_eq!(refused(&samples(800_001)).as_deref(), Some("samples.micros"));
        // samples { micros: 1 } again and again: the last message is merged into those before.
        let merged = [0x0a, 2, 8, 1].repeat(800_001);
        assert!(check::<proto::PlanLanesRequest>(&merged).is_err());
    }

    #[test]
    fn malformed_messages_are_left_to_the_decoder() {
        for bad in [[0xff; 20_000], [0x0a; 20_000], [0x0b; 20_000], [0x0f; 20_000]] {
            let _ = check::<proto::SubmitGroupsRequest>(&bad);
        }
    }
}
