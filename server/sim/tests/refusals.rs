//! What is refused, and what is stopped because it would not end.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod support;

use offbeat_core::Reason;
use offbeat_sim::scenario::parse;
use offbeat_sim::world::{Watch, run};
use support::{BUSY, lanes, refused, scenario};

#[test]
fn invalid_scenarios_are_refused_by_field() {
    let with = |from: &str, to: &str| {
        assert!(BUSY.contains(from), "{from}");
        refused(&BUSY.replacen(from, to, 1))
    };
    for (from, to, field) in [
        ("duration = \"1d\"", "duration = \"0s\"", "duration"),
        ("duration = \"1d\"", "duration = \"400d\"", "duration"),
        ("duration = \"1d\"", "duration = \"soon\"", "duration"),
        ("count = 2000", "count = 0", "users.count"),
        ("count = 2000", "count = 10000001", "users.count"),
        ("cycle = \"4h\"", "cycle = \"0.5ms\"", "users.cycle"),
        ("workers = 6", "workers = -1", "workers"),
        ("workers = 6", "workers = [{ from = \"1h\", count = 3 }]", "workers[0].from"),
        ("p90 = \"20s\"", "p90 = \"4s\"", "kinds[0].run_time.p90"),
        ("{ exponential = \"2s\" }", "{ mean = \"4s\", p90 = \"120s\" }", "kinds[1].run_time.p90"),
        ("{ exponential = \"2s\" }", "{ exponential = \"2s\", p50 = \"1s\" }", "kinds[1].run_time"),
        ("uniform = [\"1s\", \"2s\"]", "uniform = [\"2s\", \"1s\"]", "children.run_time.uniform"),
        ("{ exponential = \"2s\" }", "{ samples = \"a file\" }", "kinds[1].run_time.samples"),
        ("retry_after = \"5s\"", "retry_after = \"0s\"", "lock.retry_after"),
        ("maximum = 20", "maximum = 2", "autoscaler.maximum"),
        ("share = 3", "share = 0", "partners[1].share"),
        (
            "kind = \"random_smear\"",
            "kind = \"random_smear\"\nfeeders = 3",
            "strategies[1].feeders",
        ),
        ("feeders = 8", "feeders = 0", "strategies[5].feeders"),
        ("feeders = 8", "feeders = 8\nname = \"slots\"", "strategies[5].name"),
        ("feeders = 8", "feeders = 8\nsuspend = true", "strategies[5].suspend"),
        ("feeders = 8", "feeders = 8\nsuspend = false", "strategies[5].suspend"),
        ("feeders = 8", "lanes = [{ workers = 2 }, { workers = 4 }]", "strategies[5].lanes"),
        ("feeders = 8", "bucket_count = 256", "strategies[5].bucket_count"),
        (
            "kind = \"least_recent\"",
            "kind = \"least_recent\"\nother_kinds = \"same\"",
            "strategies[2].other_kinds",
        ),
        ("p90 = \"20s\" }", "p90 = \"20s\" }\nplacement = \"same\"", "kinds[0].placement"),
        ("workers = 6", "workers = 6\nseeds = [3, 4, 3]", "seeds[2]"),
        ("cycle = \"4h\"", "cycle = \"25h\"", "users.cycle"),
        ("down_at = 10", "down_at = 101", "autoscaler.down_at"),
        ("contention = true", "per_rival = \"1ms\"", "dequeue.per_rival"),
        ("contention = true", "exclusive = true\nper_rival = \"2s\"", "dequeue.per_rival"),
        ("name = \"other bank\"", "name = \"bank\"", "partners[1].name"),
        ("to = \"9h\"", "to = \"6h\"", "partners[0].outages.to"),
        ("run_time = { exponential = \"2s\" }", "run_time = 5", "kinds[1].run_time"),
        ("name = \"all there is\"", "name = \"all there is\"\nnmae = 1", "scenario, line 3"),
    ] {
        assert_eq!(with(from, to).field, field, "{to}");
    }
}

#[test]
fn texts_that_are_no_scenario_are_refused_by_line() {
    let lines: Vec<&str> = BUSY.lines().collect();
    for (from, to, what) in [
        ("duration = \"1d\"", "duration =", "string"),
        ("duration = \"1d\"", "", "missing field `duration`"),
        ("duration = \"1d\"", "duration = 86400", "expected a string"),
        ("duration = \"1d\"", "duration = 1979-05-27", "expected a string"),
        ("workers = 6", "workers = 99999999999999999999", ""),
        ("count = 2000", "count = 1.5", "expected i64"),
        ("count = 2000", "cuont = 2000", "unknown field `cuont`, expected"),
        ("placement = \"independent\"", "placement = \"nearby\"", "unknown variant `nearby`"),
        ("contention = true", "contention = 1", "expected a boolean"),
        ("mean_count = 0.5", "mean_count = \"half\"", "expected f64"),
        (
            "run_time = { uniform = [\"1s\", \"2s\"] }",
            "run_time = { uniform = [\"1s\"] }",
            "length 1",
        ),
        (
            "outages = [{ from = \"6h\", to = \"9h\" }]",
            "outages = [{ from = \"6h\" }]",
            "missing field `to`",
        ),
        ("kind = \"spread\"", "kind = \"no kind\"", "unknown variant `no kind`"),
        ("feeders = 8", "feeders = [8]", "expected"),
    ] {
        let at = lines.iter().rposition(|line| *line == from).unwrap();
        let text = BUSY.replacen(from, to, 1);
        let refused = refused(&text);
        assert_eq!(refused.reason, Reason::Malformed, "{to}");
        // A missing field has no line of its own, so line 1 is reported.
        let line = if to.is_empty() { 1 } else { at + 1 };
        assert_eq!(refused.field, format!("scenario, line {line}"), "{to}: {refused}");
        assert!(refused.allowed.contains(what), "{to}: {refused}");
    }
}

