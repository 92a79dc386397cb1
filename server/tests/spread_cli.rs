//! `offbeat spread` as a process in a pipe.
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

/// Lines of output and the certificate.
fn certified(arguments: &[&str], input: &str) -> (Vec<String>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificate.json");
    let file = ["--certificate", path.to_str().unwrap()];
    let (lines, errors, status) = spread(&[arguments, &file].concat(), input);
    assert_eq!(status, Some(0), "{errors}");
    (lines, serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
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
    let (lines, certificate) = certified(&["--feeders", "3"], &format!("{input}\n\n"));
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
    assert_eq!(
        certificate,
        json!({"job_count": 5, "group_count": 1, "min_gap_turns": 1, "best_min_gap_turns": 1,
               "close_pair_count": 4, "close_pair_lower_bound": 4, "widest_span_turns": 4})
    );
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
    assert_eq!(
        errors,
        "4 jobs of 2 groups: closest pair 3 turns; no pair is closer than 3 turns\n"
    );
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
            stdout.read_line(&mut line).unwrap(); // hangs if more input is needed
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

/// The jobs of some groups as TSV, not sorted by group.
fn shuffled_tsv(sizes: &[u64]) -> String {
    let mut jobs: Vec<(usize, u64)> = Vec::new();
    // The first jobs appear in the order of their groups, which fixes the order of the groups.
    jobs.extend((0..sizes.len()).map(|group| (group, 0)));
    let mut left: Vec<_> = sizes.iter().map(|size| 1..*size).collect();
    let mut state = 7_u64;
    while left.iter().any(|jobs| !jobs.is_empty()) {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let group = (state >> 33) as usize % left.len();
        jobs.extend(left[group].next().map(|job| (group, job)));
    }
    jobs.iter().map(|(group, job)| format!("{group}\t{job}\n")).collect()
}

#[test]
fn unsorted_tsv_is_spread_as_the_same_groups_in_json() {
    let sizes = [3, 9, 1, 2, 7, 1, 12, 4];
    for policy in ["round-robin", "cooldown"] {
        let flags = ["--feeders", "3", "--policy", policy];
        let (json, of_json) = certified(&flags, &group_lines(&sizes));
        let of_line = |line: &String| {
            let line: Value = serde_json::from_str(line).unwrap();
            format!("{}\t{}", line["group"], line["job"])
        };
        let expected: Vec<_> = json.iter().map(of_line).collect();
        let tsv = shuffled_tsv(&sizes);
        let (lines, of_tsv) = certified(&flags, &tsv);
        assert_eq!((lines, of_tsv), (expected.clone(), of_json));
        let (jobs, _) = certified(&[&flags[..], &["--output", "job"]].concat(), &tsv);
        let only_jobs: Vec<_> =
            expected.iter().map(|line| line.split_once('\t').unwrap().1.to_owned()).collect();
        assert_eq!(jobs, only_jobs);
    }
}

#[test]
fn each_input_can_be_written_in_each_form() {
    let tsv = "a\tx y\nb\t1\tand a tab\n";
    let json = "{\"group\": \"a\", \"jobs\": [\"x y\"]}\n{\"group\": \"b\", \"jobs\": [\"1\\tand a tab\"]}\n";
    let written = |output: &str, input: &str| {
        let (lines, errors, status) = spread(&["--feeders", "2", "--output", output], input);
        assert_eq!(status, Some(0), "{errors}");
        lines
    };
    let as_json = [
        r#"{"sequence":0,"group":"a","job":"x y"}"#,
        r#"{"sequence":1,"group":"b","job":"1\tand a tab"}"#,
    ];
    for input in [tsv, json] {
        assert_eq!(written("tsv", input), ["a\tx y", "b\t1\tand a tab"]);
        assert_eq!(written("job", input), ["x y", "1\tand a tab"]);
        assert_eq!(written("json", input), as_json);
    }
    assert_eq!(
        written("job", r#"{"group": 7, "jobs": [1.0, {"a": 1}, null]}"#),
        ["1.0", "{\"a\": 1}", "null"]
    );
    for (output, line) in [
        ("job", r#"{"group": "a", "jobs": ["one\nline"]}"#),
        ("tsv", r#"{"group": "a\tb", "jobs": ["one"]}"#),
    ] {
        let (_, errors, status) = spread(&["--feeders", "2", "--output", output], line);
        assert!(
            errors.contains("cannot be written on a line of text: use --output json"),
            "{errors}"
        );
        assert_eq!(status, Some(1));
    }
    let waits = ["--feeders", "2", "--policy", "cooldown", "--on-shortage", "wait"];
    let (lines, _, status) = spread(&waits, "a\t1\na\t2\n");
    assert_eq!((lines.len(), &*lines[1], status), (3, r#"{"sequence":1,"idle":true}"#, Some(0)));
    let (_, errors, status) = spread(&[&waits[..], &["--output", "job"]].concat(), tsv);
    assert!(errors.contains("--output: must be json"), "{errors}");
    assert_eq!(status, Some(64));
}

#[test]
fn a_group_on_two_lines_is_never_dealt_beside_itself() {
    let twice = r#"{"group":"a","jobs":[1,2]}
{"group":"a","jobs":[3,4]}
{"group":"b","jobs":[5,6]}
"#;
    let (lines, errors, status) = spread(&["--feeders", "2"], twice);
    assert_eq!(status, Some(1));
    assert!(errors.contains("line 2: the group a was on line 1"), "{errors}");
    assert!(lines.len() <= 1, "{lines:?}");
    let tsv = "a\t1\na\t2\nb\t5\na\t3\na\t4\nb\t6\n";
    let (lines, certificate) = certified(&["--feeders", "2"], tsv);
    assert_eq!(lines, ["a\t1", "b\t5", "a\t2", "b\t6", "a\t3", "a\t4"]);
    assert_eq!(
        (&certificate["group_count"], &certificate["close_pair_count"]),
        (&json!(2), &json!(1))
    );
}

#[test]
fn the_exit_status_says_whether_the_distance_is_kept() {
    let groups = group_lines(&[1, 4, 2, 2]);
    for (flags, min_gap, status) in [
        (&["--feeders", "3"][..], "1", Some(0)),
        (&["--feeders", "3"], "2", Some(2)),
        (&["--feeders", "3", "--policy", "cooldown"], "2", Some(0)),
        (&["--feeders", "3", "--policy", "cooldown"], "3", Some(2)),
    ] {
        let flags = [flags, &["--min-gap", min_gap]].concat();
        let (lines, errors, found) = spread(&flags, &groups);
        assert_eq!((lines.len(), found), (9, status), "{flags:?}: {errors}");
        let is_said = errors.contains(&format!("is less than {min_gap} turns"));
        assert_eq!(is_said, status == Some(2), "{errors}");
    }
    let (_, _, status) = spread(&["--feeders", "3", "--min-gap", "9"], &group_lines(&[1, 1]));
    assert_eq!(status, Some(0), "no group has two jobs");
    let (_, errors, status) = spread(&["--feeders", "3", "--min-gap", "0"], &groups);
    assert!(errors.contains("--min-gap"), "{errors}");
    assert_eq!(status, Some(64));
}

#[test]
fn a_file_that_is_no_certificate_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "mine").unwrap();
    let flags = ["--feeders", "3", "--certificate", path.to_str().unwrap()];
    let (lines, errors, status) = spread(&flags, &group_lines(&[1, 2]));
    assert_eq!((lines.len(), status), (0, Some(64)), "{errors}");
    assert!(errors.contains("must be a new file"), "{errors}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}
