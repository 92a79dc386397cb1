//! Schedules: a cycle, cut into slots, and a placement.

use core::fmt::Write as _;
use core::num::NonZeroU64;

use sha2::{Digest, Sha256};

use crate::id::Id;
use crate::limits::{MILLIS_PER_SECOND, PERIOD, RESOLUTION, SALT, SLOT_COUNT};
use crate::placement::{Grid, Place, Placement, PlacementKind};
use crate::rejection::{Reason, Rejection};
use crate::time::{Moment, Span};
use crate::twister::Profile;

/// The slot count of a schedule that names none is gcd(seconds of the period, this).
const DEFAULT_BUCKET_COUNT: u32 = 256;
const WIDE_BUCKET_COUNT: u32 = 65_536;

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
}

impl Schedule {
    /// Checks a description.
    ///
    /// # Errors
    /// When a field is out of its range, does not divide, or does not go with
    /// the placement; the field is named as in `ScheduleSpec`.
    pub fn try_new(spec: &ScheduleSpec) -> Result<Self, Rejection> {
        let tick_millis = check_resolution(spec.resolution)?;
        let period_ticks = check_period(spec.period, tick_millis)?;
        let placement = check_placement(spec)?;
        let slot_count = check_slot_count(spec.slot_count, period_ticks, tick_millis, &placement)?;
        let anchor_millis = check_anchor(spec.anchor_time, tick_millis)?;
        let slot_ticks =
            NonZeroU64::new(period_ticks / u64::from(slot_count)).unwrap_or(NonZeroU64::MIN); // a divisor of a positive period leaves at least 1
        Ok(Self {
            grid: Grid::new(slot_count, slot_ticks),
            tick_millis,
            anchor_millis,
            placement,
        })
    }

    /// Where `id` stands.
    ///
    /// # Errors
    /// When the placement does not take IDs of its type.
    pub fn place(&self, id: &Id<'_>) -> Result<Place, Rejection> {
        self.grid.place(&self.placement, id)
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
        Span::from_millis(ticks * self.tick_millis)
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

    pub(crate) const fn anchor_millis(&self) -> i64 {
        self.anchor_millis
    }

    pub(crate) const fn tick_millis(&self) -> u64 {
        self.tick_millis
    }

    /// What the fingerprint is taken of: a line for the format, then a line
    /// `name=value` for each field that decides, defaults filled in, joined by
    /// line feeds. The salt comes last and ends the text as it is.
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
        let _ = match &self.placement {
            Placement::Hash { salt } => write!(text, "\nsalt={salt}"),
            Placement::Twister {
                bucket_count,
                profile,
            } => {
                write!(
                    text,
                    "\nbucket_count={bucket_count}\nprofile={}",
                    profile.name()
                )
            }
            Placement::Fraction => Ok(()),
        };
        text
    }

    /// SHA-256 of the canonical text, in hexadecimal: equal for callers who mean the same.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        Sha256::digest(self.canonical_text()).iter().fold(
            String::with_capacity(64),
            |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            },
        )
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

fn check_resolution(resolution: Option<Span>) -> Result<u64, Rejection> {
    let Some(resolution) = resolution else {
        return Ok(MILLIS_PER_SECOND);
    };
    let divides = |millis: &u64| *millis > 0 && MILLIS_PER_SECOND.is_multiple_of(*millis);
    resolution.whole_millis().filter(divides).ok_or_else(|| {
        let allowed =
            format!("must be {RESOLUTION}, and divide one second (1000, 500, 250, … 1 ms)");
        Rejection::new(Reason::OutOfRange, "resolution", resolution, allowed)
    })
}

fn check_period(period: Span, tick_millis: u64) -> Result<u64, Rejection> {
    let tick = Span::from_millis(tick_millis);
    period
        .whole_millis()
        .filter(|millis| PERIOD.allows(i128::from(*millis)) && millis.is_multiple_of(tick_millis))
        .map(|millis| millis / tick_millis)
        .ok_or_else(|| {
            let allowed = format!(
                "must be {tick} to {}s (3660 days), a whole number of ticks of {tick}",
                PERIOD.maximum / 1_000
            );
            Rejection::new(Reason::OutOfRange, "period", period, allowed)
        })
}

fn check_anchor(anchor: Option<Moment>, tick_millis: u64) -> Result<i64, Rejection> {
    let anchor = anchor.unwrap_or(Moment::UNIX_EPOCH);
    let millis = anchor.unix_millis_floor();
    let on_tick = millis == anchor.unix_millis_ceil()
        && i128::from(millis).rem_euclid(i128::from(tick_millis)) == 0;
    if !on_tick {
        let allowed = format!(
            "must be a whole number of ticks of {} since the Unix epoch",
            Span::from_millis(tick_millis)
        );
        return Err(Rejection::new(
            Reason::OutOfRange,
            "anchor_time",
            anchor,
            allowed,
        ));
    }
    Ok(millis)
}

