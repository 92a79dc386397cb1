//! A request in flight: its place, the bytes of its messages, and the thread of its work.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offbeat_proto::status;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinHandle};
use tonic::Status;

/// Resources that all requests share: bytes for messages, and cores for long work.
#[derive(Debug, Clone)]
pub struct SharedResources {
    bytes: Budget,
    cores: Arc<Semaphore>,
}

impl SharedResources {
    /// Allows `bytes` for messages, and as many threads for long work as there are cores.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { bytes: Budget::new(bytes), cores: Arc::new(Semaphore::new(cores)) }
    }

    /// Bytes that messages in flight have taken.
    #[must_use]
    pub fn bytes_taken(&self) -> usize {
        self.bytes.taken()
    }
}

/// A place among the requests in flight, and the bytes that its messages take; both are given back
/// when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Permit(Arc<PermitState>);

#[derive(Debug)]
struct PermitState {
    #[expect(dead_code, reason = "held, never read")]
    places: Vec<OwnedSemaphorePermit>,
    shared: SharedResources,
    request: Mutex<Charge>,
    answer: Mutex<Charge>,
    /// How often the bytes of the request have been given back.
    released: AtomicU64,
}

impl Permit {
    /// A request that holds these places.
    #[must_use]
    pub fn new(places: Vec<OwnedSemaphorePermit>, shared: SharedResources) -> Self {
        let (request, answer) = (Mutex::default(), Mutex::default());
        Self(Arc::new(PermitState { places, shared, request, answer, released: AtomicU64::new(0) }))
    }

    /// Counts `bytes` more of the request's message. Returns whether there was room.
    #[must_use]
    pub fn take_request(&self, bytes: usize) -> bool {
        lock(&self.0.request).grow(&self.0.shared.bytes, bytes)
    }

    /// Gives back the bytes of the request's messages so far: they have been processed.
    pub fn release_request(&self) {
        *lock(&self.0.request) = Charge::default();
        self.0.released.fetch_add(1, Ordering::Relaxed);
    }

    /// How often the bytes of the request have been given back.
    #[must_use]
    pub fn released(&self) -> u64 {
        self.0.released.load(Ordering::Relaxed)
    }

    /// Counts `bytes` of the answer, instead of those counted before. Returns whether there was
    /// room.
    #[must_use]
    pub fn take_answer(&self, bytes: usize) -> bool {
        let mut answer = lock(&self.0.answer);
        *answer = Charge::default();
        answer.grow(&self.0.shared.bytes, bytes)
    }
}

fn lock(charge: &Mutex<Charge>) -> MutexGuard<'_, Charge> {
    charge.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that messages in flight may take together.
#[derive(Debug, Clone)]
struct Budget {
    free: Arc<Semaphore>,
    bytes: usize,
}

/// Size of a page in bytes; bytes are counted in whole pages.
const PAGE: usize = 16 << 10;

impl Budget {
    fn new(bytes: usize) -> Self {
        let pages = (bytes / PAGE).clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(pages)), bytes: pages * PAGE }
    }

    fn taken(&self) -> usize {
        self.bytes - self.free.available_permits() * PAGE
    }
}

