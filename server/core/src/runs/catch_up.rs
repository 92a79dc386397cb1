//! The catch-up clock: where late runs of a schedule with kinds start.
//!
//! A cycle is cut into turns, and each kind of an ID has a place in every turn: the place that the
//! same schedule would give it with a cycle of one turn, by the second half of the hash. A late run
//! starts at the first of its places that is not too near to a regular run of another kind of the
//! ID. So two late kinds stay their share of a turn apart, whenever each is polled, and no kind
//! needs to know of another.

use core::ops::Range;

use super::cycle_cache::CycleCache;
use super::place_runs::PlaceRuns;
use crate::calendar::{CycleMap, CyclePlan, RunFate, Timeline, WorkBudgetExhausted};
use crate::limits::DUE_CYCLES;
use crate::placement::{Place, scale};
use crate::rejection::{Reason, Rejection};
use crate::schedule::{Kind, Kinds, Schedule, Turns, share};

/// The catch-up clock of a kind. Times are milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct CatchUp<'a> {
    schedule: &'a Schedule,
    kinds: &'a Kinds,
    turns: &'a Turns,
    kind: u32,
}

/// Another kind, whose runs the late runs must not meet.
struct OtherKind<'a> {
    offset: u32,
    runs: PlaceRuns<'a>,
    /// The milliseconds that are kept free after its runs.
    lead: i64,
}

/// Parameters that place the late runs of one ID.
pub(super) struct LateRuns<'a> {
    clock: CatchUp<'a>,
    cycles: &'a CycleCache<'a>,
    /// The smear hash u, shifted for the piece.
    hash: u64,
    others: Vec<OtherKind<'a>>,
    lead: i64,
}

impl<'a> CatchUp<'a> {
    /// The clock of a schedule of one kind; `None` where no kinds are declared.
    ///
    /// # Errors
    /// When kinds are declared and the schedule is of none of them, naming `kind`.
    pub(super) fn of(schedule: &'a Schedule) -> Result<Option<Self>, Rejection> {
        let Some(kinds) = schedule.kinds() else { return Ok(None) };
        let Some(kind) = schedule.kind() else { return kinds.index_of(None).map(|_| None) };
        Ok(Some(Self { schedule, kinds, turns: kinds.turns(), kind }))
    }

    /// The late runs of the ID that stands at `place` and is smeared by `hash`.
    pub(super) fn late_runs(
        self,
        cycles: &'a CycleCache<'a>,
        place: &Place,
        hash: u64,
    ) -> LateRuns<'a> {
        let lead = |kind| self.turns.lead(kind).cast_signed();
        let others = (0..).zip(self.kinds.as_slice());
        let others = others.filter(|(index, _)| self.kinds.are_apart(self.kind, *index));
        let other = |(index, kind): (u32, &Kind)| OtherKind {
            offset: kind.offset,
            runs: cycles.runs_of_kind(place, kind.offset),
            lead: lead(index),
        };
        let others = others.map(other).collect();
        LateRuns { clock: self, cycles, hash, others, lead: lead(self.kind) }
    }

    /// The refusal of a span that callers must not set where kinds are declared.
    pub(super) fn refuse(field: &str, span: &dyn core::fmt::Display) -> Rejection {
        let allowed = "must not be set where the schedule declares kinds: its catch_up_span says where \
                       late runs start, the same for all callers";
        Rejection::new(Reason::Contradictory, field, span, allowed)
    }
}

