//! `offbeat spread`, as a process in a pipe.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_offbeat"))
        .arg("spread")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lines of output, standard error, and the exit status.
fn spread(arguments: &[&str], input: &str) -> (Vec<String>, String, Option<i32>) {
    let mut child = start(arguments);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    (text.lines().map(str::to_owned).collect(), errors, output.status.code())
}

fn group_lines(sizes: &[u64]) -> String {
    let line = |(group, size): (usize, &u64)| {
        let jobs: Vec<_> = (0..*size).collect();
        format!("{}\n", json!({"group": group, "jobs": jobs}))
    };
    sizes.iter().enumerate().map(line).collect()
}

#[test]
fn orders_are_those_of_the_vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/spread_feeders.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for case in vectors["cases"].as_array().unwrap().iter().step_by(40) {
        let sizes: Vec<u64> = serde_json::from_value(case["groups"].clone()).unwrap();
        let feeders = case["feeders"].to_string();
        let (lines, _, status) = spread(&["--feeders", &feeders], &group_lines(&sizes));
        let order: Vec<Value> = (0..)
            .zip(&lines)
            .map(|(sequence, line)| {
                let line: Value = serde_json::from_str(line).unwrap();
                assert_eq!(line["sequence"], json!(sequence));
                json!([line["group"], line["job"]])
            })
            .collect();
        assert_eq!((Value::from(order), status), (case["order"].clone(), Some(0)));
    }
}

#[test]
fn jobs_are_any_json_and_stay_as_they_are() {
    let input = r#"{"group": {"tenant": 7}, "jobs": [1.0, 123456789012345678901234567890, "\u00e9", null, [1, {"a":"b"}]]}"#;
    let (lines, errors, status) = spread(&["--feeders", "3"], &format!("{input}\n\n"));
    assert_eq!(
        lines,
        [
            r#"{"sequence":0,"group":{"tenant": 7},"job":1.0}"#,
            r#"{"sequence":1,"group":{"tenant": 7},"job":123456789012345678901234567890}"#,
            r#"{"sequence":2,"group":{"tenant": 7},"job":"\u00e9"}"#,
            r#"{"sequence":3,"group":{"tenant": 7},"job":null}"#,
            r#"{"sequence":4,"group":{"tenant": 7},"job":[1, {"a":"b"}]}"#,
        ]
    );
    let certificate: Value = serde_json::from_str(&errors).unwrap();
    assert_eq!(
        certificate,
        json!({"job_count": 5, "group_count": 1, "min_gap_turns": 1, "best_min_gap_turns": 1,
               "close_pair_count": 4, "close_pair_lower_bound": 4, "widest_span_turns": 4})
    );
    assert_eq!(status, Some(0));
}

#[test]
fn cooldown_takes_the_largest_first_and_can_wait() {
    let arguments = ["--feeders", "3", "--policy", "cooldown", "--on-shortage", "wait"];
    let (lines, errors, status) = spread(&arguments, &group_lines(&[1, 3]));
    assert_eq!(
        lines,
        [
            r#"{"sequence":0,"group":1,"job":0}"#,
            r#"{"sequence":1,"group":0,"job":0}"#,
            r#"{"sequence":2,"idle":true}"#,
            r#"{"sequence":3,"group":1,"job":1}"#,
            r#"{"sequence":4,"idle":true}"#,
            r#"{"sequence":5,"idle":true}"#,
            r#"{"sequence":6,"group":1,"job":2}"#,
        ]
    );
    assert!(errors.contains(r#""min_gap_turns":3"#), "{errors}");
    assert_eq!(status, Some(0));
}

#[test]
fn the_first_job_is_out_before_the_second_group_is_read() {
    let mut child = start(&["--feeders", "1"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    for group in 0..3 {
        writeln!(stdin, r#"{{"group": {group}, "jobs": ["a", "b"]}}"#).unwrap();
        for job in ["a", "b"] {
            line.clear();
            stdout.read_line(&mut line).unwrap(); // would hang if more input were needed
            assert!(line.contains(&format!(r#""group":{group},"job":"{job}""#)), "{line}");
        }
    }
    drop(stdin);
    line.clear();
    stdout.read_to_string(&mut line).unwrap();
    assert_eq!(line, "");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_later_turn_to_begin_with_leaves_out_those_before() {
    let input = group_lines(&[3, 9, 0, 2, 7, 1]);
    let flags = ["--feeders", "3", "--policy", "cooldown", "--on-shortage", "wait"];
    let (all, certificate, _) = spread(&flags, &input);
    assert!(all.iter().any(|line| line.contains("idle")), "{all:?}");
    for from in 0..=all.len() {
        let sequence = from.to_string();
        let rest = spread(&[&flags[..], &["--from-sequence", &sequence]].concat(), &input);
        assert_eq!(rest, (all[from..].to_vec(), certificate.clone(), Some(0)), "from {from}");
    }
    let beyond = (all.len() + 1).to_string();
    let (_, errors, status) = spread(&[&flags[..], &["--from-sequence", &beyond]].concat(), &input);
    assert_eq!(status, Some(64));
    assert!(
        errors.contains(&format!("{beyond} is refused: must be 0 to {}", all.len())),
        "{errors}"
    );
}

#[test]
fn wrong_lines_end_it_and_are_named() {
    for (line, words) in [
        ("nonsense", "line 2"),
        (r#"{"group": "a"}"#, "missing field `jobs`"),
        (r#"{"group": "a", "jobs": [], "more": 1}"#, "unknown field `more`"),
        (r#"{"group": "a", "jobs": 7}"#, r#"must be like {"group": "a", "jobs": ["a1", "a2"]}"#),
        (r#"["a", ["a1"]]"#, "not an object"),
    ] {
        let input = format!("{}{line}\n{}", group_lines(&[1]), group_lines(&[1]));
        let (lines, errors, status) = spread(&["--feeders", "2"], &input);
        assert!(errors.contains(words), "{errors}");
        assert_eq!((lines.len(), status), (1, Some(1)), "{line}");
    }
}

#[test]
fn wrong_flags_are_refused_by_name() {
    for (arguments, words) in [
        (vec!["--feeders", "0"], "--feeders: 0 is refused: must be 1 to 65536 feeders"),
        (vec!["--feeders", "4", "--max-open-groups", "9"], "--max-open-groups: 9 is refused"),
        (
            vec!["--feeders", "4", "--policy", "cooldown", "--max-open-groups", "3"],
            "--max-open-groups: 3 is refused: must be feeder_count (4) to 65536",
        ),
        (vec![], "--feeders"),
    ] {
        let (lines, errors, status) = spread(&arguments, "");
        assert!(errors.contains(words), "{errors}");
        assert_eq!((lines.len(), status), (0, Some(64)));
    }
}
