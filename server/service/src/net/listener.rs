//! TCP and Unix sockets to accept from.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _,
};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::Mode;
use tokio::net::{TcpListener, TcpSocket, UnixListener};

use super::connection::{Connections, Peer};
use crate::config::{ListenAddress, SocketMode};

/// Of the folder of a Unix socket, if it is made.
const FOLDER_MODE: u32 = 0o700;

/// Connections that wait to be accepted, if the system allows as many.
const BACKLOG: u32 = 4_096;

/// After a failed accept (no file descriptors left, mostly), so long a pause.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A bound listener.
#[derive(Debug)]
pub enum Listener {
    /// On an IP address and port.
    Tcp(TcpListener),
    /// On a path, which is removed at the end: before the listener is closed, so that a
    /// successor cannot bind it in between.
    Unix(SocketFile, UnixListener),
}

impl Listener {
    /// Binds `address`; a stale socket of ours, on which nobody listens, is replaced, and a
    /// folder that is missing is made, for the owner alone.
    ///
    /// # Errors
    /// When the address is taken, not ours, or not a socket.
    pub async fn bind(address: &ListenAddress, mode: SocketMode) -> io::Result<Self> {
        match address {
            ListenAddress::Tcp(address) => listen(*address).map(Self::Tcp),
            ListenAddress::Unix(path) => {
                make_folder(path)?;
                remove_stale_socket(path)?;
                // Until its permissions are set, nobody else may connect.
                let umask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
                let listener = UnixListener::bind(path);
                rustix::process::umask(umask);
                let listener = listener?;
                let file = SocketFile { path: path.clone(), identity: identity(path)? };
                fs::set_permissions(path, fs::Permissions::from_mode(mode.0))?;
                Ok(Self::Unix(file, listener))
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
            Self::Unix(file, _) => Ok(ListenAddress::Unix(file.path.clone())),
        }
    }
}

/// The file of a Unix socket of ours; removed when dropped, unless a successor's has taken its
/// place.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|identity| identity == self.identity) {
            let _ = fs::remove_file(&self.path); // it may be gone with its folder
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// As tokio's own, but with a longer queue.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn make_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
            fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)
        }
        _ => Ok(()),
    }
}

fn remove_stale_socket(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the path is no socket"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let why = "the socket belongs to another user";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    match StdUnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "somebody listens on the socket")),
    }
}

/// Accepts connections. When there is no place for one, one that says nothing loses its own; if
/// all are at work, the new one waits.
pub(super) async fn accept(listener: Listener, connections: Arc<Connections>) {
    loop {
        let accepted = match &listener {
            Listener::Tcp(tcp) => tcp.accept().await.map(|(stream, _)| {
                let _ = stream.set_nodelay(true); // a closed peer; serving it will tell
                Peer::Tcp(stream)
            }),
            Listener::Unix(_, unix) => unix.accept().await.map(|(stream, _)| Peer::Unix(stream)),
        };
        match accepted {
            Ok(peer) => {
                connections.admit(peer).await;
                // A crowd at the door does not hold up those inside.
                tokio::task::yield_now().await;
            }
            Err(error) => {
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
