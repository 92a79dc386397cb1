//! A server: binds, serves, and stops.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use offbeat_core::Catalog;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tonic_health::ServingStatus;

use crate::clock;
use crate::config::{Admin, Config, ListenAddress, Setting};
use crate::console::{self, Console};
use crate::layers::{
    Admission, AllowedHosts, Credentials, MessageLimits, ShutdownSignals, Stack, layered,
};
use crate::limits::{
    ADMIN_CONNECTIONS, ADMIN_IDLE_SECONDS, FIRST_BYTE_SECONDS, IDLE_SECONDS, WRITE_STALL_SECONDS,
};
use crate::metrics::Metrics;
use crate::net::Listener;
use crate::net::admin::{self, AdminState};
use crate::net::connection::{Connections, Settings};
use crate::reload::Reloadable;
use crate::services::services;
use crate::spreads::{MemoryStore, RedisStore, SpreadStore};

/// How long streams may take to send their end: several rounds of this, so that each stream still
/// gets its turn if the process is suspended during one round.
const FINAL_FLUSH_TIMEOUT: Duration = Duration::from_millis(20);
const FINAL_FLUSH_ROUNDS: usize = 5;

/// How long abandoned pulls may take to release their jobs.
const STORE_FINISH_TIMEOUT: Duration = Duration::from_secs(2);

