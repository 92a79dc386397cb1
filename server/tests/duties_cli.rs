//! Migrations, audits and due runs by the calendar, on the command line.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod command;

use std::process::Output;

use command::{USAGE, json_of, offbeat, offbeat_with};
use serde_json::Value;

/// Each piece runs like an ID of its own, as `assign` reports it before and after the cutover.
#[test]
fn a_migration_goes_over_piece_by_piece() {
    let schedule = ["--cycle", "8h", "--slots", "16", "--weight-quantum", "10", "--weighted"];
    let at = ["--cutover", "2026-01-01T00:00:00Z", "--format", "json"];
    let migrate = |more: &[&str]| {
        offbeat_with(
            &[&["slots", "migrate"][..], &schedule, &at, more].concat(),
            b"a\t35\nb\t5\nc\t400\n",
            &[],
        )
    };
    let plan = |output: &Output| serde_json::from_slice::<Value>(&output.stdout).unwrap();
    let output = migrate(&["--new-salt", "v2"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let plan_of_all = plan(&output);
    let rows = plan_of_all["ids"].as_array().unwrap();
    let piece = |row: &Value| (row["id"].clone(), row["piece_index"].as_u64().unwrap());
    let pieces: Vec<_> = rows.iter().map(piece).collect();
    let expected: Vec<_> = [("a", 4), ("b", 1), ("c", 16)]
        .iter()
        .flat_map(|(id, count)| (0..*count).map(move |piece| (Value::from(*id), piece)))
        .collect();
    assert_eq!(pieces, expected);
    assert_eq!(plan_of_all["of_all_ids"]["id_count"], 3);
    let next = |salt: &str, from: &str| {
        let assign = ["slots", "assign", "--salt", salt, "--from", from, "--format", "json"];
        let output =
            offbeat_with(&[&assign[..], &schedule].concat(), b"a\t35\nb\t5\nc\t400\n", &[]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let (before, after) = (next("", "2025-12-31T16:00:00Z"), next("v2", "2026-01-01T00:00:00Z"));
    for (row, (old, new)) in rows.iter().zip(before.iter().zip(&after)) {
        assert_eq!(row["last_old_time"], old["next_run_time"], "{row} {old}");
        assert_eq!(row["first_new_time"], new["next_run_time"], "{row} {new}");
    }

    // With fewer slots the heaviest ID has fewer pieces: it is refused, and the others are
    // migrated.
    let output = migrate(&["--new-slots", "8"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("c is refused") && told.contains("16 pieces by the old"), "{told}");
    assert_eq!(plan(&output)["of_all_ids"]["id_count"], 2);
}

/// IDs that exclusions always skip are named, the others are migrated, and an audit counts the
/// former.
#[test]
fn ids_that_never_run_are_told() {
    let day = ["--cycle", "day", "--time-zone", "UTC", "--exclude", "16:00-24:00 skip"];
    let names: String = (0..60).map(|number| format!("user-{number}\n")).collect();
    let run = |command: &[&str]| {
        offbeat_with(
            &[&["slots"], command, &day, &["--format", "json"]].concat(),
            names.as_bytes(),
            &[],
        )
    };
    let output = run(&["migrate", "--new-slots", "48"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    let refused = told.lines().filter(|line| line.contains("old_schedule skip each")).count();
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(refused > 5, "{told}");
    assert_eq!(plan["of_all_ids"]["id_count"], 60 - refused);
    let found: Value = serde_json::from_slice(&run(&["audit"]).stdout).unwrap();
    assert_eq!(found["warnings"][0]["finding"], "NEVER_RUN");
    let message = found["warnings"][0]["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("{refused} of 60 IDs")), "{message}");
}

#[test]
fn a_migration_is_planned_for_all_and_for_each() {
    let base = [
        "slots",
        "migrate",
        "--cycle",
        "8h",
        "--cutover",
        "2026-01-01T00:00:00Z",
        "--format",
        "json",
    ];
    let plan =
        json_of(&[&base[..], &["--new-salt", "v2", "--min-gap", "1h", "a", "b"]].concat(), "");
    assert_eq!(plan["path"], "NEW_PLACES");
    assert!(plan["advice"].as_str().unwrap().starts_with("keep the salt"));
    assert_eq!(plan["of_all_ids"]["id_count"], 2);
    assert_eq!(plan["ids"].as_array().unwrap().len(), 2);
    let sql = [
        "--new-slots",
        "384",
        "--sql",
        "sqlite",
        "--table",
        "t",
        "--column",
        "h",
        "--column-type",
        "hash-digits",
    ];
    let plan = json_of(&[&base[..], &sql].concat(), "");
    assert_eq!(plan["path"], "SAME_TIMES");
    assert_eq!(plan["steps"].as_array().unwrap().len(), 128 + 384);
    let table = offbeat_with(&[&base[..6], &["--new-cycle", "4h"]].concat(), b"", &[]);
    let text = String::from_utf8(table.stdout).unwrap();
    assert!(text.contains("path         SAME_ORDER"), "{text}");
    let refused = offbeat_with(&[&base[..], &["--new-slots", "7"]].concat(), b"", &[]);
    assert_eq!(refused.status.code(), Some(USAGE));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("the new slot count"));
}

#[test]
fn an_audit_draws_a_chart_as_wide_as_it_is_told() {
    let sample: String = (0..3_000).map(|number| format!("user-{number}\n")).collect();
    let schedule = ["slots", "audit", "--cycle", "8h", "--slots", "16"];
    for width in ["60", "100"] {
        let output = offbeat_with(&schedule, sample.as_bytes(), &[("COLUMNS", width)]);
        let text = String::from_utf8(output.stdout).unwrap();
        let bars: Vec<_> = text.lines().filter(|line| line.contains('#')).collect();
        assert_eq!(bars.len(), 16);
        let widest = bars.iter().map(|bar| bar.len()).max().unwrap();
        assert_eq!(widest.to_string(), width);
        assert!(text.contains("warnings     none"), "{text}");
    }
    let found = json_of(&[&schedule[..], &["--format", "json"]].concat(), &sample);
    assert_eq!(found["id_count"], 3_000);
    assert!(found["p_value"].as_f64().unwrap() > 0.001);
    let tens: String = (0..3_000).map(|number| format!("{}\n", number * 10)).collect();
    let twister = ["--placement", "twister", "--format", "json"];
    let found = json_of(&[&schedule[..], &twister].concat(), &tens);
    let findings: Vec<_> = found["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["finding"].clone())
        .collect();
    assert_eq!(findings[0], "SPARSE_INTEGERS");
}

/// A migration from a period to a calendar, and the runs that are then due, as over the wire.
#[test]
fn duties_by_the_calendar_are_told() {
    let from = "2026-03-28T12:00:00Z";
    let output = offbeat(&[
        "slots",
        "migrate",
        "--cycle",
        "1d",
        "--new-cycle",
        "day",
        "--new-time-zone",
        "Europe/Berlin",
        "--new-active",
        "01:00-05:00",
        "--cutover",
        from,
        "--format",
        "json",
        "acme",
        "bolt",
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["path"], "SAME_ORDER");
    assert_eq!(plan["of_all_ids"]["id_count"], 2);
    assert_eq!(plan["max_gap_bound"], "259200.999s", "a day, two by the clock, and a tick");

    // At 22:30 in Berlin no run may start until 23:00.
    let due = |missed: &[&str]| {
        let flags = [
            "slots",
            "due",
            "--cycle",
            "day",
            "--time-zone",
            "Europe/Berlin",
            "--exclude",
            "22:00-23:00",
            "--watermark",
            "2026-06-01T00:00:00Z",
            "--now",
            "2026-06-01T20:30:00Z",
            "--format",
            "json",
        ];
        let output = offbeat(&[&flags[..], missed, &["acme", "bolt", "cyan", "dune"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let late = due(&["--missed", "run-all", "--smear", "1h"]);
    assert!(!late.is_empty());
    for row in late {
        let start = row["start_time"].as_str().unwrap();
        assert!(("2026-06-01T21:00:00Z".."2026-06-01T22:00:00Z").contains(&start), "{start}");
    }
    assert!(due(&["--missed", "drop", "--tolerance", "1m"]).is_empty());
    let output = offbeat(&[
        "slots",
        "reciprocal",
        "--cycle",
        "day",
        "--time-zone",
        "UTC",
        "--kind-count",
        "2",
    ]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("within 43200s"), "{output:?}");
}
