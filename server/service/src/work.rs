//! Work under way: the place it holds, and where it is done.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

/// A place among the requests under way, and the bytes that its messages take; given back when
/// its last copy is dropped.
#[derive(Debug, Clone)]
pub struct Permit(Arc<Held>);

#[derive(Debug)]
struct Held {
    #[expect(dead_code, reason = "held, never read")]
    places: (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>),
    budget: Budget,
    request: Mutex<Charge>,
    answer: Mutex<Charge>,
}

impl Permit {
    /// A place, and one among the streams if it is one, whose messages take their bytes from
    /// `budget`.
    #[must_use]
    pub fn new(
        place: OwnedSemaphorePermit,
        stream: Option<OwnedSemaphorePermit>,
        budget: Budget,
    ) -> Self {
        let (request, answer) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Held { places: (place, stream), budget, request, answer }))
    }

    /// Counts `bytes` more of the request's message; whether there was room.
    #[must_use]
    pub fn take_request(&self, bytes: usize) -> bool {
        lock(&self.0.request).grow(&self.0.budget, bytes)
    }

    /// Another message of the request begins: those before have been dealt with.
    pub fn next_request(&self) {
        *lock(&self.0.request) = Charge::default();
    }

    /// Counts the answer's `bytes`, instead of those before; whether there was room.
    #[must_use]
    pub fn take_answer(&self, bytes: usize) -> bool {
        let mut answer = lock(&self.0.answer);
        *answer = Charge::default();
        answer.grow(&self.0.budget, bytes)
    }
}

fn lock(charge: &Mutex<Charge>) -> MutexGuard<'_, Charge> {
    charge.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that messages under way may take together.
#[derive(Debug, Clone)]
pub struct Budget {
    free: Arc<Semaphore>,
    bytes: usize,
}

/// Bytes are counted in pages of so many.
const PAGE: usize = 16 << 10;

impl Budget {
    /// So many bytes, rounded down to 16 KiB.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let pages = (bytes / PAGE).clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(pages)), bytes: pages * PAGE }
    }

    /// All of them.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Those taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.bytes - self.free.available_permits() * PAGE
    }
}

/// What a message has taken. The first page is free: small messages are bounded by their number.
#[derive(Debug, Default)]
struct Charge {
    bytes: usize,
    pages: Option<OwnedSemaphorePermit>,
}

impl Charge {
    fn grow(&mut self, budget: &Budget, bytes: usize) -> bool {
        self.bytes += bytes;
        let held = self.pages.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let wanted = (self.bytes.div_ceil(PAGE).max(1) - 1).saturating_sub(held);
        if wanted == 0 {
            return true;
        }
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        match (Arc::clone(&budget.free).try_acquire_many_owned(wanted), &mut self.pages) {
            (Ok(more), Some(pages)) => pages.merge(more),
            (Ok(more), none) => *none = Some(more),
            (Err(_), _) => return false,
        }
        true
    }
}

thread_local! {
    /// Whether this thread is one of those for long work.
    static IS_OFF_LOOP: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is one of those for long work, and not the event loop's.
#[must_use]
pub fn is_off_loop() -> bool {
    IS_OFF_LOOP.get()
}

/// Runs `work`, on another thread if it is `long` and this is not such a thread, so that the
/// event loop goes on. The work holds `permit`: a caller who leaves does not make room for more
/// of it. Work that has not begun when its caller leaves is dropped.
///
/// # Errors
/// When the work panicked.
pub async fn off_loop<T: Send + 'static>(
    long: bool,
    permit: Option<Permit>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorkLost> {
    if !long || is_off_loop() {
        return Ok(work());
    }
    let done = begin(permit, Box::new(move || Box::new(work()))).await?;
    done.downcast().map(|done| *done).map_err(|_| WorkLost)
}

/// What work comes to; of its type knows who asked for it, so that this is compiled once.
type Done = Box<dyn Any + Send>;

fn begin(permit: Option<Permit>, work: Box<dyn FnOnce() -> Done + Send>) -> AbortOnDrop<Done> {
    AbortOnDrop(tokio::task::spawn_blocking(move || {
        IS_OFF_LOOP.set(true); // for good: the event loop is never on it
        let done = work();
        drop(permit);
        done
    }))
}

/// Work that ended without a result: a bug of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkLost;

impl fmt::Display for WorkLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the work ended without a result")
    }
}

