//! When attempts end.

use core::cmp::Reverse;

use std::collections::BinaryHeap;

use super::job::Timed;

/// Up to this many stand in a row: inserting there takes less time than the comparisons of a heap,
/// which no processor can predict.
const FEW: usize = 64;

/// The earliest departure comes out first; of those at the same time, the one that was pushed
/// first.
#[derive(Debug)]
pub(super) enum Departures {
    /// Times, descending, and what departs at each.
    Few { times: Vec<u64>, what: Vec<u32> },
    /// A heap, for the rest of the run once there were too many.
    Many { heap: BinaryHeap<Reverse<Timed<u32>>>, number: u64 },
}

impl Departures {
    pub(super) fn new() -> Self {
        Self::Few { times: Vec::with_capacity(FEW), what: Vec::with_capacity(FEW) }
    }

    #[inline]
    pub(super) fn push(&mut self, at: u64, departing: u32) {
        match self {
            Self::Few { times, what } if times.len() < FEW => {
                // Counted instead of searched, so that no branch depends on the times.
                let place = times.iter().map(|time| usize::from(*time > at)).sum();
                times.insert(place, at);
                what.insert(place, departing);
            }
            Self::Few { times, what } => {
                let earliest_first = times.drain(..).zip(what.drain(..)).rev();
                let mut number = 0;
                let mut heap = BinaryHeap::new();
                for (at, what) in earliest_first.chain([(at, departing)]) {
                    heap.push(Reverse(Timed { at, number, what }));
                    number += 1;
                }
                *self = Self::Many { heap, number };
            }
            Self::Many { heap, number } => {
                heap.push(Reverse(Timed { at, number: *number, what: departing }));
                *number += 1;
            }
        }
    }

    /// When the next one departs; `u64::MAX` if there is none.
    #[inline]
    pub(super) fn next_time(&self) -> u64 {
        match self {
            Self::Few { times, .. } => times.last().copied().unwrap_or(u64::MAX),
            Self::Many { heap, .. } => heap.peek().map_or(u64::MAX, |Reverse(next)| next.at),
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        match self {
            Self::Few { times, what } => {
                times.pop();
                what.pop()
            }
            Self::Many { heap, .. } => heap.pop().map(|Reverse(next)| next.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::Generator;

    /// With a row and with a heap.
    #[test]
    fn they_leave_by_time_and_then_as_they_came() {
        for most in [1, 15, FEW, FEW + 1, 500] {
            let mut departures = Departures::new();
            let mut expected: Vec<(u64, u32)> = Vec::new();
            let mut generator = Generator::new(most as u64);
            for number in 0..20_000 {
                if expected.len() < most && generator.below(2) == 0 {
                    let at = generator.below(50) as u64;
                    departures.push(at, number);
                    expected.push((at, number));
                } else {
                    expected.sort_unstable(); // numbers rise
                    let next = expected.first().copied();
                    assert_eq!(departures.next_time(), next.map_or(u64::MAX, |(at, _)| at));
                    assert_eq!(departures.pop(), next.map(|(_, what)| what));
                    expected.drain(..usize::from(next.is_some()));
                }
            }
        }
    }
}
