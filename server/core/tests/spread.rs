//! Spreads against other programs' orders, against exhaustive search, and against their laws.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use offbeat_core::spread::{
    Certificate, Groups, OnShortage, Pull, Source, Spread, SpreadSpec, Turn,
};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Vectors {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    groups: Vec<u64>,
    feeders: i64,
    order: Vec<(u64, u64)>,
}

/// The turns of a spread over groups of these sizes: (group, index), or `None` for an idle turn.
fn turns(spec: &SpreadSpec, sizes: &[u64]) -> (Vec<Option<(u64, u64)>>, Certificate) {
    let mut groups = Groups::new(sizes.iter().map(|size| 0..*size));
    let mut spread = Spread::try_new(spec).unwrap();
    let mut turns = Vec::new();
    loop {
        match spread.next(&mut groups) {
            Turn::Job(dealt) => {
                assert_eq!(dealt.sequence, turns.len() as u64);
                assert_eq!(dealt.index, dealt.job);
                turns.push(Some((dealt.group, dealt.index)));
            }
            Turn::Idle { sequence } => {
                assert_eq!(sequence, turns.len() as u64);
                turns.push(None);
            }
            Turn::Pending => panic!("the groups are all there"),
            Turn::End => break,
        }
    }
    assert!(matches!(spread.next(&mut groups), Turn::End));
    (turns, spread.certificate())
}

fn order(spec: &SpreadSpec, sizes: &[u64]) -> Vec<(u64, u64)> {
    turns(spec, sizes).0.into_iter().map(Option::unwrap).collect()
}

#[test]
fn round_robin_equals_the_shared_iterators_of_python() {
    let folder = std::env::var("OFFBEAT_VECTORS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors").to_owned());
    let text = std::fs::read_to_string(Path::new(&folder).join("spread_feeders.json")).unwrap();
    let vectors: Vectors = serde_json::from_str(&text).unwrap();
    assert!(vectors.cases.len() > 1_000);
    for case in vectors.cases {
        let spec = SpreadSpec::round_robin(case.feeders);
        assert_eq!(order(&spec, &case.groups), case.order, "{:?} {}", case.groups, case.feeders);
    }
}

/// A source that counts the calls it gets, and is ready only every other time.
struct CountingSource {
    sizes: Vec<u64>,
    groups: Rc<Cell<usize>>,
    jobs: Rc<Cell<usize>>,
    asked: u64,
}

impl Source for CountingSource {
    type Group = std::ops::Range<u64>;
    type Job = u64;

    fn next_group(&mut self) -> Pull<Self::Group> {
        self.asked += 1;
        if self.asked % 2 == 1 {
            return Pull::Pending;
        }
        let number = self.groups.get();
        self.groups.set(number + 1);
        self.sizes.get(number).map_or(Pull::End, |size| Pull::Ready(0..*size))
    }

    fn next_job(&mut self, group: &mut Self::Group) -> Pull<u64> {
        self.asked += 1;
        if self.asked % 2 == 1 {
            return Pull::Pending;
        }
        match group.next() {
            Some(job) => {
                self.jobs.set(self.jobs.get() + 1);
                Pull::Ready(job)
            }
            None => Pull::End,
        }
    }

    fn size(&self, group: &Self::Group) -> u64 {
        group.end - group.start
    }
}

/// The next turn that is not pending.
fn settled(spread: &mut Spread<std::ops::Range<u64>>, source: &mut CountingSource) -> Turn<u64> {
    loop {
        match spread.next(source) {
            Turn::Pending => {}
            turn => return turn,
        }
    }
}

#[test]
fn nothing_is_pulled_before_it_is_needed() {
    let (groups, jobs) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let sizes = vec![3, u64::MAX, 2, 2];
    let mut source =
        CountingSource { sizes, groups: Rc::clone(&groups), jobs: Rc::clone(&jobs), asked: 0 };
    let mut spread = Spread::try_new(&SpreadSpec::round_robin(2)).unwrap();
    let mut pulled = Vec::new();
    for _ in 0..8 {
        assert!(matches!(settled(&mut spread, &mut source), Turn::Job(_)));
        pulled.push((groups.get(), jobs.get()));
    }
    // Each job is pulled in its turn, and the third group once the first is found to be empty.
    let expected: Vec<_> = [1, 2, 2, 2, 2, 2, 3, 3].into_iter().zip(1..).collect();
    assert_eq!(pulled, expected);
}

#[test]
fn a_source_that_is_slow_changes_no_order() {
    let sizes = [5, 0, 1, 4, 4, 9, 2];
    for spec in [SpreadSpec::round_robin(3), SpreadSpec::cooldown(3)] {
        let mut source = CountingSource {
            sizes: sizes.to_vec(),
            groups: Rc::default(),
            jobs: Rc::default(),
            asked: 0,
        };
        let mut spread = Spread::try_new(&spec).unwrap();
        let mut slow = Vec::new();
        while let Turn::Job(dealt) = settled(&mut spread, &mut source) {
            slow.push((dealt.group, dealt.index));
        }
        assert_eq!(slow, order(&spec, &sizes));
    }
}

