//! The descriptors of every message and method that the port serves.

use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, MessageDescriptor, MethodDescriptor};

use crate::FILE_DESCRIPTOR_SET;

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    let mut pool = DescriptorPool::new();
    for set in [
        FILE_DESCRIPTOR_SET,
        tonic_health::pb::FILE_DESCRIPTOR_SET,
        tonic_types::pb::FILE_DESCRIPTOR_SET,
    ] {
        // The build made these sets, and a test decodes them.
        let _ = pool.decode_file_descriptor_set(set);
    }
    pool
});

/// The descriptors of all services.
#[must_use]
pub fn pool() -> &'static DescriptorPool {
    &POOL
}

/// The method at a path, `/package.Service/Method`.
#[must_use]
pub fn method(path: &str) -> Option<MethodDescriptor> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    let service = pool().get_service_by_name(service)?;
    service.methods().find(|candidate| candidate.name() == method)
}

/// The message of a name, `package.Message`.
#[must_use]
pub fn message(name: &str) -> Option<MessageDescriptor> {
    pool().get_message_by_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_is_whole() {
        assert!(method("/offbeat.v1.SlotService/AssignSlot").is_some());
        assert!(method("/grpc.health.v1.Health/Check").is_some());
        assert!(message("google.rpc.BadRequest").is_some());
        for missing in
            ["", "/", "/x", "/offbeat.v1.SlotService/", "offbeat.v1.SlotService/AssignSlot"]
        {
            assert!(method(missing).is_none(), "{missing}");
        }
    }
}
