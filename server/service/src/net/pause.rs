//! A pause until the next turn of the event loop.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// Goes on when the loop has looked for what has come to others, and not before, however often
/// its task is woken meanwhile. (`yield_now` alone is over as soon as it is polled again: a
/// connection whose own streams wake it would go on and on.)
#[derive(Debug, Default)]
pub(super) struct Pause(Option<Arc<Turn>>);

#[derive(Debug, Default)]
struct Turn {
    over: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        self.over.store(true, Ordering::Release);
        self.task.wake();
    }
}

impl Pause {
    /// Begins one.
    pub(super) fn begin(&mut self) {
        let turn = self.0.insert(Arc::default());
        let waker = Waker::from(Arc::clone(turn));
        // Unlike a waker that is woken at once, this is woken after the loop has looked.
        let _ = pin!(tokio::task::yield_now()).poll(&mut Context::from_waker(&waker));
    }

    /// Ready once it is over, and if there is none.
    pub(super) fn poll_end(&mut self, cx: &Context<'_>) -> Poll<()> {
        if let Some(turn) = &self.0 {
            turn.task.register(cx.waker());
            if !turn.over.load(Ordering::Acquire) {
                return Poll::Pending;
            }
            self.0 = None;
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;

    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn who_is_woken_again_and_again_still_pauses_for_a_turn() {
        let count = || Arc::new(AtomicUsize::new(0));
        let (ended, polled) = (count(), count());
        let (ends, polls) = (Arc::clone(&ended), Arc::clone(&polled));
        let mut pause = Pause::default();
        tokio::spawn(poll_fn(move |cx| {
            polls.fetch_add(1, Ordering::Relaxed);
            cx.waker().wake_by_ref();
            if pause.poll_end(cx).is_ready() {
                ends.fetch_add(1, Ordering::Relaxed);
                pause.begin();
            }
            Poll::<()>::Pending
        }));
        // Nothing else wakes this task: its turns are those of the event loop.
        for _ in 0..100 {
            yield_now().await;
        }
        let (ended, polled) = (ended.load(Ordering::Relaxed), polled.load(Ordering::Relaxed));
        assert!((90..=102).contains(&ended), "{ended} pauses in 100 turns");
        assert!(polled > 1_000, "{polled} polls: it was not woken");
    }
}
