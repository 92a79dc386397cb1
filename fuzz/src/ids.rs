//! IDs: parsed, printed, parsed again, and placed, one at a time and in batches.

use offbeat_core::Kernel;
use offbeat_core::{
    Id, Moment, Placement, PlacementKind, Profile, Rejection, Schedule, ScheduleSpec, Span, Why,
};

use super::choices::Choices;
use super::refusal;

pub const PLACEMENTS: [PlacementKind; 3] =
    [PlacementKind::Hash, PlacementKind::Twister, PlacementKind::Fraction];
pub const PROFILES: [Profile; 4] =
    [Profile::Ruby, Profile::Ruby30To31, Profile::Python, Profile::Php];

/// The most IDs of one input: more than any kernel has rows.
const IDS: usize = 200;

/// Periods in seconds, each with a slot count.
const GRIDS: [(i64, i64); 8] = [
    (28_800, 128),
    (28_800, 1),
    (86_400, 65_536),
    (1, 1),
    (65_536, 65_536),
    (316_224_000, 3_660),
    (604_800, 7),
    (6_000_000, 100),
];

/// Input: a schedule, then IDs, each a type and a piece.
pub fn ids(data: &[u8]) {
    let mut choices = Choices::new(data);
    let Some(schedule) = schedule(&mut choices) else { return };
    let from = Moment::from_unix_millis(choices.integer() % 100_000_000_000).unwrap();
    let mut read = Vec::new();
    while !choices.is_empty() && read.len() < IDS {
        read.push(id(&mut choices));
    }
    for rejection in read.iter().filter_map(|id| id.as_ref().err()) {
        refusal::check_bare(rejection.clone());
    }
    read.iter().flatten().for_each(round_trip);
    let places: Vec<_> =
        read.iter().map(|id| id.clone().and_then(|id| place(&schedule, &id, from))).collect();
    for kernel in Kernel::available() {
        let mut at_once = Vec::new();
        schedule.place_all_with(kernel, read.iter().cloned(), |place| at_once.push(place));
        assert_eq!(at_once, places, "{kernel:?}");
    }
}

fn schedule(choices: &mut Choices<'_>) -> Option<Schedule> {
    let (period, slot_count) = choices.one_of(&GRIDS);
    let placement = choices.one_of(&PLACEMENTS);
    let (profile, bucket_count) = (choices.one_of(&PROFILES), choices.one_of(&[256, 65_536]));
    let salt = choices.text();
    let twister = placement == PlacementKind::Twister;
    let spec = ScheduleSpec {
        slot_count: Some(slot_count),
        placement,
        profile: twister.then_some(profile),
        bucket_count: twister.then_some(bucket_count),
        salt: if placement == PlacementKind::Hash { salt } else { String::new() },
        resolution: choices
            .maybe(|choices| Span::from_millis(choices.one_of(&[1, 10, 100, 250, 500, 1_000]))),
        anchor_time: choices
            .maybe(|choices| Moment::try_new(choices.integer() % 10_000_000_000, 0).unwrap()),
        ..ScheduleSpec::every(Span::from_seconds(period))
    };
    Schedule::try_new(&spec).inspect_err(refusal::check).ok()
}

fn id<'a>(choices: &mut Choices<'a>) -> Result<Id<'a>, Rejection> {
    let kind = choices.below(8);
    match kind {
        0 => return Id::uuid_bytes(choices.piece()),
        1 => return Id::fraction(f64::from_le_bytes(choices.bytes())),
        2 => return Id::fraction(f64::from(u32::from_le_bytes(choices.bytes())) / 4_294_967_296.0),
        3 => return Ok(Id::Integer(choices.integer().into())),
        4 => return Ok(Id::Integer(u128::from_le_bytes(choices.bytes()).into())),
        _ => {}
    }
    let text = std::str::from_utf8(choices.piece()).unwrap_or("ä\u{0}/");
    match kind {
        5 => Id::uuid(text),
        6 => Id::decimal(text),
        _ => Id::text(text),
    }
}

/// An ID prints as text that parses to the same ID.
fn round_trip(id: &Id<'_>) {
    let text = id.to_string();
    match id {
        Id::Uuid(uuid) => {
            assert_eq!(Id::uuid(&text).as_ref(), Ok(id));
            assert_eq!(Id::uuid(&text.replace('-', "").to_uppercase()).as_ref(), Ok(id));
            assert_eq!(Id::uuid_bytes(&uuid.to_be_bytes()).as_ref(), Ok(id));
        }
        Id::Integer(_) => assert_eq!(Id::decimal(&text).as_ref(), Ok(id)),
        Id::Text(_) => assert_eq!(Id::text(&text).as_ref(), Ok(id)),
        Id::Fraction(fraction) => {
            let bits = u64::from_str_radix(&text, 16).unwrap();
            assert_eq!(f64::from_bits(bits).to_bits(), fraction.get().to_bits());
        }
    }
}

/// A place lies in its slot, on the clock too, and in the windows that select by range.
fn place(schedule: &Schedule, id: &Id<'_>, from: Moment) -> Result<offbeat_core::Place, Rejection> {
    let place = schedule.place(id);
    let place = place.inspect_err(|refused| refusal::check_bare(refused.clone()))?;
    let (slot, ticks) = (u64::from(place.slot), schedule.slot_ticks());
    assert!(place.slot < schedule.slot_count() && place.slot_offset < ticks, "{place:?}");
    assert_eq!(place.cycle_offset, slot * ticks + place.slot_offset);
    let window = slot * ticks..(slot + 1) * ticks;
    let tick = place.cycle_offset..place.cycle_offset + 1;
    match place.why {
        Why::Hash(hash) => {
            assert_eq!(schedule.place_of_hash(hash), place);
            for ticks in [window, tick] {
                assert!(schedule.hash_window(ticks).contains(&u128::from(hash)), "{place:?}");
            }
        }
        Why::Fraction(fraction) => {
            for ticks in [window, tick] {
                assert!(schedule.fraction_window(ticks).contains(&fraction), "{place:?}");
            }
        }
        Why::Bucket(bucket) => {
            let Placement::Twister { bucket_count, .. } = schedule.placement() else { panic!() };
            assert!(bucket < *bucket_count);
        }
    }
    let run = match schedule.next_run(&place, from) {
        Ok(run) => run.unwrap(), // nothing is excluded
        Err(refused) => {
            refusal::check(&refused);
            return Ok(place);
        }
    };
    let at = Moment::from_unix_millis(run.unix_millis).unwrap();
    assert!(at >= from, "{run:?}");
    let running = schedule.slot_at(at).unwrap().unwrap();
    assert_eq!((running.index, running.cycle_index), (place.slot, run.cycle_index));
    Ok(place)
}
