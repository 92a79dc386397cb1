//! All services of the port.

use std::sync::Arc;

use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tonic_reflection::server::Builder;

use super::on_demand::OnDemand;
use crate::clock;
use crate::config::Limits;
use crate::metrics::Metrics;
use crate::proto::FILE_DESCRIPTOR_SET;
use crate::proto::lane_service_server;
use crate::proto::lateness_service_server;
use crate::proto::named_spread_service_server;
use crate::proto::simulation_service_server;
use crate::proto::slot_service_server;
use crate::proto::spread_service_server;
use crate::proto::stage_service_server;
use crate::rpc::router::Router;
use crate::rpc::{
    LaneHandlers, LatenessHandlers, NamedSpreadHandlers, SimulationHandlers, SlotHandlers,
    SpreadHandlers, StageHandlers,
};
use crate::schedules::Loaded;
use crate::spreads::MemoryStore;

/// The services of ours, as health knows them.
const SERVICES: [&str; 7] = [
    slot_service_server::SERVICE_NAME,
    spread_service_server::SERVICE_NAME,
    named_spread_service_server::SERVICE_NAME,
    stage_service_server::SERVICE_NAME,
    lane_service_server::SERVICE_NAME,
    lateness_service_server::SERVICE_NAME,
    simulation_service_server::SERVICE_NAME,
];

/// What the standard health service says of all services, and of the server ("").
#[derive(Debug, Clone)]
pub(super) struct Health(HealthReporter);

impl Health {
    pub(super) async fn say(&self, status: ServingStatus) {
        for service in SERVICES.into_iter().chain([""]) {
            self.0.set_service_status(service, status).await;
        }
    }
}

/// Answers for all of them; nothing serves until health is told so.
pub(super) async fn router(
    store: Arc<MemoryStore>,
    schedules: Loaded,
    metrics: Arc<Metrics>,
    limits: &Limits,
) -> (Health, Router) {
    let (health, health_service) = tonic_health::server::health_reporter();
    let health = Health(health);
    health.say(ServingStatus::NotServing).await;
    // Its two versions have the same messages.
    let reflection = OnDemand::new(|| reflection().build_v1());
    let router = Router::default()
        .with(SlotHandlers::new(clock::now, schedules))
        .with(SpreadHandlers)
        .with(NamedSpreadHandlers::new(store, limits.unary_time))
        .with(StageHandlers)
        .with(LaneHandlers)
        .with(LatenessHandlers::new(metrics))
        .with(SimulationHandlers::new(limits))
        .with_service(health_service)
        .with_service(reflection.clone())
        .with_service_as("grpc.reflection.v1alpha.ServerReflection", reflection);
    (health, router)
}

/// All that can be asked here. It takes 170 kB, and few ever ask for it.
fn reflection() -> Builder<'static> {
    Builder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}

#[cfg(test)]
mod tests {
    use http::Request;
    use tonic::Code;
    use tonic::body::Body;

    use super::*;
    use crate::config::Config;
    use crate::rpc::methods::{METHODS, REFLECTION};

    async fn code_of(router: &Router, path: &str) -> Option<Code> {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let answer = router.answer(request).await;
        tonic::Status::from_header_map(answer.headers()).map(|status| status.code())
    }

    #[tokio::test]
    async fn every_method_and_no_other_has_a_handler() {
        let limits = Config::from_flags::<&str>([]).unwrap().limits;
        let store = Arc::new(MemoryStore::new(clock::now, limits.spread_bytes));
        let (_, router) = router(store, Loaded::default(), Arc::default(), &limits).await;
        for method in METHODS.iter().chain(&REFLECTION) {
            let code = code_of(&router, method.path).await;
            assert_ne!(code, Some(Code::Unimplemented), "{}", method.path);
        }
        for path in [
            "/offbeat.v1.SlotService/AssignSlotz",
            "/offbeat.v1.SlotService/",
            "/offbeat.v1.SlotService",
            "/offbeat.v1.Nobody/AssignSlot",
            "/grpc.health.v1.Health/Nobody",
            "/grpc.health.v1.Health",
            "/AssignSlot",
            "/",
        ] {
            assert_eq!(code_of(&router, path).await, Some(Code::Unimplemented), "{path}");
        }
    }
}
