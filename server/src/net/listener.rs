//! TCP and Unix sockets to accept from.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;

use super::connection::Connections;
use crate::config::ListenAddress;

/// The owner and the group of a Unix socket may connect.
const SOCKET_MODE: u32 = 0o660;

/// After a failed accept (no file descriptors left, mostly), so long a pause.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A bound listener.
#[derive(Debug)]
pub enum Listener {
    /// On an IP address and port.
    Tcp(TcpListener),
    /// On a path, which is removed at the end.
    Unix(UnixListener, SocketFile),
}

impl Listener {
    /// Binds `address`; a stale socket, on which nobody listens, is replaced.
    ///
    /// # Errors
    /// When the address is taken, not ours, or not a socket.
    pub async fn bind(address: &ListenAddress) -> io::Result<Self> {
        match address {
            ListenAddress::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            ListenAddress::Unix(path) => {
                remove_stale_socket(path)?;
                let listener = UnixListener::bind(path)?;
                fs::set_permissions(path, fs::Permissions::from_mode(SOCKET_MODE))?;
                Ok(Self::Unix(listener, SocketFile(path.clone())))
            }
        }
    }

    /// The address it is bound to: the port that was chosen, where 0 was asked for.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> io::Result<ListenAddress> {
        match self {
            Self::Tcp(listener) => Ok(ListenAddress::Tcp(listener.local_addr()?)),
            Self::Unix(_, SocketFile(path)) => Ok(ListenAddress::Unix(path.clone())),
        }
    }
}

/// The file of a Unix socket of ours; removed when dropped.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0); // it may be gone with its folder
    }
}

fn remove_stale_socket(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the path is no socket"));
    }
    match StdUnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "somebody listens on the socket")),
    }
}

/// Accepts connections, as long as there is a place among them.
pub(super) async fn accept(
    listener: Listener,
    connections: Arc<Connections>,
    free: Arc<Semaphore>,
) {
    while let Ok(place) = Arc::clone(&free).acquire_owned().await {
        let accepted = match &listener {
            Listener::Tcp(tcp) => tcp.accept().await.map(|(stream, _)| {
                let _ = stream.set_nodelay(true); // a closed peer; serving it will tell
                connections.serve(stream, place);
            }),
            Listener::Unix(unix, _) => unix.accept().await.map(|(stream, _)| {
                connections.serve(stream, place);
            }),
        };
        if let Err(error) = accepted {
            tracing::warn!(%error, "accept failed");
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}
