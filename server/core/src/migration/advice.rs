//! Advice: one sentence on a cheaper way to the new schedule.

use super::{Migration, Path, same_cycles};
use crate::limits::SLOT_COUNT;
use crate::placement::Placement;
use crate::rejection::shorten;
use crate::schedule::Schedule;
use crate::time::{Moment, Span};

impl Migration<'_> {
    /// A cheaper way to the new schedule, in a sentence; empty if there is none.
    #[must_use]
    pub fn advice(&self) -> String {
        match self.path {
            Path::Unchanged => String::new(),
            Path::SameTimes => self.keep_slots_whole(),
            Path::SameOrder => self.keep_times(),
            Path::NewPlaces => self.keep_places(),
        }
    }

    fn keep_slots_whole(&self) -> String {
        let (old, new) = (self.old.slot_count(), self.new.slot_count());
        if new.is_multiple_of(old) || old.is_multiple_of(new) {
            return String::new();
        }
        let most = u32::try_from(SLOT_COUNT.maximum).unwrap_or(u32::MAX);
        let ticks = self.new.active_ticks_of_all();
        let multiples = (2..=most / old).map(|times| times * old);
        let fitting = multiples.filter(|slots| ticks.is_multiple_of(u64::from(*slots)));
        let nearest = fitting.min_by_key(|slots| slots.abs_diff(new));
        nearest.map_or_else(String::new, |slots| {
            format!(
                "make the new slot_count a multiple of the old one, such as {slots}: each old slot is \
                 then cut into whole new slots, and shares none of them with another old slot"
            )
        })
    }

    fn keep_times(&self) -> String {
        let (old, new) = (self.old, self.new);
        if !(old.is_plain() && new.is_plain()) {
            return String::new(); // the caller asked for other hours, days or clocks
        }
        if old.period_millis() == new.period_millis() {
            return if same_cycles(old, new) && old.grid().rotation() != new.grid().rotation() {
                "keep the kind where it stands: then no ID moves".to_owned()
            } else if same_cycles(old, new) {
                let anchor = Moment::from_unix_millis(old.anchor_millis());
                let anchor = anchor.unwrap_or(Moment::UNIX_EPOCH); // it was made of one
                format!("keep the anchor_time, {anchor}: then no ID moves")
            } else {
                format!("keep the resolution, {}: then no ID moves", old.resolution())
            };
        }
        let longest = old.period().max(new.period());
        match common_start(old, new, self.cutover) {
            Some(start) if start == self.cutover => String::new(),
            Some(start) => Moment::from_unix_millis(start).map_or_else(String::new, |start| {
                format!(
                    "cut over at {start}, where a cycle of each schedule starts: every ID then waits \
                     between {} and {longest} (without min_gap)",
                    old.period().min(new.period())
                )
            }),
            None => self.start_together(longest),
        }
    }

    /// The advice if cycles of the two schedules never start together: the new cycles can begin
    /// with the cutover.
    fn start_together(&self, longest: Span) -> String {
        let before = Moment::from_unix_millis(self.cutover - 1);
        let start = before.and_then(|before| self.old.cycle_start_after(before));
        start.map_or_else(String::new, |start| {
            format!(
                "give the new schedule the anchor_time {start}, where an old cycle starts, and cut over \
                 then: every ID then waits between {} and {longest} (without min_gap)",
                self.old.period().min(self.new.period())
            )
        })
    }

    fn keep_places(&self) -> String {
        match (self.old.placement(), self.new.placement()) {
            (Placement::Hash { salt }, Placement::Hash { .. }) => format!(
                "keep the salt, {:?}: each ID then keeps its share of the cycle",
                shorten(salt)
            ),
            (Placement::Twister { .. }, Placement::Twister { .. }) => format!(
                "keep the period, the slot_count of {}, bucket_count and profile: TWISTER \
                 gives IDs new places when one of them changes, where HASH keeps each ID's share of \
                 the cycle",
                self.old.slot_count()
            ),
            (old, _) => {
                format!("keep the placement, {}: any other gives IDs new places", old.kind().name())
            }
        }
    }
}

/// The first instant at or after `from` at which both schedules start a cycle, in milliseconds
/// since the Unix epoch; `None` if there is none before the year 10000.
fn common_start(old: &Schedule, new: &Schedule, from: i64) -> Option<i64> {
    let (a, b) = (i128::from(old.period_millis()), i128::from(new.period_millis()));
    let shift = i128::from(new.anchor_millis()) - i128::from(old.anchor_millis());
    let (divisor, inverse) = extended_gcd(a, b);
    if shift % divisor != 0 {
        return None;
    }
    // old anchor + i·a = new anchor (mod b)
    let cycles = (shift / divisor * inverse).rem_euclid(b / divisor);
    let every = a / divisor * b;
    let some = i128::from(old.anchor_millis()) + cycles * a;
    let start = some + -(some - i128::from(from)).div_euclid(every) * every;
    let start = i64::try_from(start).ok()?;
    Moment::from_unix_millis(start).map(|_| start)
}

/// The greatest common divisor d of two positive numbers, and x with a·x = d (mod b).
const fn extended_gcd(a: i128, b: i128) -> (i128, i128) {
    let (mut rest, mut next) = (a, b);
    let (mut x, mut next_x) = (1, 0);
    while next != 0 {
        let quotient = rest / next;
        (rest, next) = (next, rest - quotient * next);
        (x, next_x) = (next_x, x - quotient * next_x);
    }
    (rest, x)
}
