//! A queue of items that arrive nearly in the order in which they leave.

use core::cmp::Reverse;

use std::collections::{BinaryHeap, VecDeque};

/// The least item comes out first. An item that is not before the last of the row joins the row,
/// which is several times faster than a heap; only the others go to the heap.
#[derive(Debug)]
pub(super) struct Ascending<T> {
    row: VecDeque<T>,
    others: BinaryHeap<Reverse<T>>,
}

impl<T: Ord + Copy> Ascending<T> {
    pub(super) const fn new() -> Self {
        Self { row: VecDeque::new(), others: BinaryHeap::new() }
    }

    #[inline]
    pub(super) fn push(&mut self, item: T) {
        if self.row.back().is_none_or(|last| *last <= item) {
            self.row.push_back(item);
        } else {
            self.others.push(Reverse(item));
        }
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&T> {
        match (self.row.front(), self.others.peek()) {
            (Some(front), Some(Reverse(other))) => Some(front.min(other)),
            (front, other) => front.or_else(|| other.map(|Reverse(other)| other)),
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        let is_other = match (self.row.front(), self.others.peek()) {
            (Some(front), Some(Reverse(other))) => other < front,
            (None, _) => true,
            (Some(_), None) => false,
        };
        if is_other { self.others.pop().map(|Reverse(other)| other) } else { self.row.pop_front() }
    }

    /// All items, in any order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.row.drain(..).chain(self.others.drain().map(|Reverse(other)| other))
    }
}

impl<T: Ord + Copy> FromIterator<T> for Ascending<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut all = Self::new();
        items.into_iter().for_each(|item| all.push(item));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::Generator;

    #[test]
    fn it_is_as_a_heap() {
        let (mut found, mut heap) = (Ascending::new(), BinaryHeap::new());
        let mut generator = Generator::new(3);
        for number in 0..20_000_usize {
            let item = number / 2 + generator.below(if number % 100 == 0 { 900 } else { 3 });
            found.push(item);
            heap.push(Reverse(item));
            assert_eq!(found.first(), heap.peek().map(|Reverse(item)| item));
            if generator.below(3) > 0 {
                assert_eq!(found.pop(), heap.pop().map(|Reverse(item)| item));
            }
        }
        let mut left: Vec<usize> = found.drain().collect();
        left.sort_unstable();
        let expected: Vec<usize> =
            heap.into_sorted_vec().into_iter().rev().map(|Reverse(item)| item).collect();
        assert_eq!(left, expected);
        assert!(left.len() > 1_000 && found.pop().is_none());
    }
}