impl LateRuns<'_> {
    /// The first start at or after `from` and before `until`; `None` if no turn there is free.
    pub(super) fn start(&self, from: i64, until: i64) -> Result<Option<i64>, WorkBudgetExhausted> {
        let Some(plan) = self.clock.schedule.plan() else {
            return self.first_free(self.plain_starts(from).take_while(|start| *start < until));
        };
        let mut first: Option<i64> = None;
        let around = self.clock.schedule.cycle_of_millis(from) - 1;
        for cycle in around.. {
            // Where the clock skips the end of a cycle, its last places lie in the next one.
            let before = first.unwrap_or(until);
            if self.cycles.millis(plan.axis.instant_of(plan.axis.start(cycle))) >= before {
                break;
            }
            let search = |timeline: &Timeline| self.first_in(plan, timeline, cycle, from..before);
            first = self.cycles.in_cycle(plan, cycle, search)??.or(first);
        }
        Ok(first)
    }

    /// The first free start in a cycle that lies in `range`.
    fn first_in(
        &self,
        plan: &CyclePlan,
        timeline: &Timeline,
        cycle: i64,
        range: Range<i64>,
    ) -> Result<Option<i64>, WorkBudgetExhausted> {
        let Some(map) = timeline.map(cycle).filter(|map| !map.is_skipped) else { return Ok(None) };
        let turns = self.clock.turns.count();
        let is_usable = |instant: i64| {
            let tick = instant.div_euclid(self.cycles.millis(1));
            timeline.fate(tick) == RunFate::Regular
        };
        let offset = self.clock.schedule.grid().rotation();
        let start = |turn: u64| self.start_in(map, turn, offset).map(|start| (start, turn));
        let first = self.turn_at(map, range.start);
        let mut starts: Box<dyn Iterator<Item = (i64, u64)>> = if map.overlaps() {
            self.cycles.look_through(turns);
            let mut all: Vec<_> = (0..turns).filter_map(start).collect();
            all.sort_unstable();
            Box::new(all.into_iter())
        } else {
            Box::new((first..turns).filter_map(start))
        };
        loop {
            let Some((start, turn)) = starts.next() else { return Ok(None) };
            if start >= range.end {
                return Ok(None);
            }
            if start < range.start || !is_usable(start) {
                self.charge(1)?;
                continue;
            }
            let is_apart = !self.clock.turns.are_cut()
                || self.is_apart(plan, start, (cycle, turn.cast_signed()))?;
            if is_apart && self.is_free(start)? {
                return Ok(Some(start));
            }
        }
    }

    /// When the place of a kind comes in a turn of a cycle, in milliseconds; `None` if it does not.
    fn start_in(&self, map: &CycleMap, turn: u64, offset: u32) -> Option<i64> {
        let tick = self.clock.schedule.tick_millis();
        let length = map.active_ticks * tick / self.clock.turns.count();
        let place = turn * length + self.place_in_turn(length, offset);
        let instant = map.instant_of(place / tick)?;
        Some(self.cycles.millis(instant) + (place % tick).cast_signed())
    }

    /// The first turn of a cycle that does not end before an instant.
    fn turn_at(&self, map: &CycleMap, millis: i64) -> u64 {
        let tick = millis.div_euclid(self.cycles.millis(1));
        let Some(segment) = map.segments.iter().find(|segment| segment.end() > tick) else {
            return self.clock.turns.count();
        };
        let offset = segment.offset + u64::try_from(tick - segment.instant).unwrap_or(0);
        offset / (map.active_ticks / self.clock.turns.count()).max(1)
    }

    /// Whether the places of other kinds in the turns around are far enough from `start`. They are,
    /// unless a change of the clock cuts a turn.
    fn is_apart(
        &self,
        plan: &CyclePlan,
        start: i64,
        (cycle, turn): (i64, i64),
    ) -> Result<bool, WorkBudgetExhausted> {
        let (turns, apart) =
            (self.clock.turns.count().cast_signed(), self.clock.turns.apart_in_cut());
        let reach = self.clock.turns.reach();
        for turn in turn - reach..=turn + reach {
            let (cycle, turn) =
                (cycle + turn.div_euclid(turns), turn.rem_euclid(turns).unsigned_abs());
            self.charge(self.others.len() as u64)?;
            let is_near = |timeline: &Timeline| {
                let Some(map) = timeline.map(cycle) else { return false };
                self.others.iter().any(|other| {
                    let place = self.start_in(map, turn, other.offset);
                    place.is_some_and(|place| {
                        let lead = if place < start { other.lead } else { self.lead };
                        (place - start).abs() < lead.max(apart.cast_signed())
                    })
                })
            };
            if self.cycles.in_cycle(plan, cycle, is_near)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn charge(&self, count: u64) -> Result<(), WorkBudgetExhausted> {
        self.cycles.look_through(count);
        let looked_through = self.cycles.looked_through();
        if DUE_CYCLES.allows(looked_through.into()) { Ok(()) } else { Err(WorkBudgetExhausted) }
    }

    /// The first start that is far enough from regular runs of other kinds.
    fn first_free(
        &self,
        mut starts: impl Iterator<Item = i64>,
    ) -> Result<Option<i64>, WorkBudgetExhausted> {
        loop {
            let Some(start) = starts.next() else { return Ok(None) };
            if self.is_free(start)? {
                return Ok(Some(start));
            }
        }
    }

    fn is_free(&self, start: i64) -> Result<bool, WorkBudgetExhausted> {
        self.charge(1 + self.others.len() as u64)?;
        for other in &self.others {
            let next = other.runs.next(start)?;
            let last = other.runs.last(start)?;
            let is_near = next.is_some_and(|next| next.unix_millis - start < self.lead)
                // That run may be late by the tolerance, and so start after this one.
                || last.is_some_and(|last| start - last.unix_millis < other.lead.max(self.lead));
            if is_near {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The starts where cycles are periods, from the first at or after `from` on.
    fn plain_starts(&self, from: i64) -> impl Iterator<Item = i64> {
        let schedule = self.clock.schedule;
        let turn = schedule.period_millis() / self.clock.turns.count();
        let place = self.place_in_turn(turn, schedule.grid().rotation()).cast_signed();
        let turn = turn.cast_signed();
        let first = from + (place - (from - schedule.anchor_millis())).rem_euclid(turn);
        (0..).map(move |index: i64| first + index * turn)
    }

    /// Milliseconds from the start of a turn to the place of a kind in it, in a turn of `turn`
    /// milliseconds.
    fn place_in_turn(&self, turn: u64, offset: u32) -> u64 {
        let slots = u64::from(self.clock.schedule.slot_count());
        (scale(self.hash, turn) + share(turn, offset.into(), slots)) % turn
    }
}
