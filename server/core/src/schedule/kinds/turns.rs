//! The turns of the catch-up clock: equal parts of a cycle. Every late run of every kind has a place
//! in each of them.
//!
//! Kinds stand in a turn as they stand in the cycle. So two of them stay their share of a turn
//! apart, however late each is. See [`runs`](crate::runs) for where in a turn that is.

use super::kind::Kind;
use crate::calendar::longest_skip;
use crate::limits::CATCH_UP_TURNS;
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::Span;

/// Without a catch-up span, a cycle has this many turns or more, if they are long enough then.
const DEFAULT_TURNS: u64 = 8;

/// The turns of a cycle, and how near runs may come to one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turns {
    /// Turns in a cycle: a divisor of the ticks that each cycle may use.
    count: u64,
    /// How much usable time late runs are spread over: a turn, or somewhat more.
    span: Span,
    /// Milliseconds that are kept free after a run of each kind.
    leads: Vec<u64>,
    /// The shortest distance between late runs of two kinds that must not meet, in a turn of the
    /// shortest cycle that a change of the clock cuts, in milliseconds.
    apart: u64,
    /// By how much a change of the clocks can cut a turn, in milliseconds.
    cut: u64,
    /// The length of a turn of the shortest cycle, in milliseconds; 1 or more.
    shortest: u64,
}

impl Turns {
    /// Checks a span, or takes the default for `kinds`. Each kind must have its gap.
    pub(super) fn try_new(
        span: Option<Span>,
        schedule: &Schedule,
        kinds: &[Kind],
    ) -> Result<Self, Rejection> {
        let slots = u64::from(schedule.slot_count());
        let (shortest, longest) = (millis_of(schedule, false), millis_of(schedule, true));
        let least_turn = least_turn(slots, kinds);
        let fewest = 2 * u64::try_from(kinds.len()).unwrap_or(u64::MAX);
        let counts = divisors(schedule.active_ticks_of_all());
        let counts = || {
            let most = CATCH_UP_TURNS.maximum.unsigned_abs();
            counts.iter().copied().filter(move |count| (fewest..=most).contains(count))
        };
        let holds = |count: &u64| shortest / count >= least_turn;
        let Some(most) = counts().rfind(holds) else {
            let value = format_args!("{} kinds", kinds.len());
            let allowed = format!(
                "must leave late runs room: {fewest} turns or more, each {} or longer; a cycle has only \
                 {} (take shorter run times, fewer kinds, or a longer cycle)",
                Span::from_millis(least_turn),
                Span::from_millis(shortest)
            );
            return Err(Rejection::new(Reason::KindsDoNotFit, "kinds", value, allowed));
        };
        let count = match span {
            None => {
                let default = counts().find(|count| *count >= DEFAULT_TURNS.max(fewest));
                default.map_or(most, |count| count.min(most))
            }
            Some(span) => {
                let longest_span = Span::from_millis(longest / fewest);
                let parts = longest.div_ceil(span.millis_floor().max(1));
                let count = counts().find(|count| *count >= parts).filter(|count| *count <= most);
                count.filter(|_| span <= longest_span).ok_or_else(|| {
                    let allowed = format!(
                        "must be {} to {longest_span}: {fewest} turns or more in a cycle, each long \
                         enough to keep late runs apart",
                        Span::from_millis(longest / most)
                    );
                    Rejection::new(Reason::OutOfRange, "catch_up_span", span, allowed)
                })?
            }
        };
        let span = span.unwrap_or(Span::from_millis(longest / count));
        Ok(Self { count, span, leads: Vec::new(), apart: 0, cut: 0, shortest: 1 }
            .of(schedule, kinds))
    }

