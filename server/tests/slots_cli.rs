//! `offbeat slots` as a process: assignments, lists, descriptions and due runs.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod command;

use command::{USAGE, assign, offbeat, offbeat_with, vectors};
use serde_json::{Value, json};

/// The fingerprint of an 8-hour schedule with all defaults: SHA-256 of its canonical text, from
/// sha256sum.
const FINGERPRINT: &str = "cd74c91b024ffadfde5872b76247d3b6d7ea6e1c3f405f4687f59acee00b4678";

#[test]
fn uuids_are_assigned_as_ruby_does() {
    let cases = vectors("uuid_ids.json")["cases"].as_array().unwrap().clone();
    let lines: String =
        cases.iter().map(|case| format!("{}\n", case["uuid"].as_str().unwrap())).collect();
    for number in 0..cases[0]["placements"].as_array().unwrap().len() {
        let (cycle, slots) =
            (&cases[0]["placements"][number]["cycle"], &cases[0]["placements"][number]["slots"]);
        let (rows, errors, code) = assign(
            &[
                "--cycle",
                &format!("{cycle}s"),
                "--slots",
                &slots.to_string(),
                "--placement",
                "twister",
            ],
            &lines,
        );
        assert_eq!((errors.as_str(), code), ("", Some(0)));
        for (row, case) in rows.iter().zip(&cases) {
            assert_eq!(row["id"], case["uuid"]);
            assert_eq!(row["slot_index"], case["placements"][number]["slot"]);
            assert_eq!(row["slot_offset"], case["placements"][number]["offset"]);
        }
        assert_eq!(rows.len(), cases.len());
    }
}

#[test]
fn profiles_draw_as_their_languages_do() {
    for (file, profile) in [
        ("ruby_3_4_random.json", "ruby"),
        ("ruby_3_1_random.json", "ruby-3.0-3.1"),
        ("python_random.json", "python"),
        ("php_random.json", "php"),
    ] {
        let cases = vectors(file)["cases"].clone();
        // With one slot, the draw is below the period and equals the offset from the start of the
        // cycle.
        for limit in ["225", "28800", "86400"] {
            let cases: Vec<&Value> =
                cases.as_array().unwrap().iter().filter(|case| case["limit"] == limit).collect();
            if cases.is_empty() {
                continue;
            }
            let lines: String =
                cases.iter().map(|case| format!("{}\n", case["seed"].as_str().unwrap())).collect();
            let (rows, errors, _) = assign(
                &[
                    "--cycle",
                    &format!("{limit}s"),
                    "--slots",
                    "1",
                    "--placement",
                    "twister",
                    "--profile",
                    profile,
                ],
                &lines,
            );
            assert_eq!(errors, "");
            assert_eq!(rows.len(), cases.len());
            for (row, case) in rows.iter().zip(cases) {
                assert_eq!(
                    row["cycle_offset"].to_string(),
                    case["first"].as_str().unwrap(),
                    "{profile} {case}"
                );
            }
        }
    }
}

#[test]
fn any_text_is_hashed_as_hashlib_does() {
    let cases = vectors("hash_placement.json")["hash"].as_array().unwrap().clone();
    for case in cases.iter().step_by(3) {
        let millis = case["ticks"] == 86_400_000;
        let cycle =
            if millis { format!("{}ms", case["ticks"]) } else { format!("{}s", case["ticks"]) };
        let (rows, errors, code) = assign(
            &[
                "--cycle",
                &cycle,
                "--slots",
                &case["slots"].to_string(),
                "--salt",
                case["salt"].as_str().unwrap(),
                "--resolution",
                if millis { "1ms" } else { "1s" },
            ],
            &format!("{}\n", case["id"].as_str().unwrap()),
        );
        assert_eq!((errors.as_str(), code), ("", Some(0)));
        assert_eq!(rows[0]["slot_index"], case["slot"], "{case}");
        assert_eq!(rows[0]["cycle_offset"], case["offset"], "{case}");
    }
}

#[test]
fn fractions_are_read_as_doubles() {
    let cases = vectors("hash_placement.json")["fraction"].as_array().unwrap().clone();
    let day: Vec<&Value> = cases.iter().filter(|case| case["ticks"] == 86_400).collect();
    let lines: String =
        day.iter().map(|case| format!("{}\n", case["fraction"].as_str().unwrap())).collect();
    let (rows, errors, _) = assign(&["--cycle", "1d", "--placement", "fraction"], &lines);
    assert_eq!(errors, "");
    for (row, case) in rows.iter().zip(&day) {
        assert_eq!((&row["id"], &row["cycle_offset"]), (&case["fraction"], &case["offset"]));
    }
    let (rows, errors, code) =
        assign(&["--cycle", "1d", "--placement", "fraction"], "5e-324\nNaN\n1\n-0.5\nx\n0.5\n");
    assert_eq!((rows.len(), errors.lines().count(), code), (2, 4, Some(1)));
}

