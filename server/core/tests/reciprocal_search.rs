//! Reciprocal slots against exhaustive search on small cycles.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]

use offbeat_core::Reason;
use offbeat_core::reciprocal::{Reciprocals, Spacing};

/// All positions of the kinds on `slots` slots, with kind 0 at 0.
fn all_positions(slots: u32, kinds: usize) -> Vec<Vec<u32>> {
    let mut all = vec![vec![0]];
    for _ in 1..kinds {
        all = all
            .into_iter()
            .flat_map(|head| {
                (0..slots).map(move |next| {
                    let mut longer = head.clone();
                    longer.push(next);
                    longer
                })
            })
            .collect();
    }
    all
}

fn circular_distance(a: u32, b: u32, slots: u32) -> u32 {
    a.abs_diff(b).min(slots - a.abs_diff(b))
}

/// The smallest distance between any two kinds.
fn smallest_distance(positions: &[u32], slots: u32) -> u32 {
    let pairs = positions
        .iter()
        .enumerate()
        .flat_map(|(i, a)| positions[..i].iter().map(move |b| circular_distance(*a, *b, slots)));
    pairs.min().unwrap_or(slots)
}

fn offsets(placed: &Reciprocals) -> Vec<u32> {
    placed.seen_from(0).unwrap().iter().map(|kind| kind.offset).collect()
}

#[test]
fn even_spacing_reaches_the_best_gap_there_is() {
    for slots in 1..=9u32 {
        for kinds in 1..=5usize {
            let best = all_positions(slots, kinds)
                .iter()
                .map(|positions| smallest_distance(positions, slots))
                .max()
                .unwrap();
            let placed = Reciprocals::try_new(slots.into(), kinds as i64, Spacing::Even);
            match placed {
                Ok(placed) => {
                    assert_eq!(placed.gap(), best, "{kinds} kinds on {slots} slots");
                    if kinds > 1 {
                        assert_eq!(smallest_distance(&offsets(&placed), slots), best);
                    }
                }
                Err(rejection) => {
                    assert_eq!((best, rejection.reason), (0, Reason::KindsDoNotFit));
                }
            }
        }
    }
}

#[test]
fn the_gap_of_stable_spacing_is_exact() {
    for slots in 1..=64i64 {
        for kinds in 2..=16i64 {
            let reversed =
                |kind: i64| (0..8).fold(0, |sum, bit| sum + ((kind >> bit & 1) << (7 - bit)));
            let expected: Vec<u32> = (0..kinds)
                .map(|kind| u32::try_from(slots * reversed(kind) / 256).unwrap())
                .collect();
            let gap = smallest_distance(&expected, u32::try_from(slots).unwrap());
            match Reciprocals::try_new(slots, kinds, Spacing::Stable) {
                Ok(placed) => {
                    assert_eq!(offsets(&placed), expected);
                    assert_eq!(placed.gap(), gap, "{kinds} kinds on {slots} slots");
                }
                Err(rejection) => {
                    assert_eq!((gap, rejection.reason), (0, Reason::KindsDoNotFit));
                }
            }
        }
    }
}

/// The smallest slack of any kind: the slots between its end and the start of the next kind.
fn smallest_slack(positions: &[u32], needs: &[u64], slots: u32) -> Option<u64> {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by_key(|kind| positions[*kind]);
    let slack = |(i, kind): (usize, &usize)| {
        let next = order[(i + 1) % order.len()];
        let ahead = (positions[next] + slots - positions[*kind]) % slots;
        let ahead = if order.len() == 1 { slots } else { ahead };
        u64::from(ahead).checked_sub(needs[*kind])
    };
    order.iter().enumerate().map(slack).min().flatten()
}

#[test]
fn run_times_leave_the_best_slack_there_is() {
    for slots in 1..=8u32 {
        for kinds in 1..=4usize {
            for shape in 0..3u64.pow(u32::try_from(kinds).unwrap()) {
                let needs: Vec<u64> = (0..kinds)
                    .map(|kind| 1 + shape / 3u64.pow(u32::try_from(kind).unwrap()) % 3)
                    .collect();
                let best = all_positions(slots, kinds)
                    .iter()
                    .filter_map(|positions| {
                        // a kind must be alone in its slot: two in one slot leave no room
                        let distinct = kinds == 1 || smallest_distance(positions, slots) > 0;
                        distinct.then(|| smallest_slack(positions, &needs, slots)).flatten()
                    })
                    .max();
                let placed = Reciprocals::try_with_needs(slots.into(), &needs);
                match (placed, best) {
                    (Ok(placed), Some(best)) => {
                        let offsets = offsets(&placed);
                        assert_eq!(
                            smallest_slack(&offsets, &needs, slots),
                            Some(best),
                            "{needs:?} on {slots}"
                        );
                    }
                    (Err(rejection), None) => assert_eq!(rejection.reason, Reason::KindsDoNotFit),
                    (placed, best) => {
                        panic!("{needs:?} on {slots}: {placed:?}, search finds {best:?}")
                    }
                }
            }
        }
    }
}

#[test]
fn needs_of_one_give_the_even_spacing() {
    for slots in 1..=40i64 {
        for kinds in 1..=slots {
            let even = Reciprocals::try_new(slots, kinds, Spacing::Even).unwrap();
            let needs = vec![1; usize::try_from(kinds).unwrap()];
            // ⌊i·n/k⌋ = i + ⌊i·(n−k)/k⌋
            assert_eq!(Reciprocals::try_with_needs(slots, &needs).unwrap(), even);
        }
    }
}

#[test]
fn the_worked_example_shows_both_views() {
    let placed = Reciprocals::try_new(8, 3, Spacing::Even).unwrap();
    let seen = placed.seen_from(0).unwrap();
    assert_eq!(seen.iter().map(|kind| kind.user_slot).collect::<Vec<_>>(), [0, 2, 5]);
    assert_eq!(seen.iter().map(|kind| kind.time_slot).collect::<Vec<_>>(), [0, 6, 3]);
    assert_eq!(placed.gap(), 2);
}
