//! Signals that tell a worker to end.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// The number of signals to end so far.
pub(super) struct Signals(watch::Receiver<u32>);

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let (sender, receiver) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                sender.send_modify(|count| *count += 1);
            }
        });
        Ok(Self(receiver))
    }

    pub(super) fn have_come(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Waits until `count` signals have come.
    pub(super) async fn wait_for(&mut self, count: u32) {
        let _ = self.0.wait_for(|come| *come >= count).await;
    }
}
