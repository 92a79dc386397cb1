//! Connections to the Redis that takes writes: at an address, or found by Sentinels.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::io::tcp::TcpSettings;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    Client, ClientTlsConfig, ConnectionAddr, IntoConnectionInfo as _, RedisError, TlsCertificates,
    TlsMode,
};

use super::address::{self, Sentinels};
use crate::config::SpreadStoreConfig;

/// How long Redis may take to answer, and to be connected to.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// How long Redis may wait for replicas or a disk, in milliseconds: it must answer before it
/// counts as dead.
pub(super) const HOLD_MILLIS: u64 = 4_000;

/// Errors with which the right Redis refuses a command.
const ANSWERS: [&str; 4] = ["OOM", "NOPERM", "MISCONF", "NOREPLICAS"];

/// The connections of a process.
#[derive(Clone)]
pub(super) struct Connections {
    /// Finds Redis by Sentinels, if configured. One call at a time asks them.
    sentinels: Option<Arc<tokio::sync::Mutex<SentinelClient>>>,
    current: Arc<Mutex<Connection>>,
}

/// Connections to one Redis.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) client: Client,
    /// For all steps.
    pub(super) steps: ConnectionManager,
    /// For calls that wait for replicas: Redis blocks later commands on their connection.
    pub(super) replicas: ConnectionManager,
    /// For calls that wait for a disk.
    pub(super) disk: ConnectionManager,
    /// Number of earlier connections.
    pub(super) number: u64,
}

impl Connection {
    fn try_new(client: Client, number: u64) -> Result<Self, RedisError> {
        let connect = || client.get_connection_manager_lazy(config());
        let (steps, replicas, disk) = (connect()?, connect()?, connect()?);
        Ok(Self { client, steps, replicas, disk, number })
    }
}

fn config() -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        .set_response_timeout(Some(ANSWER_TIME))
        .set_connection_timeout(Some(ANSWER_TIME))
        .set_number_of_retries(0) // the next call tries again
        .set_max_delay(Duration::from_millis(500))
}

impl Connections {
    pub(super) async fn open(config: &SpreadStoreConfig, url: &str) -> Result<Self, String> {
        let certificates = certificates(config)?;
        let message = |error: RedisError| error.to_string();
        let (sentinels, client) = match address::sentinels(url)? {
            Some(sentinels) => {
                let mut sentinels = sentinel_client(sentinels, certificates).map_err(message)?;
                let client = sentinels.async_get_client().await.map_err(message)?;
                (Some(Arc::new(tokio::sync::Mutex::new(sentinels))), client)
            }
            None => (None, client(url, certificates).map_err(message)?),
        };
        let current = Connection::try_new(client, 0).map_err(message)?;
        Ok(Self { sentinels, current: Arc::new(Mutex::new(current)) })
    }

    /// The current connections.
    pub(super) fn current(&self) -> Connection {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Passes on the reply of a command. After a failure, the next command uses another connection:
    /// the name, or Sentinels, may lead to another Redis by now.
    ///
    /// [`ConnectionManager`] reconnects by itself after a broken connection. But if a handshake is
    /// refused, for example for a wrong password, it keeps that error forever.
    pub(super) async fn heard<T>(
        &self,
        result: Result<T, RedisError>,
        connection: &Connection,
    ) -> Result<T, RedisError> {
        if let Err(error) = &result {
            let is_mended = error.is_io_error() && !error.is_timeout() && self.sentinels.is_none();
            let is_answer = error.code().is_some_and(|code| ANSWERS.contains(&code));
            if !is_mended && !is_answer {
                self.leave(connection.number).await;
            }
        }
        result
    }

    /// Replaces a connection, unless another call has done so or is doing it.
    async fn leave(&self, number: u64) {
        if self.current().number != number {
            return;
        }
        let client = match &self.sentinels {
            Some(sentinels) => {
                let Ok(mut sentinels) = sentinels.try_lock() else { return };
                match sentinels.async_get_client().await {
                    Ok(client) => client,
                    Err(error) => {
                        tracing::warn!(%error, "no Sentinel knows a Redis that takes writes");
                        return;
                    }
                }
            }
            None => self.current().client,
        };
        let Ok(new) = Connection::try_new(client, number + 1) else { return };
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.number == number {
            *current = new;
        }
    }
}

fn client(url: &str, certificates: Option<TlsCertificates>) -> Result<Client, RedisError> {
    let place = url.into_connection_info()?.set_tcp_settings(tcp());
    match certificates {
        Some(certificates) => Client::build_with_tls(place, certificates),
        None => Client::open(place),
    }
}

/// Without delays by the system: steps are small, and follow each other.
fn tcp() -> TcpSettings {
    TcpSettings::default().set_nodelay(true)
}

fn sentinel_client(
    sentinels: Sentinels,
    certificates: Option<TlsCertificates>,
) -> Result<SentinelClient, RedisError> {
    let Sentinels { is_tls, user, password, addresses, service, database } = sentinels;
    let address = |(host, port)| {
        if is_tls {
            ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
        } else {
            ConnectionAddr::Tcp(host, port)
        }
    };
    let addresses: Vec<_> = addresses.into_iter().map(address).collect();
    let master = SentinelServerType::Master;
    let mut builder = SentinelClientBuilder::new(addresses, service, master)?;
    builder = builder.set_client_to_redis_db(database).set_client_to_redis_tcp_settings(tcp());
    if is_tls {
        builder = builder.set_client_to_redis_tls_mode(TlsMode::Secure);
    }
    if let Some(user) = user {
        builder = builder.set_client_to_redis_username(user);
    }
    if let Some(password) = password {
        builder = builder.set_client_to_redis_password(password);
    }
    if let Some(certificates) = certificates {
        builder = builder
            .set_client_to_redis_certificates(certificates.clone())
            .set_client_to_sentinel_certificates(certificates);
    }
    builder.build()
}

/// The authority to trust and the certificate to show, if they are configured.
fn certificates(config: &SpreadStoreConfig) -> Result<Option<TlsCertificates>, String> {
    let is_usual = config.ca.is_none() && config.certificate.is_none();
    let is_tls = config.url.as_deref().is_some_and(|url| url.starts_with("rediss"));
    if !is_usual && !is_tls {
        return Err("must be rediss:// or rediss+sentinel:// where an authority or a certificate \
                    is given for it"
            .to_owned());
    }
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let root_cert = config.ca.as_deref().map(read).transpose()?;
    let client_tls = match (&config.certificate, &config.key) {
        (Some(certificate), Some(key)) => {
            Some(ClientTlsConfig { client_cert: read(certificate)?, client_key: read(key)? })
        }
        _ => None,
    };
    Ok((!is_usual).then_some(TlsCertificates { client_tls, root_cert }))
}
