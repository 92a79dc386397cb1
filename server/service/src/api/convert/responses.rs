//! Converts decisions to responses.

use offbeat_core::calendar::time_zone_database;
use offbeat_core::population::ExpectedLoad;
use offbeat_core::runs::run_id;
use offbeat_core::{Id, Moment, Place, Placement, Profile, Run, Schedule, Slot, Why};

use super::scalars::{count, duration, timestamp, wide};
use super::{cycles, kinds};
use offbeat_proto as proto;

pub(in crate::api) fn identity(schedule: &Schedule) -> proto::ScheduleIdentity {
    let (fingerprint, run_key_root) = (schedule.fingerprint(), schedule.run_key_root());
    let database = if schedule.follows_zones() { time_zone_database() } else { "" };
    let time_zone_database = database.to_owned();
    proto::ScheduleIdentity { fingerprint, run_key_root, time_zone_database }
}

/// The schedule with every default filled in.
pub(in crate::api) fn resolved_spec(schedule: &Schedule) -> proto::ScheduleSpec {
    let (placement, bucket_count, profile, salt) = match schedule.placement() {
        Placement::Hash { salt } => (proto::Placement::Hash, None, None, salt.clone()),
        Placement::Twister { bucket_count, profile } => {
            let profile = match profile {
                Profile::Ruby => proto::TwisterProfile::Ruby,
                Profile::Ruby30To31 => proto::TwisterProfile::Ruby30To31,
                Profile::Python => proto::TwisterProfile::Python,
                Profile::Php => proto::TwisterProfile::Php,
            };
            (proto::Placement::Twister, Some(count(*bucket_count)), Some(profile), String::new())
        }
        Placement::Fraction => (proto::Placement::Fraction, None, None, String::new()),
    };
    let kinds = kinds::resolved(schedule);
    proto::ScheduleSpec {
        cycle: Some(cycles::resolved_cycle(schedule)),
        resolution: Some(duration(schedule.resolution())),
        anchor_time: schedule.anchor_time().map(timestamp),
        slot_count: Some(count(schedule.slot_count())),
        placement: placement.into(),
        bucket_count,
        profile: profile.unwrap_or_default().into(),
        salt,
        active_windows: cycles::resolved_windows(schedule),
        exclusions: cycles::resolved_exclusions(schedule),
        weight_quantum: schedule.weight_quantum().map(wide),
        kinds: kinds.kinds,
        kind_spacing: kinds.spacing.into(),
        kind_conflicts: kinds.conflicts,
        catch_up_span: kinds.catch_up_span,
    }
}

pub(in crate::api) fn slot(slot: &Slot) -> proto::Slot {
    proto::Slot {
        slot_index: count(slot.index),
        cycle_index: slot.cycle_index,
        start_time: Some(timestamp(slot.start)),
        end_time: Some(timestamp(slot.end)),
        predicate: None,
    }
}

pub(in crate::api) fn run_of_piece(
    run: Run,
    run_key_prefix: &str,
    piece: u32,
    id: &Id<'_>,
) -> proto::Run {
    let run_key = run.key_of_piece(run_key_prefix, piece, id).unwrap_or_default();
    proto::Run {
        start_time: Moment::from_unix_millis(run.unix_millis).map(timestamp),
        cycle_index: run.cycle_index,
        run_id: run_id(&run_key),
        run_key,
        nominal_time: (run.regular_unix_millis != run.unix_millis)
            .then(|| Moment::from_unix_millis(run.regular_unix_millis).map(timestamp))
            .flatten(),
    }
}

pub(in crate::api) fn placement_explanation(
    place: &Place,
    id: &Id<'_>,
) -> proto::PlacementExplanation {
    proto::PlacementExplanation { canonical_id: id.to_string(), rule: Some(rule_of(place.why)) }
}

fn rule_of(why: Why) -> proto::placement_explanation::Rule {
    use proto::placement_explanation::Rule;
    match why {
        Why::Hash(hash) => {
            let mut text = String::with_capacity(16);
            write_hash(&mut text, hash);
            Rule::Hash(text)
        }
        Why::Bucket(bucket) => Rule::Bucket(count(bucket)),
        Why::Fraction(fraction) => Rule::Fraction(fraction),
    }
}

/// As 16 hexadecimal digits.
fn write_hash(text: &mut String, hash: u64) {
    let digits = (0..16).rev().map(|place| (hash >> (4 * place)) & 15);
    text.extend(digits.filter_map(|digit| char::from_digit(u32::try_from(digit).ok()?, 16)));
}

pub(in crate::api) fn bucket_share(schedule: &Schedule) -> Option<proto::BucketShare> {
    let (smallest, largest) = schedule.buckets_per_slot()?;
    let Placement::Twister { bucket_count, .. } = schedule.placement() else {
        return None;
    };
    let mean = f64::from(*bucket_count) / f64::from(schedule.slot_count());
    Some(proto::BucketShare {
        min_bucket_count: count(smallest),
        max_bucket_count: count(largest),
        fullest_to_mean_ratio: f64::from(largest) / mean,
    })
}

pub(in crate::api) fn expected_load(load: ExpectedLoad) -> proto::ExpectedLoad {
    let ExpectedLoad { mean, fullest_median, fullest_p99 } = load;
    proto::ExpectedLoad {
        mean,
        fullest_median: wide(fullest_median),
        fullest_p99: wide(fullest_p99),
    }
}
