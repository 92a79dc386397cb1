//! Comparisons of jobs, calculated by hand: gaps between active windows, and short distances
//! across a clock change.
#![allow(clippy::unwrap_used)]

use offbeat_core::comparison::{Job, Pair, Separation, compare};
use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleSpec, CycleWindow, KindSpec, Moment, Schedule, ScheduleSpec,
    Span,
};

fn hours(count: i64) -> Span {
    minutes(60 * count)
}

fn minutes(count: i64) -> Span {
    Span::from_seconds(60 * count)
}

fn job(spec: &ScheduleSpec, kind: Option<&str>, run_time: Option<Span>) -> Job {
    Job::try_new(&Schedule::try_new(spec).unwrap(), kind, run_time).unwrap()
}

fn separation(pair: &Pair) -> (Separation, Option<(Span, Span)>) {
    (pair.separation, pair.distances)
}

/// Active in hours 0 to 1 and 2 to 4 of every 8; three kinds, an active hour apart.
fn shifts() -> ScheduleSpec {
    let window = |start, end| CycleWindow { start: hours(start), end: hours(end) };
    ScheduleSpec {
        active_windows: vec![window(0, 1), window(2, 4)],
        slot_count: Some(90),
        kinds: ["a", "b", "c"].map(KindSpec::named).to_vec(),
        ..ScheduleSpec::every(hours(8))
    }
}

#[test]
fn the_time_between_windows_counts() {
    let [a, c] = ["a", "c"].map(|kind| job(&shifts(), Some(kind), None));
    // For an ID that runs a within the first hour, c comes two active hours later, after the
    // pause. For other IDs c comes first, an hour earlier in the same window.
    let apart = (Separation::Apart, Some((hours(3), hours(1))));
    assert_eq!(separation(&compare(&a, &c)), apart);
    let long = job(&shifts(), Some("a"), Some(hours(3)));
    assert_eq!(separation(&compare(&long, &c)), apart);
    let longer = job(&shifts(), Some("a"), Some(hours(3).plus(Span::from_millis(1))));
    assert_eq!(compare(&longer, &c).separation, Separation::Meet);
}

#[test]
fn jobs_with_the_same_windows_may_be_shifted_by_their_anchors() {
    let at = |minute: i64| ScheduleSpec {
        anchor_time: Some(Moment::try_new(60 * minute, 0).unwrap()),
        ..shifts()
    };
    let [one, other] = [0, 7].map(|minute| job(&at(minute), Some("b"), None));
    let apart = (Separation::Apart, Some((minutes(7), minutes(8 * 60 - 7))));
    assert_eq!(separation(&compare(&one, &other)), apart);
    // For some IDs only, the other kind comes after the pause.
    let unknown = compare(&one, &job(&at(7), Some("c"), None));
    assert_eq!(separation(&unknown), (Separation::Unknown, None));
}

/// In Berlin, on a day in March, 02:30 becomes 03:30 and so comes after 03:00.
#[test]
fn a_run_that_the_clocks_put_behind_another_does_not_meet_it() {
    let daily = |kinds: [KindSpec; 2]| {
        let time_zone = "Europe/Berlin".to_owned();
        ScheduleSpec {
            cycle: CycleSpec::Calendar(CalendarSpec { unit: CalendarUnit::Day, time_zone }),
            slot_count: Some(48),
            kinds: kinds.to_vec(),
            ..ScheduleSpec::every(hours(24))
        }
    };
    let at_noon = job(&daily(["a", "b"].map(KindSpec::named)), Some("b"), None);
    let later = |slots: i64| {
        let of =
            |name: &str, run_time| KindSpec { run_time: Some(run_time), ..KindSpec::named(name) };
        let kinds = [of("a", minutes(30 * slots)), of("b", Span::from_seconds(0))];
        job(&daily(kinds), Some("b"), None)
    };
    // The first kind needs three slots of half an hour and gets half of the 44 that are left: 25
    // in all.
    let apart = (Separation::Apart, Some((minutes(30), minutes(30))));
    assert_eq!(separation(&compare(&at_noon, &later(3))), apart);
    // Five slots, and half of 42: an hour later, which is when the other job runs on that day.
    let meet = (Separation::Meet, Some((Span::from_seconds(0), Span::from_seconds(0))));
    assert_eq!(separation(&compare(&at_noon, &later(5))), meet);
}
