//! Specific days of calendars: clock changes, a day that a zone skips, a part of each day that is
//! excluded.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation)]

mod support;

use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleSpec, CycleWindow, ExclusionPolicy, ExclusionSpec,
    ExclusionTimes, Id, Moment, Schedule, ScheduleSpec, Span,
};
use support::calendars::{DAY, HOUR, place, seconds};
use support::kinds::day_in;
use support::millis;

#[test]
fn a_daily_job_keeps_its_wall_clock_time_over_ten_years_and_skips_no_day() {
    for name in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"] {
        let schedule = Schedule::try_new(&ScheduleSpec {
            cycle: CycleSpec::Calendar(CalendarSpec {
                unit: CalendarUnit::Day,
                time_zone: name.to_owned(),
            }),
            ..ScheduleSpec::every(Span::from_seconds(1))
        })
        .unwrap();
        let zone = jiff::tz::TimeZoneDatabase::bundled().get(name).unwrap();
        for key in (0..32u64).map(|part| part << 59) {
            let place = place(&schedule, key);
            let wanted = schedule.span(place.cycle_offset);
            let (mut from, mut days, mut shifted) = (1_577_836_800, 0, 0);
            let mut last_cycle = None;
            while from < 1_577_836_800 + 3_653 * DAY {
                let chunk = schedule.runs_from(seconds(from), 1).unwrap();
                for run in chunk.next_runs(&place).map(Result::unwrap).take(200) {
                    let at = run.unix_millis / 1_000;
                    let shown = zone.to_datetime(jiff::Timestamp::from_second(at).unwrap());
                    let time = shown
                        .duration_since(shown.date().to_datetime(jiff::civil::Time::midnight()));
                    shifted += i32::from(Span::from_seconds(time.as_secs()) != wanted);
                    assert!(last_cycle.is_none_or(|last| run.cycle_index == last + 1), "{name}");
                    last_cycle = Some(run.cycle_index);
                    days += 1;
                    from = at + 1;
                }
            }
            assert!(days >= 3_653);
            assert!(shifted <= 11, "{name}: {shifted} times on another time, once a year at most");
        }
    }
}

#[test]
fn runs_deferred_by_a_recurring_exclusion_spread_evenly_over_the_rest_of_the_day() {
    let calendar = CalendarSpec { unit: CalendarUnit::Day, time_zone: "UTC".to_owned() };
    let hours = |hours: i64| Span::from_seconds(hours * HOUR);
    let schedule = Schedule::try_new(&ScheduleSpec {
        cycle: CycleSpec::Calendar(calendar.clone()),
        exclusions: vec![ExclusionSpec {
            times: ExclusionTimes::Recurring {
                calendar,
                window: CycleWindow { start: hours(16), end: hours(24) },
            },
            policy: ExclusionPolicy::Defer,
        }],
        ..ScheduleSpec::every(Span::from_seconds(1))
    })
    .unwrap();
    // One key per tick: the runs of 24 hours share 16, so every two seconds hold three.
    let mut counts = vec![0u32; 16 * 3_600];
    for tick in 0..86_400u128 {
        let key = (tick << 64).div_ceil(86_400) as u64;
        let run = schedule.next_run(&place(&schedule, key), seconds(10 * DAY)).unwrap().unwrap();
        counts[usize::try_from(run.unix_millis / 1_000 - 10 * DAY).unwrap()] += 1;
    }
    assert!(counts.chunks(2).all(|pair| pair.iter().sum::<u32>() == 3));
}

/// The hour from 02:00 to 03:00, on the day that skips it.
#[test]
fn a_slot_runs_where_the_runs_of_a_skipped_time_come() {
    let calendar = CalendarSpec { unit: CalendarUnit::Day, time_zone: "Europe/Berlin".to_owned() };
    let window =
        CycleWindow { start: Span::from_seconds(2 * HOUR), end: Span::from_seconds(3 * HOUR) };
    let schedule = Schedule::try_new(&ScheduleSpec {
        cycle: CycleSpec::Calendar(calendar),
        active_windows: vec![window],
        slot_count: Some(2),
        ..ScheduleSpec::every(Span::from_seconds(1))
    })
    .unwrap();
    let one_utc = 1_774_746_000; // 29 March 2026, 01:00 UTC, when clocks go from 02:00 to 03:00
    for (at, expected) in
        [(-1, None), (0, Some(0)), (1_799, Some(0)), (1_800, Some(1)), (3_600, None)]
    {
        let slot = schedule.slot_at(seconds(one_utc + at)).unwrap();
        assert_eq!(slot.map(|slot| slot.index), expected, "{at}");
    }
}

/// Samoa had no 30 December 2011.
#[test]
fn a_day_that_a_zone_skips_has_no_run() {
    let spec = ScheduleSpec {
        cycle: day_in("Pacific/Apia"),
        ..ScheduleSpec::every(Span::from_seconds(1))
    };
    let apia = Schedule::try_new(&spec).unwrap();
    let id = Id::text("x").unwrap();
    let place = apia.place(&id).unwrap();
    let from = Moment::try_new(1_325_156_400, 0).unwrap(); // 29 December, 11:00 UTC
    let runs = apia.runs_from(from, 3).unwrap();
    let found: Vec<_> = runs
        .next_runs(&place)
        .take(2)
        .map(|run| run.unwrap())
        .map(|run| (run.cycle_index, millis(run.unix_millis).to_string()))
        .collect();
    // Cycle 15338, the 30th, is skipped.
    assert_eq!(found[0], (15_337, "2011-12-30T00:47:48Z".to_owned()));
    assert_eq!(found[1], (15_339, "2011-12-31T00:47:48Z".to_owned()));
    let cache = apia.cycle_cache(from);
    let runs = cache.runs_of(&place);
    let (start, end) = (1_325_000_000_000, 1_325_000_000_000 + 10 * 86_400_000);
    // Ten days that touch eleven cycles, one of which is skipped.
    assert_eq!(runs.count(start..end), Ok(10));
    assert_eq!(runs.tally([start, end]), Ok(([10, 0], 1)));
    assert_eq!(runs.between(start..end).count(), 10);
    let mut skipped = 0;
    for day in 0..10 {
        let from = start + day * 86_400_000;
        skipped += runs.tally([from, from + 86_400_000]).unwrap().1;
    }
    assert_eq!(skipped, 1);
}
