//! Audits: fair samples pass, and the findings on other samples name what is wrong.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

use offbeat_core::population::{Audit, AuditReport, Finding};
use offbeat_core::{Id, Moment, PlacementKind, Schedule, ScheduleSpec, Span};

fn schedule(slots: i64, placement: PlacementKind, quantum: Option<i64>) -> Schedule {
    Schedule::try_new(&ScheduleSpec {
        slot_count: Some(slots),
        placement,
        weight_quantum: quantum,
        ..ScheduleSpec::every(Span::from_seconds(28_800))
    })
    .unwrap()
}

fn report<'a>(
    schedule: &Schedule,
    ids: impl IntoIterator<Item = (Id<'a>, Option<i64>)>,
) -> AuditReport {
    let mut audit = Audit::try_new(schedule, Moment::UNIX_EPOCH).unwrap();
    for (id, weight) in ids {
        audit.add(&id, &schedule.place(&id).unwrap(), weight).unwrap();
    }
    audit.report().unwrap()
}

fn findings(report: &AuditReport) -> Vec<Finding> {
    report.warnings.iter().map(|warning| warning.finding).collect()
}

fn integer(number: u64) -> Id<'static> {
    Id::Integer(u128::from(number).into())
}

/// Pseudorandom numbers (SplitMix64).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// For fair samples, p is below 0.1 in one case of ten. 15 slots over 256 buckets are uneven by
/// themselves, and the audit must expect that.
#[test]
fn p_values_of_fair_samples_are_evenly_distributed() {
    for (placement, slots) in
        [(PlacementKind::Hash, 128), (PlacementKind::Twister, 15), (PlacementKind::Twister, 144)]
    {
        let schedule = schedule(slots, placement, None);
        let samples = 200;
        let mut tenths = [0u32; 10];
        for sample in 0..samples {
            let ids = (0..2_000u64).map(|number| (integer(mixed(sample * 2_000 + number)), None));
            let found = report(&schedule, ids);
            assert!(!findings(&found).contains(&Finding::SparseIntegers));
            let p = found.p_value.unwrap();
            tenths[((p * 10.0) as usize).min(9)] += 1;
            assert_eq!(found.slot_loads.iter().sum::<f64>(), 2_000.0);
        }
        // 20 per tenth on average, with a standard deviation of 4.
        assert!(tenths.iter().all(|count| (4..45).contains(count)), "{placement:?}: {tenths:?}");
    }
}

#[test]
fn time_based_uuids_and_sparse_integers_are_named_first() {
    let twister = schedule(128, PlacementKind::Twister, None);
    // Version 1: the timestamp comes first, the address of the machine last.
    let uuid = |number: u64| {
        let time = u128::from(mixed(number)) << 80;
        (Id::Uuid((time & !(0xf << 76)) | 1 << 76 | 0b10 << 62 | 0x0242_ac11_0002), None)
    };
    let found = report(&twister, (0..1_000).map(uuid));
    assert_eq!(findings(&found), [Finding::TimeBasedUuids, Finding::Uneven]);
    assert_eq!(found.empty_slot_count, 127);
    assert_eq!((found.fullest_load, found.fullest_to_mean_ratio), (1_000.0, 128.0));

    let tens = (0..2_000u64).map(|number| (integer(number * 6 + 1), None));
    let found = report(&twister, tens);
    assert_eq!(findings(&found)[0], Finding::SparseIntegers);
    assert!(found.warnings[0].message.contains("1 modulo 2"), "{found:?}");

    let hash = schedule(128, PlacementKind::Hash, None);
    assert_eq!(findings(&report(&hash, (0..1_000).map(uuid))), []);
    let tens = (0..2_000u64).map(|number| (integer(number * 6 + 1), None));
    assert_eq!(findings(&report(&hash, tens)), []);
}

#[test]
fn heavy_ids_are_named_until_the_quantum_cuts_them() {
    let names: Vec<String> = (0..500).map(|number| format!("user-{number}")).collect();
    let sample = |schedule: &Schedule| {
        let weight = |number: usize| if number == 7 { 5_000 } else { 10 };
        let ids = names
            .iter()
            .enumerate()
            .map(|(number, name)| (Id::text(name).unwrap(), Some(weight(number))));
        report(schedule, ids)
    };
    let found = sample(&schedule(128, PlacementKind::Hash, Some(10_000)));
    assert_eq!(findings(&found), [Finding::HeavyId]);
    assert!(found.warnings[0].message.contains("\"user-7\""), "{found:?}");
    assert!(found.fullest_to_mean_ratio > 60.0);
    let found = sample(&schedule(128, PlacementKind::Hash, Some(50)));
    assert_eq!(findings(&found), []);
    assert!((found.slot_loads.iter().sum::<f64>() - 9_990.0).abs() < 1e-6);
}

#[test]
fn few_ids_prove_nothing_and_doubles_are_counted() {
    let schedule = schedule(128, PlacementKind::Hash, None);
    let few = (0..639u64).map(|number| (integer(number % 600), None));
    let found = report(&schedule, few);
    assert_eq!((found.p_value, findings(&found)), (None, vec![Finding::Duplicates]));
    assert!(found.warnings[0].message.starts_with("39 of 639"), "{found:?}");
    let nothing = report(&schedule, []);
    assert_eq!(
        (nothing.id_count, nothing.fullest_to_mean_ratio, nothing.chi_square),
        (0, 0.0, 0.0)
    );
}
