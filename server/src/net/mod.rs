//! Listeners, connections, and an end to both.

mod connection;
mod listener;
mod patience;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use crate::clock;
use crate::config::Config;
use crate::http::{Ends, Stack};
use crate::proto::FILE_DESCRIPTOR_SET;
use crate::proto::lane_service_server::LaneServiceServer;
use crate::proto::named_spread_service_server::NamedSpreadServiceServer;
use crate::proto::simulation_service_server::SimulationServiceServer;
use crate::proto::slot_service_server::SlotServiceServer;
use crate::proto::spread_service_server::SpreadServiceServer;
use crate::proto::stage_service_server::StageServiceServer;
use crate::rpc::{
    LaneHandlers, NamedSpreadHandlers, SimulationHandlers, SlotHandlers, SpreadHandlers,
    StageHandlers,
};
use crate::spreads::MemoryStore;
use connection::Connections;
pub use listener::Listener;

/// The services of ours, as health knows them.
const SERVICES: [&str; 6] = [
    "offbeat.v1.SlotService",
    "offbeat.v1.SpreadService",
    "offbeat.v1.NamedSpreadService",
    "offbeat.v1.StageService",
    "offbeat.v1.LaneService",
    "offbeat.v1.SimulationService",
];

/// How long streams may take to say that they end.
const LAST_FLUSH: Duration = Duration::from_millis(100);

/// Serves until `shutdown` is ready, then ends within the grace period:
/// health says NOT_SERVING, nothing new is accepted, connections without
/// requests close at once, requests under way may go on, and what is left at
/// the end is cut.
pub async fn run(listeners: Vec<Listener>, config: &Config, shutdown: impl Future<Output = ()>) {
    let store = Arc::new(MemoryStore::new(clock::now, config.max_spread_bytes));
    let (health, routes) = routes(Arc::clone(&store), config.unary_timeout).await;
    let (close, closing) = watch::channel(false);
    let (stop, stopping) = watch::channel(false);
    let ends = Ends { stopping: stopping.clone(), closing };
    let stack = Stack::new(routes, config.max_requests, config.unary_timeout, ends);
    let free = Arc::new(Semaphore::new(config.max_connections));
    let connections = Arc::new(Connections::new(stack, stopping));
    let mut accepting = JoinSet::new();
    let mut sweeping = JoinSet::new();
    let swept = Arc::clone(&store);
    sweeping.spawn(async move { swept.sweep().await });
    for listener in listeners {
        accepting.spawn(listener::accept(listener, Arc::clone(&connections), Arc::clone(&free)));
    }

    shutdown.await;
    tracing::info!(grace = ?config.grace_period, "stopping");
    for service in SERVICES.into_iter().chain([""]) {
        health.set_service_status(service, ServingStatus::NotServing).await;
    }
    accepting.shutdown().await; // closes the listeners, and removes their sockets
    let _ = stop.send(true); // no connection listens: then there is none
    store.stop();
    let all = u32::try_from(config.max_connections).unwrap_or(u32::MAX);
    let drained = tokio::time::timeout(config.grace_period, free.acquire_many(all)).await;
    if drained.is_err() {
        let left = config.max_connections - free.available_permits();
        tracing::warn!(connections = left, "grace period over: requests under way are cut");
        let _ = close.send(true); // streams end with UNAVAILABLE, if their readers read
        let _ = tokio::time::timeout(LAST_FLUSH, free.acquire_many(all)).await;
        connections.cut();
    }
    tracing::info!("stopped");
}

/// All services of the port.
async fn routes(store: Arc<MemoryStore>, unary_timeout: Duration) -> (HealthReporter, Routes) {
    let (health, health_service) = tonic_health::server::health_reporter();
    for service in SERVICES {
        health.set_service_status(service, ServingStatus::Serving).await;
    }
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let mut routes = Routes::builder();
    // Message sizes are refused before they reach tonic, per method.
    let slots =
        SlotServiceServer::new(SlotHandlers::new(clock::now)).max_decoding_message_size(usize::MAX);
    let spread = SpreadServiceServer::new(SpreadHandlers).max_decoding_message_size(usize::MAX);
    let named = NamedSpreadHandlers::new(store, unary_timeout);
    let named = NamedSpreadServiceServer::new(named).max_decoding_message_size(usize::MAX);
    let lanes = LaneServiceServer::new(LaneHandlers).max_decoding_message_size(usize::MAX);
    let simulation =
        SimulationServiceServer::new(SimulationHandlers).max_decoding_message_size(usize::MAX);
    let stages = StageServiceServer::new(StageHandlers).max_decoding_message_size(usize::MAX);
    routes
        .add_service(stages)
        .add_service(lanes)
        .add_service(simulation)
        .add_service(health_service)
        .add_service(slots)
        .add_service(spread)
        .add_service(named);
    match (reflection().build_v1(), reflection().build_v1alpha()) {
        (Ok(v1), Ok(v1alpha)) => {
            routes.add_service(v1).add_service(v1alpha);
        }
        (Err(error), _) | (_, Err(error)) => tracing::error!(%error, "reflection is off"),
    }
    (health, routes.routes())
}
