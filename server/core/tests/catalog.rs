//! Schedules by name, and versions that keep their meaning.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use offbeat_core::{
    Catalog, Id, Meanings, Moment, Reason, Schedule, ScheduleName, ScheduleSpec, Span,
};

fn schedule(slots: i64) -> Schedule {
    let spec =
        ScheduleSpec { slot_count: Some(slots), ..ScheduleSpec::every(Span::from_seconds(28_800)) };
    Schedule::try_new(&spec).unwrap()
}

fn name(text: &str) -> ScheduleName {
    ScheduleName::parse(text).unwrap()
}

fn catalog(schedules: &[(&str, i64)]) -> Catalog {
    let mut catalog = Catalog::default();
    for (text, slots) in schedules {
        catalog.add(name(text), schedule(*slots)).unwrap();
    }
    catalog
}

#[test]
fn a_name_changes_the_run_keys_and_nothing_else() {
    let catalog = catalog(&[("bank-sync/3", 128)]);
    let (named, plain) = (catalog.get(&name("bank-sync/3")).unwrap(), schedule(128));
    assert_eq!(named.fingerprint(), plain.fingerprint());
    assert_eq!(named.canonical_text(), plain.canonical_text());
    assert_eq!(named.run_key_root(), "bank-sync/3");
    assert_eq!(plain.run_key_root(), plain.fingerprint());
    assert_eq!(named.run_key_prefix("default").unwrap(), "bank-sync/3/default");
    let id = Id::text("acme").unwrap();
    assert_eq!(named.place(&id), plain.place(&id));
    let run = named.next_run(&named.place(&id).unwrap(), Moment::UNIX_EPOCH).unwrap();
    assert_eq!(
        run.unwrap().key("bank-sync/3/default", &id).unwrap(),
        "bank-sync/3/default/0/0/acme"
    );
}

#[test]
fn names_are_read_as_they_are_printed() {
    for text in ["a/1", "bank-sync/3", "A.b_c-9/1000000"] {
        assert_eq!(name(text).to_string(), text);
    }
    for (text, field, reason) in [
        ("bank-sync", "", Reason::Malformed),
        ("bank-sync/", "", Reason::Malformed),
        ("bank-sync/01", "", Reason::Malformed),
        ("bank-sync/+1", "", Reason::Malformed),
        ("a/b/1", "", Reason::Malformed),
        ("/1", "name", Reason::OutOfRange),
        ("bänk/1", "name", Reason::OutOfRange),
        ("bank sync/1", "name", Reason::OutOfRange),
        ("bank-sync/0", "", Reason::Malformed),
        ("bank-sync/1000001", "version", Reason::OutOfRange),
    ] {
        let refused = ScheduleName::parse(text).unwrap_err();
        assert_eq!((refused.field.as_str(), refused.reason), (field, reason), "{text}: {refused}");
    }
    assert!(ScheduleName::try_new(&"x".repeat(64), 1).is_ok());
    assert!(ScheduleName::try_new(&"x".repeat(65), 1).is_err());
    let forgotten = ScheduleName::try_new("a", 0).unwrap_err();
    assert_eq!((forgotten.field.as_str(), forgotten.reason), ("version", Reason::FieldMissing));
    assert_eq!(ScheduleName::try_new("a", -1).unwrap_err().reason, Reason::OutOfRange);
}

#[test]
fn refusals_of_unknown_schedules_list_the_loaded_ones() {
    let refusal = |catalog: &Catalog, text: &str| {
        let refused = catalog.get(&name(text)).unwrap_err();
        assert_eq!(refused.reason, Reason::UnknownSchedule);
        refused.allowed
    };
    let known = catalog(&[("b/2", 128), ("b/1", 96), ("a/1", 64)]);
    assert!(refusal(&known, "b/3").ends_with("loaded: b/1, b/2"));
    assert!(refusal(&known, "c/1").ends_with("loaded: a/1, b/1, b/2"));
    assert!(refusal(&Catalog::default(), "c/1").contains("--schedules"));
    let many: Vec<_> = (1..=1_000).map(|number| format!("a/{number}")).collect();
    let many: Vec<_> = many.iter().map(|text| (text.as_str(), 128)).collect();
    let mut full = catalog(&many);
    assert!(refusal(&full, "a/1001").ends_with("a/8 and 992 more"));
    let over = full.add(name("b/1"), schedule(128)).unwrap_err();
    assert_eq!(over.reason, Reason::OutOfRange);
    let mut known = known;
    assert_eq!(known.add(name("b/1"), schedule(96)).unwrap_err().reason, Reason::Contradictory);
}

#[test]
fn a_version_never_changes_its_meaning_not_even_after_it_was_away() {
    let mut meanings = Meanings::default();
    meanings.learn(&catalog(&[("a/1", 128), ("b/1", 128), ("c/1", 128)])).unwrap();
    let refused = meanings
        .learn(&catalog(&[("a/1", 128), ("b/1", 96), ("c/1", 96), ("d/1", 1)]))
        .unwrap_err();
    assert_eq!(
        (refused.field.as_str(), refused.reason),
        ("b/1: fingerprint", Reason::Contradictory)
    );
    assert_eq!(refused.value, schedule(96).fingerprint());
    assert!(refused.allowed.contains(&schedule(128).fingerprint()));
    assert!(refused.allowed.ends_with("c/1 too"), "{refused}");
    // Nothing is learned from a refused file, not even d/1.
    meanings.learn(&catalog(&[("d/1", 2)])).unwrap();
    // b/1 is gone, and must not come back with another meaning.
    assert!(meanings.learn(&catalog(&[("b/1", 96)])).is_err());
    meanings.learn(&catalog(&[("b/1", 128), ("b/2", 96)])).unwrap();
}

#[test]
fn the_number_of_remembered_meanings_is_bounded() {
    let mut meanings = Meanings::default();
    for round in 0..10 {
        let names: Vec<_> = (1..=1_000).map(|version| format!("a{round}/{version}")).collect();
        let names: Vec<_> = names.iter().map(|text| (text.as_str(), 128)).collect();
        meanings.learn(&catalog(&names)).unwrap();
    }
    meanings.learn(&catalog(&[("a3/7", 128)])).unwrap();
    let refused = meanings.learn(&catalog(&[("b/1", 128)])).unwrap_err();
    assert_eq!(refused.reason, Reason::OutOfRange);
}
