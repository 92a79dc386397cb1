//! Conflicts between kinds, against exhaustive search.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]

use offbeat_core::reciprocal::Reciprocals;
use offbeat_core::{Reason, Rejection};
use proptest::prelude::*;

type Pairs = Vec<(i64, i64)>;

fn all_pairs(kinds: usize) -> Pairs {
    let kinds = kinds as i64;
    (0..kinds).flat_map(|first| (first + 1..kinds).map(move |second| (first, second))).collect()
}

fn chosen(kinds: usize, mask: u64) -> Pairs {
    let pairs = all_pairs(kinds).into_iter().enumerate();
    pairs.filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, pair)| pair).collect()
}

fn distance(a: u32, b: u32, slots: u32) -> u32 {
    a.abs_diff(b).min(slots - a.abs_diff(b))
}

fn smallest(positions: &[u32], pairs: &Pairs, slots: u32) -> u32 {
    let of = |(a, b): &(i64, i64)| distance(positions[*a as usize], positions[*b as usize], slots);
    pairs.iter().map(of).min().unwrap()
}

/// The largest smallest distance that any positions reach, and the first such positions.
fn search(slots: u32, kinds: usize, pairs: &Pairs) -> (u32, Vec<u32>) {
    let mut positions = vec![0; kinds];
    let (mut best, mut first) = (0, Vec::new());
    loop {
        let distance = smallest(&positions, pairs, slots);
        if distance > best {
            (best, first) = (distance, positions.clone());
        }
        // The next positions in lexicographic order; kind 0 never moves.
        let Some(place) = (1..kinds).rev().find(|kind| positions[*kind] + 1 < slots) else {
            return (best, first);
        };
        positions[place] += 1;
        positions[place + 1..].fill(0);
    }
}

fn offsets(placed: &Reciprocals) -> Vec<u32> {
    placed.seen_from(0).unwrap().iter().map(|kind| kind.offset).collect()
}

fn hold_against_search(slots: u32, kinds: usize, pairs: &Pairs) {
    let (best, first) = search(slots, kinds, pairs);
    let placed = Reciprocals::try_with_conflicts(slots.into(), kinds as i64, pairs);
    match placed {
        Ok(placed) => {
            assert_eq!(offsets(&placed), first, "{pairs:?} of {kinds} kinds on {slots} slots");
            assert_eq!(placed.gap(), best);
            for (kind, gap) in placed.gaps().into_iter().enumerate() {
                let met = pairs.iter().filter_map(|(a, b)| {
                    let kind = kind as i64;
                    (*a == kind).then_some(*b).or_else(|| (*b == kind).then_some(*a))
                });
                let ahead = met.map(|other| (first[other as usize] + slots - first[kind]) % slots);
                assert_eq!(gap, ahead.min().unwrap_or(slots));
            }
        }
        Err(refused) => assert_eq!((best, refused.reason), (0, Reason::KindsDoNotFit)),
    }
}

#[test]
fn every_graph_of_up_to_four_kinds_on_every_small_cycle() {
    for kinds in 2..=4usize {
        for mask in 1..1u64 << all_pairs(kinds).len() {
            for slots in 1..=14 {
                hold_against_search(slots, kinds, &chosen(kinds, mask));
            }
        }
    }
}

