//! The descriptors of everything that the port serves; built when JSON is
//! first used, since a sidecar asked by gRPC alone need not hold them.

use std::sync::OnceLock;

use prost_reflect::{DescriptorPool, MessageDescriptor, MethodDescriptor};

use crate::proto::FILE_DESCRIPTOR_SET;

/// The methods and messages known by name.
#[derive(Debug)]
pub(super) struct Descriptors {
    pool: DescriptorPool,
}

impl Descriptors {
    pub(super) fn get() -> &'static Self {
        static DESCRIPTORS: OnceLock<Descriptors> = OnceLock::new();
        DESCRIPTORS.get_or_init(|| {
            let mut pool = DescriptorPool::new();
            for set in [
                FILE_DESCRIPTOR_SET,
                tonic_health::pb::FILE_DESCRIPTOR_SET,
                tonic_types::pb::FILE_DESCRIPTOR_SET,
            ] {
                // Sets made by the build: a test decodes them.
                if let Err(error) = pool.decode_file_descriptor_set(set) {
                    tracing::error!(%error, "a descriptor set is broken; its methods take no JSON");
                }
            }
            Self { pool }
        })
    }

    /// The method at a path, `/package.Service/Method`.
    pub(super) fn method(&self, path: &str) -> Option<MethodDescriptor> {
        let (service, method) = path.strip_prefix('/')?.split_once('/')?;
        let service = self.pool.get_service_by_name(service)?;
        service.methods().find(|candidate| candidate.name() == method)
    }

    /// The message of a name, `package.Message`.
    pub(super) fn message(&self, name: &str) -> Option<MessageDescriptor> {
        self.pool.get_message_by_name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_is_whole() {
        let descriptors = Descriptors::get();
        assert!(descriptors.method("/offbeat.v1.SlotService/AssignSlot").is_some());
        assert!(descriptors.method("/grpc.health.v1.Health/Check").is_some());
        assert!(descriptors.message("google.rpc.BadRequest").is_some());
        for missing in
            ["", "/", "/x", "/offbeat.v1.SlotService/", "offbeat.v1.SlotService/AssignSlot"]
        {
            assert!(descriptors.method(missing).is_none(), "{missing}");
        }
    }
}
