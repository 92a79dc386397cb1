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
    /// So many of them are waited for. (Were one counted that came later, the others would only be
    /// decided sooner.)
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
            self.awaited = self.awaited.saturating_sub(1);
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
            self.awaited = self.awaited.saturating_sub(usize::from(was_coming));
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

#[cfg(test)]
mod tests {
    use offbeat_core::{PlacementKind, ScheduleSpec, Span};

    use super::*;

    fn schedule() -> Arc<Schedule> {
        let period = ScheduleSpec::every(Span::from_seconds(28_800));
        let spec = ScheduleSpec { placement: PlacementKind::Twister, ..period };
        Arc::new(Schedule::try_new(&spec).unwrap())
    }

    fn ask(seat: &mut Seat, schedule: &Arc<Schedule>, id: u128) -> Poll<Option<Place>> {
        let cx = Context::from_waker(Waker::noop());
        seat.poll(&cx, || (Arc::clone(schedule), Id::Uuid(id)))
    }

    fn alone(schedule: &Schedule, id: u128) -> Poll<Option<Place>> {
        Poll::Ready(schedule.place(&Id::Uuid(id)).ok())
    }

    #[test]
    fn who_is_alone_is_answered_at_once() {
        let (turn, schedule) = (Arc::default(), schedule());
        for id in 0..3 {
            assert_eq!(ask(&mut Seat::new(&turn), &schedule, id), alone(&schedule, id));
        }
        let mut late = Seat::new(&turn);
        late.arrive(); // its message came later
        assert_eq!(ask(&mut late, &schedule, 7), alone(&schedule, 7));
        assert_eq!(lock(&turn).asking.len(), 1, "seats are taken again");
    }

    #[test]
    fn the_last_of_a_turn_decides_for_all_whatever_their_schedules() {
        let (turn, one, other) = (Arc::default(), schedule(), schedule());
        let of = |id: u128| if id.is_multiple_of(3) { &one } else { &other };
        let mut seats: Vec<_> = (0..40).map(|_| Seat::new(&turn)).collect();
        for (id, seat) in (0..).zip(&mut seats).take(39) {
            assert_eq!(ask(seat, of(id), id), Poll::Pending);
        }
        let mut next = Seat::new(&turn); // of the next turn: not waited for
        assert_eq!(ask(seats.last_mut().unwrap(), of(39), 39), alone(of(39), 39));
        for (id, seat) in (0..).zip(&mut seats).take(39) {
            assert_eq!(ask(seat, of(id), id), alone(of(id), id));
        }
        assert_eq!(ask(&mut next, &one, 40), alone(&one, 40));
    }

    #[test]
    fn who_goes_or_asks_something_else_is_not_waited_for() {
        let (turn, schedule) = (Arc::default(), schedule());
        let [mut first, mut second, gone, mut other] = [(); 4].map(|()| Seat::new(&turn));
        assert_eq!(ask(&mut first, &schedule, 1), Poll::Pending);
        assert_eq!(ask(&mut second, &schedule, 2), Poll::Pending);
        drop(second); // while it waits
        drop(gone); // before it was looked at
        assert_eq!(ask(&mut first, &schedule, 1), Poll::Pending);
        other.arrive();
        assert_eq!(ask(&mut first, &schedule, 1), alone(&schedule, 1));
        drop((first, other));
        let turn = lock(&turn);
        assert_eq!((turn.coming, turn.undecided.len()), (0, 0));
        assert_eq!(turn.free.len(), turn.asking.len());
    }
}