#[test]
fn meaningless_lanes_are_refused_by_field() {
    let lanes = lanes();
    assert!(parse(&lanes, &|_| panic!("no samples")).is_ok());
    for (from, to, field) in [
        ("{ workers = 4 }", "{ workers = 0 }", "strategies[0].lanes[1].workers"),
        ("{ workers = 4 }", "{ workers = 5 }", "strategies[0].lanes"),
        (
            "workers = 6",
            "workers = [{ from = \"0s\", count = 6 }, { from = \"1h\", count = 3 }]",
            "strategies[0].lanes",
        ),
    ] {
        assert!(lanes.contains(from));
        assert_eq!(refused(&lanes.replacen(from, to, 1)).field, field, "{to}");
    }
    // No strategy uses the placement.
    let alone = lanes.replace("kind = \"slots\"", "kind = \"least_recent\"");
    assert_eq!(refused(&alone).field, "kinds[1].placement");
    let own = lanes.replace("kind = \"slots\"", "kind = \"slots\"\nother_kinds = \"same\"");
    assert_eq!(refused(&own).field, "kinds[1].placement");
    assert!(parse(&own.replace("placement = \"independent\"", ""), &|_| panic!()).is_ok());
    let short = scenario(&lanes.replace("duration = \"1d\"", "duration = \"7h\""));
    assert!(short.notes.iter().any(|note| note.starts_with("duration: 7h")), "{:?}", short.notes);
    assert!(scenario(&lanes).notes.is_empty());
}

#[test]
fn jobs_that_come_back_for_ever_are_cut_off() {
    let text = r#"
        name = "for ever"
        duration = "1h"
        workers = 2
        [users]
        count = 100
        cycle = "1h"
        [[kinds]]
        name = "sync"
        run_time = "1s"
        [[partners]]
        name = "down"
        share = 1
        outage_time = "0s"
        outages = [{ from = "0s", to = "2h" }]
        [[strategies]]
        kind = "least_recent"
        interval = "1us"
    "#;
    let mut scenario = scenario(text);
    scenario.max_events = 1_000_000;
    let refused = run(&scenario, &scenario.strategies[0], 1, &Watch::default()).unwrap_err();
    assert!(refused.allowed.contains("1000000"), "{refused}");
}

/// A lock whose holder never releases it makes all other jobs come back forever.
#[test]
fn a_lock_that_is_never_released_ends_with_a_reason() {
    let text = r#"
        name = "for ever"
        duration = "1h"
        workers = 2
        [users]
        count = 100
        cycle = "1h"
        [[kinds]]
        name = "sync"
        run_time = "366d"
        [lock]
        group_size = 100
        retry_after = "1us"
        [[strategies]]
        kind = "at_once"
    "#;
    let scenario = scenario(text);
    let refused = run(&scenario, &scenario.strategies[0], 1, &Watch::default()).unwrap_err();
    assert_eq!((refused.reason, refused.field.as_str()), (Reason::OutOfRange, "scenario"));
    assert!(refused.to_string().contains("5000000"), "{refused}");
}

/// Published figures: z = 1.28155.
#[test]
fn both_lognormal_distributions_are_named() {
    let (smaller, larger) = offbeat_sim::distribution::lognormal_sigmas(2.0).unwrap();
    assert!((smaller - 0.775_5).abs() < 1e-3 && (larger.unwrap() - 1.787_6).abs() < 1e-3);
    assert!(offbeat_sim::distribution::lognormal_sigmas(2.273).is_some());
    assert!(offbeat_sim::distribution::lognormal_sigmas(2.274).is_none());
    assert_eq!(offbeat_sim::distribution::lognormal_sigmas(0.9).unwrap().1, None);
    let with = |time: &str| scenario(&BUSY.replacen("{ p50 = \"5s\", p90 = \"20s\" }", time, 1));
    let found = with("{ mean = \"4s\", p90 = \"8s\" }");
    let [note, _] = found.notes.as_slice() else { panic!("{:?}", found.notes) };
    assert!(note.contains("0.775") && note.contains("1.787"), "{note}");
    assert!((found.kinds[0].run_time.all().first - 4.0).abs() < 1e-3);
    // The other distribution has the same mean, given the median from the note.
    let median = note.split("p50 = \"").nth(1).unwrap().split('"').next().unwrap();
    let other = with(&format!("{{ p50 = \"{median}\", p90 = \"8s\" }}"));
    assert!((other.kinds[0].run_time.all().first - 4.0).abs() < 1e-2);
    assert_eq!(other.notes, [found.notes[1].as_str()]);
    assert!(other.notes[0].starts_with("least_recent"), "{:?}", other.notes);
    assert!(found.kinds[0].run_time.quantile(0.99) < other.kinds[0].run_time.quantile(0.99));
}
