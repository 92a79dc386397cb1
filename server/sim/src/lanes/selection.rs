//! The best lanes among those that may be good, by simulation.

use offbeat_core::Rejection;
use offbeat_core::lanes::LaneSet;

use super::search::{Candidate, Search};
use super::trial::{Streams, Trial, cost};

/// Streams that all candidates are compared by, and the best few of them.
const SCREENED: usize = 4;
pub(super) const COMPARED: usize = 16;

/// How many of the best are compared, and how often the best of them is improved before.
const FINALISTS: usize = 4;
const IMPROVEMENTS: usize = 3;

/// Lanes that were tried.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    pub(super) candidate: Candidate,
    pub(super) trial: Trial,
    /// Whether its workers keep up with the arrivals where those of one queue do: now, and with a
    /// fifth more.
    pub(super) has_room: bool,
}

/// What was tried.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// The best first; none, if none keep up.
    pub(super) best: Option<Tried>,
    /// For each cutoff that is shown, lanes, and how they fare; `None` if they do not keep up.
    pub(super) chart: Vec<(Candidate, Option<Trial>)>,
}

/// Finds the best lanes. `has_room` says whether a candidate keeps up with a fifth more.
pub(super) fn select(
    search: &Search<'_>,
    max_lanes: u64,
    streams: &Streams<'_>,
    has_room: impl Fn(&Candidate) -> bool,
    lane_set: impl Fn(&Candidate) -> Result<LaneSet, Rejection>,
) -> Result<Selection, Rejection> {
    let mut all: Vec<Tried> = Vec::new();
    let chart = search.chart();
    let mut pending: Vec<Candidate> = chart.clone();
    pending.extend(search.by_formula(max_lanes));
    for _ in 0..=IMPROVEMENTS {
        for candidate in core::mem::take(&mut pending) {
            let is_known = all.iter().any(|tried| tried.candidate == candidate);
            if is_known || !search.keeps_up(&candidate) {
                continue;
            }
            let mut trial = Trial::of_lanes(lane_set(&candidate)?, candidate.cutoffs.clone());
            streams.simulate(&mut [&mut trial], SCREENED);
            let has_room = has_room(&candidate);
            all.push(Tried { candidate, trial, has_room });
        }
        let before = all.first().map(|best| best.candidate.clone());
        sort(&mut all);
        match all.first() {
            Some(best) if before.as_ref() != Some(&best.candidate) => {
                pending = search.neighbours(&best.candidate);
            }
            _ => break,
        }
    }
    let shown = chart.into_iter().map(|candidate| {
        let tried = all.iter().find(|tried| tried.candidate == candidate);
        let trial = tried.map(|tried| tried.trial.clone());
        (candidate, trial)
    });
    let shown = shown.collect();
    all.truncate(FINALISTS);
    let mut finalists: Vec<&mut Trial> = all.iter_mut().map(|tried| &mut tried.trial).collect();
    streams.simulate(&mut finalists, COMPARED);
    sort(&mut all);
    Ok(Selection { best: all.into_iter().next(), chart: shown })
}

/// The best first: those with room before the others, then by their cost.
fn sort(all: &mut [Tried]) {
    all.sort_by(|one, other| {
        other.has_room.cmp(&one.has_room).then_with(|| one.worth().total_cmp(&other.worth()))
    });
}

impl Tried {
    fn worth(&self) -> f64 {
        self.trial.mean_log(cost)
    }
}