    /// The same turns for `kinds`, by the clock of `schedule`.
    pub(super) fn of(self, schedule: &Schedule, kinds: &[Kind]) -> Self {
        let (slots, turn) =
            (u64::from(schedule.slot_count()), millis_of(schedule, false) / self.count);
        let lost = |kind: &Kind| {
            schedule.span(u64::from(kind.gap) * schedule.slot_ticks()).minus(kind.gap_time)
        };
        let lost = kinds.iter().map(lost).max().map_or(0, Span::millis_ceil);
        // A change may cut a turn without making a kind's gap shorter: it may fall into other
        // active windows than those in which the kinds are nearest.
        let skip = schedule.plan().map_or(0, longest_skip) * schedule.tick_millis();
        let cut = lost.max(skip);
        let gap = kinds.iter().map(|kind| kind.gap.into()).min().unwrap_or(slots);
        let lead =
            |kind: &Kind| kind.run_time.map_or(share(turn, gap, slots) / 2, Span::millis_ceil);
        Self {
            leads: kinds.iter().map(lead).collect(),
            apart: share(turn.saturating_sub(cut), gap, slots).saturating_sub(1),
            cut,
            shortest: turn.max(1),
            ..self
        }
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    pub(super) const fn span(&self) -> Span {
        self.span
    }

    /// The time that is kept free after a run of a kind, in milliseconds.
    pub(crate) fn lead(&self, kind: u32) -> u64 {
        let lead = usize::try_from(kind).ok().and_then(|kind| self.leads.get(kind));
        lead.copied().unwrap_or_default()
    }

    /// Whether changes of the clocks cut turns.
    pub(crate) const fn are_cut(&self) -> bool {
        self.cut > 0
    }

    /// How many turns away a place of another kind can be near: the next turn, or as far as clocks
    /// skip.
    pub(crate) const fn reach(&self) -> i64 {
        1 + self.cut.div_ceil(self.shortest).cast_signed()
    }

    /// The shortest distance between late runs of two kinds that must not meet, in a turn that a
    /// change of the clock cuts, in milliseconds.
    pub(crate) const fn apart_in_cut(&self) -> u64 {
        self.apart
    }
}

/// ⌊turn·of / slots⌋.
pub(crate) fn share(turn: u64, of: u64, slots: u64) -> u64 {
    let share = u128::from(turn) * u128::from(of) / u128::from(slots.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// The shortest turn, in milliseconds, in which each kind has its run time, and a millisecond for
/// rounding, before the next one.
fn least_turn(slots: u64, kinds: &[Kind]) -> u64 {
    let needed = |kind: &Kind| {
        let run_time = kind.run_time.map_or(1, Span::millis_ceil).max(1);
        let turn = (u128::from(run_time) + 1) * u128::from(slots);
        u64::try_from(turn.div_ceil(u128::from(kind.gap.max(1)))).unwrap_or(u64::MAX)
    };
    if kinds.len() < 2 { 1 } else { kinds.iter().map(needed).max().unwrap_or(1) }
}

/// Usable time of a cycle, in milliseconds: of the longest cycle, or of the shortest.
fn millis_of(schedule: &Schedule, longest: bool) -> u64 {
    let ticks = match longest {
        false => schedule.active_ticks(),
        true => (0..48).map(|cycle| schedule.active_ticks_of(cycle)).max().unwrap_or_default(),
    };
    ticks * schedule.tick_millis()
}

/// All divisors of a positive number, ascending. Cycles have at most 316,224,000,000 ticks, so at
/// most 600,000 numbers are tried.
fn divisors(number: u64) -> Vec<u64> {
    let (mut rest, mut found) = (number, vec![1]);
    let mut prime = 2;
    while prime * prime <= rest {
        let known = found.len();
        let mut power = 1;
        while rest.is_multiple_of(prime) {
            rest /= prime;
            power *= prime;
            found.extend_from_within(..known);
            let from = found.len() - known;
            found.iter_mut().skip(from).for_each(|divisor| *divisor *= power);
        }
        prime += if prime == 2 { 1 } else { 2 };
    }
    if rest > 1 {
        let known = found.len();
        found.extend_from_within(..);
        found.iter_mut().skip(known).for_each(|divisor| *divisor *= rest);
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_all_that_divide() {
        for number in (1..2_000_u64).chain([86_400, 999_983]) {
            let tried: Vec<u64> = (1..=number).filter(|one| number.is_multiple_of(*one)).collect();
            assert_eq!(divisors(number), tried, "{number}");
        }
        // The longest cycle whose half is a prime.
        assert_eq!(divisors(2 * 158_111_999_969).len() % 2, 0);
    }
}
