//! Answers of real interpreters, from `tests/vectors/` or from the folder that `OFFBEAT_VECTORS`
//! names. That folder holds fresh answers, made by the test command; missing files are then
//! skipped.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]

use std::num::NonZeroU64;
use std::path::Path;

use offbeat_core::Twister;
use offbeat_core::ids;
use offbeat_core::placement::simd::{Kernel, draws};
use offbeat_core::placement::{self, PlacementKind};
use offbeat_core::{Id, Integer, Place, Profile, Schedule, ScheduleSpec, Span};
use serde::Deserialize;
use serde::de::DeserializeOwned;

fn vectors<T: DeserializeOwned>(file: &str) -> Option<T> {
    let fresh = std::env::var("OFFBEAT_VECTORS").ok();
    let folder =
        fresh.as_deref().unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors"));
    let path = Path::new(folder).join(file);
    if fresh.is_some() && !path.exists() {
        return None;
    }
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Some(serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

#[derive(Deserialize)]
struct Draws {
    cases: Vec<Draw>,
}

#[derive(Deserialize)]
struct Draw {
    seed: String,
    limit: String,
    first: String,
    second: String,
    float: Option<String>,
}

fn integer(text: &str) -> Integer {
    match Id::decimal(text) {
        Ok(Id::Integer(integer)) => integer,
        other => panic!("{text}: {other:?}"),
    }
}

fn check_draws(file: &str, profile: Profile) {
    let Some(draws) = vectors::<Draws>(file) else {
        return;
    };
    assert!(draws.cases.len() > 100, "{file} has only {} cases", draws.cases.len());
    for case in draws.cases {
        let label = format!("{file}: seed {} limit {}", case.seed, case.limit);
        let seed = integer(&case.seed);
        let limit: NonZeroU64 = case.limit.parse().unwrap();
        let mut twister = Twister::new(profile, seed);
        assert_eq!(twister.below(limit).to_string(), case.first, "{label}, first draw");
        assert_eq!(twister.below(limit).to_string(), case.second, "{label}, second draw");
        if let Some(float) = case.float {
            let float: f64 = float.parse().unwrap();
            assert_eq!(Twister::new(profile, seed).unit().to_bits(), float.to_bits(), "{label}");
        }
    }
}

#[test]
fn draws_equal_ruby_3_4() {
    check_draws("ruby_3_4_random.json", Profile::Ruby);
}

#[test]
fn draws_equal_ruby_3_1() {
    check_draws("ruby_3_1_random.json", Profile::Ruby30To31);
}

#[test]
fn draws_equal_python() {
    check_draws("python_random.json", Profile::Python);
}

#[test]
fn draws_equal_php() {
    check_draws("php_random.json", Profile::Php);
    check_draws("php_rejection.json", Profile::Php);
}

/// The same draws with every kernel of this machine, all draws with the same limit in one batch.
fn check_batches(file: &str, profile: Profile) {
    let Some(Draws { cases }) = vectors(file) else {
        return;
    };
    let mut limits: Vec<_> = cases.iter().map(|case| case.limit.clone()).collect();
    limits.sort_unstable();
    limits.dedup();
    for kernel in Kernel::available() {
        for limit in &limits {
            let cases: Vec<_> = cases.iter().filter(|case| case.limit == *limit).collect();
            let seeds = cases.iter().map(|case| integer(&case.seed));
            let mut numbers = Vec::new();
            draws(kernel, profile, limit.parse().unwrap(), seeds, &mut numbers);
            assert_eq!(numbers.len(), cases.len());
            for (number, case) in numbers.iter().zip(cases) {
                let label = format!("{file}: seed {} limit {limit}", case.seed);
                assert_eq!(number.to_string(), case.first, "{label}, {kernel:?}");
            }
        }
    }
}

#[test]
fn batches_of_draws_equal_every_language() {
    check_batches("ruby_3_4_random.json", Profile::Ruby);
    check_batches("ruby_3_1_random.json", Profile::Ruby30To31);
    check_batches("python_random.json", Profile::Python);
    check_batches("php_random.json", Profile::Php);
    check_batches("php_rejection.json", Profile::Php);
}

#[derive(Deserialize)]
struct UuidIds {
    cases: Vec<UuidCase>,
}

#[derive(Deserialize)]
struct UuidCase {
    uuid: String,
    seed: String,
    rand_float: String,
    rand_6h: u64,
    placements: Vec<UuidPlacement>,
}

#[derive(Deserialize)]
struct UuidPlacement {
    cycle: i64,
    slots: i64,
    slot: u32,
    offset: u64,
}

#[test]
fn twister_places_uuids_as_the_recipe_in_ruby_does() {
    let Some(UuidIds { cases }) = vectors("uuid_ids.json") else {
        return;
    };
    assert!(cases.len() > 100);
    for case in cases {
        let id = Id::uuid(&case.uuid).unwrap();
        let Id::Uuid(seed) = id else { panic!("{id:?}") };
        assert_eq!(seed.to_string(), case.seed);
        let twister = || Twister::new(Profile::Ruby, seed.into());
        assert_eq!(twister().unit(), case.rand_float.parse::<f64>().unwrap(), "{}", case.uuid);
        assert_eq!(twister().below(21_600.try_into().unwrap()), case.rand_6h, "{}", case.uuid);
        for wanted in case.placements {
            let schedule = Schedule::try_new(&ScheduleSpec {
                slot_count: Some(wanted.slots),
                placement: PlacementKind::Twister,
                ..ScheduleSpec::every(Span::from_seconds(wanted.cycle))
            })
            .unwrap();
            let check = |place: Place| {
                let found = (place.slot, place.slot_offset);
                assert_eq!(found, (wanted.slot, wanted.offset), "{}", case.uuid);
            };
            check(schedule.place(&id).unwrap());
            for kernel in Kernel::available() {
                schedule.place_all_with(kernel, [Ok(id), Ok(id)], |place| check(place.unwrap()));
            }
        }
    }
}

#[derive(Deserialize)]
struct HashPlacements {
    hash: Vec<HashCase>,
    fraction: Vec<FractionCase>,
}

#[derive(Deserialize)]
struct HashCase {
    salt: String,
    id: String,
    hash: String,
    ticks: u64,
    slots: i64,
    slot: u32,
    offset: u64,
    pieces: Vec<Piece>,
}

#[derive(Deserialize)]
struct Piece {
    slot: u32,
    offset: u64,
}

#[derive(Deserialize)]
struct FractionCase {
    fraction: String,
    ticks: u64,
    offset: u64,
}

/// A schedule of this many ticks: of a second, or of a millisecond where the period would
/// otherwise be too long.
fn ticks(ticks: u64, slots: Option<i64>) -> ScheduleSpec {
    let tick = if ticks > 3_660 * 86_400 || ticks == 86_400_000 { 1 } else { 1_000 };
    ScheduleSpec {
        resolution: Some(Span::from_millis(tick)),
        slot_count: slots,
        ..ScheduleSpec::every(Span::from_millis(ticks * tick))
    }
}

/// The IDs that a text may be read as: they all hash alike.
fn readings(text: &str) -> Vec<Id<'_>> {
    [Id::text(text), Id::uuid(text), Id::decimal(text)].into_iter().flatten().collect()
}

#[test]
fn hash_places_and_pieces_equal_hashlib() {
    let Some(HashPlacements { hash: cases, .. }) = vectors("hash_placement.json") else {
        return;
    };
    assert!(cases.len() > 100);
    for case in cases {
        let spec = ScheduleSpec { salt: case.salt.clone(), ..ticks(case.ticks, Some(case.slots)) };
        let schedule = Schedule::try_new(&spec).unwrap();
        for id in readings(&case.id) {
            let hash = ids::hash(&case.salt, &id);
            assert_eq!(format!("{hash:016x}"), case.hash, "{id:?}");
            for kernel in Kernel::available() {
                // After sixteen others, because smaller batches are hashed one ID at a time.
                let others = (0..16_i64).map(|n| Ok(Id::Integer(n.into())));
                let mut places = Vec::new();
                let ids = others.chain([Ok(id)]);
                schedule.place_all_with(kernel, ids, |place| places.push(place));
                let place = places.pop().unwrap().unwrap();
                assert_eq!((place.slot, place.cycle_offset), (case.slot, case.offset), "{id:?}");
            }
            let place = schedule.place(&id).unwrap();
            assert_eq!((place.slot, place.cycle_offset), (case.slot, case.offset), "{id:?}");
            for (number, piece) in (0..).zip(&case.pieces) {
                let place = schedule.place_of_hash(placement::piece_hash(hash, number));
                assert_eq!(
                    (place.slot, place.cycle_offset),
                    (piece.slot, piece.offset),
                    "{id:?} {number}"
                );
            }
        }
    }
}

#[test]
fn fraction_places_equal_ieee_doubles() {
    let Some(HashPlacements { fraction: cases, .. }) = vectors("hash_placement.json") else {
        return;
    };
    assert!(cases.len() > 100);
    for case in cases {
        let spec = ScheduleSpec { placement: PlacementKind::Fraction, ..ticks(case.ticks, None) };
        let id = Id::fraction(case.fraction.parse().unwrap()).unwrap();
        let place = Schedule::try_new(&spec).unwrap().place(&id).unwrap();
        assert_eq!(place.cycle_offset, case.offset, "{} of {}", case.fraction, case.ticks);
    }
}

/// From the source document: a day, and the users' stored numbers.
#[test]
fn fraction_places_equal_the_source_document() {
    let spec = ScheduleSpec {
        placement: PlacementKind::Fraction,
        ..ScheduleSpec::every(Span::from_seconds(86_400))
    };
    let schedule = Schedule::try_new(&spec).unwrap();
    for (fraction, offset) in [(0.2, 17_280), (0.45, 38_880), (0.77, 66_528), (0.84, 72_576)] {
        assert_eq!(schedule.place(&Id::fraction(fraction).unwrap()).unwrap().cycle_offset, offset);
    }
}
