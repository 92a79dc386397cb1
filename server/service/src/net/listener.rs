//! TCP and Unix listeners.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::Mode;
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};

use crate::config::{ListenAddress, SocketMode};

/// Mode of the folder of a Unix socket, if the server makes it.
const FOLDER_MODE: u32 = 0o700;

/// Connections that wait to be accepted, if the system allows as many.
const BACKLOG: u32 = 4_096;

/// The pause after a failed accept (usually because file descriptors ran out).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Timeout of the check at the start whether a process listens on a Unix socket.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

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
    /// Binds `address`. Replaces a stale socket of the same user without a listener, and makes a
    /// missing folder, for the owner only.
    ///
    /// # Errors
    /// When the address is taken, not ours, or not a socket.
    pub async fn bind(address: &ListenAddress, mode: SocketMode) -> io::Result<Self> {
        match address {
            ListenAddress::Tcp(address) => listen(*address).map(Self::Tcp),
            ListenAddress::Unix(path) => {
                make_folder(path)?;
                remove_stale_socket(path).await?;
                // Until its permissions are set, no other user may connect.
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

    /// The next connection, however long it takes.
    pub(super) async fn accept(&self) -> AcceptedConnection {
        loop {
            let accepted = match self {
                Self::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                    let _ = stream.set_nodelay(true); // fails if the peer has gone
                    AcceptedConnection::Tcp(stream)
                }),
                Self::Unix(_, listener) => {
                    listener.accept().await.map(|(stream, _)| AcceptedConnection::Unix(stream))
                }
            };
            match accepted {
                Ok(accepted) => return accepted,
                Err(error) => {
                    tracing::warn!(%error, "accept failed");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Whether it is TCP, and bound to a loopback address.
    pub(crate) fn is_on_loopback(&self) -> bool {
        match self {
            Self::Tcp(listener) => {
                listener.local_addr().is_ok_and(|address| address.ip().to_canonical().is_loopback())
            }
            Self::Unix(..) => false,
        }
    }

    /// The bound address, with the chosen port instead of 0.
    ///
    /// # Errors
    /// When the system does not know it.
    pub fn address(&self) -> io::Result<ListenAddress> {
        match self {
            Self::Tcp(listener) => Ok(ListenAddress::Tcp(listener.local_addr()?)),
            Self::Unix(file, _) => Ok(ListenAddress::Unix(file.path.clone())),
        }
    }
}

/// A connection that was accepted.
#[derive(Debug)]
pub(super) enum AcceptedConnection {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// The file of a bound Unix socket. It is removed when dropped, unless a successor has replaced
/// it.
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

/// Like tokio's own, but with a longer queue.
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

async fn remove_stale_socket(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the path is not a socket"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let why = "the socket belongs to another user";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    let connected = tokio::time::timeout(PROBE_TIMEOUT, UnixStream::connect(path)).await;
    match connected.unwrap_or_else(|_| Err(io::ErrorKind::AddrInUse.into())) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "a process listens on the socket")),
    }
}
