//! Counts the elements of large messages before they are built: two bytes on the wire can
//! become a hundred in memory.

use std::any::TypeId;

use offbeat_core::limits::{
    ACTIVE_WINDOWS, BATCH_IDS, CALL_GROUPS, CONFLICTS, DISPATCHED_JOBS, EXCLUSIONS, GROUP_WINDOW,
    HISTOGRAM_BUCKETS, KIND_COUNT, Limit, RUN_TIME_SAMPLES, STAGE_COUNT,
};
use offbeat_core::{Reason, Rejection};

use crate::limits::{LATENESSES, MASK_PATHS, SUBMITTED_JOBS};
use crate::proto;

/// Shorter messages cannot swell to much.
const SMALL: usize = 16 << 10;

/// A repeated field, by the numbers of the fields that lead to it.
#[derive(Debug, Clone, Copy)]
struct Repeated {
    name: &'static str,
    path: &'static [u32],
    limit: Limit,
    /// Where it is refused here: at twice the limit where the method says it better.
    most: usize,
    /// Whether its elements are integers that may be packed.
    packed: bool,
}

const fn repeated(name: &'static str, path: &'static [u32], limit: Limit) -> Repeated {
    Repeated { name, path, limit, most: 2 * limit.max_size(), packed: false }
}

const fn exactly(name: &'static str, path: &'static [u32], limit: Limit) -> Repeated {
    Repeated { most: limit.max_size(), ..repeated(name, path, limit) }
}

const fn packed(name: &'static str, path: &'static [u32], limit: Limit) -> Repeated {
    Repeated { packed: true, ..repeated(name, path, limit) }
}

static ASSIGNED_IDS: [Repeated; 6] = [
    repeated("schedule.spec.active_windows", &[1, 1, 10], ACTIVE_WINDOWS),
    repeated("schedule.spec.exclusions", &[1, 1, 11], EXCLUSIONS),
    repeated("ids.uuids", &[2, 2], BATCH_IDS),
    repeated("ids.decimals", &[2, 4], BATCH_IDS),
    repeated("ids.texts", &[2, 5], BATCH_IDS),
    exactly("read_mask.paths", &[6, 1], MASK_PATHS),
];
static IDS: [Repeated; 5] = [
    repeated("schedule.spec.active_windows", &[1, 1, 10], ACTIVE_WINDOWS),
    repeated("schedule.spec.exclusions", &[1, 1, 11], EXCLUSIONS),
    repeated("ids.uuids", &[2, 2], BATCH_IDS),
    repeated("ids.decimals", &[2, 4], BATCH_IDS),
    repeated("ids.texts", &[2, 5], BATCH_IDS),
];
static MIGRATED_IDS: [Repeated; 3] = [
    repeated("ids.uuids", &[5, 2], BATCH_IDS),
    repeated("ids.decimals", &[5, 4], BATCH_IDS),
    repeated("ids.texts", &[5, 5], BATCH_IDS),
];
static STREAMED_IDS: [Repeated; 6] = [
    repeated("schedule.spec.active_windows", &[1, 1, 10], ACTIVE_WINDOWS),
    repeated("schedule.spec.exclusions", &[1, 1, 11], EXCLUSIONS),
    repeated("ids.uuids", &[4, 2], BATCH_IDS),
    repeated("ids.decimals", &[4, 4], BATCH_IDS),
    repeated("ids.texts", &[4, 5], BATCH_IDS),
    exactly("read_mask.paths", &[6, 1], MASK_PATHS),
];
static GROUPS: [Repeated; 2] =
    [repeated("groups", &[2], CALL_GROUPS), exactly("groups.jobs", &[2, 3], SUBMITTED_JOBS)];
static GROUP_IDS: [Repeated; 1] = [repeated("group_ids", &[2], CALL_GROUPS)];
static STAGES: [Repeated; 2] = [
    repeated("stages", &[1], STAGE_COUNT),
    repeated("stages.service_times", &[1, 4], RUN_TIME_SAMPLES),
];
static JOBS: [Repeated; 2] = [
    repeated("jobs", &[3], DISPATCHED_JOBS),
    repeated("jobs.timed_out_lanes", &[3, 2], RUN_TIME_SAMPLES),
];
static RUN_TIMES: [Repeated; 2] = [
    packed("samples.micros", &[1, 1], RUN_TIME_SAMPLES),
    repeated("histogram.buckets", &[2, 1], HISTOGRAM_BUCKETS),
];
static SPREAD: [Repeated; 2] = [
    repeated("input.groups", &[2, 1], GROUP_WINDOW),
    packed("input.whole_group_sizes", &[2, 3], RUN_TIME_SAMPLES),
];
static KINDS: [Repeated; 3] = [
    repeated("run_times", &[5], KIND_COUNT),
    repeated("conflicts", &[6], CONFLICTS),
    repeated("kind_schedules", &[7], KIND_COUNT),
];
static LATE_RUNS: [Repeated; 1] = [packed("lateness_millis", &[3], LATENESSES)];

fn repeated_of<M: 'static>() -> &'static [Repeated] {
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
    repeated_of::<M>().iter().try_for_each(|field| {
        let (most, mut left) = (field.most, field.most);
        count(message, field.path, field.packed, &mut left).ok_or_else(|| {
            let value = format_args!("more than {most} elements");
            let allowed = format!("must be {}", field.limit);
            Rejection::new(Reason::OutOfRange, field.name, value, allowed)
        })
    })
}

/// Takes the elements at `path` from `left`; `None` if there are more.
fn count(mut message: &[u8], path: &[u32], packed: bool, left: &mut usize) -> Option<()> {
    let (wanted, rest) = path.split_first()?;
    while let Some((number, payload)) = next_field(&mut message) {
        if number != *wanted {
            continue;
        }
        match payload {
            Some(inner) if !rest.is_empty() => count(inner, rest, packed, left)?,
            Some(integers) if packed => {
                // Each ends with the one byte that has no high bit.
                let elements = integers.iter().filter(|byte| **byte < 0x80).count();
                *left = left.checked_sub(elements)?;
            }
            _ => *left = left.checked_sub(1)?,
        }
    }
    Some(())
}

/// The number of the next field, and its bytes if it has a length; `None` at the end, or where
/// the message is malformed.
fn next_field<'a>(message: &mut &'a [u8]) -> Option<(u32, Option<&'a [u8]>)> {
    let key = varint(message)?;
    let number = u32::try_from(key >> 3).ok()?;
    let length = match key & 7 {
        0 => {
            varint(message)?;
            return Some((number, None));
        }
        1 => 8,
        2 => usize::try_from(varint(message)?).ok()?,
        5 => 4,
        3 | 4 => 0, // groups: their fields follow, and count as if they were here
        _ => return None,
    };
    let (payload, rest) = message.split_at_checked(length)?;
    *message = rest;
    Some((number, (key & 7 == 2).then_some(payload)))
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<M: prost::Message + 'static>(message: &M) -> Option<String> {
        check::<M>(&message.encode_to_vec()).err().map(|rejection| rejection.field)
    }

    #[test]
    fn twice_what_a_method_takes_is_let_through_and_one_more_is_refused() {
        let texts = |count| proto::AssignSlotsRequest {
            ids: Some(proto::IdColumn { texts: vec!["a".into(); count], ..Default::default() }),
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
