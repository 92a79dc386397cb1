//! Workers split among lanes.

/// How many splits of two lanes are tried, at most.
const SPLITS: u32 = 32;
/// Three lanes are tried with splits into this many equal parts.
const PARTS: u32 = 8;

pub(super) fn two_lanes(workers: u32) -> impl Iterator<Item = Vec<u32>> {
    let most = workers.saturating_sub(1);
    let step = most.div_ceil(SPLITS).max(1) as usize;
    (1..=most).step_by(step).map(move |express| vec![express, workers - express])
}

pub(super) fn three_lanes(workers: u32) -> impl Iterator<Item = Vec<u32>> {
    let parts = workers.min(PARTS);
    let count = move |part: u32| workers * part / parts;
    let pairs =
        (1..parts).flat_map(move |first| (first + 1..parts).map(move |second| (first, second)));
    pairs.map(move |(first, second)| {
        vec![count(first), count(second) - count(first), workers - count(second)]
    })
}

/// Splits with a few workers moved from one lane to the next, or back.
pub(super) fn moved(workers: &[u32]) -> Vec<Vec<u32>> {
    let step = (workers.iter().sum::<u32>() / PARTS / 2).max(1);
    let mut found = Vec::new();
    for place in 1..workers.len() {
        for (from, to) in [(place - 1, place), (place, place - 1)] {
            let mut other = workers.to_vec();
            let left = other.get(from).and_then(|count| count.checked_sub(step));
            let (Some(left), Some(has)) = (left, other.get(to).copied()) else {
                continue;
            };
            if left > 0 {
                other.get_mut(from).into_iter().for_each(|count| *count = left);
                other.get_mut(to).into_iter().for_each(|count| *count = has + step);
                found.push(other);
            }
        }
    }
    found
}

/// Splits workers into two lanes in proportion to their work; `share` is that of the first lane.
pub(super) fn by_work(workers: u32, share: f64) -> Option<Vec<u32>> {
    let part = crate::distribution::whole(share * f64::from(workers));
    let express = u32::try_from(part).unwrap_or(1).clamp(1, workers.max(2) - 1);
    Some(vec![express, workers.checked_sub(express).filter(|rest| *rest > 0)?])
}
