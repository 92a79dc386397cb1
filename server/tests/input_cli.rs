//! Input of the command line: exclusions, windows, instants and IDs, and what is refused.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod command;

use command::{USAGE, assign, json_of, offbeat, offbeat_with};
use serde_json::json;

/// The message of a command that is refused as invalid usage.
fn refusal(arguments: &[&str]) -> String {
    let output = offbeat(arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(USAGE), "{arguments:?}: {message}");
    message
}

fn help(arguments: &[&str]) -> String {
    let output = offbeat_with(&[arguments, &["--help"]].concat(), b"", &[("COLUMNS", "10000")]);
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn exclusions_with_contradictory_words_are_refused() {
    let day =
        ["slots", "describe", "--cycle", "day", "--time-zone", "Europe/Berlin", "--slots", "1"];
    for (text, words) in [
        ("22:00-23:00 skip defer", &["skip", "defer"][..]),
        ("defer 22:00-23:00 SKIP", &["defer", "SKIP"]),
        ("22:00-23:00 America/New_York Asia/Tokyo", &["America/New_York", "Asia/Tokyo"]),
        ("daily weekly 22:00-23:00", &["daily", "weekly"]),
        ("2026-12-24T00:00:00Z/2026-12-27T00:00:00Z skip defer", &["skip", "defer"]),
        ("2026-12-24T00:00:00Z/2026-12-27T00:00:00Z Asia/Tokyo", &["Asia/Tokyo", "offset"]),
        ("monthly 2026-12-24T00:00:00Z/2026-12-27T00:00:00Z", &["monthly"]),
    ] {
        let message = refusal(&[&day[..], &["--exclude", text]].concat());
        for word in ["--exclude"].iter().chain(words) {
            assert!(message.contains(word), "{text} should name {word}: {message}");
        }
    }
    let output = offbeat(&[&day[..], &["--exclude", "skip Asia/Tokyo 22:00-23:00 daily"]].concat());
    assert!(output.status.success());
}

#[test]
fn windows_are_spans_as_cycles_are() {
    let described = |active: &str| {
        let month =
            ["slots", "describe", "--cycle", "month", "--time-zone", "UTC", "--slots", "10"];
        json_of(&[&month[..], &["--format", "json", "--active", active]].concat(), "")
    };
    let fingerprint = described("12d8h-16d2h")["fingerprint"].clone();
    assert!(fingerprint.is_string());
    for same in ["12d 8h-16d 2h", "12d 8h - 16d 2h", "296h-386h"] {
        assert_eq!(described(same)["fingerprint"], fingerprint, "{same}");
    }
    let period = |active: &str| {
        json_of(&["slots", "describe", "--cycle", "8h", "--active", active, "--format", "json"], "")
    };
    assert_eq!(period("1h 30m-2h 30m")["fingerprint"], period("90m-150m")["fingerprint"]);
}

#[test]
fn the_refusal_of_a_window_shows_the_expected_form() {
    let message = refusal(&["slots", "describe", "--cycle", "8h", "--active=-1h-2h"]);
    assert!(message.contains("spans from the start of the cycle, such as 2h-5h"), "{message}");
    assert!(!message.contains("Mon"), "{message}");
    let message = refusal(&["slots", "describe", "--cycle", "8h", "--active", "2h 3h"]);
    assert!(message.contains("such as 2h-5h"), "{message}");
}

#[test]
fn instants_are_those_of_rfc_3339() {
    let from = |instant: &str| {
        offbeat(&["slots", "assign", "--cycle", "8h", "--from", instant, "--format", "csv", "a"])
    };
    let midnight = from("2026-01-01T00:00:00Z").stdout;
    for same in [
        "2026-01-01t00:00:00z",
        "2026-01-01T00:00:00.000000000Z",
        "2026-01-01T01:30:00+01:30",
        "2025-12-31T23:00:00-01:00",
        "2026-01-01T00:00:00-00:00",
    ] {
        let output = from(same);
        assert!(output.status.success(), "{same}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout, midnight, "{same}");
    }
    for other in [
        "2026-01-01T00:00Z",
        "2026-01-01T00:00:00,5Z",
        "2026-01-01T00:00:00.Z",
        "20260101T000000Z",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00+01",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+01:00:00",
        "2026-01-01T24:00:00Z",
        "+002026-01-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01",
        "２026-01-01T00:00:00Z",
    ] {
        let output = from(other);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(USAGE), "{other}: {message}");
        assert!(message.contains("RFC 3339"), "{other}: {message}");
    }
}

#[test]
fn line_ends_are_no_part_of_an_id() {
    let (rows, _, _) = assign(&["--cycle", "8h", "--id-type", "text"], "42\r\n42\n42");
    assert!(
        rows.iter().all(|row| row["id"] == "42" && row["cycle_offset"] == rows[0]["cycle_offset"])
    );
    let help = help(&["slots", "assign"]);
    assert!(help.contains("without its line end (LF or CR LF)"), "{help}");
}

/// A number that is not an integer here would give another ID than the same number gives in the
/// user's program.
#[test]
fn integers_that_are_too_large_are_refused_and_help_says_so() {
    let largest = "340282366920938463463374607431768211455";
    let larger = "340282366920938463463374607431768211456";
    let (rows, errors, code) = assign(&["--cycle", "8h", largest, larger], "");
    assert_eq!((rows.len(), code), (1, Some(1)));
    assert!(errors.contains("--id-type text"), "{errors}");
    let (rows, _, code) = assign(&["--cycle", "8h", "--id-type", "text", larger], "");
    assert_eq!((rows[0]["id"].clone(), code), (json!(larger), Some(0)));
    let help = help(&["slots", "assign"]);
    assert!(help.contains("longer ones are refused"), "{help}");
}

#[test]
fn a_migration_reads_its_ids_from_standard_input() {
    let arguments = ["slots", "migrate", "--cycle", "12h", "--new-cycle", "8h", "--format", "json"];
    let plan = json_of(&arguments, "a\nb\n");
    assert_eq!(plan["of_all_ids"]["id_count"], 2);
    assert!(json_of(&arguments, "").get("of_all_ids").is_none());
    assert!(refusal(&[&arguments[..], &["--stdin"]].concat()).contains("--stdin"));
    assert!(!help(&["slots", "migrate"]).contains("--stdin"));
}

#[test]
fn one_worker_is_one_worker() {
    let plan = ["lanes", "plan", "--workers", "1", "--arrival-rate", "0.1"];
    let output = offbeat_with(&plan, b"1\n2\n3\n", &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(" 1 worker:"), "{text}");
}

#[test]
fn exit_statuses_are_explained() {
    assert!(help(&[]).contains("64 on invalid usage"), "{}", help(&[]));
}
