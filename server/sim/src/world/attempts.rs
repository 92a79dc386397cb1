//! Attempts that run, until they end.

use super::departures::Departures;
use super::job::Job;

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Done,
    TimedOut,
    /// The partner refused it; it is tried again after this long.
    Refused(u64),
    Failed,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) job: Job,
    pub(super) lane: u8,
    pub(super) end: End,
}

#[derive(Debug)]
pub(super) struct Attempts {
    /// When attempts end, by their place in `running`.
    departures: Departures,
    running: Vec<Attempt>,
    free_places: Vec<u32>,
}

impl Attempts {
    pub(super) fn new() -> Self {
        Self { departures: Departures::new(), running: Vec::new(), free_places: Vec::new() }
    }

    /// When the next attempt ends; `u64::MAX` if none runs.
    #[inline]
    pub(super) fn next_time(&self) -> u64 {
        self.departures.next_time()
    }

    #[inline]
    pub(super) fn push(&mut self, ends_at: u64, attempt: Attempt) {
        let place = self.place(attempt);
        self.departures.push(ends_at, place);
    }

    /// Takes out the attempt that ends next.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Attempt> {
        let place = self.departures.pop()?;
        let attempt = self.running.get(place as usize).copied()?;
        self.free_places.push(place);
        Some(attempt)
    }

    #[inline]
    fn place(&mut self, attempt: Attempt) -> u32 {
        if let Some(place) = self.free_places.pop()
            && let Some(free) = self.running.get_mut(place as usize)
        {
            *free = attempt;
            return place;
        }
        self.running.push(attempt);
        u32::try_from(self.running.len() - 1).unwrap_or(u32::MAX)
    }
}
