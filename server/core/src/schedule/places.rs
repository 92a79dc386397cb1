//! Places of IDs, and of pieces of weighted IDs, in the cycles of a schedule.

use super::Schedule;
use crate::ids::Id;
use crate::placement::{Kernel, Place, Why, piece_count, smallest_fraction};
use crate::rejection::Rejection;

impl Schedule {
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

    /// The place, in a given cycle, of an ID that stands at `place`: the same, except for months,
    /// whose lengths differ. ([`place`](Self::place) is for a month of 28 days.)
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

    /// Places many IDs. `each` gets, in order, the result of [`place`](Self::place) for each ID, or
    /// the refusal that came in its place. Much faster than one by one: see
    /// [`simd`](crate::placement::simd).
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

    /// The same with a given kernel, which decides the speed and not the answers.
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

    /// The place of piece `piece` of the weighted ID that stands at `place`, which must come from
    /// [`place`](Self::place). Piece 0 stands at `place` itself.
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
        // The fraction that decides the piece's place in cycles of other lengths.
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

    /// The place of an ID with a known hash (meaningful for `HASH` only).
    #[must_use]
    pub fn place_of_hash(&self, hash: u64) -> Place {
        self.through_windows(self.grid.at_hash(hash))
    }
}
