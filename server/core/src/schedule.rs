//! Schedules: a cycle, cut into slots, and a placement.

mod checks;

use core::fmt::Write as _;
use core::num::NonZeroU64;

use sha2::{Digest, Sha256};

use crate::catalog::ScheduleName;
use crate::digits::hexadecimal;
use crate::id::Id;
use crate::kernels::Kernel;
use crate::limits::KIND_NAME;
use crate::names::check_part;
use crate::placement::{Grid, Place, Placement, PlacementKind};
use crate::rejection::{Reason, Rejection};
use crate::time::{Moment, Span};
use crate::twister::Profile;

/// A schedule as a caller describes it, not yet checked. `None` means the default.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleSpec {
    /// Length of the cycle; a whole number of ticks, 1 ms to 3,660 days.
    pub period: Span,
    /// Length of a tick; divides one second, 1 ms to 1 s. Default: 1 s.
    pub resolution: Option<Span>,
    /// Start of cycle 0, on a tick since the Unix epoch. Default: the Unix epoch.
    pub anchor_time: Option<Moment>,
    /// Slots in a cycle; divides the period in ticks. Default: gcd(seconds of the period, 256).
    pub slot_count: Option<i64>,
    /// How an ID becomes a place. Default: `HASH`.
    pub placement: PlacementKind,
    /// `TWISTER` only: 256 or 65,536. Default: 256.
    pub bucket_count: Option<i64>,
    /// `TWISTER` only. Default: `RUBY`.
    pub profile: Option<Profile>,
    /// `HASH` only: the namespace, at most 256 bytes. Default: empty.
    pub salt: String,
    /// The weight up to which an ID is one piece, 1 to 2^53. Default: no weights.
    pub weight_quantum: Option<i64>,
}

impl ScheduleSpec {
    /// A cycle of `period` with every default.
    #[must_use]
    pub const fn every(period: Span) -> Self {
        Self {
            period,
            resolution: None,
            anchor_time: None,
            slot_count: None,
            placement: PlacementKind::Hash,
            bucket_count: None,
            profile: None,
            salt: String::new(),
            weight_quantum: None,
        }
    }
}

/// A checked schedule: every question to it has an answer, or a refusal that
/// is about the question alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    grid: Grid,
    tick_millis: u64,
    anchor_millis: i64,
    placement: Placement,
    weight_quantum: Option<u64>,
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
    pub fn try_new(spec: &ScheduleSpec) -> Result<Self, Rejection> {
        let tick_millis = checks::resolution(spec.resolution)?;
        let period_ticks = checks::period(spec.period, tick_millis)?;
        let placement = checks::placement(spec)?;
        let slot_count =
            checks::slot_count(spec.slot_count, period_ticks, tick_millis, &placement)?;
        let anchor_millis = checks::anchor(spec.anchor_time, tick_millis)?;
        let weight_quantum = checks::weight_quantum(spec.weight_quantum)?;
        let slot_ticks =
            NonZeroU64::new(period_ticks / u64::from(slot_count)).unwrap_or(NonZeroU64::MIN); // a divisor of a positive period leaves at least 1
        let grid = Grid::new(slot_count, slot_ticks);
        Ok(Self { grid, tick_millis, anchor_millis, placement, weight_quantum, named: None })
    }

    /// The same schedule, known by name: its run keys begin with `name/version`. Nothing else
    /// changes, the fingerprint least of all.
    #[must_use]
    pub fn with_name(self, name: &ScheduleName) -> Self {
        let named = Some(Named { text: name.to_string(), fingerprint: self.fingerprint() });
        Self { named, ..self }
    }

    /// Where `id` stands.
    ///
    /// # Errors
    /// When the placement does not take IDs of its type.
    pub fn place(&self, id: &Id<'_>) -> Result<Place, Rejection> {
        self.grid.place(&self.placement, id)
    }

    /// Where many IDs stand; `each` hears, in order, what [`place`](Self::place) says of each, or
    /// the refusal that an ID came as. Far quicker than one by one: see [`kernels`](crate::kernels).
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
        each: impl FnMut(Result<Place, Rejection>),
    ) {
        self.grid.place_all(kernel, &self.placement, ids, each);
    }

    /// Where an ID whose hash is known stands (`HASH` only in meaning).
    #[must_use]
    pub fn place_of_hash(&self, hash: u64) -> Place {
        self.grid.at_hash(hash)
    }

    /// Slots in a cycle.
    #[must_use]
    pub const fn slot_count(&self) -> u32 {
        self.grid.slot_count()
    }

    /// Ticks in a slot.
    #[must_use]
    pub const fn slot_ticks(&self) -> u64 {
        self.grid.slot_ticks()
    }

    /// Ticks in a cycle.
    #[must_use]
    pub const fn period_ticks(&self) -> u64 {
        self.grid.period_ticks()
    }

    /// Length of a tick.
    #[must_use]
    pub const fn resolution(&self) -> Span {
        Span::from_millis(self.tick_millis)
    }

    /// Length of a cycle.
    #[must_use]
    pub const fn period(&self) -> Span {
        self.span(self.period_ticks())
    }

    /// Length of a slot.
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
    pub fn slots_needed(&self, run_time: Span) -> Result<u64, Rejection> {
        if run_time < Span::from_seconds(0) || run_time > self.period() {
            let allowed = format!("must be 0s to {}, one period", self.period());
            return Err(Rejection::new(Reason::OutOfRange, "", run_time, allowed));
        }
        let slot = self.slot_duration().nanos();
        let needed = (run_time.nanos() + slot - 1) / slot;
        Ok(u64::try_from(needed).unwrap_or(u64::MAX).max(1))
    }

    /// Start of cycle 0.
    #[must_use]
    pub fn anchor_time(&self) -> Moment {
        Moment::from_unix_millis(self.anchor_millis).unwrap_or(Moment::UNIX_EPOCH)
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
    #[must_use]
    pub fn canonical_text(&self) -> String {
        let mut text = format!(
            "offbeat.v1.Schedule\nperiod={}\nresolution={}\nanchor_time={}\nslot_count={}\nplacement={}",
            self.period(),
            self.resolution(),
            self.anchor_time(),
            self.slot_count(),
            self.placement.kind().name(),
        );
        // Writing to a String cannot fail.
        if let Placement::Twister { bucket_count, profile } = &self.placement {
            let _ = write!(text, "\nbucket_count={bucket_count}\nprofile={}", profile.name());
        }
        if let Some(quantum) = self.weight_quantum {
            let _ = write!(text, "\nweight_quantum={quantum}");
        }
        if let Placement::Hash { salt } = &self.placement {
            let _ = write!(text, "\nsalt={salt}");
        }
        text
    }

    /// SHA-256 of the canonical text, in hexadecimal: equal for callers who mean the same.
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
    #[must_use]
    pub fn buckets_per_slot(&self) -> Option<(u32, u32)> {
        let Placement::Twister { bucket_count, .. } = self.placement else {
            return None;
        };
        let slots = self.slot_count();
        Some((bucket_count / slots, bucket_count.div_ceil(slots)))
    }
}
