//! Spreads: every job comes once, each group keeps its order, and the certificate is correct.

use offbeat_core::spread::{
    Certificate, DealtJob, OnShortage, Policy, Pull, Source, Spread, SpreadSpec, Turn,
};

use super::choices::Choices;
use super::refusal;

/// The most groups of one input, and the most turns: a spread may idle forever.
const GROUPS: usize = 300;
const TURNS: usize = 20_000;

/// Groups that are sometimes not ready.
#[derive(Clone)]
struct SlowSource<'a> {
    sizes: Vec<u64>,
    next: usize,
    late: Choices<'a>,
    may_be_later: bool,
}

struct OpenGroup {
    size: u64,
    left: u64,
}

impl Source for SlowSource<'_> {
    type Group = OpenGroup;
    type Job = ();

    fn next_group(&mut self) -> Pull<OpenGroup> {
        match self.late.byte() {
            1..40 => return Pull::Pending,
            40..80 if self.may_be_later => return Pull::Later,
            _ => {}
        }
        let size = self.sizes.get(self.next).copied();
        self.next += 1;
        size.map_or(Pull::End, |size| Pull::Ready(OpenGroup { size, left: size }))
    }

    fn next_job(&mut self, group: &mut OpenGroup) -> Pull<()> {
        if (1..40).contains(&self.late.byte()) {
            return Pull::Pending;
        }
        match group.left.checked_sub(1) {
            Some(left) => {
                group.left = left;
                Pull::Ready(())
            }
            None => Pull::End,
        }
    }

    fn size(&self, group: &OpenGroup) -> u64 {
        group.size
    }
}

/// Input: the options of the spread, the sizes of groups, then when the source is not ready.
pub fn orders(data: &[u8]) {
    let mut choices = Choices::new(data);
    let spec = SpreadSpec {
        policy: choices.one_of(&[Policy::RoundRobin, Policy::Cooldown]),
        feeder_count: match choices.flip() {
            true => i64::from(choices.byte()),
            false => choices.integer(),
        },
        max_open_group_count: choices.maybe(Choices::integer),
        on_shortage: choices.maybe(|choices| choices.one_of(&[OnShortage::Emit, OnShortage::Wait])),
    };
    let mut one = match Spread::try_new(&spec) {
        Ok(spread) => spread,
        Err(refused) => return refusal::check(&refused),
    };
    let mut many = Spread::try_new(&spec).unwrap();
    let sizes: Vec<u64> =
        (0..choices.below(GROUPS)).map(|_| u64::from(choices.byte() % 32)).collect();
    let limit = 1 + choices.below(100);
    let may_be_later = choices.flip();
    let mut source =
        SlowSource { sizes: sizes.clone(), next: 0, late: choices.clone(), may_be_later };
    let mut at_once = source.clone();
    let mut dealt = Vec::new();
    let mut ended = false;
    while !ended && dealt.len() < TURNS {
        ended = take(one.next(&mut source), &mut dealt);
    }
    let (mut same, mut same_ended) = (Vec::new(), false);
    while !same_ended && same.len() < TURNS {
        let mut count = 0;
        many.turns(&mut at_once, limit.min(TURNS - same.len()), |turn| {
            count += 1;
            same_ended |= take(turn, &mut same);
        });
        assert!(count <= limit);
    }
    assert_eq!((&same, same_ended), (&dealt, ended));
    assert_eq!(many.certificate(), one.certificate());
    check(&spec, &sizes, &dealt, ended, &one.certificate());
}

/// Records the group and index of a turn, `None` for an idle one. Returns whether the spread has
/// ended.
fn take(turn: Turn<()>, dealt: &mut Vec<Option<(u64, u64)>>) -> bool {
    match turn {
        Turn::Job(DealtJob { sequence, group, index, job: () }) => {
            assert_eq!(sequence, dealt.len() as u64);
            dealt.push(Some((group, index)));
        }
        Turn::Idle { sequence } => {
            assert_eq!(sequence, dealt.len() as u64);
            dealt.push(None);
        }
        Turn::Pending => {}
        Turn::End => return true,
    }
    false
}

fn check(
    spec: &SpreadSpec,
    sizes: &[u64],
    dealt: &[Option<(u64, u64)>],
    ended: bool,
    certificate: &Certificate,
) {
    let mut turns: Vec<Vec<u64>> = vec![Vec::new(); sizes.len()];
    for (turn, (group, index)) in (0..).zip(dealt).filter_map(|(turn, job)| Some((turn, (*job)?))) {
        let turns = &mut turns[usize::try_from(group).unwrap()];
        assert_eq!(index, turns.len() as u64, "jobs of group {group} out of order");
        turns.push(turn);
    }
    if ended {
        for (turns, size) in turns.iter().zip(sizes) {
            assert_eq!(turns.len() as u64, *size, "jobs are lost");
        }
    }
    let idle = dealt.iter().any(Option::is_none);
    let waits = spec.on_shortage == Some(OnShortage::Wait);
    assert!(!idle || waits, "an idle turn");
    let gaps: Vec<u64> =
        turns.iter().flat_map(|turns| turns.windows(2).map(|pair| pair[1] - pair[0])).collect();
    let feeders = spec.feeder_count.unsigned_abs();
    let close = gaps.iter().filter(|gap| **gap < feeders).count() as u64;
    assert_eq!(certificate.job_count, turns.iter().map(|turns| turns.len() as u64).sum::<u64>());
    let groups = turns.iter().filter(|turns| !turns.is_empty()).count() as u64;
    assert_eq!(certificate.group_count, groups);
    assert_eq!(certificate.min_gap_turns, gaps.iter().min().copied());
    assert_eq!(certificate.close_pair_count, close);
    let spans = turns.iter().filter_map(|turns| Some(turns.last()? - turns.first()?));
    assert_eq!(certificate.widest_span_turns, spans.max().unwrap_or(0));
    if waits {
        assert_eq!(close, 0, "it waits rather");
    } else {
        assert!(certificate.close_pair_lower_bound <= close, "{certificate:?}");
        assert!(certificate.min_gap_turns <= certificate.best_min_gap_turns, "{certificate:?}");
    }
}
