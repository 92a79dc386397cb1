//! The methods of the port, with the facts that layers need before a message is read.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use offbeat_proto::descriptors;
use prost_reflect::MethodDescriptor;

/// A method, and its treatment by the layers.
#[derive(Debug)]
pub struct Method {
    /// `Service/Method`, or `v1beta1.Service/Method`: the name in logs and metrics, of a bounded set.
    pub name: String,
    /// Its messages; `None` for reflection and unknown paths.
    pub descriptor: Option<MethodDescriptor>,
    /// Whether its messages may be large.
    pub bulk: bool,
    /// Whether its caller may send any number of messages.
    pub client_streaming: bool,
    /// Whether it streams in either direction: it may stay open without a limit.
    pub streaming: bool,
    /// Whether it ends as soon as the server begins to stop.
    pub ends_on_drain: bool,
    /// Whether it is answered without credentials, and by a full server.
    pub open: bool,
}

/// Methods whose messages may be large.
const BULK: [&str; 14] = [
    "SlotService/AssignSlots",
    "SlotService/StreamSlotAssignments",
    "SlotService/ListDueRuns",
    "SlotService/PlanMigration",
    "SlotService/AuditIds",
    "SpreadService/Spread",
    "NamedSpreadService/SubmitGroups",
    "NamedSpreadService/WaitForGroups",
    "StageService/AllocateWorkers",
    "StageService/ChooseStage",
    "LaneService/DispatchJobs",
    "v1beta1.LanePlanningService/PlanLanes",
    "v1beta1.LatenessService/RecordLateness",
    "v1beta1.SimulationService/Simulate",
];

/// Streams that only observe, and the stream of leased jobs: the grace period would not help them.
const ENDS_ON_DRAIN: [&str; 4] = [
    "NamedSpreadService/StreamJobs",
    "grpc.health.v1.Health/Watch",
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// Probes: answered to every caller, at all times.
const OPEN: &str = "grpc.health.v1.Health/Check";

static METHODS: LazyLock<BTreeMap<String, Method>> = LazyLock::new(|| {
    let services = descriptors::pool().services();
    let methods = services.flat_map(|service| service.methods().collect::<Vec<_>>());
    let known = methods.map(|method| {
        let path = format!("{}/{}", method.parent_service().full_name(), method.name());
        let (one, other) = (method.is_client_streaming(), method.is_server_streaming());
        (format!("/{path}"), Method::new(&path, Some(method), one, one || other))
    });
    let reflection = ENDS_ON_DRAIN.iter().filter(|path| path.contains("reflection"));
    let reflection =
        reflection.map(|path| (format!("/{path}"), Method::new(path, None, true, true)));
    known.chain(reflection).collect()
});

/// Stands for all unknown paths.
static UNKNOWN: LazyLock<Method> = LazyLock::new(|| Method::new("unknown", None, false, false));

impl Method {
    fn new(
        path: &str,
        descriptor: Option<MethodDescriptor>,
        client_streaming: bool,
        streaming: bool,
    ) -> Self {
        let stable = path.strip_prefix("offbeat.v1.");
        let name = stable.or_else(|| path.strip_prefix("offbeat.")).unwrap_or(path);
        Self {
            name: name.to_owned(),
            descriptor,
            bulk: BULK.contains(&name),
            client_streaming,
            streaming,
            ends_on_drain: ENDS_ON_DRAIN.contains(&name),
            open: name == OPEN,
        }
    }

    /// The method at a path, `/package.Service/Method`.
    #[must_use]
    pub fn at(path: &str) -> &'static Self {
        METHODS.get(path).unwrap_or(&UNKNOWN)
    }

    /// Whether there is such a method.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.name != UNKNOWN.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::BULK_MESSAGE_BYTES;

    #[test]
    fn every_name_of_a_list_is_a_method() {
        for name in BULK.into_iter().chain(ENDS_ON_DRAIN).chain([OPEN]) {
            let is_named = |method: &&Method| method.name == name;
            assert_eq!(METHODS.values().filter(is_named).count(), 1, "{name}");
        }
        assert!(METHODS.values().all(|method| !method.ends_on_drain || method.streaming));
        assert!(!Method::at("/offbeat.v1.SlotService/Nothing").is_known());
    }

    #[test]
    fn the_limit_of_large_messages_names_the_methods() {
        let names = BULK.map(|name| name.rsplit('/').next().unwrap_or(name)).join(", ");
        assert_eq!(BULK_MESSAGE_BYTES.name, format!("request message of {names}"));
    }
}
