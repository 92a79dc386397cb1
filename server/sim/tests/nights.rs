//! Realistic schedules: kinds with cycles and windows of their own, partners that are limited or
//! down.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod support;

use offbeat_core::{CycleWindow, Id, Moment, Schedule, ScheduleSpec, Span};
use offbeat_sim::world::{Trace, Watch, run};
use support::{refused, scenario, traces};

const DAY: usize = 86_400;
const HOUR: usize = 3_600;

/// Syncs at night, and a weekly report in hours of its own.
const NIGHT: &str = r#"
name = "night"
duration = "14d"
workers = 200
[users]
count = 500
cycle = "24h"
active_windows = ["22:00-06:00"]
[[kinds]]
name = "sync"
run_time = "1s"
[[kinds]]
name = "report"
run_time = "1s"
cycle = "7d"
active_windows = ["12:00-13:00"]
[[strategies]]
kind = "at_once"
[[strategies]]
kind = "random_smear"
[[strategies]]
kind = "least_recent"
[[strategies]]
kind = "self_rescheduling"
[[strategies]]
kind = "slots"
[[strategies]]
kind = "spread"
"#;

fn enqueued_in(trace: &Trace, is_in: impl Fn(usize) -> bool) -> u32 {
    let rows = trace.rows.iter().enumerate();
    rows.filter(|(second, _)| is_in(second % DAY)).map(|(_, row)| row.enqueued).sum()
}

#[test]
fn kinds_come_in_their_windows_and_in_cycles_of_their_own() {
    let scenario = scenario(NIGHT);
    for (strategy, trace) in scenario.strategies.iter().zip(traces(&scenario, 1)) {
        let night = enqueued_in(&trace, |second| !(6 * HOUR..22 * HOUR).contains(&second));
        let noon = enqueued_in(&trace, |second| (12 * HOUR..13 * HOUR).contains(&second));
        let all: u32 = trace.rows.iter().map(|row| row.enqueued).sum();
        assert_eq!(night + noon, all, "{}: outside of all windows", strategy.name);
        // Jobs that enqueue their successor lose the last cycle: theirs begins a cycle and a
        // second later.
        let least = if strategy.name.starts_with("self") { 500 } else { 1_000 };
        assert!((least..=1_000).contains(&noon), "{}: {noon} reports", strategy.name);
        assert!((6_000..=7_000).contains(&night), "{}: {night} syncs", strategy.name);
    }
}

#[test]
fn jobs_begin_with_the_window() {
    let scenario = scenario(NIGHT);
    let trace = &traces(&scenario, 1)[0];
    // Day 1 starts at midnight, six hours before the end of a night.
    for (second, count) in [(0, 500), (12 * HOUR, 500), (DAY, 500), (7 * DAY + 12 * HOUR, 500)] {
        assert_eq!(trace.rows[second].enqueued, count, "{second}");
    }
}

#[test]
fn slots_at_night_are_those_that_the_service_answers() {
    let scenario = scenario(NIGHT);
    let trace = &traces(&scenario, 1)[4];
    let hours = |start: i64, end: i64| CycleWindow {
        start: Span::from_seconds(start * 3_600),
        end: Span::from_seconds(end * 3_600),
    };
    let daily = ScheduleSpec {
        active_windows: vec![hours(0, 6), hours(22, 24)],
        ..ScheduleSpec::every(Span::from_seconds(86_400))
    };
    let weekly = ScheduleSpec {
        active_windows: (0..7).map(|day| hours(day * 24 + 12, day * 24 + 13)).collect(),
        resolution: Some(Span::from_millis(1)),
        slot_count: Some(1),
        salt: "report".to_owned(),
        ..ScheduleSpec::every(Span::from_seconds(7 * 86_400))
    };
    let mut expected = vec![0; 14 * DAY];
    for (spec, count) in [(daily, 14), (weekly, 2)] {
        let schedule = Schedule::try_new(&spec).unwrap();
        let runs = schedule.runs_from(Moment::UNIX_EPOCH, count).unwrap();
        for user in 0..500_i64 {
            let place = schedule.place(&Id::Integer(user.into())).unwrap();
            for run in runs.next_runs(&place).take(count) {
                expected[(run.unwrap().unix_millis / 1_000) as usize] += 1;
            }
        }
    }
    let enqueued: Vec<u32> = trace.rows.iter().map(|row| row.enqueued).collect();
    assert_eq!(enqueued, expected);
}

