//! The parts of a run in which nothing changes from outside: the scenario's number of workers, the
//! partners and the producer.

use super::clock::SECOND;
use super::metrics::Row;
use super::partners::Partners;
use crate::scenario::Scenario;

/// The figures of a phase. Counts of workers are sums over its seconds, as they were at the end of
/// each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PhaseTally {
    /// Its first second, and the first that is not in it.
    pub seconds: (u64, u64),
    /// Workers, summed over the seconds.
    pub workers: u64,
    /// Workers with a job, summed over the seconds.
    pub busy_workers: u64,
    /// How long the jobs that were enqueued in it would keep workers busy, in microseconds.
    pub offered: u64,
    /// Jobs whose first attempt began in it.
    pub waited: u64,
    /// How long these had waited in total, in microseconds.
    pub wait_micros: u128,
    /// The most jobs that waited at the end of a second.
    pub max_queue_depth: u32,
    /// Tallies by partner.
    pub partners: Vec<PhasePartner>,
}

/// Demand of a partner's customers in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PhasePartner {
    /// Calls of the jobs that were enqueued in it.
    pub calls: u64,
    /// Workers that waited for it without success, summed over the seconds.
    pub unanswered: u64,
    /// Jobs of its customers whose first attempt began in it.
    pub waited: u64,
    /// How long these had waited in total, in microseconds.
    pub wait_micros: u128,
}

/// The jobs that wait or are delayed in the last part of a run: whether they become more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tail {
    /// Number at its beginning.
    pub first: u64,
    /// Smallest number during it.
    pub fewest: u64,
    /// Number at its end.
    pub last: u64,
    /// Jobs that were enqueued in it.
    pub enqueued: u64,
}

#[derive(Debug)]
pub(super) struct Phases {
    phases: Vec<PhaseTally>,
    /// The index of the current phase.
    current: usize,
    second: u64,
    tail: Tail,
    /// The second from which the tail counts.
    tail_from: u64,
}

impl Phases {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let end = scenario.duration.div_ceil(SECOND);
        let starts = scenario.phase_starts();
        let partners = vec![PhasePartner::default(); scenario.partners.len()];
        let ends = starts.iter().copied().skip(1).chain([end]);
        let phase =
            |seconds| PhaseTally { seconds, partners: partners.clone(), ..Default::default() };
        let phases = starts.iter().copied().zip(ends).map(phase).collect();
        let tail = scenario.timing.cycle.min(scenario.duration / 2).div_ceil(SECOND);
        let tail_from = end.saturating_sub(tail);
        Self {
            phases,
            current: 0,
            second: 0,
            tail: Tail { fewest: u64::MAX, ..Tail::default() },
            tail_from,
        }
    }

    #[inline]
    fn current(&mut self) -> Option<&mut PhaseTally> {
        self.phases.get_mut(self.current)
    }

    /// Counts a job that is enqueued: it would keep a worker busy for `time`, and makes the calls
    /// of `asks`.
    #[inline]
    pub(super) fn enqueued(&mut self, time: u64, asks: Option<(usize, u32)>) {
        let Some(phase) = self.current() else { return };
        phase.offered = phase.offered.saturating_add(time);
        if let Some((place, calls)) = asks
            && let Some(partner) = phase.partners.get_mut(place)
        {
            partner.calls += u64::from(calls);
        }
    }

    /// Counts a first attempt that begins.
    #[inline]
    pub(super) fn waited(&mut self, wait: u64, asks: Option<(usize, u32)>) {
        let Some(phase) = self.current() else { return };
        phase.waited += 1;
        phase.wait_micros += u128::from(wait);
        if let Some((place, _)) = asks
            && let Some(partner) = phase.partners.get_mut(place)
        {
            partner.waited += 1;
            partner.wait_micros += u128::from(wait);
        }
    }

    /// Ends a second, in which `waiting` jobs wait or are delayed.
    #[inline]
    pub(super) fn end_second(&mut self, row: &Row, waiting: u64, partners: &Partners) {
        let second = self.second;
        self.second += 1;
        if let Some(phase) = self.phases.get_mut(self.current) {
            phase.workers += u64::from(row.workers);
            phase.busy_workers += u64::from(row.busy_workers);
            phase.max_queue_depth = phase.max_queue_depth.max(row.queue_depth);
            for (tally, now) in phase.partners.iter_mut().zip(partners.unanswered()) {
                tally.unanswered += u64::from(now);
            }
            self.current += usize::from(self.second >= phase.seconds.1);
        }
        if self.second >= self.tail_from {
            self.tail(second, waiting, row.enqueued);
        }
    }

    fn tail(&mut self, second: u64, waiting: u64, enqueued: u32) {
        if second < self.tail_from || self.tail_from == 0 {
            self.tail.first = waiting;
        }
        if second >= self.tail_from {
            self.tail.fewest = self.tail.fewest.min(waiting);
            self.tail.enqueued += u64::from(enqueued);
        }
        self.tail.last = waiting;
    }

    /// The figures of the phases; for a run that was stopped, of those that began.
    pub(super) fn close(mut self) -> (Vec<PhaseTally>, Tail) {
        let second = self.second;
        self.phases.retain(|phase| phase.seconds.0 < second);
        if let Some(last) = self.phases.last_mut() {
            last.seconds.1 = last.seconds.1.min(second);
        }
        (self.phases, self.tail)
    }
}
