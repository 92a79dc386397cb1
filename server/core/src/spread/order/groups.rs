//! A source of groups that exist already.

use super::{Pull, Source};

/// A source over iterators: one of groups, and one of the jobs of each group. It is as lazy as they
/// are.
#[derive(Debug)]
pub struct Groups<I>(I);

impl<I> Groups<I>
where
    I: Iterator<Item: IntoIterator>,
{
    /// A source over anything that yields groups.
    pub fn new(groups: impl IntoIterator<IntoIter = I>) -> Self {
        Self(groups.into_iter())
    }
}

impl<I, G> Source for Groups<I>
where
    I: Iterator<Item = G>,
    G: IntoIterator,
{
    type Group = G::IntoIter;
    type Job = G::Item;

    #[inline]
    fn next_group(&mut self) -> Pull<Self::Group> {
        self.0.next().map_or(Pull::End, |group| Pull::Ready(group.into_iter()))
    }

    #[inline]
    fn next_job(&mut self, group: &mut Self::Group) -> Pull<Self::Job> {
        group.next().map_or(Pull::End, Pull::Ready)
    }

    /// The lower size hint of the iterator; exact for arrays, lists and ranges.
    fn size(&self, group: &Self::Group) -> u64 {
        group.size_hint().0 as u64
    }
}