/// Why a server does not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartError {
    /// A file of certificates, tokens or schedules is refused: another try would not help.
    File(String),
    /// An address cannot be bound: it may be free later.
    Address(String),
    /// The store of named spreads cannot be reached, or is unsuitable.
    Store(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(why) | Self::Address(why) | Self::Store(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StartError {}

/// A server that has bound its addresses but does not serve yet.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<Listener>,
    admin: Option<Listener>,
    reloadable: Reloadable,
    store: Arc<dyn SpreadStore>,
    config: Config,
    settings: Vec<Setting>,
    spans: bool,
}

impl Server {
    /// Reads certificates, tokens and schedules, binds every address, and connects to the store of
    /// named spreads.
    ///
    /// # Errors
    /// When a file, an address or the store is refused; the text names it.
    pub async fn bind(config: &Config) -> Result<Self, StartError> {
        let reloadable = Reloadable::read(config).map_err(StartError::File)?;
        let bind = async |address: &ListenAddress| {
            let bound = Listener::bind(address, config.socket_mode).await;
            let failed = |error| format!("cannot listen on {address}: {error}");
            bound.map_err(|error| StartError::Address(failed(error)))
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
        let store = store(config).await?;
        reloadable.keep_copy(false).map_err(StartError::File)?; // not of a start that fails
        Ok(Self {
            listeners,
            admin,
            reloadable,
            store,
            config: config.clone(),
            settings: Vec::new(),
            spans: false,
        })
    }

    /// Reads certificates, tokens and schedules as [`bind`](Self::bind) does, but binds and writes
    /// nothing. Returns the schedules that would be served. Must be called within a runtime.
    ///
    /// # Errors
    /// When a file is refused; a file of schedules even if a copy would be used instead.
    pub fn check(config: &Config) -> Result<Arc<Catalog>, StartError> {
        let reloadable = Reloadable::read(config).map_err(StartError::File)?;
        if let Some(why) = reloadable.refused_schedules() {
            let why = format!("{why}; a start would use --last-good-schedules");
            return Err(StartError::File(why));
        }
        reloadable.keep_copy(true).map_err(StartError::File)?;
        Ok(reloadable.schedules().snapshot())
    }

    /// The schedules that callers may name.
    #[must_use]
    pub fn schedules(&self) -> Arc<Catalog> {
        self.reloadable.schedules().snapshot()
    }

    /// Sets the settings that the console shows.
    #[must_use]
    pub fn with_settings(self, settings: &[Setting]) -> Self {
        Self { settings: settings.to_vec(), ..self }
    }

    /// Makes a span for each request.
    #[must_use]
    pub fn with_spans(self, spans: bool) -> Self {
        Self { spans, ..self }
    }

    /// The addresses of the services, with the chosen ports instead of 0.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn addresses(&self) -> std::io::Result<Vec<ListenAddress>> {
        self.listeners.iter().map(Listener::address).collect()
    }

    /// The address of the admin port, if there is one.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn admin_address(&self) -> std::io::Result<Option<ListenAddress>> {
        self.admin.as_ref().map(Listener::address).transpose()
    }

    /// Serves until `signal` is ready for the first time. Then health says NOT_SERVING, and all
    /// requests are still served for the drain delay, which a second signal ends. Then the server
    /// ends within the grace period: nothing new is accepted, connections without requests close at
    /// once, requests in flight may continue, and those left at the end are cut off.
    ///
    /// # Errors
    /// When a service cannot be built: a bug.
    pub async fn run(self, mut signal: impl AsyncFnMut()) -> Result<(), String> {
        let addresses = self.addresses().map_err(|error| error.to_string())?;
        let Self { listeners, admin, reloadable, store, config, settings: shown, spans } = self;
        let metrics = Arc::new(Metrics::new(&config, &*store));
        reloadable.report_start(&metrics);
        let schedules = reloadable.schedules();
        let (health, router) =
            services(Arc::clone(&store), schedules.clone(), Arc::clone(&metrics), &config).await?;
        let (terminate, terminating) = watch::channel(false);
        let (drain, draining) = watch::channel(false);
        let admission = Admission::new(config.limits.requests, config.limits.bytes_in_flight);
        let hosts = AllowedHosts::new(&config.allowed_hosts);
        let credentials = reloadable.credentials();
        let admin_tls = reloadable.tls().filter(|_| config.admin_tls).cloned();
        let router = layered(
            router,
            Arc::new(Stack {
                credentials: credentials.clone(),
                hosts: hosts.clone(),
                admission: admission.clone(),
                metrics: Arc::clone(&metrics),
                spans,
                spread_store: store.kind(),
                limits: MessageLimits::new(&config.limits),
                unary_time: config.limits.unary_time,
                ends: ShutdownSignals { draining: draining.clone(), terminating },
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
            connections: addresses
                .iter()
                .map(ToString::to_string)
                .zip(connections.iter().cloned())
                .collect(),
            admission,
            schedules,
            store: Arc::clone(&store),
            hosts,
            readers: if config.admin_tls { credentials } else { Credentials::default() },
        });

        let serving_probes = watch::channel(false); // they are answered while the server drains
        let mut beside = JoinSet::new(); // until the end
        let swept = Arc::clone(&store);
        beside.spawn(async move { swept.keep_up().await });
        beside.spawn(reloadable.watch(Arc::clone(&metrics)));
        // Before anyone is answered: the first to ask gets what every later one gets.
        health.set(ServingStatus::Serving).await;
        state.ready.store(true, Ordering::Relaxed);
        if let Some(listener) = admin {
            let console = console::is_open(&config, listener.is_on_loopback());
            let console = console.then(|| Console {
                services: router,
                writes: config.console_write,
                settings: console::settings_json(&shown, config.console_write),
            });
            let (answers, uids) =
                (admin::router(Arc::clone(&state), console.as_ref()), &config.socket_uids);
            let admin = Connections::new(
                answers,
                admin_settings(),
                admin_tls,
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

        signal().await;
        let (delay, grace) = (config.drain_delay, config.grace_period);
        tracing::info!(?delay, ?grace, "stopping");
        state.ready.store(false, Ordering::Relaxed);
        health.set(ServingStatus::NotServing).await;
        if !delay.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                () = signal() => tracing::info!("a second signal ends the drain delay"),
            }
        }
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
        if tokio::time::timeout(STORE_FINISH_TIMEOUT, store.finish()).await.is_err() {
            tracing::warn!("the store of named spreads is not done: some leases may run out");
        }
        tracing::info!("stopped");
        Ok(())
    }
}

async fn store(config: &Config) -> Result<Arc<dyn SpreadStore>, StartError> {
    let bytes = config.limits.spread_bytes;
    let Some(url) = &config.spread_store.url else {
        return Ok(Arc::new(MemoryStore::new(clock::now, bytes)));
    };
    let connected = RedisStore::connect(&config.spread_store, url, bytes).await;
    Ok(Arc::new(connected.map_err(|why| StartError::Store(format!("--spread-store: {why}")))?))
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
