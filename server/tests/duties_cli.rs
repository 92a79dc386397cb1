//! Migrations and audits on the command line: pieces of weighted IDs, and IDs that never run.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn offbeat(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_offbeat"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // So little that the pipe takes all of it.
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

/// Each piece runs as an ID of its own: as `assign` says of it, before the cutover and after.
#[test]
fn a_migration_goes_over_piece_by_piece() {
    let schedule = ["--cycle", "8h", "--slots", "16", "--weight-quantum", "10", "--weighted"];
    let at = ["--cutover", "2026-01-01T00:00:00Z", "--format", "json"];
    let migrate = |more: &[&str]| {
        offbeat(
            &[&["slots", "migrate", "--stdin"][..], &schedule, &at, more].concat(),
            b"a\t35\nb\t5\nc\t400\n",
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
        let output = offbeat(&[&assign[..], &schedule].concat(), b"a\t35\nb\t5\nc\t400\n");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let (before, after) = (next("", "2025-12-31T16:00:00Z"), next("v2", "2026-01-01T00:00:00Z"));
    for (row, (old, new)) in rows.iter().zip(before.iter().zip(&after)) {
        assert_eq!(row["last_old_time"], old["next_run_time"], "{row} {old}");
        assert_eq!(row["first_new_time"], new["next_run_time"], "{row} {new}");
    }

    // With fewer slots the heaviest has fewer pieces: it is refused, and the others go over.
    let output = migrate(&["--new-slots", "8"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("c is refused") && told.contains("16 pieces by the old"), "{told}");
    assert_eq!(plan(&output)["of_all_ids"]["id_count"], 2);
}

/// IDs that exclusions always skip are named; the others go over, and an audit counts them.
#[test]
fn ids_that_never_run_are_told() {
    let day = ["--cycle", "day", "--time-zone", "UTC", "--exclude", "16:00-24:00 skip"];
    let names: String = (0..60).map(|number| format!("user-{number}\n")).collect();
    let run = |command: &[&str]| {
        offbeat(&[&["slots"], command, &day, &["--format", "json"]].concat(), names.as_bytes())
    };
    let output = run(&["migrate", "--stdin", "--new-slots", "48"]);
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