#[test]
fn bad_ids_are_named_by_line_and_the_good_ones_answered() {
    let input =
        "0190d7a2-1111-7abc-8def-0123456789ab\nnonsense\n0190D7A211117ABC8DEF0123456789AB\r\n\n";
    let (rows, errors, code) = assign(&["--cycle", "8h", "--id-type", "uuid"], input);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["slot_index"], 75);
    assert_eq!(
        (&rows[1]["id"], &rows[1]["slot_index"]),
        (&json!("0190D7A211117ABC8DEF0123456789AB"), &json!(75))
    );
    assert_eq!(code, Some(1));
    let errors: Vec<&str> = errors.lines().collect();
    assert_eq!(errors.len(), 2);
    assert!(errors[0].contains("line 2") && errors[0].contains("nonsense"), "{}", errors[0]);
    assert!(errors[1].contains("line 4"), "{}", errors[1]);
    let (rows, errors, code) =
        assign(&["--cycle", "8h", "--placement", "twister", "7", "seven", "-7"], "");
    assert_eq!((rows.len(), code), (2, Some(1)));
    assert!(errors.contains("argument 2") && errors.contains("HASH"), "{errors}");
}

#[test]
fn ids_that_are_no_utf8_are_named_by_line() {
    let output = offbeat_with(
        &["slots", "assign", "--cycle", "8h", "--format", "json"],
        b"a\n\xff\nb\n",
        &[],
    );
    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 2);
    assert!(String::from_utf8(output.stderr).unwrap().contains("line 2"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn rows_have_the_same_cells_in_every_format() {
    let base =
        ["slots", "assign", "--cycle", "8h", "--from", "2026-01-01T00:00:00Z", "acme", "a,b \"c\""];
    let run = |format: &str| {
        let output = offbeat(&[&base[..], &["--format", format]].concat());
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let first: Value = serde_json::from_str(run("json").lines().next().unwrap()).unwrap();
    assert_eq!(
        first,
        json!({"id": "acme", "slot_index": 41, "slot_offset": 195, "cycle_offset": 9_420,
               "cycle_index": 61_362, "next_run_time": "2026-01-01T02:37:00Z",
               "run_key": format!("{FINGERPRINT}/default/61362/0/acme"),
               // printf FINGERPRINT/default/61362/0/acme | sha256sum | head -c 32
               "run_id": "6f832f12614fbad63460333108a53c3d", "nominal_time": null})
    );
    let csv = run("csv");
    assert_eq!(
        csv.lines().next(),
        Some(
            "id,slot_index,slot_offset,cycle_offset,cycle_index,next_run_time,run_key,run_id,nominal_time"
        )
    );
    assert_eq!(
        csv.lines().nth(1),
        Some(
            format!(
                "acme,41,195,9420,61362,2026-01-01T02:37:00Z,{FINGERPRINT}/default/61362/0/acme,6f832f12614fbad63460333108a53c3d,"
            )
            .as_str()
        )
    );
    assert!(csv.lines().nth(2).unwrap().starts_with("\"a,b \"\"c\"\"\","));
    assert!(run("table").lines().nth(1).unwrap().split_whitespace().eq([
        "acme",
        "41",
        "195s",
        "9420s",
        "2026-01-01T02:37:00Z"
    ]));
}

#[test]
fn reciprocals_of_the_worked_example() {
    let output = offbeat(&[
        "slots",
        "reciprocal",
        "--slots",
        "8",
        "--slot",
        "0",
        "--kind-count",
        "3",
        "--format",
        "json",
    ]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let column = |name: &str| -> Vec<u64> {
        answer["kinds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|kind| kind[name].as_u64().unwrap())
            .collect()
    };
    assert_eq!(column("id_slot_index"), [0, 2, 5]);
    assert_eq!(column("clock_slot_index"), [0, 6, 3]);
    assert_eq!(answer["gap_slot_count"], 2);
    assert!(answer.get("gap").is_none(), "no times without a cycle");
    let timed = offbeat(&[
        "slots",
        "reciprocal",
        "--cycle",
        "8h",
        "--slots",
        "8",
        "--kind-count",
        "3",
        "--format",
        "json",
    ]);
    let answer: Value = serde_json::from_slice(&timed.stdout).unwrap();
    assert_eq!(
        (&answer["gap"], &answer["independent_run_budget"]),
        (&json!("7200s"), &json!("3600s"))
    );
    let table = offbeat(&["slots", "reciprocal", "--slots", "8", "--kind-count", "3"]);
    assert!(String::from_utf8(table.stdout).unwrap().contains("Smallest gap: 2 slots"));
}

#[test]
fn descriptions_and_lists_speak_of_the_same_slot() {
    let at = "2026-01-01T01:30:00Z";
    let output = offbeat(&[
        "slots",
        "describe",
        "--cycle",
        "8h",
        "--slots",
        "8",
        "--at",
        at,
        "--population",
        "1000",
        "--format",
        "json",
    ]);
    let described: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&described["slot_index"], &described["slot_start_time"]),
        (&json!(1), &json!("2026-01-01T01:00:00Z"))
    );
    assert_eq!(described["slot_load"]["mean"], 125.0);
    let output = offbeat(&[
        "slots",
        "list",
        "--cycle",
        "8h",
        "--slots",
        "8",
        "--start",
        "2026-01-01T01:00:00Z",
        "--format",
        "json",
    ]);
    let listed: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(listed.len(), 8);
    for name in ["slot_index", "cycle_index"] {
        assert_eq!(listed[0][name], described[name]);
    }
    assert_eq!(
        (&listed[0]["start_time"], &listed[0]["end_time"]),
        (&described["slot_start_time"], &described["slot_end_time"])
    );
}

#[test]
fn weighted_ids_have_a_row_for_each_piece() {
    let weights = ["--cycle", "8h", "--weight-quantum", "10", "--weighted"];
    let at = ["--from", "2026-01-01T00:00:00Z"];
    let (rows, _, status) = assign(&[&weights[..], &at].concat(), "a\t25\nb\t0\nc\n");
    assert_eq!(status, Some(1), "c has no weight");
    let pieces: Vec<_> =
        rows.iter().map(|row| (row["id"].clone(), row["piece_index"].clone())).collect();
    assert_eq!(
        pieces,
        [("a", 0), ("a", 1), ("a", 2), ("b", 0)].map(|(id, piece)| (json!(id), json!(piece)))
    );
    assert!(rows[2]["run_key"].as_str().unwrap().ends_with("/2/a"));
    let halves = (rows[1]["cycle_offset"].as_i64().unwrap()
        - rows[0]["cycle_offset"].as_i64().unwrap())
    .abs();
    assert!((halves - 14_400).abs() <= 1, "half a cycle apart");
    let (_, error, status) = assign(&["--cycle", "8h", "--weighted", "a\t5"], "");
    assert_eq!(status, Some(1));
    assert!(error.contains("weight_quantum"), "{error}");
}

#[test]
fn new_ids_are_told_their_first_runs() {
    let at = "2026-01-01T12:00:00Z";
    let (rows, _, _) = assign(
        &["--cycle", "24h", "--from", at, "--created", at, "--smear", "1h"],
        "a\nb\nc\nd\ne\n",
    );
    for row in rows {
        let first = row["first_run_time"].as_str().unwrap();
        let next = row["next_run_time"].as_str().unwrap();
        assert!(first == next || ("2026-01-01T12:00:00Z".."2026-01-01T13:00:00Z").contains(&first));
        assert!(first <= next);
    }
}

#[test]
fn due_runs_name_the_watermark_of_the_next_time() {
    let due = |watermark, now, more: &[&str]| {
        let all = [
            "slots",
            "due",
            "--cycle",
            "8h",
            "--format",
            "csv",
            "--watermark",
            watermark,
            "--now",
            now,
        ];
        offbeat_with(&[&all, more].concat(), b"a\nb\nc\n", &[])
    };
    let midnight = "2026-01-01T00:00:00Z";
    let output = due(midnight, "2026-01-01T08:00:00Z", &["--missed", "run-all", "--smear", "1h"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(
        text.starts_with("id,piece_index,cycle_index,scheduled_time,start_time,run_key,run_id\n")
    );
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains(
            "next watermark 2026-01-01T08:00:00Z; 3 late runs, 0 dropped, 0 superseded, 0 skipped; next run 2026-01-01T"
        ),
        "{errors}"
    );
    let again = due("2026-01-01T08:00:00Z", "2026-01-01T08:00:00Z", &[]);
    assert_eq!(again.stdout, b"");
    let refused = due("2026-01-01T08:02:00Z", "2026-01-01T08:00:00Z", &[]);
    assert_eq!(refused.status.code(), Some(USAGE));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--watermark"));
}
