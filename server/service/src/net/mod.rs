//! Listeners, connections, and an end to both.

mod admin;
mod connection;
pub mod files;
mod frames;
mod gathered;
mod guests;
mod listener;
mod on_demand;
mod patience;
mod pause;
mod reload;
mod requests;
mod schedules;
mod services;
mod tls;
mod turnstile;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tonic_health::ServingStatus;

use crate::clock;
use crate::config::{Admin, Config, ListenAddress};
use crate::http::{Ends, Stack};
use crate::metrics::Metrics;
use crate::rpc::single::Assigner;
use crate::spreads::MemoryStore;
use admin::Insight;
use connection::Connections;
pub use frames::FrameMeter;
pub use listener::Listener;
use reload::Secrets;

/// How long streams may take to say that they end: several times, so that a process that was
/// stopped meanwhile still gives each of them a turn.
const LAST_FLUSH: Duration = Duration::from_millis(20);
const LAST_TURNS: usize = 5;

/// A server that is bound, and does not serve yet.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<Listener>,
    admin: Option<Listener>,
    secrets: Secrets,
    config: Config,
    spans: bool,
}

impl Server {
    /// Reads certificates, tokens and schedules, and binds every address.
    ///
    /// # Errors
    /// When a file or an address is refused; the text names it.
    pub async fn bind(config: &Config) -> Result<Self, String> {
        let secrets = Secrets::read(config)?;
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
            // Whoever asks for its address sees that there is none.
            Admin::IfFree(address) => bind(address).await.ok(),
        };
        Ok(Self { listeners, admin, secrets, config: config.clone(), spans: false })
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

    /// Serves until `shutdown` is ready, then ends within the grace period:
    /// health says NOT_SERVING, nothing new is accepted, connections without
    /// requests close at once, requests under way may go on, and what is left at
    /// the end is cut.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        self.run_until(Box::pin(shutdown)).await;
    }

    /// Behind a pointer, so that all that it runs is compiled here, and not where it is called: that
    /// crate is compiled for size. (docs/decisions/0011-small-and-fast.md)
    fn run_until<'a>(
        self,
        shutdown: Pin<Box<dyn Future<Output = ()> + 'a>>,
    ) -> Pin<Box<dyn Future<Output = ()> + 'a>> {
        Box::pin(self.serve(shutdown))
    }

    async fn serve(self, shutdown: Pin<Box<dyn Future<Output = ()> + '_>>) {
        let Self { listeners, admin, secrets, config, spans } = self;
        let metrics = Arc::new(Metrics::default());
        let store = Arc::new(MemoryStore::new(clock::now, config.limits.spread_bytes));
        let (health, router) = services::router(
            Arc::clone(&store),
            secrets.schedules(),
            Arc::clone(&metrics),
            &config.limits,
        )
        .await;
        let (close, closing) = watch::channel(false);
        let (stop, stopping) = watch::channel(false);
        let ends = Ends { stopping: stopping.clone(), closing };
        let (limits, credentials) = (&config.limits, secrets.credentials());
        let assigner = Assigner::new(clock::now, secrets.schedules());
        let stack = Stack::new(router, limits, credentials, Arc::clone(&metrics), ends, spans)
            .with_short_way(assigner);
        let admission = stack.admission();
        let connections =
            Connections::new(stack, &config, secrets.tls(), Arc::clone(&metrics), &stopping);
        let connections = Arc::new(connections);
        let insight = Arc::new(Insight {
            ready: AtomicBool::new(false),
            metrics: Arc::clone(&metrics),
            connections: Arc::clone(&connections),
            admission,
            store: Arc::clone(&store),
        });

        let mut beside = JoinSet::new(); // until the end
        let swept = Arc::clone(&store);
        beside.spawn(async move { swept.sweep().await });
        beside.spawn(secrets.watch(metrics));
        let ushered = Arc::clone(&connections);
        beside.spawn(async move { ushered.usher().await });
        if let Some(listener) = admin {
            beside.spawn(admin::serve(listener, Arc::clone(&insight)));
        }
        let mut accepting = JoinSet::new();
        for listener in listeners {
            accepting.spawn(listener::accept(listener, Arc::clone(&connections)));
        }
        health.say(ServingStatus::Serving).await;
        insight.ready.store(true, Ordering::Relaxed);

        shutdown.await;
        let grace = config.grace_period;
        tracing::info!(?grace, "stopping");
        insight.ready.store(false, Ordering::Relaxed);
        health.say(ServingStatus::NotServing).await;
        accepting.shutdown().await; // closes the listeners, and removes their sockets
        let _ = stop.send(true); // no connection listens: then there is none
        store.stop();
        if tokio::time::timeout(grace, connections.drained()).await.is_err() {
            let left = connections.count();
            tracing::warn!(connections = left, "grace period over: requests under way are cut");
            let _ = close.send(true); // streams end with UNAVAILABLE, if their readers read
            for _ in 0..LAST_TURNS {
                let turn = tokio::time::timeout(LAST_FLUSH, connections.drained()).await;
                if turn.is_ok() {
                    break;
                }
            }
            connections.cut();
        }
        tracing::info!("stopped");
    }
}