/// Gaps between consecutive jobs of one group.
fn gaps(turns: &[Option<(u64, u64)>]) -> Vec<u64> {
    let mut last = BTreeMap::new();
    let mut gaps = Vec::new();
    for (turn, dealt) in (0u64..).zip(turns) {
        if let Some((group, _)) = dealt
            && let Some(before) = last.insert(*group, turn)
        {
            gaps.push(turn - before);
        }
    }
    gaps
}

/// Over all orders, the best smallest gap and the fewest pairs closer than `feeders`.
fn exhaustive(sizes: &[u64], feeders: u64) -> (u64, u64) {
    fn search(
        left: &mut [u64],
        last: &mut [Option<u64>],
        turn: u64,
        found: (u64, u64),
        best: &mut (u64, u64),
        feeders: u64,
    ) {
        if left.iter().all(|jobs| *jobs == 0) {
            *best = (best.0.max(found.0), best.1.min(found.1));
            return;
        }
        for group in 0..left.len() {
            if left[group] == 0 {
                continue;
            }
            let before = last[group];
            let gap = before.map_or(u64::MAX, |before| turn - before);
            left[group] -= 1;
            last[group] = Some(turn);
            let found = (found.0.min(gap), found.1 + u64::from(gap < feeders));
            search(left, last, turn + 1, found, best, feeders);
            last[group] = before;
            left[group] += 1;
        }
    }
    let mut best = (0, u64::MAX);
    let mut last = vec![None; sizes.len()];
    search(&mut sizes.to_vec(), &mut last, 0, (u64::MAX, 0), &mut best, feeders);
    best
}

