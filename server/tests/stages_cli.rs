//! `offbeat stages allocate` as a process.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod command;

use std::time::{Duration, Instant};

use command::{USAGE, json_of, offbeat_with};

const ALLOCATE: [&str; 4] = ["stages", "allocate", "--workers", "10"];

#[test]
fn unknown_columns_and_fields_are_refused_in_the_names_of_the_help() {
    for (input, unknown) in [
        ("name,backlog\nA,3\n", "backlog"),
        (r#"[{"name": "A", "backlogs": 3}]"#, "backlogs"),
        ("name,done,name \nA,true,B\n", "name"),
    ] {
        let output = offbeat_with(&ALLOCATE, input.as_bytes(), &[]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(USAGE), "{input}: {message}");
        for word in [unknown, "backlog_count", "mean_run_time", "busy_worker_count"] {
            assert!(message.contains(word), "{input} should name {word}: {message}");
        }
        assert!(!message.contains("backlogCount"), "{message}");
    }
}

#[test]
fn limits_of_moves_are_refused_where_nothing_can_move() {
    for flags in [["--max-moves", "0"], ["--min-improvement", "5"]] {
        let arguments = [&ALLOCATE[..], &flags].concat();
        let output = offbeat_with(&arguments, b"name,backlog_count\nA,3\nB,1\n", &[]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(USAGE), "{said}");
        assert!(said.contains(flags[0]) && said.contains("current_worker_count"), "{said}");
        let moved = b"name,backlog_count,current_worker_count\nA,3,10\nB,1,0\n";
        assert!(offbeat_with(&arguments, moved, &[]).status.success());
    }
}

#[test]
fn columns_and_fields_have_the_names_of_the_help_or_of_the_json_api() {
    let allocate = |input: &str| json_of(&[&ALLOCATE[..], &["--format", "json"]].concat(), input);
    let expected = allocate("name,backlog_count,mean_run_time,done\nA,3,1s,false\nB,1,,\n");
    assert_eq!(expected["allocations"][0]["worker_count"], 7);
    for same in [
        "name,backlogCount,meanRunTime\nA,3,1s\nB,1,\n",
        r#"[{"name": "A", "backlog_count": 3, "mean_run_time": "1s"}, {"name": "B", "backlogCount": "1"}]"#,
    ] {
        assert_eq!(allocate(same), expected, "{same}");
    }
}

#[test]
fn an_allocation_of_a_billion_workers_takes_no_time() {
    let workers = ["stages", "allocate", "--workers", "1000000000", "--format", "json"];
    let started = Instant::now();
    let found = json_of(&workers, "name,backlog_count,mean_run_time\nA,1,1s\n");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(found["allocations"][0]["worker_count"], 1_000_000_000);
}
