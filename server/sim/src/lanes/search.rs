//! Lanes that may be good, by formula.

use super::split::{by_work, moved, three_lanes, two_lanes};
use super::tags::{Stage, Tags};
use crate::distribution::{Distribution, real, whole};

/// Cutoffs that are tried, evenly apart on a logarithmic scale.
const CUTOFFS: u32 = 64;
/// Every third of these is tried for the two cutoffs of three lanes.
const COARSE: usize = 3;
/// The shortest timeout that can be set, in microseconds.
const SHORTEST_CUTOFF: u64 = 1_000;
/// How many cutoffs are shown, and how many of the best candidates by formula are also simulated.
const CHARTED: usize = 16;
const SIMULATED: usize = 4;

/// Lanes that are tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Timeouts in microseconds, ascending: one less than there are lanes.
    pub(super) cutoffs: Vec<u64>,
    /// Workers of each lane.
    pub(super) workers: Vec<u32>,
}

pub(super) struct Search<'a> {
    run_times: &'a Distribution,
    tags: &'a Tags<'a>,
    workers: u32,
    cutoffs: Vec<u64>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        run_times: &'a Distribution,
        tags: &'a Tags<'a>,
        workers: u32,
        longest_cutoff: u64,
    ) -> Self {
        let cutoffs = cutoffs(run_times, longest_cutoff);
        Self { run_times, tags, workers, cutoffs }
    }

    /// The candidate as the formula sees it.
    pub(super) fn stages(&self, candidate: &Candidate) -> Vec<Stage> {
        let last = self.run_times.micros().last().copied().unwrap_or(1);
        let cutoffs = candidate.cutoffs.iter().copied().chain([last]);
        let lanes = candidate.workers.iter().zip(cutoffs);
        lanes
            .map(|(workers, timeout)| Stage {
                workers: *workers,
                until: self.run_times.place(timeout),
                timeout,
            })
            .collect()
    }

    fn slowdown(&self, candidate: &Candidate) -> f64 {
        self.tags.slowdown(&self.stages(candidate))
    }

    /// Whether the workers keep up with the arrivals.
    pub(super) fn keeps_up(&self, candidate: &Candidate) -> bool {
        self.tags.keeps_up(&self.stages(candidate))
    }

    /// Cutoffs between two lanes, evenly apart on a logarithmic scale, each with its best split.
    pub(super) fn chart(&self) -> Vec<Candidate> {
        let step = self.cutoffs.len().div_ceil(CHARTED).max(1);
        let best = |cutoff: &u64| {
            self.best_split(*cutoff).map(|(_, best)| best).or_else(|| self.even_split(*cutoff))
        };
        self.cutoffs.iter().step_by(step).filter_map(best).collect()
    }

    fn best_split(&self, cutoff: u64) -> Option<(f64, Candidate)> {
        let splits =
            two_lanes(self.workers).map(|workers| Candidate { cutoffs: vec![cutoff], workers });
        let judged = splits.map(|candidate| (self.slowdown(&candidate), candidate));
        judged.filter(|(slowdown, _)| slowdown.is_finite()).min_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    /// The best candidates by formula; each has another split, or cutoffs well apart. Where the
    /// formula finds too few, because it knows no slow lanes that help, also some that share the
    /// work evenly.
    pub(super) fn by_formula(&self, max_lanes: u64) -> Vec<Candidate> {
        let mut judged: Vec<(f64, Candidate)> =
            self.cutoffs.iter().filter_map(|cutoff| self.best_split(*cutoff)).collect();
        if max_lanes > 2 {
            judged.extend(self.three_lanes());
        }
        judged.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut chosen: Vec<Candidate> = Vec::new();
        for (_, candidate) in judged {
            if chosen.len() < SIMULATED && !chosen.iter().any(|other| is_like(other, &candidate)) {
                chosen.push(candidate);
            }
        }
        let evenly = [0.5, 0.8, 0.9, 0.95, 0.99].iter().filter_map(|share| self.evenly(*share));
        chosen.extend(evenly.take(SIMULATED.saturating_sub(chosen.len())));
        chosen
    }

    fn three_lanes(&self) -> Vec<(f64, Candidate)> {
        let coarse: Vec<u64> = self.cutoffs.iter().copied().step_by(COARSE).collect();
        let splits: Vec<Vec<u32>> = three_lanes(self.workers).collect();
        let mut judged = Vec::new();
        for (place, first) in coarse.iter().enumerate() {
            for second in coarse.iter().skip(place + 1) {
                for workers in &splits {
                    let cutoffs = vec![*first, *second];
                    let candidate = Candidate { cutoffs, workers: workers.clone() };
                    let slowdown = self.slowdown(&candidate);
                    if slowdown.is_finite() {
                        judged.push((slowdown, candidate));
                    }
                }
            }
        }
        judged
    }

    /// A cutoff at a quantile, with an even split.
    fn evenly(&self, share: f64) -> Option<Candidate> {
        let at = self.run_times.quantile(share);
        self.even_split(self.cutoffs.iter().copied().min_by_key(|cutoff| cutoff.abs_diff(at))?)
    }

    /// Workers by the work on both sides of a cutoff.
    fn even_split(&self, cutoff: u64) -> Option<Candidate> {
        let all = self.run_times.all();
        let below = self.run_times.moments(0, self.run_times.place(cutoff));
        let attempts = below.first + (all.share - below.share) * real(cutoff) / 1e6;
        let slow = all.first - below.first;
        let workers = by_work(self.workers, attempts / (attempts + slow))?;
        Some(Candidate { cutoffs: vec![cutoff], workers })
    }

    /// A cutoff half as long again or two thirds as long, or some workers moved to the next lane or
    /// back.
    pub(super) fn neighbours(&self, candidate: &Candidate) -> Vec<Candidate> {
        let mut found = Vec::new();
        let (shortest, longest) = (self.cutoffs.first().copied(), self.cutoffs.last().copied());
        let within = shortest.unwrap_or(1)..=longest.unwrap_or(1);
        for place in 0..candidate.cutoffs.len() {
            for factor in [1.5, 1.0 / 1.5] {
                let mut other = candidate.clone();
                if let Some(cutoff) = other.cutoffs.get_mut(place) {
                    *cutoff = clear(self.run_times, three_digits(real(*cutoff) * factor));
                }
                let ascends = other.cutoffs.is_sorted_by(|a, b| a < b);
                if ascends && other.cutoffs.iter().all(|cutoff| within.contains(cutoff)) {
                    found.push(other);
                }
            }
        }
        let splits = moved(&candidate.workers).into_iter();
        found.extend(splits.map(|workers| Candidate { workers, ..candidate.clone() }));
        found
    }
}

