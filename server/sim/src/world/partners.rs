//! The partners that jobs call. They refuse too many calls at once, and are down at times.

use super::job::{CHILD, Job};
use super::metrics::{PartnerStep, PartnerTally};
use crate::generator::Generator;
use crate::scenario::{Partner, Scenario};

/// Customers are drawn with a generator of their own, so that every strategy has the same ones. Its
/// seed is that of the run, changed by this number.
const CUSTOMERS: u64 = 0x5DEE_CE66_D1CE_4E5B;

#[derive(Debug)]
pub(super) struct Partners {
    partners: Vec<PartnerState>,
    of_user: Vec<u8>,
    tallies: Vec<PartnerTally>,
    /// By kind, how many calls an attempt makes.
    calls: Vec<u32>,
    /// Rows of a step of the series, and how many more this step needs.
    step: u32,
    step_left: u32,
    /// The tallies at the beginning of this step.
    before: Vec<PartnerTally>,
    steps: Vec<Vec<PartnerStep>>,
}

#[derive(Debug)]
struct PartnerState {
    partner: Partner,
    second: u64,
    calls: u32,
    /// Attempts that wait for it without success, because it is down.
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
    /// Makes each user a customer of one partner, in proportion to their shares.
    pub(super) fn new(scenario: &Scenario, seed: u64, step: u32) -> Self {
        let partners = &scenario.partners;
        let of_user = customers(partners, scenario.population, seed);
        let state = |partner: &Partner| PartnerState {
            partner: partner.clone(),
            second: 0,
            calls: 0,
            unanswered: 0,
        };
        let tallies = vec![PartnerTally::default(); partners.len()];
        Self {
            partners: partners.iter().map(state).collect(),
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

    /// How long a worker would be busy with a job that began now, in microseconds.
    pub(super) fn time_of(&self, job: &Job, now: u64) -> u64 {
        let state = self.asked_by(job).and_then(|(place, _)| self.partners.get(place));
        let down = state.filter(|state| is_down(&state.partner, now));
        down.map_or(job.left, |state| state.partner.outage_time)
    }

    /// Counts the wait of a customer's job for its first attempt.
    #[inline]
    pub(super) fn waited(&mut self, job: &Job, wait: u64) {
        if let Some(tally) = self.tally(job) {
            tally.waited += 1;
            tally.wait_micros += u128::from(wait);
        }
    }

    /// Counts a job of a customer that is done.
    #[inline]
    pub(super) fn done(&mut self, job: &Job) {
        self.tally(job).into_iter().for_each(|tally| tally.finished += 1);
    }

    /// Ends an attempt that the partner did not answer.
    pub(super) fn gave_up(&mut self, job: &Job) {
        let state = self.asked_by(job).and_then(|(place, _)| self.partners.get_mut(place));
        state.into_iter().for_each(|state| state.unanswered -= 1);
    }

    /// For each partner, the workers that wait for it without success.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = u32> + '_ {
        self.partners.iter().map(|state| state.unanswered)
    }

    /// Ends a second.
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

    /// The tallies of the run, and the steps of each partner.
    pub(super) fn close(&mut self) -> (Vec<PartnerTally>, Vec<Vec<PartnerStep>>) {
        if self.step_left < self.step {
            self.end_step();
        }
        (std::mem::take(&mut self.tallies), std::mem::take(&mut self.steps))
    }

    #[inline]
    pub(super) fn ask(&mut self, job: &Job, now: u64) -> Reply {
        let Some((place, calls)) = self.asked_by(job) else { return Reply::Answered };
        let (Some(state), Some(tally)) =
            (self.partners.get_mut(place), self.tallies.get_mut(place))
        else {
            return Reply::Answered;
        };
        let partner = &state.partner;
        if is_down(partner, now) {
            tally.failed += 1;
            state.unanswered += 1;
            return Reply::Down { time: partner.outage_time };
        }
        if let Some(most) = partner.max_per_second {
            let second = now / 1_000_000;
            if second != state.second {
                (state.second, state.calls) = (second, 0);
            }
            state.calls = state.calls.saturating_add(calls);
            if state.calls > most {
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