/// All sizes of groups with up to `jobs` jobs in total, largest group first.
fn shapes(jobs: u64, largest: u64) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for first in 1..=largest.min(jobs) {
        for mut rest in shapes(jobs - first, first) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

#[test]
fn cooldown_reaches_the_optimum_of_exhaustive_search() {
    let mut checked = 0;
    for mut sizes in shapes(9, 9).into_iter().filter(|sizes| sizes.iter().any(|size| *size > 1)) {
        let (best, _) = exhaustive(&sizes, 1);
        for rotation in 0..sizes.len() {
            sizes.rotate_left(rotation);
            let spec = SpreadSpec::cooldown(best.try_into().unwrap());
            let (turns, certificate) = turns(&spec, &sizes);
            assert_eq!(gaps(&turns).into_iter().min(), Some(best), "{sizes:?}");
            assert_eq!(certificate.min_gap_turns, Some(best), "{sizes:?}");
            assert_eq!(certificate.best_min_gap_turns, Some(best), "{sizes:?}");
            assert_eq!(certificate.close_pair_count, 0, "{sizes:?}");
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn no_order_beats_the_lower_bound() {
    for sizes in shapes(8, 8) {
        for feeders in 1..=6u64 {
            let (_, fewest) = exhaustive(&sizes, feeders);
            let spec = SpreadSpec::cooldown(feeders.try_into().unwrap());
            let certificate = turns(&spec, &sizes).1;
            assert!(certificate.close_pair_lower_bound <= fewest, "{sizes:?} {feeders}");
            assert!(fewest <= certificate.close_pair_count, "{sizes:?} {feeders}");
        }
    }
}

/// Typical groups: mostly small, some large, some empty.
fn sizes() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![4 => 0u64..6, 1 => 0u64..60], 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_spread_is_a_permutation_and_keeps_the_order_of_each_group(
        sizes in sizes(), feeders in 1i64..9, more in 0i64..20, policy in 0..3,
    ) {
        let spec = match policy {
            0 => SpreadSpec::round_robin(feeders),
            1 => SpreadSpec { max_open_group_count: Some(feeders + more), ..SpreadSpec::cooldown(feeders) },
            _ => SpreadSpec { on_shortage: Some(OnShortage::Wait), ..SpreadSpec::cooldown(feeders) },
        };
        let dealt: Vec<_> = turns(&spec, &sizes).0.into_iter().flatten().collect();
        let mut next = vec![0; sizes.len()];
        for (group, index) in &dealt {
            let group = usize::try_from(*group).unwrap();
            prop_assert_eq!(next[group], *index);
            next[group] += 1;
        }
        prop_assert_eq!(next, sizes);
    }

    /// For any number of turns at once, and whenever the source is not ready.
    #[test]
    fn many_turns_at_once_are_the_same_turns(
        sizes in sizes(), feeders in 1i64..9, limit in 1usize..40, policy in 0..3,
    ) {
        let spec = match policy {
            0 => SpreadSpec::round_robin(feeders),
            1 => SpreadSpec::cooldown(feeders),
            _ => SpreadSpec { on_shortage: Some(OnShortage::Wait), ..SpreadSpec::cooldown(feeders) },
        };
        let mut source = CountingSource {
            sizes: sizes.clone(),
            groups: Rc::default(),
            jobs: Rc::default(),
            asked: 0,
        };
        let mut spread = Spread::try_new(&spec).unwrap();
        let (mut many, mut has_ended) = (Vec::new(), false);
        while !has_ended {
            let (before, mut is_last) = (many.len(), false);
            spread.turns(&mut source, limit, |turn| {
                assert!(!is_last, "a turn after the last");
                match turn {
                    Turn::Job(dealt) => many.push(Some((dealt.group, dealt.index))),
                    Turn::Idle { .. } => many.push(None),
                    Turn::Pending => is_last = true,
                    Turn::End => (is_last, has_ended) = (true, true),
                }
            });
            prop_assert!(many.len() - before == limit || is_last);
        }
        prop_assert_eq!((many, spread.certificate()), turns(&spec, &sizes));
    }

    #[test]
    fn the_certificate_matches_the_order(
        sizes in sizes(), feeders in 1i64..9, policy in 0..3,
    ) {
        let spec = match policy {
            0 => SpreadSpec::round_robin(feeders),
            1 => SpreadSpec::cooldown(feeders),
            _ => SpreadSpec { on_shortage: Some(OnShortage::Wait), ..SpreadSpec::cooldown(feeders) },
        };
        let (turns, certificate) = turns(&spec, &sizes);
        let gaps = gaps(&turns);
        let distance = u64::try_from(feeders).unwrap();
        let jobs: u64 = sizes.iter().sum();
        let bound: u64 = sizes.iter().filter(|size| **size > 0 && distance > 1)
            .map(|size| (size - 1).saturating_sub((jobs - size) / (distance - 1))).sum();
        let span = (0..sizes.len() as u64).filter_map(|group| {
            let of_group = |turn: &Option<(u64, u64)>| turn.is_some_and(|(of, _)| of == group);
            let first = turns.iter().position(of_group)?;
            Some(turns.iter().rposition(of_group)? - first)
        }).max().unwrap_or(0);
        prop_assert_eq!(certificate.job_count, jobs);
        prop_assert_eq!(certificate.group_count, sizes.iter().filter(|size| **size > 0).count() as u64);
        prop_assert_eq!(certificate.min_gap_turns, gaps.iter().min().copied());
        prop_assert_eq!(certificate.close_pair_count, gaps.iter().filter(|gap| **gap < distance).count() as u64);
        prop_assert_eq!(certificate.close_pair_lower_bound, bound);
        prop_assert_eq!(certificate.widest_span_turns, span as u64);
        if policy == 2 {
            prop_assert_eq!(certificate.close_pair_count, 0); // it idles instead
        } else {
            prop_assert!(certificate.close_pair_count >= bound);
            prop_assert!(certificate.min_gap_turns <= certificate.best_min_gap_turns);
        }
    }

    #[test]
    fn feeders_keep_their_distance_until_one_stops(sizes in sizes(), feeders in 1i64..9) {
        let (turns, certificate) = turns(&SpreadSpec::round_robin(feeders), &sizes);
        let distance = u64::try_from(feeders).unwrap();
        // The first feeder stops when it asks for a group and there is none; all gaps before that
        // turn are exact, and later ones are never wider.
        let gaps = gaps(&turns);
        let first_short = gaps.iter().position(|gap| *gap < distance).unwrap_or(gaps.len());
        prop_assert!(gaps[..first_short].iter().all(|gap| *gap == distance));
        prop_assert!(gaps[first_short..].iter().all(|gap| *gap <= distance));
        let largest = sizes.iter().max().copied().unwrap_or(0);
        prop_assert!(certificate.close_pair_count <= (distance - 1) * largest.saturating_sub(1));
    }

    #[test]
    fn cooldown_keeps_every_distance_that_can_be_kept(sizes in sizes(), feeders in 1i64..9) {
        // All groups are known: there are at most 24, and 1,024 may be open.
        let certificate = turns(&SpreadSpec::cooldown(feeders), &sizes).1;
        let wanted = u64::try_from(feeders).unwrap();
        if certificate.best_min_gap_turns.is_none_or(|best| wanted <= best) {
            prop_assert_eq!(certificate.close_pair_count, 0);
        }
    }
}

#[test]
fn specs_out_of_range_are_refused_by_name() {
    let refused = |spec: SpreadSpec| Spread::<()>::try_new(&spec).unwrap_err().field;
    assert_eq!(refused(SpreadSpec::round_robin(0)), "feeder_count");
    assert_eq!(refused(SpreadSpec::round_robin(65_537)), "feeder_count");
    assert_eq!(refused(SpreadSpec::cooldown(-1)), "feeder_count");
    let with_groups =
        |groups| SpreadSpec { max_open_group_count: Some(groups), ..SpreadSpec::cooldown(4) };
    assert_eq!(refused(with_groups(3)), "max_open_group_count");
    assert_eq!(refused(with_groups(65_537)), "max_open_group_count");
    assert!(Spread::<()>::try_new(&with_groups(4)).is_ok());
    let spec = SpreadSpec { max_open_group_count: Some(9), ..SpreadSpec::round_robin(4) };
    assert_eq!(refused(spec), "max_open_group_count");
    let spec = SpreadSpec { on_shortage: Some(OnShortage::Emit), ..SpreadSpec::round_robin(4) };
    assert_eq!(refused(spec), "on_shortage");
}
