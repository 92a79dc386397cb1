//! A stopped producer: which runs are late, and that declared kinds keep their distance.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation)]

mod support;

use offbeat_sim::world::{Trace, Watch, run};
use support::{refused, results, scenario, shipped, traces};

const HOUR: u64 = 3_600_000_000;
const USERS: u64 = 300;

/// Three days of cycles of eight hours with two kinds, and further settings.
fn text(producer: &str, strategies: &str) -> String {
    format!(
        r#"
        name = "a producer that stands still"
        duration = "3d"
        workers = 1000
        [users]
        count = {USERS}
        cycle = "8h"
        [[kinds]]
        name = "an import"
        run_time = "1s"
        [[kinds]]
        name = "an export"
        run_time = "1s"
        [producer]
        {producer}
        {strategies}
        "#
    )
}

fn one(producer: &str, strategy: &str) -> Trace {
    let text = text(producer, &format!("[[strategies]]\n{strategy}"));
    traces(&scenario(&text), 1).remove(0)
}

/// Jobs enqueued within a span.
fn enqueued(trace: &Trace, from: u64, to: u64) -> u64 {
    let seconds = |at: u64| (at / 1_000_000) as usize;
    trace.rows[seconds(from)..seconds(to)].iter().map(|row| u64::from(row.enqueued)).sum()
}

#[test]
fn declared_kinds_keep_apart_through_any_outages_and_each_run_is_accounted_for() {
    // Each outage starts and ends at another time of the cycle, and has another length.
    for round in 0..12_u64 {
        let minutes = |number: u64| (number * 7_919 + round * 104_729) % 480;
        let first = minutes(1) + 60;
        let second = first + 10 + minutes(2) + 1 + minutes(3);
        let outages = format!(
            r#"outages = [{{ from = "{first}m", to = "{}m" }}, {{ from = "{second}m", to = "{}m" }}]"#,
            first + 10 + minutes(2),
            second + 2 + 2 * minutes(4),
        );
        for policy in ["once", "all", "drop"] {
            let trace = one(&format!("{outages}\nmissed_runs = \"{policy}\""), "kind = \"slots\"");
            // Turns are an hour long. Late kinds are half an hour apart. Late and regular ones are
            // a quarter of an hour apart, less the minute by which a regular one may be late.
            // Regular ones are 4 h apart, less the same minute.
            let least = trace.least_kind_distance.unwrap();
            assert!(least >= 14 * 60_000_000, "round {round}, {policy}: {least} us");
            let late = trace.late_runs;
            assert_eq!(
                trace.enqueued_jobs + late.superseded + late.dropped,
                USERS * 2 * 9,
                "round {round}, {policy}: {late:?}"
            );
        }
    }
}

