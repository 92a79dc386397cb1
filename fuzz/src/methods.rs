//! The methods that are fuzzed, and their messages.

use std::sync::OnceLock;

use offbeat::proto;
use offbeat::proto::json::{read_json, write_json};
use offbeat_core::Rejection;
use prost::Message as _;
use prost_reflect::{DescriptorPool, MessageDescriptor, MethodDescriptor};

/// A message type, with the conversions that the server uses.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub name: &'static str,
    /// Converts JSON text to protobuf bytes.
    pub read: fn(&[u8]) -> Result<Vec<u8>, Rejection>,
    /// Converts protobuf bytes to JSON text.
    pub write: fn(&[u8]) -> Option<String>,
}

macro_rules! messages {
    ($($package:literal $module:path { $($name:ident)* })*) => {
        /// The request and response messages that are fuzzed.
        pub const MESSAGES: &[Message] = &[$($({
            use $module as package;
            const NAME: &str = concat!($package, ".", stringify!($name));
            Message {
                name: NAME,
                read: |json| {
                    read_json::<package::$name>(NAME, json).map(|message| message.encode_to_vec())
                },
                write: |bytes| write_json(NAME, &package::$name::decode(bytes).ok()?),
            }
        }),*),*];
    };
}

messages! {
    "offbeat.v1" proto {
    AssignSlotRequest AssignSlotsRequest DescribeScheduleRequest ListSlotsRequest
    GetWindowPredicateRequest GetReciprocalSlotsRequest StreamSlotAssignmentsRequest SpreadRequest
    OpenSpreadRequest SubmitGroupsRequest WaitForGroupsRequest PullJobsRequest SettleJobsRequest
    StreamJobsRequest DescribeSpreadRequest ListSpreadsRequest ListDeadLettersRequest
    DeleteDeadLettersRequest CloseSpreadRequest AllocateWorkersRequest ChooseStageRequest
    RouteJobRequest DispatchJobsRequest SplitWorkersRequest UpdateSpreadRequest
    RedriveDeadLettersRequest ListDueRunsRequest AuditIdsRequest CompareSchedulesRequest
    PlanMigrationRequest ListSchedulesRequest AssignSlotResponse AssignSlotsResponse DescribeScheduleResponse
    SpreadResponse AllocateWorkersResponse
    }
    "offbeat.v1beta1" proto::v1beta1 {
    PlanLanesRequest SimulateRequest PlanLanesResponse SimulateResponse
    }
}

impl Message {
    pub fn named(name: &str) -> &'static Self {
        MESSAGES.iter().find(|message| message.name == name).unwrap()
    }
}

/// Stateless methods of slots, spreads, stages and lanes. Plans are left out: each takes seconds.
/// Inputs choose among them by number: add new ones at the end.
pub const STATELESS: [&str; 18] = [
    "SlotService/AssignSlot",
    "SlotService/AssignSlots",
    "SlotService/DescribeSchedule",
    "SlotService/ListSlots",
    "SlotService/GetWindowPredicate",
    "SlotService/GetReciprocalSlots",
    "SlotService/StreamSlotAssignments",
    "SpreadService/Spread",
    "StageService/AllocateWorkers",
    "StageService/ChooseStage",
    "LaneService/RouteJob",
    "LaneService/DispatchJobs",
    "LaneService/SplitWorkers",
    "SlotService/ListDueRuns",
    "SlotService/AuditIds",
    "SlotService/CompareSchedules",
    "SlotService/PlanMigration",
    "SlotService/ListSchedules",
];

/// Methods of named spreads. Inputs choose among them by number: add new ones at the end.
pub const NAMED: [&str; 13] = [
    "NamedSpreadService/OpenSpread",
    "NamedSpreadService/UpdateSpread",
    "NamedSpreadService/RedriveDeadLetters",
    "NamedSpreadService/SubmitGroups",
    "NamedSpreadService/PullJobs",
    "NamedSpreadService/SettleJobs",
    "NamedSpreadService/WaitForGroups",
    "NamedSpreadService/StreamJobs",
    "NamedSpreadService/DescribeSpread",
    "NamedSpreadService/ListSpreads",
    "NamedSpreadService/ListDeadLetters",
    "NamedSpreadService/DeleteDeadLetters",
    "NamedSpreadService/CloseSpread",
];

pub fn path(method: &str) -> String {
    format!("/offbeat.v1.{method}")
}

pub fn descriptor(method: &str) -> MethodDescriptor {
    static POOL: OnceLock<DescriptorPool> = OnceLock::new();
    let pool =
        POOL.get_or_init(|| DescriptorPool::decode(offbeat::proto::FILE_DESCRIPTOR_SET).unwrap());
    let (service, name) = method.split_once('/').unwrap();
    let service = pool.get_service_by_name(&format!("offbeat.v1.{service}")).unwrap();
    service.methods().find(|method| method.name() == name).unwrap()
}

pub fn output(method: &str) -> MessageDescriptor {
    descriptor(method).output()
}

pub fn streams(method: &str) -> bool {
    descriptor(method).is_client_streaming()
}