#[test]
fn every_graph_of_five_kinds() {
    for mask in 1..1u64 << 10 {
        for slots in [2, 3, 5, 6, 7, 8] {
            hold_against_search(slots, 5, &chosen(5, mask));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn graphs_of_up_to_seven_kinds(kinds in 6usize..=7, mask in 1u64..1 << 15, slots in 2u32..=7) {
        hold_against_search(slots, kinds, &chosen(kinds, mask));
    }

    /// The distance of a graph on n slots is n times a fraction that does not depend on n, rounded
    /// down.
    #[test]
    fn the_distance_grows_with_the_slots(
        mask in 1u64..1 << 28, kinds in 2usize..=8, slots in 1i64..=1 << 20,
    ) {
        let pairs = chosen(kinds, mask);
        prop_assume!(!pairs.is_empty());
        let whole = 840 * 840; // the denominator of every fraction divides this
        let reference = Reciprocals::try_with_conflicts(whole, kinds as i64, &pairs).unwrap();
        let expected = i64::from(reference.gap()) * slots / whole;
        match Reciprocals::try_with_conflicts(slots, kinds as i64, &pairs) {
            Ok(placed) => {
                prop_assert_eq!(i64::from(placed.gap()), expected);
                let slots = u32::try_from(slots).unwrap();
                prop_assert_eq!(smallest(&offsets(&placed), &pairs, slots), placed.gap());
            }
            Err(refused) => {
                prop_assert_eq!((expected, refused.reason), (0, Reason::KindsDoNotFit));
            }
        }
    }

    /// Any pairs lead to an answer or a refusal, never to a panic.
    #[test]
    fn any_pairs(
        slots in any::<i64>(), kinds in prop_oneof![any::<i64>(), 0i64..12],
        pairs in prop::collection::vec((-1i64..12, -1i64..12), 0..40),
    ) {
        let _ = Reciprocals::try_with_conflicts(slots, kinds, &pairs);
        let _ = Reciprocals::try_with_conflicts(128, kinds, &pairs);
    }
}

#[test]
fn a_cycle_of_five_stands_twice_as_far_apart() {
    let ring = vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)];
    let placed = Reciprocals::try_with_conflicts(20, 5, &ring).unwrap();
    assert_eq!((placed.gap(), offsets(&placed)), (8, vec![0, 8, 16, 4, 12]));
    let path = &ring[..4].to_vec();
    let placed = Reciprocals::try_with_conflicts(16, 5, path).unwrap();
    assert_eq!((placed.gap(), offsets(&placed)), (8, vec![0, 8, 0, 8, 0]));
}

#[test]
fn kinds_that_all_conflict_are_placed_as_without_declared_conflicts() {
    for kinds in 2..=8usize {
        for slots in [8, 13, 128, 1 << 20] {
            let placed =
                Reciprocals::try_with_conflicts(slots, kinds as i64, &all_pairs(kinds)).unwrap();
            assert_eq!(i64::from(placed.gap()), slots / kinds as i64);
        }
    }
}

#[test]
fn kinds_without_a_conflict_cost_nothing() {
    let placed = Reciprocals::try_with_conflicts(1 << 20, 1_000, &[(998, 3)]).unwrap();
    let seen = placed.seen_from(5).unwrap();
    assert_eq!((seen[3].offset, seen[998].offset, placed.gap()), (0, 1 << 19, 1 << 19));
    assert!(seen.iter().all(|kind| [3, 998].contains(&kind.kind_index) || kind.offset == 0));
    assert_eq!(seen[4].gap, 1 << 20);
}

#[test]
fn pairs_are_refused_by_name() {
    let refused = |kinds: i64, pairs: &[(i64, i64)]| -> Rejection {
        Reciprocals::try_with_conflicts(128, kinds, pairs).unwrap_err()
    };
    for (kinds, pairs, field, reason) in [
        (3, vec![(0, 3)], "conflicts[0].second_kind_index", Reason::OutOfRange),
        (3, vec![(0, 1), (-1, 1)], "conflicts[1].first_kind_index", Reason::OutOfRange),
        (3, vec![(0, 1), (2, 2)], "conflicts[1].second_kind_index", Reason::Contradictory),
        (3, vec![(0, 1), (1, 0)], "conflicts[1].second_kind_index", Reason::Contradictory),
        (9, (0..8).map(|kind| (kind, kind + 1)).collect(), "conflicts", Reason::OutOfRange),
        (9, all_pairs(9)[..29].to_vec(), "conflicts", Reason::OutOfRange),
        (9, vec![], "conflicts", Reason::OutOfRange),
        (0, vec![(0, 1)], "kind_count", Reason::OutOfRange),
    ] {
        let refused = refused(kinds, &pairs);
        assert_eq!((refused.field.as_str(), refused.reason), (field, reason), "{refused}");
    }
    let crowded = Reciprocals::try_with_conflicts(2, 3, &all_pairs(3)).unwrap_err();
    assert_eq!((crowded.field.as_str(), crowded.reason), ("conflicts", Reason::KindsDoNotFit));
}