fn check_placement(spec: &ScheduleSpec) -> Result<Placement, Rejection> {
    let contradiction = |field: &str, value: &dyn core::fmt::Display, owner: PlacementKind| {
        let allowed = format!(
            "must not be set with placement {}: only {} reads it",
            spec.placement.name(),
            owner.name()
        );
        Err(Rejection::new(Reason::Contradictory, field, value, allowed))
    };
    if spec.placement != PlacementKind::Hash && !spec.salt.is_empty() {
        return contradiction(
            "salt",
            &format_args!("{:?}", spec.salt),
            PlacementKind::Hash,
        );
    }
    if spec.placement != PlacementKind::Twister {
        if let Some(bucket_count) = spec.bucket_count {
            return contradiction("bucket_count", &bucket_count, PlacementKind::Twister);
        }
        if let Some(profile) = spec.profile {
            return contradiction("profile", &profile.name(), PlacementKind::Twister);
        }
    }
    Ok(match spec.placement {
        PlacementKind::Hash => Placement::Hash {
            salt: check_salt(&spec.salt)?.to_owned(),
        },
        PlacementKind::Twister => Placement::Twister {
            bucket_count: check_bucket_count(spec.bucket_count)?,
            profile: spec.profile.unwrap_or_default(),
        },
        PlacementKind::Fraction => Placement::Fraction,
    })
}

fn check_salt(salt: &str) -> Result<&str, Rejection> {
    if salt.len() > SALT.max_size() {
        let value = format_args!("a salt of {} bytes", salt.len());
        let allowed = format!("must be {SALT}");
        return Err(Rejection::new(Reason::OutOfRange, "salt", value, allowed));
    }
    Ok(salt)
}

fn check_bucket_count(bucket_count: Option<i64>) -> Result<u32, Rejection> {
    match bucket_count {
        None => Ok(DEFAULT_BUCKET_COUNT),
        Some(count) if count == i64::from(DEFAULT_BUCKET_COUNT) => Ok(DEFAULT_BUCKET_COUNT),
        Some(count) if count == i64::from(WIDE_BUCKET_COUNT) => Ok(WIDE_BUCKET_COUNT),
        Some(count) => Err(Rejection::new(
            Reason::OutOfRange,
            "bucket_count",
            count,
            "must be 256 or 65536 buckets (the last byte of an ID, or its last two)",
        )),
    }
}

fn check_slot_count(
    slot_count: Option<i64>,
    period_ticks: u64,
    tick_millis: u64,
    placement: &Placement,
) -> Result<u32, Rejection> {
    let Some(asked) = slot_count else {
        return default_slot_count(period_ticks, tick_millis);
    };
    let count = u32::try_from(asked)
        .ok()
        .filter(|_| SLOT_COUNT.allows(i128::from(asked)));
    let Some(count) = count else {
        let allowed = format!("must be {SLOT_COUNT}");
        return Err(Rejection::new(
            Reason::OutOfRange,
            "slot_count",
            asked,
            allowed,
        ));
    };
    if let Placement::Twister { bucket_count, .. } = placement
        && count > *bucket_count
    {
        let allowed = format!(
            "must be 1 to {bucket_count} slots with {bucket_count} buckets: beyond, slots stay empty \
             (bucket_count 65536, or placement HASH, take more)"
        );
        return Err(Rejection::new(
            Reason::OutOfRange,
            "slot_count",
            asked,
            allowed,
        ));
    }
    if !period_ticks.is_multiple_of(u64::from(count)) {
        let allowed = format!(
            "must divide the period of {period_ticks} ticks of {} ({})",
            Span::from_millis(tick_millis),
            nearest_divisors(period_ticks, count),
        );
        let reason = Reason::SlotCountDoesNotDivide;
        return Err(Rejection::new(reason, "slot_count", asked, allowed));
    }
    Ok(count)
}

/// gcd(seconds of the period, 256), independent of the resolution. It divides
/// the period in ticks, since a tick divides a second.
fn default_slot_count(period_ticks: u64, tick_millis: u64) -> Result<u32, Rejection> {
    let millis = period_ticks * tick_millis;
    if !millis.is_multiple_of(MILLIS_PER_SECOND) {
        let period = Span::from_millis(millis);
        return Err(Rejection::new(
            Reason::FieldMissing,
            "slot_count",
            "nothing",
            format!(
                "the period {period} is no whole number of seconds, so the slot count must be given"
            ),
        ));
    }
    let seconds = millis / MILLIS_PER_SECOND;
    Ok(1 << seconds
        .trailing_zeros()
        .min(DEFAULT_BUCKET_COUNT.trailing_zeros()))
}

/// The divisors of `period` next to `count`, which is none, in words.
fn nearest_divisors(period: u64, count: u32) -> String {
    let divides = |slots: &u32| period.is_multiple_of(u64::from(*slots));
    let largest = u32::try_from(SLOT_COUNT.maximum).unwrap_or(u32::MAX);
    let below = (1..count).rev().find(divides);
    let above = (count + 1..=largest).find(divides);
    match (below, above) {
        (Some(below), Some(above)) => format!("nearest: {below} and {above} slots"),
        (Some(only), None) | (None, Some(only)) => format!("nearest: {only} slots"),
        (None, None) => "none is near".to_owned(), // 1 divides everything
    }
}
