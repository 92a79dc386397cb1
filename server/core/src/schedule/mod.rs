//! Schedules: a cycle, cut into slots, and a placement.

mod canonical;
mod catalog;
mod checks;
mod cycles;
mod kinds;
mod lengths;
mod name;
mod spec;
mod turns;

use core::num::NonZeroU64;

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::calendar::{CalendarUnit, CyclePlan, CycleWindow, ExclusionSpec};
use crate::ids::{Id, check_part, hexadecimal};
use crate::limits::KIND_NAME;
use crate::placement::{
    Grid, Kernel, Place, Placement, Why, greatest_common_divisor, piece_count, smallest_fraction,
};
use crate::rejection::{Reason, Rejection};
use crate::time::{Moment, Span};

pub use catalog::{Catalog, Meanings};
pub use kinds::{Kind, KindSpec, Kinds};
pub use name::ScheduleName;
pub use spec::{CycleSpec, ScheduleSpec};

pub(crate) use turns::{Turns, share};

/// A checked schedule: every question to it has an answer, or a refusal that
/// is about the question alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    grid: Grid,
    tick_millis: u64,
    anchor_millis: i64,
    placement: Placement,
    /// Where cycles are more than a period.
    plan: Option<Box<CyclePlan>>,
    weight_quantum: Option<u64>,
    kinds: Option<Arc<Kinds>>,
    /// The kind whose places these are; without kinds, and of a schedule as a whole, none.
    kind: Option<u32>,
    named: Option<Named>,
}

/// What a schedule of a catalog is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    /// `name/version`.
    text: String,
    /// Reckoned once, since it is asked for with every answer.
    fingerprint: String,
}

impl Schedule {
    /// Checks a description.
    ///
    /// # Errors
    /// When a field is out of its range, does not divide, or does not go with
    /// the placement; the field is named as in `ScheduleSpec`.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// let spec = ScheduleSpec { slot_count: Some(7), ..ScheduleSpec::every(Span::from_seconds(86_400)) };
    /// let refused = Schedule::try_new(&spec).unwrap_err();
    /// assert!(refused.to_string().contains("nearest: 6 and 8 slots"), "{refused}");
    /// ```
    pub fn try_new(spec: &ScheduleSpec) -> Result<Self, Rejection> {
        let tick_millis = checks::resolution(spec.resolution)?;
        let cycles = cycles::cycles(spec, tick_millis)?;
        let placement = checks::placement(spec)?;
        let cycle = cycles.common_ticks(tick_millis);
        let slot_count = checks::slot_count(spec.slot_count, &cycle, &placement)?;
        let shortest = cycles.active_ticks.first().copied().unwrap_or(1);
        let slot_ticks =
            NonZeroU64::new(shortest / u64::from(slot_count)).unwrap_or(NonZeroU64::MIN); // a divisor of a positive number leaves at least 1
        let (plan, anchor_millis) = (cycles.plan.map(Box::new), cycles.anchor_millis);
        let whole = Self {
            grid: Grid::new(slot_count, slot_ticks),
            tick_millis,
            anchor_millis,
            placement,
            plan,
            weight_quantum: checks::weight_quantum(spec.weight_quantum)?,
            kinds: None,
            kind: None,
            named: None,
        };
        Ok(Self { kinds: kinds::kinds(spec, &whole)?.map(Arc::new), ..whole })
    }

    /// The same schedule, known by name: its run keys begin with `name/version`. Nothing else
    /// changes, the fingerprint least of all.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleName, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let named = daily.clone().with_name(&ScheduleName::try_new("bank-sync", 1)?);
    /// assert_eq!(named.run_key_prefix("import")?, "bank-sync/1/import");
    /// assert_eq!(named.fingerprint(), daily.fingerprint());
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn with_name(self, name: &ScheduleName) -> Self {
        let named = Some(Named { text: name.to_string(), fingerprint: self.fingerprint() });
        Self { named, ..self }
    }

    /// Where `id` stands; see [`place_in`](Self::place_in) for months.
    ///
    /// # Errors
    /// When the placement does not take IDs of its type.
    ///
    /// ```
    /// use offbeat_core::{Id, Schedule, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let place = daily.place(&Id::text("acme")?)?;
    /// let slot_start = u64::from(place.slot) * daily.slot_ticks();
    /// assert_eq!(place.cycle_offset, slot_start + place.slot_offset);
    /// assert!(daily.place(&Id::fraction(0.5)?).is_err(), "HASH takes no fractions");
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn place(&self, id: &Id<'_>) -> Result<Place, Rejection> {
        Ok(self.through_windows(self.grid.place(&self.placement, id)?))
    }

