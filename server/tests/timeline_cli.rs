//! `offbeat stages timeline` as a process.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod command;

use command::{USAGE, offbeat_with};
use serde_json::Value;

const TIMELINE: [&str; 4] = ["stages", "timeline", "--workers", "10"];

fn timeline(input: &str, flags: &[&str]) -> String {
    let output = offbeat_with(&[&TIMELINE, flags].concat(), input.as_bytes(), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn lines(input: &str, flags: &[&str]) -> Vec<Value> {
    let said = timeline(input, &[flags, &["--format", "json"]].concat());
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(lines: &[Value], field: &str) -> Vec<i64> {
    lines.iter().map(|line| line[field].as_i64().unwrap()).collect()
}

/// Two stages; the first has 100 jobs of 1 s, and a minute passes.
const FLOW: &str = "time,name,backlog_count,mean_run_time,arrival_count,arrival_period\n\
                    0s,a,100,1s,30,1m\n0s,b,0,6s,,\n10s,,,,,\n70s,a,,,0,\n";

#[test]
fn jobs_flow_from_stage_to_stage() {
    let found = lines(FLOW, &[]);
    // All ten workers do 100 of 105 jobs in 10 s. Then nine do 9 of 100 jobs in b, and one does 5
    // + 30 in a.
    assert_eq!(numbers(&found[..4], "worker_count"), [10, 0, 0, 10]);
    assert_eq!(numbers(&found[..4], "backlog_count"), [100, 0, 5, 100]);
    assert_eq!(numbers(&found[..4], "min_stable_worker_count"), [1, 4, 1, 4]);
    assert_eq!(found[2]["starved"], true);
    assert_eq!(found[2]["worker_count_change"], -10);
    // No worker is at a, and b does 100 jobs in a minute.
    assert_eq!(numbers(&found[4..], "backlog_count"), [35, 0]);
    let served = lines(FLOW, &["--prevent-starvation"]);
    assert_eq!(numbers(&served[..4], "worker_count"), [10, 0, 1, 9]);
    // One worker does all 35 jobs of a, and 90 of the 135 jobs of b are done.
    assert_eq!(numbers(&served[4..], "backlog_count"), [0, 45]);
    assert!(served.iter().all(|line| line["starved"] == false));
}

#[test]
fn observed_values_take_precedence_over_predicted_ones() {
    let seen = "time,name,backlog_count,mean_run_time\n\
                2026-11-26T22:00:00Z,a,100,1s\n2026-11-26T22:00:00Z,b,0,6s\n\
                2026-11-26T23:00:10+01:00,a,7,\n2026-11-26T23:00:10+01:00,b,11,\n";
    let found = lines(seen, &["--max-moves", "3"]);
    assert_eq!(numbers(&found, "backlog_count"), [100, 0, 7, 11]);
    assert_eq!(numbers(&found, "worker_count"), [10, 0, 7, 3]);
    let json = r#"[{"time": "0s", "name": "a", "backlogCount": 100, "meanRunTime": "1s"},
        {"time": "0s", "name": "b", "meanRunTime": "6s", "backlog_count": null},
        {"time": "10s", "name": "a", "backlog_count": "7"}, {"time": "10s", "name": "b", "backlog_count": 11}]"#;
    let same = lines(json, &["--max-moves", "3"]);
    for field in ["backlog_count", "worker_count", "worker_count_change"] {
        assert_eq!(numbers(&same, field), numbers(&found, field), "{field}");
    }
}

#[test]
fn people_get_a_line_for_each_time() {
    let said = timeline(FLOW, &[]);
    let wanted = "\
TIME           a           b  MOVES
0s    10 for 100     0 for 0     10
10s     0 for 5!  10 for 100     10
70s    10 for 35     0 for 0     10
";
    assert!(said.starts_with(wanted), "{said}");
    for words in [
        "30 workers come to a stage, in 3 allocations.",
        "Warning: a has waiting jobs and no worker at 1 of 3 times, 5 jobs at most.",
        "--prevent-starvation gives every stage",
        "The arrivals need 5 of the 10 workers at 0s.",
        "\nAt 70s:\nSTAGE ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let few = timeline(FLOW, &["--prevent-starvation"]);
    assert!(!few.contains("Warning"), "{few}");
}

#[test]
fn csv_has_the_columns_of_json() {
    let said = timeline(FLOW, &["--format", "csv"]);
    let mut rows = said.lines();
    let titles = "time,stage_name,backlog_count,worker_count,worker_count_change,drain_time_micros,\
                  min_stable_worker_count,starved";
    assert_eq!(rows.next(), Some(titles));
    // 100 jobs of 1 s with ten workers; arrivals keep half a worker busy.
    assert_eq!(rows.next(), Some("0s,a,100,10,10,10526316,1,false"));
    assert_eq!(rows.next(), Some("0s,b,0,0,0,,4,false"));
    assert_eq!(rows.count(), 4);
}

#[test]
fn a_stage_that_is_done_keeps_nobody() {
    let done = "time,name,backlog_count,done\n0s,a,3,\n1m,a,,true\n";
    let found = lines(done, &[]);
    assert_eq!(numbers(&found, "worker_count"), [10, 0]);
    assert!(timeline(done, &[]).ends_with("At the end every stage is done.\n"));
}

#[test]
fn rows_that_make_no_timeline_are_refused_by_their_number() {
    for (rows, words) in [
        ("name,backlog_count\na,1\n", "row 1: time: must be a span"),
        ("time,name\n5,a\n", "row 1: time: \"5\" is refused: must be a span"),
        ("time,name\n0s,a\n0s,a\n", "row 2: name: \"a\" is refused: must be there once"),
        ("time,name\n0s,a\n1m,b\n", "row 2: name: \"b\" is refused: must be a stage of the first"),
        ("time,name\n1m,a\n0s,a\n", "row 2: time: \"0s\" is refused: must be later than 1m"),
        ("time,name\n0s,a\n2026-01-01T00:00:00Z,a\n", "row 2: time: \"2026-01-01T00:00:00Z\""),
        ("time,name,backlog_count\n0s,a,1\n1m,,3\n", "row 2: name: must be set"),
        ("time,name\n0s,\n", "row 1: name: must be set"),
        ("time,name,backlog\n0s,a,1\n", "\"backlog\" is no field of a stage: time, name"),
        ("time,name,backlog_count\n0s,a,1\n1m,a,-1\n", "at 1m: stages[0].backlog_count: -1"),
        ("time,name,min_worker_count\n0s,a,11\n", "at 0s: --workers: 10 is refused"),
        ("time,name\n", "0 stages at 0 times are refused: must make 1 to 1000000 rows"),
        (r#"[{"time": 5, "name": "a"}]"#, "row 1: time: 5 is refused: must be a span"),
    ] {
        let output = offbeat_with(&TIMELINE, rows.as_bytes(), &[]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(USAGE), "{rows}: {said}");
        assert!(said.contains(words), "{words}: {said}");
    }
}
