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
fn fields_that_are_set_twice_are_refused() {
    for twice in [
        r#"[{"name": "A", "name": "B"}]"#,
        r#"[{"name": "A", "backlog_count": 3, "backlogCount": 4}]"#,
        "name,backlog_count,backlogCount\nA,3,4\n",
    ] {
        let output = offbeat_with(&ALLOCATE, twice.as_bytes(), &[]);
        assert_eq!(output.status.code(), Some(USAGE), "{twice}");
    }
}

#[test]
fn spans_are_read_as_people_write_them() {
    let allocate = |input: &str| json_of(&[&ALLOCATE[..], &["--format", "json"]].concat(), input);
    let seconds = allocate("name,backlog_count,mean_run_time\nA,3,90s\n");
    assert_eq!(seconds["allocations"][0]["workload_micros"], 270_000_000);
    assert_eq!(seconds, allocate("name,backlog_count,mean_run_time\nA,3,1m 30s\n"));
    let times = r#"[{"name": "A", "backlog_count": 3, "run_times": ["1m", "120s"]}]"#;
    assert_eq!(seconds, allocate(times));
}

const STARVING: &str = "name,backlog_count,mean_run_time,current_worker_count\n\
                        fetch,1800,0.4s,3\nenrich,2810,6s,6\nnotify,870,0.1s,1\n";

#[test]
fn a_stage_without_a_worker_is_named_with_its_price() {
    let said = |flags: &[&str]| {
        let output = offbeat_with(&[&ALLOCATE, flags].concat(), STARVING.as_bytes(), &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let starving = said(&[]);
    // By hand: fetch 1, enrich 9, notify 0. A worker is worth 16860/90 s to enrich, and 43.5 s to
    // notify.
    let notify = starving.lines().find(|line| line.starts_with("notify")).unwrap();
    let cells: Vec<&str> = notify.split_whitespace().collect();
    assert_eq!(cells, ["notify", "0", "-1", "870", "never", "87", "s", "no", "worker"]);
    for words in [
        "\nWarning: notify has 870 waiting jobs and no worker; one costs ",
        "\n--prevent-starvation gives every stage with waiting jobs a worker",
    ] {
        assert!(starving.contains(words), "{words}: {starving}");
    }
    let served = said(&["--prevent-starvation"]);
    assert!(!served.contains("no worker") && !served.contains("Warning"), "{served}");
    let json = json_of(&[&ALLOCATE[..], &["--format", "json"]].concat(), STARVING);
    assert_eq!(json["starved_stages"][0]["stage_name"], "notify");
    assert_eq!(json["starved_stages"][0]["cost"], json["starvation_prevention_cost"]);
    assert_eq!(json["allocations"][2]["drain_time_micros"], serde_json::Value::Null);
    // Three stages, and only two workers.
    let few = ["stages", "allocate", "--workers", "2", "--prevent-starvation"];
    let few = offbeat_with(&few, STARVING.as_bytes(), &[]).stdout;
    let few = String::from_utf8(few).unwrap();
    assert!(few.contains("There are too few workers for all stages with waiting jobs."), "{few}");
}

#[test]
fn an_allocation_says_how_many_workers_the_arrivals_need() {
    // 10 jobs a second, of 1.5 s and 0.1 s, keep 15 workers and 1 worker busy.
    let stages = "name,backlog_count,mean_run_time,arrival_count,arrival_period\n\
                  parse,3,1.5s,600,1m\nnotify,3,0.1s,,\n";
    let said = |workers: &str| {
        let arguments = ["stages", "allocate", "--workers", workers];
        String::from_utf8(offbeat_with(&arguments, stages.as_bytes(), &[]).stdout).unwrap()
    };
    for words in [
        "grows: arrivals need 16\n",
        "never",
        "Warning: the arrivals need 18 workers and there are 9",
    ] {
        assert!(said("9").contains(words), "{words}: {}", said("9"));
    }
    for words in ["arrivals need 16\n", "The arrivals need 18 of the 40 workers."] {
        assert!(said("40").contains(words), "{words}: {}", said("40"));
    }
    assert!(!said("40").contains("grows"), "{}", said("40"));
}

#[test]
fn an_allocation_of_a_billion_workers_takes_no_time() {
    let workers = ["stages", "allocate", "--workers", "1000000000", "--format", "json"];
    let started = Instant::now();
    let found = json_of(&workers, "name,backlog_count,mean_run_time\nA,1,1s\n");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(found["allocations"][0]["worker_count"], 1_000_000_000);
}
