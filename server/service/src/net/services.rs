//! All services of the port.

use std::sync::Arc;

use tonic::service::Routes;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tonic_reflection::server::Builder;

use super::on_demand::OnDemand;
use crate::clock;
use crate::config::Limits;
use crate::metrics::Metrics;
use crate::proto::FILE_DESCRIPTOR_SET;
use crate::proto::lane_service_server::LaneServiceServer;
use crate::proto::lateness_service_server::LatenessServiceServer;
use crate::proto::named_spread_service_server::NamedSpreadServiceServer;
use crate::proto::simulation_service_server::SimulationServiceServer;
use crate::proto::slot_service_server::SlotServiceServer;
use crate::proto::spread_service_server::SpreadServiceServer;
use crate::proto::stage_service_server::StageServiceServer;
use crate::rpc::{
    LaneHandlers, LatenessHandlers, NamedSpreadHandlers, SimulationHandlers, SlotHandlers,
    SpreadHandlers, StageHandlers,
};
use crate::schedules::Loaded;
use crate::spreads::MemoryStore;

/// The services of ours, as health knows them.
const SERVICES: [&str; 7] = [
    "offbeat.v1.SlotService",
    "offbeat.v1.SpreadService",
    "offbeat.v1.NamedSpreadService",
    "offbeat.v1.StageService",
    "offbeat.v1.LaneService",
    "offbeat.v1.LatenessService",
    "offbeat.v1.SimulationService",
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

/// The routes; nothing serves until health is told so.
pub(super) async fn routes(
    store: Arc<MemoryStore>,
    schedules: Loaded,
    metrics: Arc<Metrics>,
    limits: &Limits,
) -> (Health, Routes) {
    let (health, health_service) = tonic_health::server::health_reporter();
    let health = Health(health);
    health.say(ServingStatus::NotServing).await;
    // Message sizes are refused before they reach tonic, per method.
    let slots = SlotHandlers::new(clock::now, schedules);
    let slots = SlotServiceServer::new(slots).max_decoding_message_size(usize::MAX);
    let lateness = LatenessHandlers::new(metrics);
    let lateness = LatenessServiceServer::new(lateness).max_decoding_message_size(usize::MAX);
    let spread = SpreadServiceServer::new(SpreadHandlers).max_decoding_message_size(usize::MAX);
    let named = NamedSpreadHandlers::new(store, limits.unary_time);
    let named = NamedSpreadServiceServer::new(named).max_decoding_message_size(usize::MAX);
    let lanes = LaneServiceServer::new(LaneHandlers).max_decoding_message_size(usize::MAX);
    let simulation = SimulationHandlers::new(limits);
    let simulation = SimulationServiceServer::new(simulation).max_decoding_message_size(usize::MAX);
    let stages = StageServiceServer::new(StageHandlers).max_decoding_message_size(usize::MAX);
    let mut routes = Routes::builder();
    routes
        .add_service(stages)
        .add_service(lanes)
        .add_service(lateness)
        .add_service(simulation)
        .add_service(health_service)
        .add_service(slots)
        .add_service(spread)
        .add_service(named)
        .add_service(OnDemand::new(|| reflection().build_v1()))
        .add_service(OnDemand::new(|| reflection().build_v1alpha()));
    (health, routes.routes())
}

/// All that can be asked here. Each version of it takes 170 kB, which few ever ask for.
fn reflection() -> Builder<'static> {
    Builder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}
