//! Whether lanes are worth their while.

use super::by_type::Routing;
use super::search::Candidate;
use super::selection::{COMPARED, Tried};
use super::trial::{Streams, Trial, cost, mean_slowdown};

/// Streams that the verdict may take.
const MOST: usize = 40;

/// Lanes must lower the slowdown to this part, or they are not worth their while.
const WORTH_WHILE: f64 = 0.95;

/// Where it stays uncertain that they do, and they cannot lower it even to this part, one queue is the
/// simpler choice.
const LITTLE: f64 = 0.8;

/// Whether to have lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// They make it better.
    Lanes,
    /// So do lanes by type, and those with timeouts are not better with certainty.
    LanesByType,
    /// They make it no better, or worse.
    NoLanes,
    /// The streams differ too much to say.
    Undecided,
}

/// Compares the best lanes and one queue: with as many streams as that takes, and the same ones for
/// all of them. Lanes by type are the simpler choice, because no job runs twice: lanes with timeouts
/// must be better than them by a twentieth in both figures.
pub(super) fn verdict(
    streams: &Streams<'_>,
    queue: &mut Trial,
    mut timeouts: Option<&mut Tried<Candidate>>,
    mut by_type: Option<&mut Tried<Routing>>,
) -> Verdict {
    streams.simulate(&mut [queue], COMPARED);
    let with_timeouts = timeouts
        .as_deref_mut()
        .map_or(Verdict::NoLanes, |lanes| surely(streams, lanes, queue, 1.0));
    let routed =
        by_type.as_deref_mut().map_or(Verdict::NoLanes, |lanes| surely(streams, lanes, queue, 1.0));
    let verdict = match (routed, with_timeouts, timeouts.as_deref_mut(), by_type.as_deref_mut()) {
        (Verdict::Lanes, Verdict::Lanes, Some(timeouts), Some(by_type)) => {
            match surely(streams, timeouts, &mut by_type.trial, WORTH_WHILE) {
                Verdict::Lanes => Verdict::Lanes,
                _ => Verdict::LanesByType,
            }
        }
        (Verdict::Lanes, ..) => Verdict::LanesByType,
        (Verdict::Undecided, Verdict::NoLanes, ..) => Verdict::Undecided,
        (_, with_timeouts, ..) => with_timeouts,
    };
    let trials = [timeouts.map(|lanes| &mut lanes.trial), by_type.map(|lanes| &mut lanes.trial)];
    let mut all: Vec<&mut Trial> = trials.into_iter().flatten().chain([queue]).collect();
    let most = all.iter().map(|trial| trial.count()).max().unwrap_or_default();
    streams.simulate(&mut all, most);
    verdict
}

/// Judges, with more streams if these leave it open.
fn surely<C>(
    streams: &Streams<'_>,
    lanes: &mut Tried<C>,
    other: &mut Trial,
    price: f64,
) -> Verdict {
    let verdict = judge(lanes, other, price);
    if verdict != Verdict::Undecided {
        return verdict;
    }
    streams.simulate(&mut [other, &mut lanes.trial], MOST);
    judge(lanes, other, price)
}

/// Lanes are worth their while if the mean slowdown falls by a twentieth at least and the cost falls
/// below `price`, a part of that of the other, both with certainty.
fn judge<C>(lanes: &Tried<C>, other: &Trial, price: f64) -> Verdict {
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
