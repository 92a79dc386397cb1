//! Batches of IDs, with every kernel of this machine, compared with one ID at a time.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::num::NonZeroU64;

use offbeat_core::Twister;
use offbeat_core::placement::simd::{Kernel, draw, draws, hashes};
use offbeat_core::{Id, Integer, Profile, Reason, Schedule, ScheduleSpec, Span};
use offbeat_core::{PlacementKind, ids};
use proptest::prelude::*;
use rand_mt::Mt;

const PROFILES: [Profile; 4] = [Profile::Ruby, Profile::Ruby30To31, Profile::Python, Profile::Php];

/// Sizes around the capacity of vectors and rows.
const SIZES: [usize; 17] = [0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 80, 81, 191, 192, 193];

fn integer(text: &str) -> Integer {
    match Id::decimal(text) {
        Ok(Id::Integer(integer)) => integer,
        other => panic!("{text}: {other:?}"),
    }
}

/// Numbers at which the length of keys changes, or the word count of a rule.
fn edges() -> Vec<u128> {
    let powers =
        [0, 1, 8, 16, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127].map(|power| 1_u128 << power);
    let around = powers.iter().flat_map(|power| [power - 1, *power, power + 1]);
    let tops = [1_u128 << 32, 1 << 64, 1 << 96].iter().flat_map(|top| {
        [top | 0xdead_beef & (top - 1), top * 2 - 1, top * 2, top * 0xffff_ffff, top * 3 + 7]
    });
    let mut all: Vec<_> = around.chain(tops).chain([u128::MAX - 1, u128::MAX]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn edge_seeds() -> Vec<Integer> {
    edges()
        .iter()
        .flat_map(|n| [n.to_string(), format!("-{n}")])
        .filter(|n| n != "-0")
        .map(|n| integer(&n))
        .collect()
}

fn limits() -> Vec<NonZeroU64> {
    let powers = [0, 1, 2, 8, 15, 16, 30, 31, 32, 33, 40, 62, 63];
    let around = powers.into_iter().flat_map(|power| {
        let power = 1_u64 << power;
        [power.wrapping_sub(1), power, power + 1]
    });
    let odd = [3, 10, 28_800, 675, 0xffff_ff00, 6_000_000_000, 316_224_000_000, u64::MAX];
    let mut all: Vec<_> = around.chain(odd).filter_map(NonZeroU64::new).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn one_by_one(profile: Profile, limit: NonZeroU64, seeds: &[Integer]) -> Vec<u64> {
    seeds.iter().map(|seed| Twister::new(profile, *seed).below(limit)).collect()
}

fn check(profile: Profile, limit: NonZeroU64, seeds: &[Integer]) {
    let wanted = one_by_one(profile, limit, seeds);
    for kernel in Kernel::available() {
        let mut numbers = vec![7]; // existing elements must stay
        draws(kernel, profile, limit, seeds.iter().copied(), &mut numbers);
        assert_eq!(numbers[0], 7);
        for ((number, wanted), seed) in numbers[1..].iter().zip(&wanted).zip(seeds) {
            assert_eq!(number, wanted, "{seed} below {limit}, {profile:?}, {kernel:?}");
        }
        assert_eq!(numbers.len(), seeds.len() + 1);
    }
}

#[test]
fn edges_are_drawn_as_by_the_twister() {
    let seeds = edge_seeds();
    for profile in PROFILES {
        for limit in limits() {
            check(profile, limit, &seeds);
        }
    }
}

#[test]
fn rows_of_every_size_are_drawn_as_by_the_twister() {
    let random = |n: u128| n.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    for profile in PROFILES {
        for limit in [28_800, 32_769, 1 << 33].map(|limit| NonZeroU64::new(limit).unwrap()) {
            for size in SIZES.into_iter().chain([1_000]) {
                for shift in [0, 65, 100] {
                    let seeds: Vec<_> =
                        (0..size as u128).map(|n| (random(n) >> shift).into()).collect();
                    check(profile, limit, &seeds);
                }
            }
        }
    }
}

#[test]
fn rows_of_keys_alike_and_of_mixed_keys_are_drawn_as_by_the_twister() {
    let random = |n: u128| n.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) | 1 << 127;
    // Runs of 400 seeds of one length, then seeds whose length always differs from that of the
    // seed before.
    let shift = |n: u32| if n % 1_000 < 400 { n / 1_000 * 32 } else { n % 5 * 25 };
    let seeds: Vec<_> = (0..4_000).map(|n| (random(n.into()) >> shift(n)).into()).collect();
    for profile in PROFILES {
        for limit in [28_800, 32_769, 1 << 33].map(|limit| NonZeroU64::new(limit).unwrap()) {
            check(profile, limit, &seeds);
        }
    }
}

/// Seeds for which the first 18 words give no number, which is more than kernels generate at
/// first.
#[test]
fn ids_that_are_refused_many_words_are_drawn_as_by_the_twister() {
    let half = NonZeroU64::new((1 << 31) + 1).unwrap(); // half of all words are too large
    let wide = NonZeroU64::new(1 << 32).unwrap(); // for Python 33 bits, half of them too large
    let by_word = [109_614, 710_209, 731_753, 830_754, 1_246_933, 1_542_491];
    let by_array = [146_572, 315_434, 436_057, 1_043_475, 1_162_019, 1_320_333];
    let by_two = [416, 707, 990, 1_439, 1_504, 3_488];
    for (profile, limit, seeds) in [
        (Profile::Ruby, half, by_word),
        (Profile::Ruby30To31, half, by_word),
        (Profile::Php, half, by_word),
        (Profile::Python, half, by_array),
        (Profile::Python, wide, by_two),
    ] {
        for seed in seeds {
            let mt = if seeds == by_word { Mt::new(seed) } else { Mt::new_with_key([seed]) };
            let mut words = core::iter::repeat_with(mt_words(mt)).take(18).enumerate();
            let is_large = |(place, word): (usize, u32)| match limit {
                limit if limit == wide => place % 2 == 0 || word >> 31 == 1,
                _ => word > 1 << 31,
            };
            assert!(words.all(is_large), "{seed}");
        }
        let others = (1..400_u32).map(|n| n.wrapping_mul(0x9e37_79b9) >> 8);
        let others = others.chain(seeds).map(u128::from).map(Integer::from);
        check(profile, limit, &others.collect::<Vec<_>>());
    }
}

fn mt_words(mut mt: Mt) -> impl FnMut() -> u32 {
    move || mt.next_u32()
}

/// Numbers with every bit length equally likely.
fn any_magnitude() -> impl Strategy<Value = u128> {
    (any::<u128>(), 0..128_u32).prop_map(|(number, shift)| number >> shift)
}

fn any_seed() -> impl Strategy<Value = Integer> {
    let edges = proptest::sample::select(edge_seeds());
    let random = (any_magnitude(), any::<bool>()).prop_map(|(magnitude, negative)| {
        let sign = if negative && magnitude > 0 { "-" } else { "" };
        integer(&format!("{sign}{magnitude}"))
    });
    prop_oneof![1 => edges, 4 => random]
}

fn any_limit() -> impl Strategy<Value = NonZeroU64> {
    let random = (any::<u64>(), 0..64_u32)
        .prop_filter_map("0", |(number, shift)| NonZeroU64::new(number >> shift));
    prop_oneof![proptest::sample::select(limits()), random]
}

fn any_id() -> impl Strategy<Value = String> {
    let ascii = "[ -~]{0,70}";
    let long = proptest::collection::vec(any::<char>(), 0..256).prop_map(String::from_iter);
    let uuids = any::<u128>().prop_map(|uuid| Id::Uuid(uuid).to_string());
    let integers = any_seed().prop_map(|seed| seed.to_string());
    prop_oneof![ascii, long, uuids, integers].prop_filter("too long", |text| text.len() <= 1_024)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_ids_are_drawn_as_by_the_twister(
        seeds in proptest::collection::vec(any_seed(), 0..400),
        limit in any_limit(),
        profile in proptest::sample::select(PROFILES.to_vec()),
    ) {
        check(profile, limit, &seeds);
        for seed in seeds.iter().take(20) {
            prop_assert_eq!(draw(profile, limit, *seed), Twister::new(profile, *seed).below(limit));
        }
    }

    #[test]
    fn any_ids_are_hashed_as_by_the_crate(
        texts in proptest::collection::vec(any_id(), 0..200),
        salt in proptest::collection::vec(any::<char>(), 0..80).prop_map(String::from_iter),
    ) {
        let ids: Vec<_> = texts.iter().flat_map(|text| readings(text)).collect();
        check_hashes(&salt, &ids);
    }
}

/// The IDs that a text may be read as.
fn readings(text: &str) -> Vec<Id<'_>> {
    [Id::text(text), Id::uuid(text), Id::decimal(text)].into_iter().flatten().collect()
}

fn check_hashes(salt: &str, ids: &[Id<'_>]) {
    let wanted: Vec<_> = ids.iter().map(|id| ids::hash(salt, id)).collect();
    for kernel in Kernel::available() {
        let mut found = vec![7];
        hashes(kernel, salt, ids.iter(), &mut found);
        assert_eq!(found[1..], wanted, "salt of {} bytes, {kernel:?}", salt.len());
    }
}

#[test]
fn salts_and_texts_of_every_length_are_hashed_as_by_the_crate() {
    let letters = "abcdefghij".repeat(103);
    for salt in 0..=256 {
        let lengths = (0..140).chain([180, 183, 184, 247, 248, 255, 256, 1_023, 1_024]);
        let texts = lengths.map(|len| Id::text(&letters[..len]).unwrap());
        let powers = (0..39).map(|power| 10_u128.pow(power));
        let numbers = powers.flat_map(|power| [power - 1, power, power.rotate_left(64)]);
        let numbers = numbers.chain([u64::MAX.into(), u128::MAX]);
        let integers = numbers.clone().map(|number| Id::Integer(number.into()));
        let negative = integer("-18446744073709551615");
        let ids: Vec<_> = texts.chain(numbers.map(Id::Uuid)).chain(integers).collect();
        check_hashes(&letters[1..=salt], &ids);
        check_hashes(&letters[1..=salt], &[&ids[..], &[Id::Integer(negative)]].concat());
    }
}

#[test]
fn integers_on_either_side_of_every_ten_thousand_are_hashed_as_by_the_crate() {
    // Quotients by 10^4 never fall as the number grows: if both ends are right, so is all between
    // them.
    let ends = (0..10_000_u128).flat_map(|front| [front * 10_000, front * 10_000 + 9_999]);
    for above in [0, 100_000_000, 1_844 * 10_000_000_000_000_000] {
        let ids: Vec<_> = ends.clone().map(|end| Id::Integer((above + end).into())).collect();
        check_hashes("", &ids);
    }
}

#[test]
fn rows_of_every_size_are_hashed_as_by_the_crate() {
    for size in SIZES.into_iter().chain([1_000]) {
        let ids: Vec<_> = (0..size as u128).map(|n| Id::Integer(n.into())).collect();
        check_hashes("", &ids);
        let ids: Vec<_> = (0..size as u128).map(|n| Id::Uuid((n << 64) | n)).collect();
        check_hashes("a salt", &ids);
    }
}

#[test]
fn batches_are_placed_and_refused_as_their_ids() {
    let uuids = (0..9_000_u128).map(|n| Ok(Id::Uuid((n * n) << 60)));
    let mixed = (0..9_000_i64).map(|n| match n % 1_000 {
        0 => Id::text("text"),
        1 => Id::decimal("007"),
        2 => Id::fraction(0.25),
        3 => Ok(Id::Integer((n - 4_000).into())),
        _ => Ok(Id::Integer((n << (n % 40)).into())),
    });
    let refused = (0..10).map(|_| Id::decimal("no"));
    let ids: Vec<_> = uuids.chain(mixed).chain(refused).collect();
    for (placement, profile) in [
        (PlacementKind::Hash, None),
        (PlacementKind::Fraction, None),
        (PlacementKind::Twister, Some(Profile::Ruby)),
        (PlacementKind::Twister, Some(Profile::Python)),
    ] {
        let spec =
            ScheduleSpec { placement, profile, ..ScheduleSpec::every(Span::from_seconds(86_400)) };
        let schedule = Schedule::try_new(&spec).unwrap();
        let one = |id: &Result<Id<'_>, _>| id.clone().and_then(|id| schedule.place(&id));
        let wanted: Vec<_> = ids.iter().map(one).collect();
        for kernel in Kernel::available() {
            for size in [0, 1, 100, 6_143, 6_144, 6_145, ids.len()] {
                let mut places = Vec::new();
                let ids = ids.iter().rev().take(size).rev().cloned();
                schedule.place_all_with(kernel, ids, |place| places.push(place));
                assert_eq!(places, wanted[wanted.len() - size..], "{kernel:?}, {size} IDs");
            }
        }
    }
    let text = Schedule::try_new(&ScheduleSpec {
        placement: PlacementKind::Twister,
        ..ScheduleSpec::every(Span::from_seconds(86_400))
    });
    let mut reasons = Vec::new();
    text.unwrap().place_all([Id::text("a")], |place| reasons.push(place.unwrap_err().reason));
    assert_eq!(reasons, [Reason::IdTypeUnsuitable]);
}
