//! Migrations: how IDs cross from one schedule to another.
//!
//! Each ID runs by the old schedule before the cutover, and by the new one from then on. New runs
//! less than a minimum gap after the ID's last old run are left out. So no ID is lost, and none
//! runs twice within the gap. Times are milliseconds since the Unix epoch. Each piece of a weighted
//! ID crosses by itself.

mod advice;
mod gaps;
mod steps;

pub use steps::Step;

use crate::calendar::WorkBudgetExhausted;
use crate::limits::SEARCHED_CYCLES;
use crate::placement::{Place, Placement};
use crate::rejection::{Reason, Rejection};
use crate::runs::{CycleCache, Run};
use crate::schedule::Schedule;
use crate::time::{Moment, Span};

/// What a change of schedule moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// The schedules mean the same.
    Unchanged,
    /// Slots differ; every ID keeps its time.
    SameTimes,
    /// The cycle differs; each ID keeps its share of it.
    SameOrder,
    /// The new places of IDs have nothing to do with the old ones.
    NewPlaces,
}

/// A change of schedule.
///
/// ```
/// use offbeat_core::migration::{Migration, Path};
/// use offbeat_core::{Moment, Schedule, ScheduleSpec, Span};
///
/// let every = |hours: i64| Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(hours * 3_600)));
/// let (old, new) = (every(8)?, every(24)?);
/// let migration = Migration::try_new(&old, &new, Moment::UNIX_EPOCH, None)?;
/// assert_eq!(migration.path(), Path::SameOrder);
/// let hash = 1 << 63; // half a cycle: 04:00, then 12:00
/// let crossing = migration.crossing(&old.place_of_hash(hash), &new.place_of_hash(hash))?;
/// assert_eq!(crossing.gap(), Span::from_seconds(16 * 3_600));
/// # Ok::<(), offbeat_core::Rejection>(())
/// ```
#[derive(Debug, Clone)]
pub struct Migration<'a> {
    old: &'a Schedule,
    new: &'a Schedule,
    old_cycles: CycleCache<'a>,
    new_cycles: CycleCache<'a>,
    cutover: i64,
    min_gap: i64,
    path: Path,
}

/// How one ID crosses to the new schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    /// Its last old run.
    pub last_old: Run,
    /// Its first new run.
    pub first_new: Run,
    /// New runs before `first_new`, which are left out.
    pub left_out: u64,
    /// Whether the old schedule would have run the ID next at another time.
    pub moved: bool,
}

impl Crossing {
    /// Time from the last old to the first new run.
    #[must_use]
    pub const fn gap(&self) -> Span {
        Span::from_millis(self.first_new.unix_millis.abs_diff(self.last_old.unix_millis))
    }
}

/// Why the crossing of an ID is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCrossing {
    /// Exclusions skip each old run in 1,000 cycles before the cutover.
    NoOldRun,
    /// Exclusions skip each new run in 1,000 cycles after the cutover.
    NoNewRun,
    /// The answer needs more work than its budget allows, for the schedule in this field
    /// (`old_schedule` or `new_schedule`). No ID has a crossing then.
    Exhausted(&'static str),
}

impl From<NoCrossing> for Rejection {
    fn from(cause: NoCrossing) -> Self {
        match cause {
            NoCrossing::NoOldRun => no_run("old_schedule", "before"),
            NoCrossing::NoNewRun => no_run("new_schedule", "after"),
            NoCrossing::Exhausted(field) => {
                Self { field: field.to_owned(), ..Self::from(WorkBudgetExhausted) }
            }
        }
    }
}

impl<'a> Migration<'a> {
    /// Checks a change of schedule at `cutover`; without `min_gap`, nothing is left out.
    ///
    /// # Errors
    /// When the cutover leaves no room for the runs around it in the years 1 to 9999, or the gap is
    /// negative or longer than the shortest cycle of the new schedule; naming `cutover_time` or
    /// `min_gap`.
    pub fn try_new(
        old: &'a Schedule,
        new: &'a Schedule,
        cutover: Moment,
        min_gap: Option<Span>,
    ) -> Result<Self, Rejection> {
        let at_cutover = |refused| Rejection { field: "cutover_time".to_owned(), ..refused };
        old.check_from(cutover, 1).map_err(at_cutover)?;
        new.check_from(cutover, 3).map_err(at_cutover)?;
        let min_gap = min_gap.unwrap_or(Span::from_seconds(0));
        let longest = Span::from_millis(new.shortest_cycle_millis().unsigned_abs());
        if !(Span::from_seconds(0)..=longest).contains(&min_gap) {
            let cycle = new.shortest_cycle_name();
            let allowed = format!("must be 0s to {longest}, {cycle} of new_schedule");
            return Err(Rejection::new(Reason::OutOfRange, "min_gap", min_gap, allowed));
        }
        Ok(Self {
            old,
            new,
            old_cycles: old.cycle_cache(cutover),
            new_cycles: new.cycle_cache(cutover),
            cutover: cutover.unix_millis_ceil(),
            min_gap: min_gap.millis_ceil().cast_signed(),
            path: path(old, new),
        })
    }