/// The pages of a message. The first page is free: small messages are bounded by their number.
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
    /// Whether this thread runs long work at the moment.
    static IS_WORKING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`: on another thread if it is `long`, so that the event loop continues; within long
/// work, on the same thread. At most as many pieces of long work with a permit run as there are
/// cores; further ones wait in their order. Work holds `permit` to its end, so a caller that leaves
/// does not make room for more. Work that has not begun when its caller leaves is dropped.
///
/// # Panics
/// When the work does: its panic resumes in the request, which the layers answer and count.
///
/// # Errors
/// When the runtime ends before the work begins.
pub async fn offload<T: Send + 'static>(
    long: bool,
    permit: Option<Permit>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorkLost> {
    if !long || IS_WORKING.get() {
        return Ok(work());
    }
    let core = match &permit {
        Some(permit) => Arc::clone(&permit.0.shared.cores).acquire_owned().await.ok(),
        None => None,
    };
    let running = AbortOnDrop(tokio::task::spawn_blocking(move || {
        let _held = (core, permit);
        let _working = WorkGuard::begin();
        work()
    }));
    running.await
}

/// Marks the thread for as long as it lives: the runtime may use the thread for other things
/// later.
struct WorkGuard;

impl WorkGuard {
    fn begin() -> Self {
        IS_WORKING.set(true);
        Self
    }
}

impl Drop for WorkGuard {
    fn drop(&mut self) {
        IS_WORKING.set(false);
    }
}

/// Work that ended without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkLost;

impl fmt::Display for WorkLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the work ended without a result")
    }
}

impl std::error::Error for WorkLost {}

impl From<WorkLost> for Status {
    fn from(lost: WorkLost) -> Self {
        status::internal(&lost.to_string())
    }
}

/// The error of a task without a result; a panic resumes here, and is not logged twice.
pub(crate) fn lost(error: JoinError) -> WorkLost {
    match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => WorkLost,
    }
}

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Future for AbortOnDrop<T> {
    type Output = Result<T, WorkLost>;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        std::pin::Pin::new(&mut self.0).poll(cx).map(|joined| joined.map_err(lost))
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;

    use futures_util::FutureExt as _;

    use super::*;

    /// A request that holds one of `places`, on a server where one core is free for long work.
    async fn permit(places: &Arc<Semaphore>, shared: &SharedResources) -> Option<Permit> {
        let place = Arc::clone(places).acquire_owned().await.unwrap();
        Some(Permit::new(vec![place], shared.clone()))
    }

    fn one_core() -> SharedResources {
        SharedResources { bytes: Budget::new(1 << 20), cores: Arc::new(Semaphore::new(1)) }
    }

    #[tokio::test]
    async fn work_holds_its_place_when_its_caller_leaves() {
        let (places, shared) = (Arc::new(Semaphore::new(1)), one_core());
        let (begun, has_begun) = mpsc::channel();
        let (finish, may_finish) = mpsc::channel::<()>();
        let work = move || {
            begun.send(()).unwrap();
            may_finish.recv().unwrap();
        };
        let caller = tokio::spawn(offload(true, permit(&places, &shared).await, work));
        tokio::task::yield_now().await;
        has_begun.recv().unwrap();
        caller.abort();
        assert!(caller.await.is_err());
        assert_eq!(places.available_permits(), 0, "the work still runs");
        finish.send(()).unwrap();
        let _given_back = places.acquire().await.unwrap();
    }

    #[tokio::test]
    async fn long_work_within_long_work_takes_no_second_thread() {
        let (handle, shared) = (tokio::runtime::Handle::current(), one_core());
        let places = Arc::new(Semaphore::new(2));
        let (outer, inner) = (permit(&places, &shared).await, permit(&places, &shared).await);
        let thread = || std::thread::current().id();
        let within = move || {
            let inner = handle.block_on(offload(true, inner, thread));
            (thread(), inner.unwrap())
        };
        let (outer, inner) = offload(true, outer, within).await.unwrap();
        assert_eq!(outer, inner);
        assert_ne!(outer, thread());
    }

    #[tokio::test]
    async fn work_that_has_not_begun_is_dropped_with_its_caller() {
        let (places, shared) = (Arc::new(Semaphore::new(2)), one_core());
        let (finish, may_finish) = mpsc::channel::<()>();
        let first = permit(&places, &shared).await;
        let busy = tokio::spawn(offload(true, first, move || may_finish.recv().unwrap()));
        tokio::task::yield_now().await; // the one core is taken
        let ran = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&ran);
        let work = move || mark.store(true, Ordering::SeqCst);
        let waiting = tokio::spawn(offload(true, permit(&places, &shared).await, work));
        tokio::task::yield_now().await;
        waiting.abort();
        assert!(waiting.await.is_err());
        finish.send(()).unwrap();
        assert_eq!(busy.await.unwrap(), Ok(()));
        offload(true, permit(&places, &shared).await, || ()).await.unwrap();
        assert!(!ran.load(Ordering::SeqCst));
        assert_eq!(places.available_permits(), 2);
    }

    #[tokio::test]
    async fn a_panic_of_long_work_goes_on_in_the_request() {
        let work = offload(true, None, || assert!(std::env::args().count() == 0, "on purpose"));
        let panic = AssertUnwindSafe(work).catch_unwind().await.unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
    }

    #[test]
    fn messages_take_bytes_until_they_are_dealt_with() {
        let places = Arc::new(Semaphore::new(2));
        let shared = one_core();
        let permit = || {
            let place = Arc::clone(&places).try_acquire_owned().unwrap();
            Permit::new(vec![place], shared.clone())
        };
        let first = permit();
        assert!(first.take_request(PAGE) && shared.bytes_taken() == 0, "small ones are free");
        assert!((0..10).all(|_| first.take_request(PAGE / 2)));
        assert_eq!(shared.bytes_taken(), 5 * PAGE);
        first.release_request();
        assert_eq!(shared.bytes_taken(), 0);
        assert!(first.take_request(600 << 10) && first.take_answer(400 << 10));
        let second = permit();
        assert!(!second.take_request(200 << 10), "there is no room");
        assert!(second.take_answer(10 << 10), "except for small ones");
        drop((first, second));
        assert_eq!((shared.bytes_taken(), places.available_permits()), (0, 2));
    }
}
