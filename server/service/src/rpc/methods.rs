//! The methods, and what the transport must know of one before it reads the message.

/// How the transport treats a method.
#[derive(Debug, PartialEq, Eq)]
pub struct Method {
    /// `/package.Service/Method`.
    pub path: &'static str,
    /// Whether its messages may be large.
    pub bulk: bool,
    /// Whether it takes long though its message is small.
    pub long: bool,
    /// Whether it may stay open as long as its caller likes.
    pub streaming: bool,
    /// Whether its caller may send any number of messages, and not one alone.
    pub many: bool,
    /// Whether it only watches, and ends as soon as the server begins to stop.
    pub observing: bool,
    /// Whether it is answered even when the server is full, and to anybody.
    pub exempt: bool,
}

impl Method {
    const fn unary(path: &'static str) -> Self {
        let (bulk, long) = (false, false);
        let (streaming, many, observing, exempt) = (false, false, false, false);
        Self { path, bulk, long, streaming, many, observing, exempt }
    }

    const fn bulk(path: &'static str) -> Self {
        Self { bulk: true, ..Self::unary(path) }
    }

    const fn long(self) -> Self {
        Self { long: true, ..self }
    }

    const fn streaming(self) -> Self {
        Self { streaming: true, ..self }
    }

    const fn many(self) -> Self {
        Self { many: true, ..self.streaming() }
    }

    const fn observing(self) -> Self {
        Self { observing: true, ..self }
    }

    const fn exempt(self) -> Self {
        Self { exempt: true, ..self }
    }

    /// The method at `path`; [`Self::UNKNOWN`] if there is none.
    #[must_use]
    pub fn at(path: &str) -> &'static Self {
        let known = METHODS.iter().chain(&REFLECTION).find(|method| method.path == path);
        known.unwrap_or(&Self::UNKNOWN)
    }

    /// Stands for all paths without a method.
    pub const UNKNOWN: Self = Self::unary("unknown");

    /// The name that logs and metrics use: `Service/Method`, of a few known ones.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.path.strip_prefix("/offbeat.v1.").or(self.path.strip_prefix('/')).unwrap_or(self.path)
    }
}

/// The method that is called most: the first of them.
pub static ASSIGN_SLOT: &Method = {
    let [first, ..] = &METHODS;
    first
};

/// Every method of the port; those that are called most come first.
pub static METHODS: [Method; 32] = [
    Method::unary("/offbeat.v1.SlotService/AssignSlot"),
    Method::bulk("/offbeat.v1.SlotService/AssignSlots"),
    Method::bulk("/offbeat.v1.SlotService/ListDueRuns"),
    Method::unary("/offbeat.v1.NamedSpreadService/PullJobs"),
    Method::unary("/offbeat.v1.NamedSpreadService/SettleJobs"),
    Method::bulk("/offbeat.v1.NamedSpreadService/SubmitGroups"),
    Method::unary("/offbeat.v1.LaneService/RouteJob"),
    Method::bulk("/offbeat.v1.LaneService/DispatchJobs"),
    Method::unary("/offbeat.v1.LaneService/SplitWorkers"),
    Method::bulk("/offbeat.v1.LaneService/PlanLanes").long(),
    Method::unary("/offbeat.v1.SlotService/DescribeSchedule").long(),
    Method::unary("/offbeat.v1.SlotService/ListSlots").long(),
    Method::unary("/offbeat.v1.SlotService/GetWindowPredicate").long(),
    Method::unary("/offbeat.v1.SlotService/GetReciprocalSlots"),
    Method::bulk("/offbeat.v1.SlotService/PlanMigration").long(),
    Method::bulk("/offbeat.v1.SlotService/AuditIds").long(),
    Method::bulk("/offbeat.v1.SlotService/StreamSlotAssignments").many(),
    Method::bulk("/offbeat.v1.LatenessService/RecordLateness"),
    Method::bulk("/offbeat.v1.SpreadService/Spread").many(),
    Method::unary("/offbeat.v1.NamedSpreadService/OpenSpread"),
    Method::bulk("/offbeat.v1.NamedSpreadService/WaitForGroups"),
    // Its jobs are lost with the process: it has no use for the grace period.
    Method::unary("/offbeat.v1.NamedSpreadService/StreamJobs").many().observing(),
    Method::unary("/offbeat.v1.NamedSpreadService/DescribeSpread"),
    Method::unary("/offbeat.v1.NamedSpreadService/ListSpreads"),
    Method::unary("/offbeat.v1.NamedSpreadService/ListDeadLetters"),
    Method::unary("/offbeat.v1.NamedSpreadService/DeleteDeadLetters"),
    Method::unary("/offbeat.v1.NamedSpreadService/CloseSpread"),
    Method::bulk("/offbeat.v1.StageService/AllocateWorkers"),
    Method::bulk("/offbeat.v1.StageService/NextStage"),
    Method::bulk("/offbeat.v1.SimulationService/Simulate").streaming(),
    Method::unary("/grpc.health.v1.Health/Check").exempt(),
    Method::unary("/grpc.health.v1.Health/Watch").streaming().observing(),
];

/// Reflection, in its two versions.
pub(crate) static REFLECTION: [Method; 2] = [
    Method::unary("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo").many().observing(),
    Method::unary("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        .many()
        .observing(),
];

#[cfg(test)]
mod tests {
    use prost_reflect::DescriptorPool;

    use super::*;
    use crate::proto::FILE_DESCRIPTOR_SET;

    #[test]
    fn every_method_of_the_protos_is_known_for_what_it_is() {
        let pool = DescriptorPool::decode(FILE_DESCRIPTOR_SET).unwrap();
        let mut count = 0;
        for service in pool.services() {
            for method in service.methods() {
                let path = format!("/{}/{}", service.full_name(), method.name());
                let known = Method::at(&path);
                assert_eq!(known.path, path);
                let streams = method.is_client_streaming() || method.is_server_streaming();
                assert_eq!(known.streaming, streams, "{path}");
                assert_eq!(known.many, method.is_client_streaming(), "{path}");
                count += 1;
            }
        }
        let health = METHODS.iter().filter(|method| method.path.starts_with("/grpc.")).count();
        assert_eq!(count + health, METHODS.len());
        assert_eq!(Method::at("/offbeat.v1.SlotService/Nobody"), &Method::UNKNOWN);
    }
}