    /// What the change moves.
    #[must_use]
    pub const fn path(&self) -> Path {
        self.path
    }

    /// How the ID at these places crosses.
    ///
    /// # Errors
    /// When exclusions leave the ID no last old run or no first new one, or when the answer needs
    /// more work than its budget allows.
    pub fn crossing(&self, old_place: &Place, new_place: &Place) -> Result<Crossing, NoCrossing> {
        let (old, new) = (self.old_cycles.runs_of(old_place), self.new_cycles.runs_of(new_place));
        let of_old = |_| NoCrossing::Exhausted("old_schedule");
        let of_new = |_| NoCrossing::Exhausted("new_schedule");
        let last_old = old.last(self.cutover).map_err(of_old)?;
        let last_old = last_old.ok_or(NoCrossing::NoOldRun)?;
        let allowed_from = self.cutover.max(last_old.unix_millis + self.min_gap);
        let first_new = new.next(allowed_from).map_err(of_new)?.ok_or(NoCrossing::NoNewRun)?;
        let unchanged = old.next(self.cutover).map_err(of_old)?;
        Ok(Crossing {
            last_old,
            first_new,
            left_out: new.count(self.cutover..allowed_from).map_err(of_new)?,
            moved: unchanged.is_none_or(|run| run.unix_millis != first_new.unix_millis),
        })
    }

    /// Begins another answer, which has the whole work budget again.
    pub fn begin_answer(&self) {
        self.old_cycles.begin_answer();
        self.new_cycles.begin_answer();
    }

    /// Whether the same key decides the old place and the new one.
    fn share_keys(&self) -> bool {
        match (self.old.placement(), self.new.placement()) {
            (Placement::Hash { salt: old }, Placement::Hash { salt: new }) => old == new,
            (Placement::Fraction, Placement::Fraction) => true,
            _ => false,
        }
    }

    /// Whether both schedules have cycles of the same length, in ticks of the same length.
    fn share_cycles(&self) -> bool {
        same_cycles(self.old, self.new)
    }
}

fn no_run(schedule: &str, side: &str) -> Rejection {
    let cycles = SEARCHED_CYCLES.maximum;
    let allowed = format!(
        "exclusions of {schedule} skip each of its runs in {cycles} cycles {side} the cutover"
    );
    Rejection::new(Reason::NoRun, "", "the ID", allowed)
}

fn same_cycles(old: &Schedule, new: &Schedule) -> bool {
    old.period_millis() == new.period_millis() && old.tick_millis() == new.tick_millis()
}

/// Whether places at the same share of the cycle run at the same times.
fn same_times(old: &Schedule, new: &Schedule) -> bool {
    if old.tick_millis() != new.tick_millis() {
        return false;
    }
    // Months differ in length, so a kind stands at a share of the cycle.
    let share = |one: &Schedule, other: &Schedule| {
        u64::from(one.grid().rotation()) * u64::from(other.slot_count())
    };
    let stand_alike = share(old, new) == share(new, old);
    match (old.plan(), new.plan()) {
        (None, None) => {
            let start = |schedule: &Schedule| schedule.anchor_millis() + schedule.rotation_millis();
            let shift = start(old) - start(new);
            same_cycles(old, new) && shift.rem_euclid(old.shortest_cycle_millis()) == 0
        }
        (Some(old), Some(new)) => {
            old.axis.is_cut_like(&new.axis)
                && old.windows == new.windows
                && old.exclusions == new.exclusions
                && stand_alike
        }
        _ => false,
    }
}

fn path(old: &Schedule, new: &Schedule) -> Path {
    let same_kind = old.grid().rotation() == new.grid().rotation();
    if same_kind && old.canonical_text() == new.canonical_text() {
        return Path::Unchanged;
    }
    let same_placement = old.placement() == new.placement();
    if !same_placement || matches!(old.placement(), Placement::Twister { .. }) {
        return Path::NewPlaces; // a twister draws again for slots of another length
    }
    if same_times(old, new) { Path::SameTimes } else { Path::SameOrder }
}
