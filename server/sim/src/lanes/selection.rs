//! The best lanes among those that may be good, by simulation.

use offbeat_core::Rejection;

use super::trial::{Streams, Trial, cost};

/// Streams with which all candidates are compared, and streams for the finalists.
const SCREENED: usize = 4;
pub(super) const COMPARED: usize = 16;

/// How often neighbours of the best candidate are tried before the finalists are compared.
const IMPROVEMENTS: usize = 3;

/// Lanes of one sort.
pub(super) trait Lanes {
    /// A choice of lanes.
    type Candidate: Clone + PartialEq;

    /// How many of the best candidates are finalists.
    const FINALISTS: usize;

    /// Whether the workers keep up with the arrivals, where those of one queue do.
    fn keeps_up(&self, candidate: &Self::Candidate) -> bool;

    /// Whether they also keep up with a fifth more jobs.
    fn keeps_up_with_more(&self, candidate: &Self::Candidate) -> bool;

    /// Candidates that differ a little.
    fn neighbours(&self, candidate: &Self::Candidate) -> Vec<Self::Candidate>;

    /// The trial that simulates a candidate.
    fn trial(&self, candidate: &Self::Candidate) -> Result<Trial, Rejection>;

    /// Whether there is as much room as `room` asks for.
    fn has_room(&self, candidate: &Self::Candidate, room: Room) -> bool {
        room == Room::Any || self.keeps_up_with_more(candidate)
    }
}

/// How much room workers must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// For a fifth more jobs.
    Asked,
    /// None: one queue has none either.
    Any,
}

/// Lanes that were tried.
#[derive(Debug, Clone)]
pub(super) struct CandidateTrial<C> {
    pub(super) candidate: C,
    pub(super) trial: Trial,
    /// Whether there is as much room as was asked for.
    pub(super) has_room: bool,
}

/// The candidates that were tried.
#[derive(Debug)]
pub(super) struct Selection<C> {
    /// The best of them; `None` if none keep up.
    pub(super) best: Option<CandidateTrial<C>>,
    /// For each candidate of the chart, its trial; `None` if its workers do not keep up.
    pub(super) chart: Vec<(C, Option<Trial>)>,
}

/// Finds the best lanes, starting with those of a chart and some others.
pub(super) fn select<L: Lanes>(
    lanes: &L,
    chart: Vec<L::Candidate>,
    others: Vec<L::Candidate>,
    streams: &Streams<'_>,
    room: Room,
) -> Result<Selection<L::Candidate>, Rejection> {
    let mut all: Vec<CandidateTrial<L::Candidate>> = Vec::new();
    let mut pending: Vec<L::Candidate> = chart.clone();
    pending.extend(others);
    for _ in 0..=IMPROVEMENTS {
        for candidate in core::mem::take(&mut pending) {
            let is_known = all.iter().any(|tried| tried.candidate == candidate);
            if is_known || !lanes.keeps_up(&candidate) {
                continue;
            }
            let mut trial = lanes.trial(&candidate)?;
            streams.simulate(&mut [&mut trial], SCREENED);
            let has_room = lanes.has_room(&candidate, room);
            all.push(CandidateTrial { candidate, trial, has_room });
        }
        let before = all.first().map(|best| best.candidate.clone());
        sort(&mut all);
        match all.first() {
            Some(best) if before.as_ref() != Some(&best.candidate) => {
                pending = lanes.neighbours(&best.candidate);
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
    all.truncate(L::FINALISTS);
    let mut finalists: Vec<&mut Trial> = all.iter_mut().map(|tried| &mut tried.trial).collect();
    streams.simulate(&mut finalists, COMPARED);
    sort(&mut all);
    Ok(Selection { best: all.into_iter().next(), chart: shown })
}

/// The best first: those with room before the others, then by their cost.
fn sort<C>(all: &mut [CandidateTrial<C>]) {
    all.sort_by(|one, other| {
        other.has_room.cmp(&one.has_room).then_with(|| one.worth().total_cmp(&other.worth()))
    });
}

impl<C> CandidateTrial<C> {
    fn worth(&self) -> f64 {
        self.trial.mean_log(cost)
    }
}