impl std::error::Error for WorkLost {}

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Future for AbortOnDrop<T> {
    type Output = Result<T, WorkLost>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|joined| joined.map_err(|_| WorkLost))
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    use tokio::runtime::{Builder, Runtime};

    use super::*;

    /// A runtime that does one piece of long work at a time.
    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap()
    }

    async fn counted(places: &Arc<Semaphore>) -> Option<Permit> {
        let place = Arc::clone(places).acquire_owned().await.unwrap();
        Some(Permit::new(place, None, Budget::new(1 << 20)))
    }

    #[test]
    fn work_under_way_holds_its_place_when_its_caller_leaves() {
        runtime().block_on(async {
            let places = Arc::new(Semaphore::new(1));
            let (begun, has_begun) = mpsc::channel();
            let (finish, may_finish) = mpsc::channel::<()>();
            let work = move || {
                begun.send(()).unwrap();
                may_finish.recv().unwrap();
            };
            let caller = tokio::spawn(off_loop(true, counted(&places).await, work));
            tokio::task::yield_now().await;
            has_begun.recv().unwrap();
            caller.abort();
            assert!(caller.await.is_err());
            assert_eq!(places.available_permits(), 0, "the work still runs");
            finish.send(()).unwrap();
            let _given_back = places.acquire().await.unwrap();
        });
    }

    #[test]
    fn long_work_within_long_work_takes_no_second_thread() {
        let runtime = runtime();
        let handle = runtime.handle().clone();
        let thread = || std::thread::current().id();
        let both = runtime.block_on(async {
            let within = move || {
                let inner = handle.block_on(off_loop(true, None, thread));
                (thread(), inner.unwrap())
            };
            let patience = std::time::Duration::from_secs(5);
            tokio::time::timeout(patience, off_loop(true, None, within)).await
        });
        runtime.shutdown_background(); // which does not wait, should it wait for itself
        let (outer, inner) = both.expect("it waits for itself").unwrap();
        assert_eq!(outer, inner);
        assert_ne!(outer, thread());
    }

    #[test]
    fn work_that_has_not_begun_is_dropped_with_its_caller() {
        runtime().block_on(async {
            let places = Arc::new(Semaphore::new(1));
            let (finish, may_finish) = mpsc::channel::<()>();
            let busy = tokio::spawn(off_loop(true, None, move || may_finish.recv().unwrap()));
            tokio::task::yield_now().await; // the one thread is taken
            let ran = Arc::new(AtomicBool::new(false));
            let mark = Arc::clone(&ran);
            let work = move || mark.store(true, Ordering::SeqCst);
            let waiting = tokio::spawn(off_loop(true, counted(&places).await, work));
            tokio::task::yield_now().await;
            waiting.abort();
            assert!(waiting.await.is_err());
            finish.send(()).unwrap();
            assert_eq!(busy.await.unwrap(), Ok(()));
            off_loop(true, None, || ()).await.unwrap(); // behind the one that was dropped
            assert!(!ran.load(Ordering::SeqCst));
            assert_eq!(places.available_permits(), 1);
        });
    }

    #[test]
    fn messages_take_bytes_until_they_are_dealt_with() {
        let places = Arc::new(Semaphore::new(2));
        let budget = Budget::new(1 << 20);
        let permit = || {
            let place = Arc::clone(&places).try_acquire_owned().unwrap();
            Permit::new(place, None, budget.clone())
        };
        let first = permit();
        assert!(first.take_request(PAGE) && budget.taken() == 0, "small ones are free");
        assert!((0..10).all(|_| first.take_request(PAGE / 2)));
        assert_eq!(budget.taken(), 5 * PAGE);
        first.next_request();
        assert_eq!(budget.taken(), 0);
        assert!(first.take_request(600 << 10) && first.take_answer(400 << 10));
        let second = permit();
        assert!(!second.take_request(200 << 10), "there is no room");
        assert!(second.take_answer(10 << 10), "but for small ones");
        drop((first, second));
        assert_eq!((budget.taken(), places.available_permits()), (0, 2));
    }
}
