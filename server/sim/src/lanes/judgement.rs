//! Whether lanes are worthwhile.

use super::by_type::Routing;
use super::search::Candidate;
use super::selection::{COMPARED, CandidateTrial};
use super::trial::{Streams, Trial, cost, mean_slowdown};

/// The most streams that a verdict may take.
const MOST: usize = 40;

/// Lanes must lower the slowdown to this part to be worthwhile.
const WORTH_WHILE: f64 = 0.95;

/// If that stays uncertain, and lanes cannot lower the slowdown even to this part, one queue is the
/// simpler choice.
const LITTLE: f64 = 0.8;

/// Whether to have lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Lanes are better than one queue.
    Lanes,
    /// Lanes by type are better than one queue, and lanes with timeouts are not certainly better
    /// than they.
    LanesByType,
    /// Lanes are no better than one queue, or worse.
    NoLanes,
    /// The streams differ too much to say.
    Undecided,
}

/// Compares the best lanes and one queue, all with the same streams, and with as many of them as it
/// takes.
pub(super) fn verdict(
    streams: &Streams<'_>,
    queue: &mut Trial,
    mut timeouts: Option<&mut CandidateTrial<Candidate>>,
    mut by_type: Option<&mut CandidateTrial<Routing>>,
) -> Verdict {
    let mut decided = (Verdict::NoLanes, false);
    for count in [COMPARED, MOST] {
        let tried = [
            timeouts.as_deref_mut().map(|lanes| &mut lanes.trial),
            by_type.as_deref_mut().map(|lanes| &mut lanes.trial),
        ];
        let mut all: Vec<&mut Trial> = tried.into_iter().flatten().chain([&mut *queue]).collect();
        streams.simulate(&mut all, count);
        decided = decide(queue, timeouts.as_deref(), by_type.as_deref());
        if !decided.1 {
            break;
        }
    }
    decided.0
}

/// The verdict by the streams so far, and whether more streams may change it. Lanes by type are the
/// simpler choice, because no job runs twice. So lanes with timeouts must be better by a twentieth
/// in both figures.
fn decide(
    queue: &Trial,
    timeouts: Option<&CandidateTrial<Candidate>>,
    by_type: Option<&CandidateTrial<Routing>>,
) -> (Verdict, bool) {
    let with_timeouts = timeouts.map_or(Verdict::NoLanes, |lanes| judge(lanes, queue, 1.0));
    let routed = by_type.map_or(Verdict::NoLanes, |lanes| judge(lanes, queue, 1.0));
    let better = timeouts.zip(by_type).map_or(Verdict::NoLanes, |(timeouts, by_type)| {
        judge(timeouts, &by_type.trial, WORTH_WHILE)
    });
    match (routed, with_timeouts) {
        (Verdict::Lanes, Verdict::Lanes) if better == Verdict::Lanes => (Verdict::Lanes, false),
        (Verdict::Lanes, Verdict::Lanes) => (Verdict::LanesByType, better == Verdict::Undecided),
        (Verdict::Lanes, other) => (Verdict::LanesByType, other == Verdict::Undecided),
        (Verdict::Undecided, Verdict::NoLanes) => (Verdict::Undecided, true),
        (Verdict::Undecided, other) => (other, true),
        (_, other) => (other, other == Verdict::Undecided),
    }
}

/// Lanes are worthwhile if the mean slowdown falls by at least a twentieth, and the cost falls
/// below `price`, a part of the other cost, both with certainty.
fn judge<C>(lanes: &CandidateTrial<C>, other: &Trial, price: f64) -> Verdict {
    let slowdown = lanes.trial.against(other, mean_slowdown);
    let cost = lanes.trial.against(other, cost);
    let is_last = lanes.trial.count().min(other.count()) >= MOST;
    if !lanes.has_room || slowdown.low > WORTH_WHILE || cost.low > price {
        Verdict::NoLanes
    } else if slowdown.high < WORTH_WHILE && cost.high < price {
        Verdict::Lanes
    } else if is_last && slowdown.low > LITTLE {
        Verdict::NoLanes
    } else {
        Verdict::Undecided
    }
}
