//! Those whom jobs ask, who refuse too many at once, and are down at times.

use super::job::{CHILD, Job};
use super::metrics::{PartnerStep, PartnerTally};
use crate::generator::Generator;
use crate::scenario::{Partner, Scenario};

/// Customers are drawn apart from all else, so that every strategy has the same ones: the seed of
/// a run, changed by this number.
const CUSTOMERS: u64 = 0x5DEE_CE66_D1CE_4E5B;

#[derive(Debug)]
pub(super) struct Partners {
    partners: Vec<Asked>,
    of_user: Vec<u8>,
    tallies: Vec<PartnerTally>,
    /// By kind, how often an attempt asks.
    calls: Vec<u32>,
    /// Rows of a step of the series, and how many are to come in this one.
    step: u32,
    step_left: u32,
    /// The tallies at its beginning.
    before: Vec<PartnerTally>,
    steps: Vec<Vec<PartnerStep>>,
}

#[derive(Debug)]
struct Asked {
    partner: Partner,
    second: u64,
    asked: u32,
    /// Attempts that it keeps, since it does not answer.
    unanswered: u32,
}

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    Answered,
    Refused { time: u64, retry_after: u64 },
    Down { time: u64 },
}

impl Partners {
    /// Each user is a customer of one of them, by their shares.
    pub(super) fn new(scenario: &Scenario, seed: u64, step: u32) -> Self {
        let partners = &scenario.partners;
        let of_user = customers(partners, scenario.population, seed);
        let asked = |partner: &Partner| Asked {
            partner: partner.clone(),
            second: 0,
            asked: 0,
            unanswered: 0,
        };
        let tallies = vec![PartnerTally::default(); partners.len()];
        Self {
            partners: partners.iter().map(asked).collect(),
            of_user,
            before: tallies.clone(),
            tallies,
            calls: scenario.kinds.iter().map(|kind| kind.calls).collect(),
            step,
            step_left: step,
            steps: vec![Vec::new(); partners.len()],
        }
    }

    /// The partner that a job calls, and how often; `None` for no partner.
    #[inline]
    pub(super) fn asked_by(&self, job: &Job) -> Option<(usize, u32)> {
        if self.partners.is_empty() || job.kind == CHILD {
            return None;
        }
        let calls = self.calls.get(usize::from(job.kind)).copied().filter(|calls| *calls > 0)?;
        let place = self.of_user.get(job.user as usize)?;
        Some((usize::from(*place), calls))
    }

    #[inline]
    fn tally(&mut self, job: &Job) -> Option<&mut PartnerTally> {
        let (place, _) = self.asked_by(job)?;
        self.tallies.get_mut(place)
    }

    /// How long a worker would be busy with a job that began now.
    pub(super) fn time_of(&self, job: &Job, now: u64) -> u64 {
        let asked = self.asked_by(job).and_then(|(place, _)| self.partners.get(place));
        let down = asked.filter(|asked| is_down(&asked.partner, now));
        down.map_or(job.left, |asked| asked.partner.outage_time)
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

    /// An attempt that it did not answer is over.
    pub(super) fn gave_up(&mut self, job: &Job) {
        let asked = self.asked_by(job).and_then(|(place, _)| self.partners.get_mut(place));
        asked.into_iter().for_each(|asked| asked.unanswered -= 1);
    }

    /// For each partner, the workers that wait for it without success.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = u32> + '_ {
        self.partners.iter().map(|asked| asked.unanswered)
    }

    /// A second is over.
    #[inline]
    pub(super) fn end_second(&mut self) {
        if self.partners.is_empty() {
            return;
        }
        self.step_left -= 1;
        if self.step_left == 0 {
            self.end_step();
        }
    }

    fn end_step(&mut self) {
        self.step_left = self.step;
        let tallies = self.tallies.iter().zip(&mut self.before).zip(&mut self.steps);
        for ((now, before), steps) in tallies {
            steps.push(PartnerStep::between(before, now));
            *before = *now;
        }
    }

    /// What is left of them: the tallies, and the steps of each.
    pub(super) fn close(&mut self) -> (Vec<PartnerTally>, Vec<Vec<PartnerStep>>) {
        if self.step_left < self.step {
            self.end_step();
        }
        (std::mem::take(&mut self.tallies), std::mem::take(&mut self.steps))
    }

    #[inline]
    pub(super) fn ask(&mut self, job: &Job, now: u64) -> Reply {
        let Some((place, calls)) = self.asked_by(job) else { return Reply::Answered };
        let (Some(asked), Some(tally)) =
            (self.partners.get_mut(place), self.tallies.get_mut(place))
        else {
            return Reply::Answered;
        };
        let partner = &asked.partner;
        if is_down(partner, now) {
            tally.failed += 1;
            asked.unanswered += 1;
            return Reply::Down { time: partner.outage_time };
        }
        if let Some(most) = partner.max_per_second {
            let second = now / 1_000_000;
            if second != asked.second {
                (asked.second, asked.asked) = (second, 0);
            }
            asked.asked = asked.asked.saturating_add(calls);
            if asked.asked > most {
                tally.throttled += 1;
                let (time, retry_after) = (partner.refusal_time, partner.retry_after);
                return Reply::Refused { time, retry_after };
            }
        }
        Reply::Answered
    }
}

fn is_down(partner: &Partner, now: u64) -> bool {
    partner.outages.iter().any(|(from, to)| (*from..*to).contains(&now))
}

fn customers(partners: &[Partner], users: u32, seed: u64) -> Vec<u8> {
    if partners.is_empty() {
        return Vec::new();
    }
    let mut generator = Generator::new(seed ^ CUSTOMERS);
    let total: f64 = partners.iter().map(|partner| partner.share).sum();
    let mut draw = || {
        let mut left = generator.uniform() * total;
        let chosen = partners.iter().position(|partner| {
            left -= partner.share;
            left < 0.0
        });
        chosen.and_then(|place| u8::try_from(place).ok()).unwrap_or_default()
    };
    (0..users).map(|_| draw()).collect()
}
