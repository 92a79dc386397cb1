//! Decisions of one turn of the event loop, taken together.
//!
//! A connection hands on all requests that it finds in what it has read before the first of them
//! is looked at. So the first to ask knows how many are still to come, and waits for them, and for
//! no others: each that comes, asks something else or goes counts it down. Who is alone is answered
//! at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use offbeat_core::{Id, Place, Schedule};

/// Those who ask in a turn.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Requests that have been read and not been looked at.
    coming: usize,
    /// So many of them are waited for.
    awaited: usize,
    asking: Vec<Option<Asking>>,
    free: Vec<usize>,
    undecided: Vec<usize>,
    /// Of one schedule: kept for its memory.
    together: Vec<usize>,
    places: Vec<Option<Place>>,
}

#[derive(Debug)]
struct Asking {
    schedule: Arc<Schedule>,
    id: Id<'static>,
    waker: Option<Waker>,
    decided: Option<Option<Place>>,
}

/// The place of a request in a turn.
#[derive(Debug)]
pub(crate) struct Seat {
    turn: Arc<Mutex<Turn>>,
    /// It is one of those that are coming.
    is_coming: bool,
    asking: Option<usize>,
}

fn lock(turn: &Mutex<Turn>) -> MutexGuard<'_, Turn> {
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seat {
    /// Of a request that was read, and is to be looked at later.
    pub(crate) fn new(turn: &Arc<Mutex<Turn>>) -> Self {
        lock(turn).coming += 1;
        Self { turn: Arc::clone(turn), is_coming: true, asking: None }
    }

    /// Has been looked at, and does not ask now.
    pub(crate) fn arrive(&mut self) {
        if std::mem::take(&mut self.is_coming) {
            lock(&self.turn).arrive();
        }
    }

    /// The decision of what `question` says, if it has one.
    pub(crate) fn poll(
        &mut self,
        cx: &Context<'_>,
        question: impl FnOnce() -> (Arc<Schedule>, Id<'static>),
    ) -> Poll<Option<Place>> {
        let mut turn = lock(&self.turn);
        let number = match self.asking {
            Some(number) => number,
            None => {
                let (schedule, id) = question();
                let asking = Asking { schedule, id, waker: None, decided: None };
                let number = turn.ask(asking, std::mem::take(&mut self.is_coming));
                self.asking = Some(number);
                number
            }
        };
        match turn.asking_mut(number) {
            Some(Asking { decided: None, waker, .. }) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            decided => {
                let place = decided.and_then(|asking| asking.decided.take().flatten());
                turn.leave(number);
                self.asking = None;
                Poll::Ready(place)
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.arrive();
        if let Some(number) = self.asking {
            lock(&self.turn).leave(number);
        }
    }
}

fn seated(asking: &[Option<Asking>], number: usize) -> Option<&Asking> {
    asking.get(number)?.as_ref()
}

impl Turn {
    fn asking_mut(&mut self, number: usize) -> Option<&mut Asking> {
        self.asking.get_mut(number)?.as_mut()
    }

    /// One that was to come has come.
    fn arrive(&mut self) {
        self.coming -= 1;
        if !self.undecided.is_empty() {
            self.awaited -= 1;
            self.decide_if_all_are_here();
        }
    }

    /// Someone asks, who may have been one of those to come.
    fn ask(&mut self, asking: Asking, was_coming: bool) -> usize {
        let number = self.free.pop().unwrap_or(self.asking.len());
        match self.asking.get_mut(number) {
            Some(seat) => *seat = Some(asking),
            None => self.asking.push(Some(asking)),
        }
        self.coming -= usize::from(was_coming);
        if self.undecided.is_empty() {
            self.awaited = self.coming;
        } else {
            self.awaited -= usize::from(was_coming);
        }
        self.undecided.push(number);
        self.decide_if_all_are_here();
        number
    }

    fn leave(&mut self, number: usize) {
        if let Some(seat) = self.asking.get_mut(number) {
            *seat = None;
            self.free.push(number);
        }
        self.undecided.retain(|other| *other != number);
    }

    /// Decides for all who ask, those of one schedule together.
    fn decide_if_all_are_here(&mut self) {
        if self.awaited > 0 {
            return;
        }
        let Self { asking, undecided, together, places, .. } = self;
        while let Some(first) = undecided.first() {
            let Some(first) = seated(asking, *first) else { break }; // all of them are
            let schedule = Arc::clone(&first.schedule);
            undecided.retain(|number| {
                let is_of_it = seated(asking, *number)
                    .is_some_and(|asking| Arc::ptr_eq(&asking.schedule, &schedule));
                if is_of_it {
                    together.push(*number);
                }
                !is_of_it
            });
            let ids = together.iter().filter_map(|number| seated(asking, *number));
            schedule.place_all(ids.map(|asking| Ok(asking.id)), |place| places.push(place.ok()));
            for (number, place) in together.drain(..).zip(places.drain(..)) {
                let Some(asking) = asking.get_mut(number).and_then(Option::as_mut) else {
                    continue;
                };
                asking.decided = Some(place);
                asking.waker.take().into_iter().for_each(Waker::wake);
            }
        }
        undecided.clear();
    }
}
