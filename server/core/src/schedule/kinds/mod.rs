//! Kinds of job that a schedule declares: where each stands, and how far apart they are.

mod checks;
mod kind;
mod turns;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use self::kind::{Kind, KindSpec};

pub(super) use self::checks::kinds;
pub(crate) use self::turns::{Turns, share};

use super::Schedule;
use crate::calendar::{self, CyclePlan};
use crate::limits::WORST_CHANGE_YEARS;
use crate::reciprocal::Spacing;
use crate::rejection::{Reason, Rejection, shorten};
use crate::time::{Moment, Span};

/// The kinds of a schedule, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kinds {
    kinds: Vec<Kind>,
    spacing: Spacing,
    /// Pairs of `kinds` that must not meet, by their indexes; empty if no two kinds may meet.
    conflicts: Vec<(u32, u32)>,
    turns: Turns,
}

impl Kinds {
    /// All kinds, in the order of the description.
    #[must_use]
    pub fn as_slice(&self) -> &[Kind] {
        &self.kinds
    }

    /// How they are spaced.
    #[must_use]
    pub const fn spacing(&self) -> Spacing {
        self.spacing
    }

    /// The names of the pairs that must not meet, in the order of the canonical text; empty if no
    /// two kinds may meet.
    pub fn conflicts(&self) -> impl Iterator<Item = (&str, &str)> {
        let name = |kind: u32| self.get(kind).map_or("", |kind| kind.name.as_str());
        self.conflicts.iter().map(move |(first, second)| (name(*first), name(*second)))
    }

    /// How much of a cycle's usable time late runs are spread over.
    #[must_use]
    pub const fn catch_up_span(&self) -> Span {
        self.turns.span()
    }

    /// How many gaps of different length there are.
    #[must_use]
    pub fn gap_count(&self) -> usize {
        let gaps: BTreeSet<u32> = self.kinds.iter().map(|kind| kind.gap).collect();
        gaps.len()
    }

    /// The longest `on_time_tolerance` that keeps kinds apart when runs start late by it: the least
    /// time that a run time leaves of a gap.
    #[must_use]
    pub fn longest_tolerance(&self) -> Span {
        let none = Span::from_seconds(0);
        let left = self.kinds.iter().map(|kind| kind.gap_time.minus(kind.run_time.unwrap_or(none)));
        left.min().unwrap_or(none)
    }

    pub(crate) const fn turns(&self) -> &Turns {
        &self.turns
    }

    pub(crate) fn get(&self, index: u32) -> Option<&Kind> {
        self.kinds.get(usize::try_from(index).ok()?)
    }

    /// Whether runs of these two kinds of an ID must not meet.
    pub(crate) fn are_apart(&self, one: u32, other: u32) -> bool {
        let pair = (one.min(other), one.max(other));
        one != other && (self.conflicts.is_empty() || self.conflicts.contains(&pair))
    }

    /// The index of the kind with this name.
    ///
    /// # Errors
    /// When no name is given, or it is not declared; naming `kind` and those that are.
    pub(crate) fn index_of(&self, name: Option<&str>) -> Result<u32, Rejection> {
        let found = self.kinds.iter().position(|kind| Some(kind.name.as_str()) == name);
        found.and_then(|index| u32::try_from(index).ok()).ok_or_else(|| {
            let known: Vec<_> = self.kinds.iter().take(8).map(|kind| kind.name.as_str()).collect();
            let more = match self.kinds.len().saturating_sub(known.len()) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let allowed = format!("must be a kind of the schedule: {}{more}", known.join(", "));
            match name {
                None => Rejection::new(Reason::FieldMissing, "kind", "nothing", allowed),
                Some(name) => {
                    Rejection::new(Reason::OutOfRange, "kind", format_args!("{name:?}"), allowed)
                }
            }
        })
    }
}

impl Kinds {
    /// The same kinds by the clock of `schedule`, which is in another zone.
    fn in_zone_of(&self, schedule: &Schedule) -> Result<Self, Rejection> {
        let mut kinds = self.kinds.clone();
        for (index, kind) in kinds.iter_mut().enumerate() {
            (kind.gap_time, kind.shortest_cycle_start) = schedule.shortest_gap(kind.gap);
            check_gap(index, kind)?;
        }
        let turns = self.turns.clone().of(schedule, &kinds);
        Ok(Self { kinds, turns, ..self.clone() })
    }
}

impl Schedule {
    /// The kinds that the schedule declares; without them, any name is a label that moves nothing.
    #[must_use]
    pub fn kinds(&self) -> Option<&Kinds> {
        self.kinds.as_deref()
    }

    /// The schedule of one kind of job: its places are those of kind 0, moved by the offset of the
    /// kind, in active time, around the cycle. So are its predicates, windows, due runs, new IDs
    /// and migrations. The schedule itself if it declares no kinds.
    ///
    /// # Errors
    /// When kinds are declared and this is none of them; naming `kind`.
    ///
    /// ```
    /// use offbeat_core::schedule::KindSpec;
    /// use offbeat_core::{Id, Moment, Schedule, ScheduleSpec, Span};
    ///
    /// let schedule = Schedule::try_new(&ScheduleSpec {
    ///     kinds: vec![KindSpec::named("import"), KindSpec::named("export")],
    ///     ..ScheduleSpec::every(Span::from_seconds(8 * 3_600))
    /// })?;
    /// let id = Id::text("acme")?;
    /// let of = |kind| schedule.of_kind(Some(kind))?.place(&id);
    /// assert_eq!((of("import")?.slot + 64) % 128, of("export")?.slot);
    /// assert!(schedule.of_kind(None).is_err(), "which kind is part of the question");
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn of_kind(&self, name: Option<&str>) -> Result<Self, Rejection> {
        let Some(kinds) = self.kinds() else { return Ok(self.clone()) };
        let index = kinds.index_of(name)?;
        let offset = kinds.get(index).map_or(0, |kind| kind.offset);
        Ok(Self { grid: self.grid.rotated(offset), kind: Some(index), ..self.clone() })
    }

