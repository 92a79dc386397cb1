//! Jobs that a worker holds, and for how long.

use std::collections::VecDeque;
use std::time::Duration;

use offbeat_proto::{JobSettlement, LeasedJob, LeasedJobs, SettleAction, SettleOutcome};
use tokio::time::Instant;

/// How long before the end of its lease a command is asked to end, if the lease cannot be extended:
/// at most a quarter of the lease.
const MARGIN: Duration = Duration::from_secs(5);

/// After an extension without an answer, the next one is tried within this time.
const SOON: Duration = Duration::from_secs(1);

/// A job that is held.
pub(super) struct HeldJob {
    pub(super) epoch: i64,
    pub(super) job: LeasedJob,
    lease: Duration,
    /// The end of its lease by the clock of this machine, never later than the server's.
    ends: Instant,
}

impl HeldJob {
    /// When a command that works on the job must begin to end.
    pub(super) fn give_up_at(&self) -> Instant {
        self.ends - MARGIN.min(self.lease / 4)
    }

    /// End of the lease.
    pub(super) const fn ends(&self) -> Instant {
        self.ends
    }

    pub(super) fn settlement(&self, action: SettleAction, delay: Duration) -> JobSettlement {
        JobSettlement {
            sequence: self.job.sequence,
            attempt: self.job.attempt,
            action: action.into(),
            delay: if delay.is_zero() { None } else { delay.try_into().ok() },
        }
    }
}

/// The jobs that a worker holds; it works on the first one.
pub(super) struct Leases {
    jobs: VecDeque<HeldJob>,
    extend_at: Instant,
}

impl Default for Leases {
    fn default() -> Self {
        Self { jobs: VecDeque::new(), extend_at: Instant::now() }
    }
}

impl Leases {
    /// Takes jobs that were leased at `start` or later.
    pub(super) fn take(&mut self, leased: LeasedJobs, start: Instant) {
        let lease = leased.lease_duration.and_then(|lease| lease.try_into().ok());
        let lease: Duration = lease.unwrap_or_default();
        let epoch = leased.epoch;
        let held = |job| HeldJob { epoch, job, lease, ends: start + lease };
        self.jobs.extend(leased.jobs.into_iter().map(held));
        self.extend_at = start + lease / 3;
    }

    pub(super) fn first(&self) -> Option<&HeldJob> {
        self.jobs.front()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &HeldJob> {
        self.jobs.iter()
    }

    pub(super) fn remove_first(&mut self) {
        self.jobs.pop_front();
    }

    /// When to extend the leases.
    pub(super) const fn extend_at(&self) -> Instant {
        self.extend_at
    }

    /// Notes the outcomes of an extension that was requested at `asked`; `None` if the server has
    /// not answered. Returns whether the first job is still held.
    pub(super) fn note_extension(
        &mut self,
        asked: Instant,
        outcomes: Option<&[SettleOutcome]>,
    ) -> bool {
        let Some(outcomes) = outcomes else {
            self.extend_at =
                Instant::now() + SOON.min(self.first().map_or(SOON, |held| held.lease / 10));
            return true;
        };
        let extended = |index: usize| outcomes.get(index) == Some(&SettleOutcome::Extended);
        let is_held = extended(0);
        let mut index = 0;
        // The first one stays until it is settled.
        self.jobs.retain_mut(|held| {
            let (is_first, is_extended) = (index == 0, extended(index));
            index += 1;
            if is_extended {
                held.ends = asked + held.lease;
            }
            is_first || is_extended
        });
        self.extend_at = asked + self.first().map_or(SOON, |held| held.lease / 3);
        is_held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leases(count: i64, lease: i64) -> (Leases, Instant) {
        let start = Instant::now();
        let mut leases = Leases::default();
        let jobs =
            (0..count).map(|sequence| LeasedJob { sequence, attempt: 1, ..LeasedJob::default() });
        let lease_duration = Some(prost_types::Duration { seconds: lease, nanos: 0 });
        let leased =
            LeasedJobs { epoch: 7, lease_duration, jobs: jobs.collect(), ..LeasedJobs::default() };
        leases.take(leased, start);
        (leases, start)
    }

    fn sequences(leases: &Leases) -> Vec<i64> {
        leases.jobs.iter().map(|held| held.job.sequence).collect()
    }

    #[test]
    fn jobs_whose_lease_is_lost_are_not_begun() {
        let (mut leases, start) = leases(4, 30);
        assert_eq!(leases.extend_at(), start + Duration::from_secs(10));
        let asked = start + Duration::from_secs(10);
        let outcomes = [
            SettleOutcome::Stale,
            SettleOutcome::Extended,
            SettleOutcome::Stale,
            SettleOutcome::Extended,
        ];
        assert!(!leases.note_extension(asked, Some(&outcomes)), "the first one is lost");
        assert_eq!(sequences(&leases), [0, 1, 3]);
        let outcomes = [SettleOutcome::Extended; 3];
        assert!(leases.note_extension(asked, Some(&outcomes)));
        let first = leases.first().unwrap();
        assert_eq!(first.ends(), asked + Duration::from_secs(30));
        assert_eq!(first.give_up_at(), asked + Duration::from_secs(25));
        assert_eq!(leases.extend_at(), asked + Duration::from_secs(10));
    }

    #[test]
    fn an_extension_without_an_answer_is_tried_again_and_prolongs_nothing() {
        let (mut leases, start) = leases(2, 4);
        assert!(leases.note_extension(start, None));
        assert!(leases.extend_at() <= Instant::now() + Duration::from_millis(400));
        assert_eq!(leases.first().unwrap().ends(), start + Duration::from_secs(4));
        assert_eq!(leases.first().unwrap().give_up_at(), start + Duration::from_secs(3));
    }

    #[test]
    fn a_settlement_names_its_lease() {
        let (leases, _) = leases(2, 30);
        let extend = |held: &HeldJob| held.settlement(SettleAction::ExtendLease, Duration::ZERO);
        let settled: Vec<_> =
            leases.iter().map(extend).map(|one| (one.sequence, one.attempt, one.delay)).collect();
        assert_eq!(settled, [(0, 1, None), (1, 1, None)]);
        let later = leases.first().unwrap().settlement(SettleAction::Nack, Duration::from_secs(2));
        assert_eq!(later.delay, Some(prost_types::Duration { seconds: 2, nanos: 0 }));
    }
}
