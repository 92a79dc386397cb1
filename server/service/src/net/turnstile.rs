//! A turnstile for strangers: connections that have never asked for anything go on only so many
//! in a turn of the event loop. A thousand that come, or leave, at the same moment would else
//! have their turns one behind the other, and a caller's request would wait for all of them.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::sync::{Notify, Semaphore};

/// Each takes some 20 µs at the most, to begin or to end.
const STRANGERS_A_TURN: usize = 8;

/// Where strangers wait. Somebody must [`usher`](Self::usher) them.
#[derive(Debug)]
pub(super) struct Turnstile {
    /// Those who may still go on in this turn.
    free: Arc<Semaphore>,
    crowded: Notify,
}

impl Default for Turnstile {
    fn default() -> Self {
        Self { free: Arc::new(Semaphore::new(STRANGERS_A_TURN)), crowded: Notify::new() }
    }
}

/// A place in the queue, if one had to be taken.
type Waiting = Option<Pin<Box<dyn Future<Output = ()> + Send>>>;

impl Turnstile {
    /// Does `work`, for which each step needs a place as long as it is a stranger's. It stays where
    /// it is: a connection's is large, and would else have room in this future, too.
    pub(super) async fn pass<T>(
        &self,
        is_stranger: impl Fn() -> bool,
        mut work: Pin<&mut impl Future<Output = T>>,
    ) -> T {
        let mut waiting = None;
        poll_fn(|cx| {
            if is_stranger() {
                ready!(self.poll_place(&mut waiting, cx));
            }
            work.as_mut().poll(cx)
        })
        .await
    }

    fn poll_place(&self, waiting: &mut Waiting, cx: &mut Context<'_>) -> Poll<()> {
        let queue = match waiting {
            Some(queue) => queue,
            None => {
                if let Ok(place) = self.free.try_acquire() {
                    place.forget(); // the usher gives new ones
                    return Poll::Ready(());
                }
                self.crowded.notify_one();
                let free = Arc::clone(&self.free);
                waiting.insert(Box::pin(async move {
                    if let Ok(place) = free.acquire().await {
                        place.forget();
                    }
                }))
            }
        };
        ready!(queue.as_mut().poll(cx));
        *waiting = None;
        Poll::Ready(())
    }

    /// Lets the next ones through, turn by turn, as long as there are any.
    pub(super) async fn usher(&self) {
        loop {
            self.crowded.notified().await;
            loop {
                // What has come for others is looked for first.
                tokio::task::yield_now().await;
                let gone = STRANGERS_A_TURN.saturating_sub(self.free.available_permits());
                if gone == 0 {
                    break; // nobody waits
                }
                self.free.add_permits(gone);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use tokio::task::yield_now;

    use super::*;

    /// Work that counts its steps.
    async fn counted(steps: &AtomicUsize) {
        for _ in 0..3 {
            steps.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_crowd_does_not_hold_up_who_is_known() {
        let turnstile = Arc::new(Turnstile::default());
        let usher = Arc::clone(&turnstile);
        tokio::spawn(async move { usher.usher().await });
        let steps = Arc::new(AtomicUsize::new(0));
        let mut crowd = tokio::task::JoinSet::new();
        for _ in 0..1_000 {
            let (turnstile, steps) = (Arc::clone(&turnstile), Arc::clone(&steps));
            crowd.spawn(async move { turnstile.pass(|| true, pin!(counted(&steps))).await });
        }
        // Whoever is known goes on in each turn, and sees few strangers between two of them.
        let (mut before, mut turns) = (0, 0);
        while before < 3_000 {
            turnstile.pass(|| false, pin!(yield_now())).await;
            let now = steps.load(Ordering::Relaxed);
            assert!(now - before <= 3 * STRANGERS_A_TURN, "{} strangers in a turn", now - before);
            before = now;
            turns += 1;
            assert!(turns < 100_000, "strangers are stuck at {now} steps");
        }
        while crowd.join_next().await.is_some() {}
    }

    #[tokio::test]
    async fn who_becomes_known_waits_no_longer() {
        let turnstile = Arc::new(Turnstile::default()); // nobody ushers: places are never given anew
        let stranger = Arc::new(AtomicBool::new(true));
        let is_stranger = {
            let stranger = Arc::clone(&stranger);
            move || stranger.load(Ordering::Relaxed)
        };
        let steps = AtomicUsize::new(0);
        for _ in 0..STRANGERS_A_TURN {
            turnstile.free.try_acquire().unwrap().forget();
        }
        let steps_of_work = pin!(counted(&steps));
        let mut work = pin!(turnstile.pass(is_stranger, steps_of_work));
        let mut step = || {
            let mut once = pin!(poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx).is_ready())));
            let mut context = Context::from_waker(std::task::Waker::noop());
            once.as_mut().poll(&mut context).is_ready()
        };
        step();
        assert_eq!(steps.load(Ordering::Relaxed), 0);
        stranger.store(false, Ordering::Relaxed);
        step();
        assert_eq!(steps.load(Ordering::Relaxed), 1);
    }
}
