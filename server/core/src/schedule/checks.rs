//! The fields of a spec, one by one: in range, or refused by name.

use super::ScheduleSpec;
use crate::limits::{MILLIS_PER_SECOND, PERIOD, RESOLUTION, SALT, SLOT_COUNT, WEIGHT_QUANTUM};
use crate::placement::{Placement, PlacementKind};
use crate::rejection::{Reason, Rejection, in_range};
use crate::time::{Moment, Span};

/// Buckets by default. The default slot count is gcd(seconds of the cycle, this).
const DEFAULT_BUCKET_COUNT: u32 = 256;
const WIDE_BUCKET_COUNT: u32 = 65_536;

pub(super) fn resolution(resolution: Option<Span>) -> Result<u64, Rejection> {
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

pub(super) fn period(period: Span, tick_millis: u64) -> Result<u64, Rejection> {
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

pub(super) fn anchor(anchor: Option<Moment>, tick_millis: u64) -> Result<i64, Rejection> {
    let anchor = anchor.unwrap_or(Moment::UNIX_EPOCH);
    let millis = anchor.unix_millis_floor();
    let on_tick = millis == anchor.unix_millis_ceil()
        && i128::from(millis).rem_euclid(i128::from(tick_millis)) == 0;
    if !on_tick {
        let allowed = format!(
            "must be a whole number of ticks of {} since the Unix epoch",
            Span::from_millis(tick_millis)
        );
        return Err(Rejection::new(Reason::OutOfRange, "anchor_time", anchor, allowed));
    }
    Ok(millis)
}

pub(super) fn weight_quantum(quantum: Option<i64>) -> Result<Option<u64>, Rejection> {
    quantum.map(|quantum| in_range("weight_quantum", quantum, WEIGHT_QUANTUM)).transpose()
}

pub(super) fn placement(spec: &ScheduleSpec) -> Result<Placement, Rejection> {
    let contradiction = |field: &str, value: &dyn core::fmt::Display, owner: PlacementKind| {
        let allowed = format!(
            "must not be set with placement {}: only {} reads it",
            spec.placement.name(),
            owner.name()
        );
        Err(Rejection::new(Reason::Contradictory, field, value, allowed))
    };
    if spec.placement != PlacementKind::Hash && !spec.salt.is_empty() {
        return contradiction("salt", &format_args!("{:?}", spec.salt), PlacementKind::Hash);
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
        PlacementKind::Hash => Placement::Hash { salt: salt(&spec.salt)?.to_owned() },
        PlacementKind::Twister => Placement::Twister {
            bucket_count: bucket_count(spec.bucket_count)?,
            profile: spec.profile.unwrap_or_default(),
        },
        PlacementKind::Fraction => Placement::Fraction,
    })
}

fn salt(salt: &str) -> Result<&str, Rejection> {
    if salt.len() > SALT.max_size() {
        let value = format_args!("a salt of {} bytes", salt.len());
        let allowed = format!("must be {SALT}");
        return Err(Rejection::new(Reason::OutOfRange, "salt", value, allowed));
    }
    Ok(salt)
}

fn bucket_count(bucket_count: Option<i64>) -> Result<u32, Rejection> {
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

/// The number that the slot count must divide.
pub(super) struct CycleTicks {
    /// The greatest common divisor of the active ticks of all lengths of a cycle.
    pub(super) ticks: u64,
    pub(super) tick_millis: u64,
    /// The meaning of `ticks`, in words.
    pub(super) name: &'static str,
}

pub(super) fn slot_count(
    slot_count: Option<i64>,
    cycle: &CycleTicks,
    placement: &Placement,
) -> Result<u32, Rejection> {
    let Some(asked) = slot_count else {
        return default_slot_count(cycle);
    };
    let count = u32::try_from(asked).ok().filter(|_| SLOT_COUNT.allows(i128::from(asked)));
    let Some(count) = count else {
        let allowed = format!("must be {SLOT_COUNT}");
        return Err(Rejection::new(Reason::OutOfRange, "slot_count", asked, allowed));
    };
    if let Placement::Twister { bucket_count, .. } = placement
        && count > *bucket_count
    {
        let allowed = format!(
            "must be 1 to {bucket_count} slots with {bucket_count} buckets: beyond, slots stay empty \
             (bucket_count 65536, or placement HASH, take more)"
        );
        return Err(Rejection::new(Reason::OutOfRange, "slot_count", asked, allowed));
    }
    if !cycle.ticks.is_multiple_of(u64::from(count)) {
        let allowed = format!(
            "must divide {} of {} ticks of {} ({})",
            cycle.name,
            cycle.ticks,
            Span::from_millis(cycle.tick_millis),
            nearest_divisors(cycle.ticks, count),
        );
        let reason = Reason::SlotCountDoesNotDivide;
        return Err(Rejection::new(reason, "slot_count", asked, allowed));
    }
    Ok(count)
}

/// gcd(seconds of a cycle, 256), independent of the resolution. It divides
/// the cycle in ticks, since a tick divides a second.
fn default_slot_count(cycle: &CycleTicks) -> Result<u32, Rejection> {
    let millis = cycle.ticks * cycle.tick_millis;
    if !millis.is_multiple_of(MILLIS_PER_SECOND) {
        let (name, span) = (cycle.name, Span::from_millis(millis));
        return Err(Rejection::new(
            Reason::FieldMissing,
            "slot_count",
            "nothing",
            format!("{name} {span} is no whole number of seconds, so the slot count must be given"),
        ));
    }
    let seconds = millis / MILLIS_PER_SECOND;
    Ok(1 << seconds.trailing_zeros().min(DEFAULT_BUCKET_COUNT.trailing_zeros()))
}

/// The divisors of `period` next to `count`, which is not one, in words.
fn nearest_divisors(period: u64, count: u32) -> String {
    // The search must end for a period with few divisors, too. It looks for divisors near the
    // count, and for those with a quotient near the count's; the first that it finds is the
    // nearest.
    const STEPS: u64 = 1_024;
    let (largest, count) = (SLOT_COUNT.maximum.unsigned_abs(), u64::from(count));
    let times = period / count; // rounded down: the count does not divide the period
    let divides = |number: &u64| period.is_multiple_of(*number);
    let below = (count.saturating_sub(STEPS).max(1)..count).rev().find(divides).or_else(|| {
        let more = (times + 1..=times + STEPS).find(divides);
        more.map(|times| period / times)
    });
    let above = (count + 1..=count + STEPS).find(divides).or_else(|| {
        let fewer = (times.saturating_sub(STEPS).max(1)..=times).rev().find(divides);
        fewer.map(|times| period / times)
    });
    let above = above.filter(|slots| *slots <= largest);
    match (below, above) {
        (Some(below), Some(above)) => format!("nearest: {below} and {above} slots"),
        (Some(only), None) | (None, Some(only)) => format!("nearest: {only} slots"),
        (None, None) => "nearest: none within 1024 steps".to_owned(),
    }
}