    /// Where an ID that stands at `place` stands in a certain cycle: the same, but for months,
    /// whose lengths differ. ([`place`](Self::place) means one of 28 days.)
    #[must_use]
    pub fn place_in(&self, place: &Place, cycle_index: i64) -> Place {
        let Some(plan) = &self.plan else { return *place };
        let ticks = plan.active_ticks(cycle_index);
        let offset = plan.offset(self.grid, place, ticks);
        let slot_ticks = (ticks / u64::from(self.slot_count())).max(1);
        Place {
            slot: u32::try_from(offset / slot_ticks).unwrap_or(u32::MAX), // below the slot count
            slot_offset: offset % slot_ticks,
            cycle_offset: plan.wall_offset(offset),
            why: place.why,
        }
    }

    fn through_windows(&self, place: Place) -> Place {
        match &self.plan {
            Some(plan) => Place { cycle_offset: plan.wall_offset(place.cycle_offset), ..place },
            None => place,
        }
    }

    /// Where many IDs stand; `each` hears, in order, what [`place`](Self::place) says of each, or
    /// the refusal that an ID came as. Far quicker than one by one: see [`simd`](crate::placement::simd).
    ///
    /// ```
    /// use offbeat_core::{Id, Schedule, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let ids = (0..1_000_i64).map(|number| Ok(Id::Integer(number.into())));
    /// let mut places = Vec::new();
    /// daily.place_all(ids, |place| places.extend(place));
    /// assert_eq!(places[7], daily.place(&Id::Integer(7_i64.into()))?);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn place_all<'a>(
        &self,
        ids: impl IntoIterator<Item = Result<Id<'a>, Rejection>>,
        each: impl FnMut(Result<Place, Rejection>),
    ) {
        self.place_all_with(Kernel::best(), ids, each);
    }

    /// The same with a certain kernel: the answers are equal, the speed is not.
    pub fn place_all_with<'a>(
        &self,
        kernel: Kernel,
        ids: impl IntoIterator<Item = Result<Id<'a>, Rejection>>,
        mut each: impl FnMut(Result<Place, Rejection>),
    ) {
        self.place_each(kernel, &mut ids.into_iter(), &mut each);
    }

    fn place_each<'a>(
        &self,
        kernel: Kernel,
        ids: &mut dyn Iterator<Item = Result<Id<'a>, Rejection>>,
        each: &mut dyn FnMut(Result<Place, Rejection>),
    ) {
        if self.plan.is_none() {
            return self.grid.place_all(kernel, &self.placement, ids, each);
        }
        let mut active =
            |place: Result<Place, _>| each(place.map(|place| self.through_windows(place)));
        self.grid.place_all(kernel, &self.placement, ids, &mut active);
    }

    /// Where piece `piece` stands of the weighted ID that stands at `place`, which is one of
    /// [`place`](Self::place); piece 0 stands there itself.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let own = daily.place_of_hash(0);
    /// assert_eq!(daily.piece(&own, 1).cycle_offset, 43_200); // half a day later
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn piece(&self, place: &Place, piece: u32) -> Place {
        let moved = self.grid.piece(place, piece);
        if piece == 0 || self.plan.is_none() {
            return moved;
        }
        // What decides in cycles of other lengths.
        let why = match moved.why {
            Why::Fraction(_) => {
                Why::Fraction(smallest_fraction(moved.cycle_offset, self.active_ticks()))
            }
            why => why,
        };
        self.through_windows(Place { why, ..moved })
    }

    /// How many pieces an ID of `weight` is cut into.
    ///
    /// # Errors
    /// When the schedule has no quantum, or the weight is not 0 to 2^53; naming `weight`.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// let spec =
    ///     ScheduleSpec { weight_quantum: Some(100), ..ScheduleSpec::every(Span::from_seconds(86_400)) };
    /// let weighted = Schedule::try_new(&spec)?;
    /// assert_eq!([0, 100, 101].map(|weight| weighted.piece_count(weight).unwrap()), [1, 1, 2]);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn piece_count(&self, weight: i64) -> Result<u32, Rejection> {
        piece_count(weight, self.weight_quantum, self.slot_count())
    }

    /// Where an ID whose hash is known stands (`HASH` only in meaning).
    #[must_use]
    pub fn place_of_hash(&self, hash: u64) -> Place {
        self.through_windows(self.grid.at_hash(hash))
    }

    /// Slots in a cycle.
    #[must_use]
    pub const fn slot_count(&self) -> u32 {
        self.grid.slot_count()
    }

    /// Ticks in a slot; in the shortest month, where months differ.
    #[must_use]
    pub const fn slot_ticks(&self) -> u64 {
        self.grid.slot_ticks()
    }

    /// Active ticks in a cycle, all of them without active windows; in the shortest month, where
    /// months differ.
    #[must_use]
    pub const fn active_ticks(&self) -> u64 {
        self.grid.period_ticks()
    }

    /// Active ticks in a cycle.
    #[must_use]
    pub fn active_ticks_of(&self, cycle_index: i64) -> u64 {
        self.plan.as_ref().map_or(self.active_ticks(), |plan| plan.active_ticks(cycle_index))
    }

    /// What the active ticks of all cycles are multiples of.
    pub(crate) fn active_ticks_of_all(&self) -> u64 {
        // Four years have months of each length.
        (0..48).map(|cycle| self.active_ticks_of(cycle)).fold(0, greatest_common_divisor)
    }

    /// Length of a tick.
    #[must_use]
    pub const fn resolution(&self) -> Span {
        Span::from_millis(self.tick_millis)
    }

    /// Length of a cycle; of calendars by the wall clock, and of months the greatest.
    #[must_use]
    pub fn period(&self) -> Span {
        self.span(self.plan.as_ref().map_or(self.active_ticks(), |plan| plan.axis.longest()))
    }

    /// Which unit of the calendar a cycle is, and in which time zone.
    #[must_use]
    pub fn calendar(&self) -> Option<(CalendarUnit, &str)> {
        self.plan.as_ref()?.axis.calendar()
    }

    /// The parts of a cycle that may be used; none, if it is all of it.
    #[must_use]
    pub fn active_windows(&self) -> Vec<CycleWindow> {
        let windows = self.plan.iter().flat_map(|plan| &plan.windows);
        windows.map(|window| self.cycle_window(window)).collect()
    }

    /// The times at which nothing may start, in the order of the canonical text.
    #[must_use]
    pub fn exclusions(&self) -> Vec<ExclusionSpec> {
        let exclusions = self.plan.iter().flat_map(|plan| &plan.exclusions);
        exclusions.map(|exclusion| exclusion.spec(self.tick_millis)).collect()
    }

    /// Length of a slot in active time; in the shortest month, where months differ.
    #[must_use]
    pub const fn slot_duration(&self) -> Span {
        self.span(self.slot_ticks())
    }

    /// A number of ticks as a span.
    #[must_use]
    pub const fn span(&self, ticks: u64) -> Span {
        self.resolution().times(ticks)
    }

    /// Slots that a job needs which runs so long: rounded up, and at least one.
    ///
    /// # Errors
    /// When the run time is negative or longer than a cycle.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// let spec = ScheduleSpec { slot_count: Some(24), ..ScheduleSpec::every(Span::from_seconds(86_400)) };
    /// let daily = Schedule::try_new(&spec)?;
    /// assert_eq!(daily.slots_needed(Span::from_seconds(3_601))?, 2);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn slots_needed(&self, run_time: Span) -> Result<u64, Rejection> {
        if run_time < Span::from_seconds(0) || run_time > self.period() {
            let allowed = format!("must be 0s to {}, one period", self.period());
            return Err(Rejection::new(Reason::OutOfRange, "", run_time, allowed));
        }
        let slot = self.slot_duration().nanos();
        let needed = (run_time.nanos() + slot - 1) / slot;
        Ok(u64::try_from(needed).unwrap_or(u64::MAX).max(1))
    }

    /// Start of cycle 0 of a period; none of a calendar.
    #[must_use]
    pub fn anchor_time(&self) -> Option<Moment> {
        let anchor = Moment::from_unix_millis(self.anchor_millis).unwrap_or(Moment::UNIX_EPOCH);
        self.calendar().is_none().then_some(anchor)
    }

    /// How IDs become places.
    #[must_use]
    pub const fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The weight up to which an ID is one piece, if the schedule has weights.
    #[must_use]
    pub const fn weight_quantum(&self) -> Option<u64> {
        self.weight_quantum
    }

    pub(crate) const fn grid(&self) -> Grid {
        self.grid
    }

    pub(crate) const fn anchor_millis(&self) -> i64 {
        self.anchor_millis
    }

    pub(crate) const fn tick_millis(&self) -> u64 {
        self.tick_millis
    }

    /// Whether cycles are periods, without active windows and exclusions.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.plan.is_none()
    }

    pub(crate) fn plan(&self) -> Option<&CyclePlan> {
        self.plan.as_deref()
    }

    fn cycle_window(&self, ticks: &core::ops::Range<u64>) -> CycleWindow {
        CycleWindow { start: self.span(ticks.start), end: self.span(ticks.end) }
    }

    /// What the fingerprint is taken of: a line for the format, then a line
    /// `name=value` for each field that decides, defaults filled in, joined by
    /// line feeds. `weight_quantum=…` stands there only if it is set. The salt comes
    /// last and ends the text as it is.
    ///
    /// ```text
    /// offbeat.v1.Schedule
    /// period=28800s
    /// resolution=1s
    /// anchor_time=1970-01-01T00:00:00Z
    /// slot_count=128
    /// placement=HASH
    /// salt=
    /// ```
    ///
    /// With a calendar, `cycle=DAY` (`WEEK`, `MONTH`) and `time_zone=Europe/Berlin` (the name in
    /// the case of the database; an alias is another name) stand for the period, and there is no
    /// anchor. Behind the slot count come a line for each active window, in order, and for each
    /// exclusion, sorted, each once; a window over the whole cycle is none.
    ///
    /// ```text
    /// active_window=3600s..18000s
    /// exclusion=DEFER 2026-12-24T00:00:00Z..2026-12-27T00:00:00Z
    /// exclusion=SKIP DAY Europe/Berlin 79200s..82800s
    /// ```
    #[must_use]
    pub fn canonical_text(&self) -> String {
        canonical::text(self)
    }

    /// SHA-256 of the canonical text, in hexadecimal: equal for callers who mean the same.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// // What is left out and what is said as its default are the same schedule.
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let said = ScheduleSpec {
    ///     resolution: Some(Span::from_seconds(1)),
    ///     ..ScheduleSpec::every(Span::from_seconds(86_400))
    /// };
    /// assert_eq!(daily.fingerprint(), Schedule::try_new(&said)?.fingerprint());
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn fingerprint(&self) -> String {
        match &self.named {
            Some(named) => named.fingerprint.clone(),
            None => hexadecimal(&Sha256::digest(self.canonical_text())),
        }
    }

    /// What stands for the schedule at the head of its run keys: `name/version`, or the
    /// fingerprint of one without a name.
    #[must_use]
    pub fn run_key_schedule(&self) -> String {
        self.named.as_ref().map_or_else(|| self.fingerprint(), |named| named.text.clone())
    }

    /// What the run keys of a kind of job begin with: [`run_key_schedule`](Self::run_key_schedule)
    /// and `/kind`. The key of a run is equal for two attempts to enqueue it; see [`Run::key`](crate::Run::key).
    ///
    /// # Errors
    /// When the name is empty, longer than 64 characters, or has others than
    /// letters, digits, `.`, `_` and `-` (of ASCII).
    pub fn run_key_prefix(&self, kind: &str) -> Result<String, Rejection> {
        check_part("kind", kind, KIND_NAME)?;
        Ok(format!("{}/{kind}", self.run_key_schedule()))
    }

    /// Buckets in the smallest and in the largest slot (`TWISTER` only); they
    /// differ by at most one, and are equal if the slot count divides the bucket count.
    ///
    /// ```
    /// use offbeat_core::{PlacementKind, Schedule, ScheduleSpec, Span};
    ///
    /// let schedule = Schedule::try_new(&ScheduleSpec {
    ///     slot_count: Some(144),
    ///     placement: PlacementKind::Twister,
    ///     ..ScheduleSpec::every(Span::from_seconds(86_400))
    /// })?;
    /// assert_eq!(schedule.buckets_per_slot(), Some((1, 2))); // of 256 buckets
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn buckets_per_slot(&self) -> Option<(u32, u32)> {
        let Placement::Twister { bucket_count, .. } = self.placement else {
            return None;
        };
        let slots = self.slot_count();
        Some((bucket_count / slots, bucket_count.div_ceil(slots)))
    }
}
