//! What the transport must know of a method before it reads the message.

use offbeat_core::limits::Limit;

use crate::limits::{BULK_MESSAGE_BYTES, MESSAGE_BYTES};

/// How the transport treats a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// The largest request message.
    pub message_bytes: Limit,
    /// Whether it may stay open as long as its caller likes.
    pub streaming: bool,
    /// Whether it only watches, and ends as soon as the server begins to stop.
    pub observing: bool,
    /// Whether it is answered even when the server is full.
    pub exempt: bool,
}

impl Method {
    /// The treatment of the method at `path`, also of one that does not exist.
    #[must_use]
    pub fn at(path: &str) -> Self {
        let unary = Self {
            message_bytes: MESSAGE_BYTES,
            streaming: false,
            observing: false,
            exempt: false,
        };
        match path {
            "/offbeat.v1.SlotService/AssignSlots"
            | "/offbeat.v1.StageService/AllocateWorkers"
            | "/offbeat.v1.StageService/NextStage"
            | "/offbeat.v1.LaneService/DispatchJobs"
            | "/offbeat.v1.LaneService/PlanLanes"
            | "/offbeat.v1.NamedSpreadService/SubmitGroups"
            | "/offbeat.v1.NamedSpreadService/WaitForGroups" => {
                Self { message_bytes: BULK_MESSAGE_BYTES, ..unary }
            }
            "/offbeat.v1.SlotService/StreamSlotAssignments"
            | "/offbeat.v1.SpreadService/Spread" => {
                Self { message_bytes: BULK_MESSAGE_BYTES, streaming: true, ..unary }
            }
            "/offbeat.v1.SimulationService/Simulate" => {
                Self { message_bytes: BULK_MESSAGE_BYTES, streaming: true, ..unary }
            }
            // Its jobs are lost with the process: it has no use for the grace period.
            "/offbeat.v1.NamedSpreadService/StreamJobs" => {
                Self { streaming: true, observing: true, ..unary }
            }
            "/grpc.health.v1.Health/Check" => Self { exempt: true, ..unary },
            "/grpc.health.v1.Health/Watch"
            | "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
            | "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo" => {
                Self { streaming: true, observing: true, ..unary }
            }
            _ => unary,
        }
    }
}