#[test]
fn kinds_that_are_declared_keep_apart_in_windows_too() {
    let text = r#"
    name = "two kinds at night"
    duration = "4d"
    workers = 100
    [users]
    count = 300
    cycle = "24h"
    active_windows = ["02:00-06:00"]
    [[kinds]]
    name = "import"
    run_time = "1s"
    [[kinds]]
    name = "export"
    run_time = "1s"
    [[strategies]]
    kind = "slots"
    "#;
    let trace = traces(&scenario(text), 1).remove(0);
    // Two kinds in a window of four hours.
    assert_eq!(trace.least_kind_distance, Some(2 * HOUR as u64 * 1_000_000));
}

/// One user with one job a day.
fn alone(more: &str) -> Trace {
    let text = format!(
        r#"
        name = "alone"
        duration = "2d"
        workers = 1
        [users]
        count = 1
        cycle = "24h"
        [[kinds]]
        name = "sync"
        run_time = "8s"
        {more}
        [[strategies]]
        kind = "at_once"
        "#
    );
    traces(&scenario(&text), 1).remove(0)
}

#[test]
fn retries_wait_longer_each_time() {
    let bank = |outages: &str| {
        format!(
            "[[partners]]\nname = \"bank\"\nshare = 1\noutage_time = \"30s\"\noutages = [{outages}]"
        )
    };
    let retries = "[retries]\nmax_attempts = 5\nfirst_delay = \"10m\"";
    let down = bank(r#"{ from = "0s", to = "1h" }"#);
    // The job fails at 0:30, again at 11:00 (after 10 minutes), and at 31:30 (after 20). After
    // another 40 minutes it is answered.
    let trace = alone(&format!("{retries}\n{down}"));
    assert_eq!((trace.failed_jobs, trace.sojourns[0]), (0, (71 * 60 + 30 + 8) * 1_000_000));
    let trace = alone(&format!("{retries}\nmax_delay = \"15m\"\n{down}"));
    // Attempts at 10:30, 26:00 (fails at 26:30), 41:30 and 57:00, which is the last of five.
    assert_eq!((trace.failed_jobs, trace.sojourns.len()), (1, 1));
    let trace = alone(&format!("{retries}\nmultiplier = 1\n{down}").replace("= 5", "= 100"));
    // An attempt every 10:30 from the beginning: the seventh is at 63:00.
    assert_eq!((trace.failed_jobs, trace.sojourns[0]), (0, (63 * 60 + 8) * 1_000_000));
    assert_eq!(alone(&down).failed_jobs, 1, "without retries");
}

#[test]
fn outages_have_times_of_day() {
    let down = |outage: &str| {
        alone(&format!("[[partners]]\nname = \"bank\"\nshare = 1\noutages = [{outage}]"))
            .failed_jobs
    };
    assert_eq!(down(r#"{ from = "day 2 00:00", to = "day 2 00:01" }"#), 1);
    assert_eq!(down(r#"{ from = "24h", to = "1d 1m" }"#), 1);
    assert_eq!(down(r#"{ from = "day 2 00:01", to = "day 2, 24:00" }"#), 0);
}

#[test]
fn times_are_drawn_anew_in_each_cycle_of_a_kind() {
    let trace = &traces(&scenario(NIGHT), 1)[1];
    let noon = |day: usize| -> Vec<u32> {
        let rows = &trace.rows[day * DAY + 12 * HOUR..day * DAY + 13 * HOUR];
        rows.iter().map(|row| row.enqueued).collect()
    };
    for day in 0..7 {
        assert_ne!(noon(day), noon(day + 7), "{day}");
    }
}

#[test]
fn batches_stop_with_the_window() {
    // Ten users a minute make fifty a night.
    let text = NIGHT.replace("22:00-06:00", "22:00-22:05").replace(
        "kind = \"least_recent\"",
        "kind = \"least_recent\"\nbatch = 10\ninterval = \"1m\"",
    );
    let trace = &traces(&scenario(&text), 1)[2];
    let is_night = |second| (22 * HOUR..22 * HOUR + 300).contains(&second);
    let is_noon = |second| (12 * HOUR..13 * HOUR).contains(&second);
    assert_eq!(enqueued_in(trace, is_night), 14 * 50);
    assert_eq!(enqueued_in(trace, |second| !is_night(second) && !is_noon(second)), 0);
}

/// Two cycles, each with jobs of two partners that are all enqueued at once.
fn limited(limiter: &str, more: &str, workers: u32) -> (Trace, Vec<u64>) {
    let text = format!(
        r#"
        name = "limited"
        duration = "2h"
        workers = {workers}
        [users]
        count = 60
        cycle = "1h"
        [[kinds]]
        name = "sync"
        run_time = "10s"
        {more}
        [[partners]]
        name = "A"
        share = 1
        {limiter}
        [[partners]]
        name = "B"
        share = 1
        [[strategies]]
        kind = "at_once"
        "#
    );
    let trace = traces(&scenario(&text), 1).remove(0);
    let finished = trace.partners.iter().map(|partner| partner.finished).collect();
    (trace, finished)
}

#[test]
fn a_limit_of_concurrency_holds_jobs_back_without_a_worker() {
    let (trace, finished) = limited("limiter = { max_concurrent = 3 }", "", 60);
    let (a, b) = (finished[0] / 2, finished[1] / 2);
    assert!(a > 10 && b > 10 && a + b == 60);
    // Three jobs of A at a time, all of B at once, and the same in both cycles.
    let of_cycle: Vec<u64> =
        (0..a).map(|job| (job / 3 + 1) * 10_000_000).chain((0..b).map(|_| 10_000_000)).collect();
    let mut expected = [of_cycle.clone(), of_cycle].concat();
    let mut sojourns = trace.sojourns.clone();
    sojourns.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sojourns, expected);
    let busy: Vec<u32> = trace.rows[10..HOUR].iter().map(|row| row.busy_workers).collect();
    assert_eq!(busy.iter().max(), Some(&3));
}

#[test]
fn a_job_that_was_held_comes_before_those_in_the_queue() {
    // Of two workers, one always serves A while A has jobs, however many jobs of B wait.
    let (trace, finished) = limited("limiter = { max_concurrent = 1 }", "", 2);
    assert!(finished[0] > 30, "{finished:?}");
    let step = trace.sums.step as usize;
    let by_100_seconds: u32 =
        trace.partner_steps[0][..=100 / step].iter().map(|step| step.finished).sum();
    assert_eq!(by_100_seconds, 10);
}

#[test]
fn a_limit_of_calls_spaces_them_evenly() {
    for (more, gap) in [("", 500_000), ("calls = 3", 1_500_000)] {
        let (trace, finished) = limited("limiter = { max_per_second = 2 }", more, 60);
        let of_cycle = (0..finished[0] / 2).map(|job| job * gap);
        let mut expected: Vec<u64> = of_cycle.clone().chain(of_cycle).collect();
        expected.extend((0..finished[1]).map(|_| 0));
        expected.sort_unstable();
        let mut waits = trace.waits.clone();
        waits.sort_unstable();
        assert_eq!(waits, expected, "{more}");
        assert_eq!(trace.partners[0].throttled, 0);
    }
}

#[test]
fn a_job_asks_as_often_as_its_kind_says() {
    let with = |calls: &str| {
        let text = format!(
            r#"
            name = "calls"
            duration = "1h"
            workers = 100
            [users]
            count = 40
            cycle = "1h"
            [[kinds]]
            name = "sync"
            run_time = "1s"
            {calls}
            [[partners]]
            name = "A"
            share = 1
            max_per_second = 12
            [[strategies]]
            kind = "at_once"
            "#
        );
        let trace = traces(&scenario(&text), 1).remove(0);
        (trace.partners[0].throttled, trace.phases[0].partners[0].calls)
    };
    // Of 40 jobs at once, 12 are answered; if each makes three calls, 4. The others return after a
    // minute.
    assert_eq!(with(""), (28 + 16 + 4, 40));
    assert_eq!(with("calls = 3"), ((1..10).map(|round| 40 - 4 * round).sum(), 120));
    assert_eq!(with("calls = 0"), (0, 0));
}

#[test]
fn every_strategy_has_the_same_customers() {
    let text = include_str!("../../../examples/simulations/bank_down.toml");
    let text = text.replace("max_per_second", "# max_per_second");
    let text: String = text
        .lines()
        .filter(|line| !line.starts_with("outages"))
        .map(|line| format!("{line}\n"))
        .collect();
    let scenario = scenario(&text);
    let finished: Vec<u64> = scenario
        .strategies
        .iter()
        .filter(|strategy| strategy.name != "least recent")
        .map(|strategy| {
            let trace = run(&scenario, strategy, 7, &Watch::default()).unwrap();
            // All cycles but the last, which may be incomplete.
            trace.partners[0].finished / 15
        })
        .collect();
    assert!(finished.iter().all(|count| count.abs_diff(finished[0]) <= 3), "{finished:?}");
    assert!(finished[0].abs_diff(4_000) < 200);
}

#[test]
fn meaningless_settings_are_refused() {
    let with = |from: &str, to: &str| {
        assert!(NIGHT.contains(from), "{from}");
        refused(&NIGHT.replacen(from, to, 1))
    };
    let partner = "[[partners]]\nname = \"A\"\nshare = 1\n";
    let before_strategies = |text: &str| format!("{text}\n[[strategies]]\nkind = \"at_once\"");
    let at_once = "[[strategies]]\nkind = \"at_once\"";
    for (from, to, field) in [
        ("[\"22:00-06:00\"]", "[\"22-06\"]".to_owned(), "users.active_windows[0]"),
        ("cycle = \"24h\"", "cycle = \"8h\"".to_owned(), "users.active_windows"),
        ("cycle = \"7d\"", "cycle = \"15d\"".to_owned(), "kinds[1].cycle"),
        ("cycle = \"7d\"", "cycle = \"7d\"\nplacement = \"same\"".to_owned(), "kinds[1].placement"),
        ("cycle = \"7d\"", "cycle = \"7d\"\ncalls = 2".to_owned(), "kinds[1].calls"),
        ("name = \"sync\"", "name = \"sync\"\ncycle = \"8h\"".to_owned(), "kinds[0].cycle"),
        (
            "name = \"sync\"",
            "name = \"sync\"\nactive_windows = [\"01:00-02:00\"]".to_owned(),
            "kinds[0].active_windows",
        ),
        (
            at_once,
            before_strategies("[retries]\nmax_attempts = 3\nfirst_delay = \"1m\""),
            "retries",
        ),
        (
            at_once,
            before_strategies(&format!("{partner}limiter = {{ max_concurrent = 0 }}")),
            "partners[0].limiter.max_concurrent",
        ),
        (
            at_once,
            before_strategies(&format!("{partner}limiter = {{ max_per_second = 0 }}")),
            "partners[0].limiter.max_per_second",
        ),
        (
            at_once,
            before_strategies(&format!(
                "{partner}outages = [{{ from = \"day 0 01:00\", to = \"1d\" }}]"
            )),
            "partners[0].outages.from",
        ),
        (
            at_once,
            format!(
                "{partner}limiter = {{ max_concurrent = 2 }}\n{at_once}\nlanes = [{{ workers = 100, timeout = \"1s\" }}, {{ workers = 100 }}]"
            ),
            "partners[0].limiter.max_concurrent",
        ),
    ] {
        let refusal = with(from, &to);
        assert_eq!(refusal.field, field, "{to}: {refusal}");
    }
    let down = format!("{partner}outages = [{{ from = \"1h\", to = \"2h\" }}]");
    for (retries, field) in [
        ("max_attempts = 0\nfirst_delay = \"1m\"", "retries.max_attempts"),
        ("max_attempts = 3\nfirst_delay = \"0s\"", "retries.first_delay"),
        ("max_attempts = 3\nfirst_delay = \"1m\"\nmultiplier = 0.5", "retries.multiplier"),
        ("max_attempts = 3\nfirst_delay = \"1m\"\nmax_delay = \"1s\"", "retries.max_delay"),
    ] {
        let refusal = with(at_once, &before_strategies(&format!("[retries]\n{retries}\n{down}")));
        assert_eq!(refusal.field, field, "{retries}: {refusal}");
    }
}
