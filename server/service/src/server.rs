//! A server: bound, served, and ended.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tonic_health::ServingStatus;

use crate::clock;
use crate::config::{Admin, Config, ListenAddress};
use crate::layers::{Admission, AllowedHosts, Ends, MessageLimits, Stack, layered};
use crate::limits::{
    ADMIN_CONNECTIONS, ADMIN_IDLE_SECONDS, FIRST_BYTE_SECONDS, IDLE_SECONDS, WRITE_STALL_SECONDS,
};
use crate::metrics::Metrics;
use crate::net::Listener;
use crate::net::admin::{self, AdminState};
use crate::net::connection::{Connections, Settings};
use crate::reload::Reloadable;
use crate::services::services;
use crate::spreads::MemoryStore;

/// How long streams may take to tell their readers that they end: several times, so that a
/// process that was stopped meanwhile still gives each of them a turn.
const FINAL_FLUSH_TIMEOUT: Duration = Duration::from_millis(20);
const FINAL_FLUSH_ROUNDS: usize = 5;

/// A server that is bound, and does not serve yet.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<Listener>,
    admin: Option<Listener>,
    reloadable: Reloadable,
    config: Config,
    spans: bool,
}

impl Server {
    /// Reads certificates, tokens and schedules, and binds every address.
    ///
    /// # Errors
    /// When a file or an address is refused; the text names it.
    pub async fn bind(config: &Config) -> Result<Self, String> {
        let reloadable = Reloadable::read(config)?;
        let bind = async |address: &ListenAddress| {
            let bound = Listener::bind(address, config.socket_mode).await;
            bound.map_err(|error| format!("cannot listen on {address}: {error}"))
        };
        let mut listeners = Vec::with_capacity(config.listen.len());
        for address in &config.listen {
            listeners.push(bind(address).await?);
        }
        let admin = match &config.admin {
            Admin::Off => None,
            Admin::At(address) => Some(bind(address).await?),
            // Its caller sees that it has no address.
            Admin::IfFree(address) => bind(address).await.ok(),
        };
        Ok(Self { listeners, admin, reloadable, config: config.clone(), spans: false })
    }

    /// With a span for each request.
    #[must_use]
    pub fn with_spans(self, spans: bool) -> Self {
        Self { spans, ..self }
    }

    /// Where it listens: the ports that were chosen, where 0 was asked for.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn addresses(&self) -> std::io::Result<Vec<ListenAddress>> {
        self.listeners.iter().map(Listener::address).collect()
    }

    /// Where it answers metrics and probes, if it does.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn admin_address(&self) -> std::io::Result<Option<ListenAddress>> {
        self.admin.as_ref().map(Listener::address).transpose()
    }

    /// Serves until `shutdown` is ready, then ends within the grace period: health says
    /// NOT_SERVING, nothing new is accepted, connections without requests close at once, requests
    /// in flight may go on, and what is left at the end is cut.
    ///
    /// # Errors
    /// When a service cannot be built: a bug.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), String> {
        let Self { listeners, admin, reloadable, config, spans } = self;
        let metrics = Arc::new(Metrics::default());
        let store = Arc::new(MemoryStore::new(clock::now, config.limits.spread_bytes));
        let schedules = reloadable.schedules();
        let (health, router) =
            services(Arc::clone(&store), schedules, Arc::clone(&metrics), &config).await?;
        let (terminate, terminating) = watch::channel(false);
        let (drain, draining) = watch::channel(false);
        let admission = Admission::new(config.limits.requests, config.limits.bytes_in_flight);
        let hosts = AllowedHosts::new(&config.allowed_hosts);
        let router = layered(
            router,
            Arc::new(Stack {
                credentials: reloadable.credentials(),
                hosts: hosts.clone(),
                admission: admission.clone(),
                metrics: Arc::clone(&metrics),
                spans,
                limits: MessageLimits::new(&config.limits),
                unary_time: config.limits.unary_time,
                ends: Ends { draining: draining.clone(), terminating },
            }),
        );
        let connections: Vec<Arc<Connections>> = listeners
            .iter()
            .map(|_| {
                let (router, settings) = (router.clone(), settings(&config));
                let (tls, metrics) = (reloadable.tls().cloned(), Arc::clone(&metrics));
                let uids = &config.socket_uids;
                let draining = draining.clone();
                Arc::new(Connections::new(router, settings, tls, uids, metrics, draining))
            })
            .collect();
        let state = Arc::new(AdminState {
            ready: AtomicBool::new(false),
            metrics: Arc::clone(&metrics),
            connections: connections.clone(),
            admission,
            store: Arc::clone(&store),
            hosts,
        });

        let serving_probes = watch::channel(false); // they are answered while the server drains
        let mut beside = JoinSet::new(); // until the end
        let swept = Arc::clone(&store);
        beside.spawn(async move { swept.sweep().await });
        beside.spawn(reloadable.watch(Arc::clone(&metrics)));
        if let Some(listener) = admin {
            let (router, uids) = (admin::router(Arc::clone(&state)), &config.socket_uids);
            let admin = Connections::new(
                router,
                admin_settings(),
                None,
                uids,
                Arc::new(Metrics::default()),
                serving_probes.1.clone(),
            );
            beside.spawn(Arc::new(admin).accept(listener));
        }
        let mut accepting = JoinSet::new();
        for (listener, connections) in listeners.into_iter().zip(&connections) {
            accepting.spawn(Arc::clone(connections).accept(listener));
        }
        health.set(ServingStatus::Serving).await;
        state.ready.store(true, Ordering::Relaxed);

        shutdown.await;
        let grace = config.grace_period;
        tracing::info!(?grace, "stopping");
        state.ready.store(false, Ordering::Relaxed);
        health.set(ServingStatus::NotServing).await;
        accepting.shutdown().await; // closes the listeners, and removes their sockets
        let _ = drain.send(true); // fails if there is no connection
        store.stop();
        let drained = async || {
            for listener in &connections {
                listener.drained().await;
            }
        };
        if tokio::time::timeout(grace, drained()).await.is_err() {
            let left: usize = connections.iter().map(|listener| listener.count()).sum();
            tracing::warn!(connections = left, "grace period over: requests in flight are cut");
            let _ = terminate.send(true); // streams end with UNAVAILABLE, if their readers read
            for _ in 0..FINAL_FLUSH_ROUNDS {
                if tokio::time::timeout(FINAL_FLUSH_TIMEOUT, drained()).await.is_ok() {
                    break;
                }
            }
            connections.iter().for_each(|listener| listener.cut());
        }
        tracing::info!("stopped");
        Ok(())
    }
}

fn settings(config: &Config) -> Settings {
    Settings {
        max_connections: config.limits.connections,
        first_bytes: seconds(FIRST_BYTE_SECONDS.maximum),
        idle: seconds(IDLE_SECONDS.maximum),
        write_stall: seconds(WRITE_STALL_SECONDS.maximum),
        max_age: config.limits.connection_age,
    }
}

fn admin_settings() -> Settings {
    let idle = seconds(ADMIN_IDLE_SECONDS.maximum);
    Settings {
        max_connections: ADMIN_CONNECTIONS.max_size(),
        first_bytes: idle,
        idle,
        write_stall: idle,
        max_age: Some(5 * idle),
    }
}

fn seconds(number: i64) -> Duration {
    Duration::from_secs(number.unsigned_abs())
}
