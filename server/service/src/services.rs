//! All services of the port.

use std::sync::Arc;

use axum::Router;
use offbeat_proto::FILE_DESCRIPTOR_SET;
use offbeat_proto::lane_service_server::{self, LaneServiceServer};
use offbeat_proto::named_spread_service_server::{self, NamedSpreadServiceServer};
use offbeat_proto::server_info_service_server::{self, ServerInfoServiceServer};
use offbeat_proto::slot_service_server::{self, SlotServiceServer};
use offbeat_proto::spread_service_server::{self, SpreadServiceServer};
use offbeat_proto::stage_service_server::{self, StageServiceServer};
use offbeat_proto::v1beta1::lane_planning_service_server::{self, LanePlanningServiceServer};
use offbeat_proto::v1beta1::lateness_service_server::{self, LatenessServiceServer};
use offbeat_proto::v1beta1::simulation_service_server::{self, SimulationServiceServer};
use tonic::service::RoutesBuilder;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tonic_reflection::server::Builder;

use crate::api::{
    LaneHandlers, LanePlanningHandlers, LatenessHandlers, NamedSpreadHandlers, ServerInfoHandlers,
    SimulationHandlers, SlotHandlers, SpreadHandlers, StageHandlers,
};
use crate::clock;
use crate::config::Config;
use crate::metrics::Metrics;
use crate::schedules::LoadedSchedules;
use crate::spreads::SpreadStore;

/// The services of the contract, as health names them.
const SERVICES: [&str; 9] = [
    slot_service_server::SERVICE_NAME,
    spread_service_server::SERVICE_NAME,
    named_spread_service_server::SERVICE_NAME,
    stage_service_server::SERVICE_NAME,
    lane_service_server::SERVICE_NAME,
    server_info_service_server::SERVICE_NAME,
    lane_planning_service_server::SERVICE_NAME,
    lateness_service_server::SERVICE_NAME,
    simulation_service_server::SERVICE_NAME,
];

/// Sets the standard health service: the status of each service, and of the server (the empty
/// name).
#[derive(Debug, Clone)]
pub(crate) struct Health(HealthReporter);

impl Health {
    pub(crate) async fn set(&self, status: ServingStatus) {
        for service in SERVICES.into_iter().chain([""]) {
            self.0.set_service_status(service, status).await;
        }
    }
}

/// The generated services and their handlers; health says NOT_SERVING until it is set.
pub(crate) async fn services(
    store: Arc<dyn SpreadStore>,
    schedules: LoadedSchedules,
    metrics: Arc<Metrics>,
    config: &Config,
) -> Result<(Health, Router), String> {
    let limits = &config.limits;
    let (health, health_service) = tonic_health::server::health_reporter();
    let health = Health(health);
    health.set(ServingStatus::NotServing).await;
    let mut routes = RoutesBuilder::default();
    // The layers have checked the size of unary messages; this holds for messages of streams.
    macro_rules! add {
        ($server:ident, $handlers:expr) => {
            routes.add_service(
                $server::new($handlers)
                    .max_decoding_message_size(limits.bulk_message.max_size())
                    .max_encoding_message_size(usize::MAX),
            )
        };
    }
    add!(SlotServiceServer, SlotHandlers::new(clock::now, schedules));
    add!(SpreadServiceServer, SpreadHandlers);
    add!(NamedSpreadServiceServer, NamedSpreadHandlers::new(store, limits.unary_time));
    add!(StageServiceServer, StageHandlers);
    add!(LaneServiceServer, LaneHandlers);
    add!(ServerInfoServiceServer, ServerInfoHandlers);
    add!(LanePlanningServiceServer, LanePlanningHandlers);
    add!(LatenessServiceServer, LatenessHandlers::new(metrics));
    add!(SimulationServiceServer, SimulationHandlers::new(limits));
    routes.add_service(health_service);
    if config.reflection {
        let broken = |error: tonic_reflection::server::Error| error.to_string();
        routes.add_service(reflection().build_v1().map_err(broken)?);
        routes.add_service(reflection().build_v1alpha().map_err(broken)?);
    }
    Ok((health, routes.routes().into_axum_router()))
}

fn reflection() -> Builder<'static> {
    Builder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}