#[test]
fn kinds_that_are_shifted_by_hand_meet_when_they_are_late() {
    let outage = r#"outages = [{ from = "9h", to = "19h" }]"#;
    let shifted = one(outage, "kind = \"slots\"\ndeclare_kinds = false\nsmear_span = \"1h\"");
    assert_eq!(shifted.least_kind_distance, Some(0));
    let declared = one(outage, "kind = \"slots\"");
    assert!(declared.least_kind_distance > Some(14 * 60_000_000));
    // Without an outage both kinds are half a cycle apart.
    let calm = |more: &str| {
        let text =
            text(r#"outages = [{ from = "4d", to = "5d" }]"#, "[[strategies]]\nkind = \"slots\"");
        let trace = traces(&scenario(&(text + more)), 1).remove(0);
        (trace.least_kind_distance, trace.enqueued_jobs, trace.late_runs)
    };
    assert_eq!(calm(""), calm("\ndeclare_kinds = false"));
    assert_eq!(calm("").0, Some(4 * HOUR));
}

#[test]
fn nothing_is_enqueued_while_it_stands_still() {
    let outage = r#"outages = [{ from = "9h", to = "19h" }]"#;
    let strategies = [
        "kind = \"slots\"",
        "kind = \"at_once\"",
        "kind = \"random_smear\"",
        "kind = \"spread\"",
        "kind = \"self_rescheduling\"",
        "kind = \"least_recent\"\nbatch = 10",
    ];
    for strategy in strategies {
        let trace = one(outage, strategy);
        assert_eq!(enqueued(&trace, 9 * HOUR, 19 * HOUR), 0, "{strategy}");
        assert!(enqueued(&trace, 0, 9 * HOUR) > 0, "{strategy}");
        assert!(enqueued(&trace, 19 * HOUR, 27 * HOUR) > 0, "{strategy}");
    }
}

#[test]
fn without_a_schedule_all_that_is_late_comes_when_it_is_back() {
    // Two cycles start within the outage, at 16 h and 24 h.
    let producer = |policy: &str| {
        format!("outages = [{{ from = \"15h\", to = \"25h\" }}]\nmissed_runs = \"{policy}\"")
    };
    for (policy, late) in [("once", 1), ("all", 2), ("drop", 0)] {
        let trace = one(&producer(policy), "kind = \"at_once\"\nother_kinds = \"same\"");
        let second = 25 * HOUR;
        assert_eq!(enqueued(&trace, second, second + 1_000_000), late * 2 * USERS, "{policy}");
        assert_eq!(trace.late_runs.late, late * 2 * USERS);
        assert_eq!(trace.late_runs.dropped, (2 - late) * 2 * USERS);
    }
    let trace = one(&producer("once"), "kind = \"self_rescheduling\"");
    let second = 25 * HOUR;
    assert_eq!(enqueued(&trace, second, second + 1_000_000), trace.late_runs.late);
    assert_eq!(trace.late_runs.late, 2 * USERS);
}

#[test]
fn a_gap_keeps_a_late_run_from_the_next_of_its_kind() {
    let outage = r#"outages = [{ from = "9h", to = "19h" }]"#;
    let superseded = |more: &str| {
        let producer = format!("{outage}\n{more}");
        one(&producer, "kind = \"slots\"").late_runs.superseded
    };
    assert!(superseded("min_gap = \"30m\"") > superseded("min_gap = \"5m\""));
    assert!(superseded("min_gap = \"5m\"") > superseded(""));
}

#[test]
fn the_example_shows_the_benefit_of_declared_kinds() {
    let scenario = shipped("late_kinds.toml");
    let traces: Vec<_> = scenario
        .strategies
        .iter()
        .map(|strategy| vec![run(&scenario, strategy, 1, &Watch::default()).unwrap()])
        .collect();
    let results = results(&scenario, traces);
    let [declared, smeared, ..] = &results.strategies[..] else { panic!("two strategies") };
    assert_eq!(declared.figures.lock_conflicts, 0.0);
    assert!(smeared.figures.lock_conflicts > 5_000.0);
    assert!(declared.least_kind_distance.unwrap() >= 840.0);
    assert_eq!(smeared.least_kind_distance, Some(0.0));
    assert!(declared.late_runs.unwrap().late > 18_000.0);
    assert_eq!(results.scenario.outages, [(115_200.0, 147_600.0)]);
}

#[test]
fn invalid_producers_are_refused() {
    let slots = "[[strategies]]\nkind = \"slots\"\n";
    let field =
        |producer: &str, more: &str| refused(&text(producer, &format!("{slots}{more}"))).field;
    let outage = r#"outages = [{ from = "9h", to = "19h" }]"#;
    assert_eq!(field("outages = []", ""), "producer.outages");
    assert_eq!(field(r#"outages = [{ from = "9h", to = "9h" }]"#, ""), "producer.outages.to");
    let two = r#"outages = [{ from = "9h", to = "19h" }, { from = "19h", to = "20h" }]"#;
    assert_eq!(field(two, ""), "producer.outages.from");
    assert_eq!(field(&format!("{outage}\nmin_gap = \"9h\""), ""), "producer.min_gap");
    assert_eq!(field(outage, "smear_span = \"1h\""), "strategies[0].smear_span");
    let own = "declare_kinds = false\n";
    assert_eq!(field(outage, &format!("{own}smear_span = \"9h\"")), "strategies[0].smear_span");
    assert_eq!(
        field(outage, &format!("{own}catch_up_span = \"1h\"")),
        "strategies[0].catch_up_span"
    );
    assert_eq!(field(outage, "catch_up_span = \"3h\""), "strategies[0].catch_up_span");
    let other = "declare_kinds = true\nother_kinds = \"same\"";
    assert_eq!(field(outage, other), "strategies[0].declare_kinds");
    assert_eq!(
        refused(&text(outage, "[[strategies]]\nkind = \"at_once\"\nsmear_span = \"1h\"")).field,
        "strategies[0].smear_span"
    );
    // More outages than the limit allows.
    let many: Vec<_> =
        (0..65).map(|n| format!("{{ from = \"{n}m\", to = \"{n}m 1s\" }}")).collect();
    assert_eq!(field(&format!("outages = [{}]", many.join(", ")), ""), "producer.outages");
}
