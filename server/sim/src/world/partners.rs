//! Those whom jobs ask, who refuse too many at once, and are down at times.

use super::job::{CHILD, Job};
use super::metrics::PartnerTally;
use crate::generator::Generator;
use crate::scenario::Partner;

#[derive(Debug)]
pub(super) struct Partners {
    partners: Vec<Asked>,
    of_user: Vec<u8>,
    tallies: Vec<PartnerTally>,
}

#[derive(Debug)]
struct Asked {
    partner: Partner,
    second: u64,
    asked: u32,
}

/// What becomes of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    Answered,
    Refused { time: u64, retry_after: u64 },
    Down { time: u64 },
}

impl Partners {
    /// Each user is a customer of one of them, by their shares.
    pub(super) fn new(partners: &[Partner], users: u32, generator: &mut Generator) -> Self {
        let mut of_user = Vec::new();
        if !partners.is_empty() {
            let total: f64 = partners.iter().map(|partner| partner.share).sum();
            for _ in 0..users {
                let mut left = generator.uniform() * total;
                let chosen = partners.iter().position(|partner| {
                    left -= partner.share;
                    left < 0.0
                });
                of_user.push(chosen.and_then(|place| u8::try_from(place).ok()).unwrap_or_default());
            }
        }
        let asked = |partner: &Partner| Asked { partner: partner.clone(), second: 0, asked: 0 };
        let tallies = vec![PartnerTally::default(); partners.len()];
        Self { partners: partners.iter().map(asked).collect(), of_user, tallies }
    }

    #[inline]
    fn tally(&mut self, job: &Job) -> Option<&mut PartnerTally> {
        let place = self.of_user.get(job.user as usize).filter(|_| job.kind != CHILD)?;
        self.tallies.get_mut(usize::from(*place))
    }

    /// A job of a customer has waited so long for its first attempt.
    #[inline]
    pub(super) fn waited(&mut self, job: &Job, wait: u64) {
        if let Some(tally) = self.tally(job) {
            tally.waited += 1;
            tally.wait_micros += u128::from(wait);
        }
    }

    /// A job of a customer is done.
    #[inline]
    pub(super) fn done(&mut self, job: &Job) {
        self.tally(job).into_iter().for_each(|tally| tally.finished += 1);
    }

    pub(super) fn tallies(&mut self) -> Vec<PartnerTally> {
        std::mem::take(&mut self.tallies)
    }

    #[inline]
    pub(super) fn ask(&mut self, user: u32, now: u64) -> Reply {
        let Some(place) = self.of_user.get(user as usize).map(|place| usize::from(*place)) else {
            return Reply::Answered;
        };
        let (Some(asked), Some(tally)) =
            (self.partners.get_mut(place), self.tallies.get_mut(place))
        else {
            return Reply::Answered;
        };
        let partner = &asked.partner;
        if partner.outages.iter().any(|(from, to)| (*from..*to).contains(&now)) {
            tally.failed += 1;
            return Reply::Down { time: partner.outage_time };
        }
        if let Some(most) = partner.max_per_second {
            let second = now / 1_000_000;
            if second != asked.second {
                (asked.second, asked.asked) = (second, 0);
            }
            asked.asked += 1;
            if asked.asked > most {
                tally.throttled += 1;
                let (time, retry_after) = (partner.refusal_time, partner.retry_after);
                return Reply::Refused { time, retry_after };
            }
        }
        Reply::Answered
    }
}
