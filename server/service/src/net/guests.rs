//! Who is connected, and who must go when there is no place for a newcomer: who has not said
//! what they speak first, then who has been idle longest.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::requests::{Requests, UnderWay};

/// An open connection.
#[derive(Debug, Default)]
pub(super) struct Guest {
    /// Whether it has said what it speaks.
    pub(super) known: Arc<AtomicBool>,
    pub(super) requests: Requests,
    /// Whether it has ever made a request.
    asked: AtomicBool,
    told: AtomicBool,
    leave: Notify,
}

impl Guest {
    pub(super) fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    /// Another request of it begins.
    pub(super) fn begin(&self) -> UnderWay {
        self.asked.store(true, Ordering::Relaxed);
        self.requests.begin()
    }

    /// Whether it has not asked for anything yet.
    pub(super) fn is_stranger(&self) -> bool {
        !self.asked.load(Ordering::Relaxed)
    }

    /// Ready when it must leave.
    pub(super) async fn told_to_leave(&self) {
        self.leave.notified().await;
    }

    fn tell(&self) {
        self.told.store(true, Ordering::Relaxed);
        self.leave.notify_one();
    }

    /// Since when it may be told to leave: never while it has requests, or was told before.
    fn idle_since(&self) -> Option<Instant> {
        if self.told.load(Ordering::Relaxed) { None } else { self.requests.idle_since() }
    }
}

/// All open connections, in the order of their coming.
#[derive(Debug, Default)]
pub(super) struct Guests(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    next: u64,
    guests: BTreeMap<u64, Arc<Guest>>,
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Guests {
    /// Enters a connection; it is struck out when the entry is dropped.
    pub(super) fn enter(&self) -> Entry {
        let guest = Arc::new(Guest::default());
        let mut book = lock(&self.0);
        let number = book.next;
        book.next += 1;
        book.guests.insert(number, Arc::clone(&guest));
        Entry { guest, number, book: Arc::downgrade(&self.0) }
    }

    /// Tells one to leave, if one may; whether there was one.
    pub(super) fn make_room(&self) -> bool {
        let book = lock(&self.0);
        let idle = || book.guests.values().filter_map(|guest| Some((guest.idle_since()?, guest)));
        let stranger = idle().find(|(_, guest)| !guest.is_known());
        let chosen = stranger.or_else(|| idle().min_by_key(|(since, _)| *since));
        if let Some((_, guest)) = chosen {
            guest.tell();
        }
        chosen.is_some()
    }
}

/// The place of a connection in the book.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) guest: Arc<Guest>,
    number: u64,
    book: Weak<Mutex<Book>>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(book) = self.book.upgrade() {
            lock(&book).guests.remove(&self.number);
        }
    }
}
