//! Jobs by their place in the cycle.

use super::{DueJob, anywhere};
use crate::generator::Generator;
use crate::scenario::Timing;

/// The jobs of one timing: the same in every cycle, or redrawn in each.
#[derive(Debug)]
pub(in crate::world) struct Cycles {
    due: Vec<DueJob>,
    place: usize,
    base: u64,
    timing: Timing,
    /// If times are redrawn in each cycle: for each kind, how far in active time it stands after
    /// the first; `None` for a kind with a time of its own.
    redrawn: Option<Vec<(u8, Option<u64>)>>,
}

impl Cycles {
    pub(super) const fn new(
        due: Vec<DueJob>,
        timing: Timing,
        redrawn: Option<Vec<(u8, Option<u64>)>>,
    ) -> Self {
        Self { due, place: 0, base: 0, timing, redrawn }
    }

    /// When the next job is due.
    #[inline]
    pub(super) fn next_time(&self) -> u64 {
        self.due.get(self.place).map_or(u64::MAX, |(at, ..)| self.base + at)
    }

    /// Takes the next job.
    #[inline]
    pub(in crate::world) fn next(&mut self, generator: &mut Generator) -> Option<(u32, u8)> {
        let (_, user, kind) = *self.due.get(self.place)?;
        self.place += 1;
        if self.place == self.due.len() {
            self.place = 0;
            self.base += self.timing.cycle;
            if self.redrawn.is_some() {
                self.draw(generator);
            }
        }
        Some((user, kind))
    }

    /// Draws other times for the next cycle.
    fn draw(&mut self, generator: &mut Generator) {
        let users = self.due.iter().map(|(_, user, _)| *user as usize + 1).max().unwrap_or(0);
        let active = self.timing.active();
        let first: Vec<u64> = (0..users).map(|_| anywhere(active, generator)).collect();
        for (at, user, kind) in &mut self.due {
            let kinds = self.redrawn.iter().flatten();
            let behind = kinds.filter(|(other, _)| other == kind).find_map(|(_, behind)| *behind);
            let drawn = match (behind, first.get(*user as usize)) {
                (Some(behind), Some(first)) => (first + behind) % active,
                _ => anywhere(active, generator),
            };
            *at = self.timing.offset_at(drawn);
        }
        self.due.sort_unstable();
    }

    /// The jobs of a single cycle. After it, the jobs themselves plan the next ones.
    pub(in crate::world) fn once(&mut self) -> Vec<DueJob> {
        std::mem::take(&mut self.due)
    }
}