/// Whether two candidates have the same split, and each longer cutoff is less than half as long
/// again.
fn is_like(one: &Candidate, other: &Candidate) -> bool {
    let near = |(a, b): (&u64, &u64)| (*a).max(*b) * 2 < (*a).min(*b) * 3;
    one.workers == other.workers && one.cutoffs.iter().zip(&other.cutoffs).all(near)
}

/// The cutoffs to try: between the 5th percentile and the longest run time, and no longer than
/// `longest`.
fn cutoffs(run_times: &Distribution, longest: u64) -> Vec<u64> {
    let last = run_times.micros().last().copied().unwrap_or(1);
    let low = run_times.quantile(0.05).max(SHORTEST_CUTOFF);
    let high = (last - 1).min(longest);
    if low > high {
        // The longest tolerated cutoff may be shorter than nearly all run times, but it is still a
        // cutoff.
        return (high >= SHORTEST_CUTOFF && longest < last).then_some(high).into_iter().collect();
    }
    let step = libm::log(real(high) / real(low)) / f64::from(CUTOFFS - 1);
    let at = |number: u32| three_digits(real(low) * libm::exp(step * f64::from(number)));
    let mut cutoffs: Vec<u64> =
        (0..CUTOFFS).map(at).map(|cutoff| clear(run_times, cutoff).clamp(low, high)).collect();
    cutoffs.dedup();
    cutoffs
}

/// A cutoff a little above the run times that end before it. Where many run times are equal, a
/// cutoff at that very value would demote jobs that run a moment longer the next time.
fn clear(run_times: &Distribution, cutoff: u64) -> u64 {
    let place = run_times.place(cutoff);
    let at = |place: Option<usize>| place.and_then(|place| run_times.micros().get(place)).copied();
    match (at(place.checked_sub(1)), at(Some(place))) {
        (Some(below), Some(above)) => {
            three_digits(real(cutoff.max(below + ((above - below) / 2).min(below / 10))))
        }
        _ => cutoff,
    }
}

/// A number that people can read: rounded to three digits.
fn three_digits(number: f64) -> u64 {
    let number = whole(number);
    let mut unit = 1;
    while number / unit >= 1_000 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}