    /// The schedule for an ID that lives in another time zone: its cycles are those of the wall
    /// clock there. Take run keys from the original schedule: they do not name the zone.
    ///
    /// # Errors
    /// When there is no such zone, the schedule has no calendar, or a change of the clocks there
    /// would let kinds meet; naming `time_zone` or `kinds`.
    ///
    /// ```
    /// use offbeat_core::{CalendarSpec, CalendarUnit, CycleSpec, Moment, Schedule, ScheduleSpec, Span};
    ///
    /// let calendar =
    ///     CalendarSpec { unit: CalendarUnit::Day, time_zone: "Europe/Berlin".to_owned() };
    /// let daily = Schedule::try_new(&ScheduleSpec {
    ///     cycle: CycleSpec::Calendar(calendar),
    ///     ..ScheduleSpec::every(Span::from_seconds(1))
    /// })?;
    /// let place = daily.place_of_hash(0); // midnight
    /// let run = daily.in_zone("Asia/Tokyo")?.next_run(&place, Moment::UNIX_EPOCH)?.unwrap();
    /// assert_eq!(run.unix_millis, 15 * 3_600_000);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn in_zone(&self, name: &str) -> Result<Self, Rejection> {
        const FIELD: &str = "time_zone";
        let Some(plan) = self.plan.as_ref().filter(|_| self.calendar().is_some()) else {
            let allowed = "must not be set where cycles are periods, which no clock moves";
            let value = format_args!("{name:?}");
            return Err(Rejection::new(Reason::Contradictory, FIELD, value, allowed));
        };
        let axis = plan.axis.in_zone(name).ok_or_else(|| {
            let allowed = "must be the name of a time zone in the IANA database, such as \
                           Europe/Berlin or UTC";
            Rejection::new(Reason::UnknownTimeZone, FIELD, format_args!("{name:?}"), allowed)
        })?;
        let plan = Some(Box::new(CyclePlan { axis, ..CyclePlan::clone(plan) }));
        let moved = Self { plan, ..self.clone() };
        let kinds = self.kinds.as_ref().map(|kinds| kinds.in_zone_of(&moved)).transpose()?;
        Ok(Self { kinds: kinds.map(Arc::new), ..moved })
    }

    /// The shortest time, for one ID, from a run of one kind to the run of a kind that stands `gap`
    /// slots later; and the start of the cycle in which it is shorter than those slots, because of
    /// a change of the clock or the length of a month from 2020 to 2037. `None` if there is no such
    /// cycle.
    ///
    /// ```
    /// use offbeat_core::{CalendarSpec, CalendarUnit, CycleSpec, Schedule, ScheduleSpec, Span};
    ///
    /// let calendar =
    ///     CalendarSpec { unit: CalendarUnit::Day, time_zone: "Europe/Berlin".to_owned() };
    /// let daily = Schedule::try_new(&ScheduleSpec {
    ///     cycle: CycleSpec::Calendar(calendar),
    ///     ..ScheduleSpec::every(Span::from_seconds(1))
    /// })?;
    /// let (gap, day) = daily.shortest_gap(daily.slot_count() / 2);
    /// assert_eq!(gap, Span::from_seconds(11 * 3_600)); // on a day in March
    /// assert!(day.is_some());
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn shortest_gap(&self, gap: u32) -> (Span, Option<Moment>) {
        let slots = self.slot_count();
        let ticks = share(self.active_ticks(), gap.into(), slots.into());
        let regular = self.span(ticks);
        let Some(plan) = self.plan() else { return (regular, None) };
        let Some((ticks, cycle)) = calendar::shortest_distance(plan, slots, gap) else {
            return (regular, None);
        };
        let shortest = self.span(u64::try_from(ticks).unwrap_or(0)); // below 0, they meet
        if shortest < regular { (shortest, self.cycle_start(cycle)) } else { (regular, None) }
    }

    /// The index of the kind that the schedule is of; `None` for the schedule as a whole.
    pub(crate) const fn kind(&self) -> Option<u32> {
        self.kind
    }
}

/// Refuses a gap that is shorter than the run of the kind before it.
fn check_gap(index: usize, kind: &Kind) -> Result<(), Rejection> {
    let needed = kind.run_time.unwrap_or(Span::from_millis(1)).max(Span::from_millis(1));
    if kind.gap_time >= needed {
        return Ok(());
    }
    let day = kind.shortest_cycle_start.map_or_else(String::new, |start| {
        let years = WORST_CHANGE_YEARS;
        format!(
            ", by a change of the clocks in the cycle of {start} (the worst from {} to {})",
            years.minimum, years.maximum
        )
    });
    let allowed = format!(
        "must leave {needed} to the next kind, and leaves {}{day}: take fewer kinds, or a longer \
         cycle",
        kind.gap_time
    );
    let field = format!("kinds[{index}]");
    Err(Rejection::new(Reason::KindsDoNotFit, field, shorten(&kind.name), allowed))
}
