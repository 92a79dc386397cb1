//! Rate limits on the workers' side: jobs above the limit wait, without a worker.

use std::collections::VecDeque;

use super::job::Job;
use super::partners::Partners;
use crate::scenario::{Partner, Scenario};

/// The limiters, by partner.
#[derive(Debug)]
pub(super) struct Limiters(Vec<PartnerLimiter>);

#[derive(Debug)]
struct PartnerLimiter {
    /// Time between two calls, in microseconds; and when the next may come.
    gap: Option<u64>,
    next: u64,
    max_concurrent: Option<u32>,
    running: u32,
    held: VecDeque<Job>,
}

/// Whether a job may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Now,
    /// At this time.
    At(u64),
    /// When an attempt at the same partner ends; the job is held until then.
    Held,
}

impl Limiters {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let limited = |partner: &Partner| PartnerLimiter {
            gap: partner.limiter.max_per_second.map(|most| 1_000_000 / u64::from(most.max(1))),
            next: 0,
            max_concurrent: partner.limiter.max_concurrent,
            running: 0,
            held: VecDeque::new(),
        };
        let is_limited = |partner: &Partner| partner.limiter != crate::scenario::Limiter::default();
        let any = scenario.partners.iter().any(is_limited);
        Self(if any { scenario.partners.iter().map(limited).collect() } else { Vec::new() })
    }

    /// Asks whether a worker may take this job now.
    #[inline]
    pub(super) fn admit(&mut self, job: &mut Job, partners: &Partners, now: u64) -> Admission {
        if self.0.is_empty() {
            return Admission::Now;
        }
        let Some((place, calls)) = partners.asked_by(job) else { return Admission::Now };
        let Some(limited) = self.0.get_mut(place) else { return Admission::Now };
        limited.admit(job, calls, now)
    }

    /// An attempt has ended, or could not begin. Returns the job that may begin instead.
    #[inline]
    pub(super) fn leave(&mut self, job: &mut Job, partners: &Partners) -> Option<Job> {
        if self.0.is_empty() {
            return None;
        }
        job.is_paced = false;
        if !std::mem::take(&mut job.has_permit) {
            return None;
        }
        let (place, _) = partners.asked_by(job)?;
        let limited = self.0.get_mut(place)?;
        let next = limited.held.pop_front().map(|held| Job { has_permit: true, ..held });
        limited.running -= u32::from(next.is_none());
        next
    }

    /// All jobs that are held.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Job> + '_ {
        self.0.iter_mut().flat_map(|limited| limited.held.drain(..))
    }
}

impl PartnerLimiter {
    fn admit(&mut self, job: &mut Job, calls: u32, now: u64) -> Admission {
        if let Some(gap) = self.gap.filter(|_| !job.is_paced) {
            job.is_paced = true;
            let at = self.next.max(now);
            self.next = at.saturating_add(gap.saturating_mul(calls.into()));
            if at > now {
                return Admission::At(at);
            }
        }
        match self.max_concurrent {
            Some(most) if !job.has_permit => {
                if self.running >= most {
                    self.held.push_back(*job);
                    return Admission::Held;
                }
                self.running += 1;
                job.has_permit = true;
                Admission::Now
            }
            _ => Admission::Now,
        }
    }
}
