//! `offbeat spread work` as a process that runs commands, against servers that are processes as
//! well.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod command;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use command::BINARY;
use command::spread::{Ledger, NOTE, Worker, call, counts, jobs, server, submit};
use rustix::process::Signal;
use serde_json::json;

#[test]
fn nothing_is_lost_with_a_worker_that_is_killed() {
    let (server, ledger) = (server(), Ledger::new());
    let address = &server.address;
    let (tsv, expected) = jobs(12, 10);
    let flags = ["--feeders", "4", "--lease-duration", "2s"];
    let (status, said) = submit(address, &flags, &tsv);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("120 jobs of 12 groups received"), "{said}");
    let script = format!("sleep 0.02; {NOTE}");
    let start = || Worker::start(address, &ledger, &["--until-empty"], &script);
    let (killed, mut other) = (start(), start());
    ledger.wait_for(30);
    killed.signal(Signal::KILL);
    let (status, said) = other.end();
    assert_eq!(status, Some(0), "{said}");
    let noted = ledger.counts();
    assert!(noted.keys().eq(expected.iter()), "{noted:?}");
    // The killed worker held one job and may have run it.
    assert!(ledger.lines().len() <= expected.len() + 1, "{noted:?}");
    let counts = counts(address);
    assert_eq!((&counts["settledJobCount"], &counts["groupCount"]), (&json!("120"), &json!("0")));
    let (status, said) = submit(address, &["--wait"], &tsv);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("12 groups had been settled before"), "{said}");
}

#[test]
fn a_job_that_fails_is_tried_again_and_becomes_a_dead_letter() {
    let (server, ledger) = (server(), Ledger::new());
    let flags = ["--feeders", "2", "--max-attempts", "3", "--wait"];
    let address = server.address.clone();
    let producer =
        std::thread::spawn(move || submit(&address, &flags, "a\tgood\na\tbad\nb\tonce\n"));
    let script = r#"
        printf '%s %s\n' "$1" "$OFFBEAT_JOB_ATTEMPT" >> ledger
        case $1 in bad) exit 3 ;; once) test "$OFFBEAT_JOB_ATTEMPT" -gt 1 ;; esac
    "#;
    let mut worker = Worker::start(&server.address, &ledger, &["--retry-delay", "100ms"], script);
    let (status, said) = producer.join().unwrap();
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("3 jobs of 2 groups settled, 1 dead letter\n"), "{said}");
    worker.signal(Signal::TERM);
    let (status, said) = worker.end();
    assert_eq!(status, Some(0), "{said}");
    for words in [
        "a job 1, attempt 1: exit status: 3: again in 100ms\n",
        "a job 1, attempt 2: exit status: 3: again in 200ms\n",
        "a job 1, attempt 3: exit status: 3: it was the last attempt: a dead letter\n",
        "offbeat: 2 jobs done, 4 attempts failed\n",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let noted: Vec<_> = ledger.counts().into_iter().collect();
    let once = |line: &str| (line.to_owned(), 1);
    assert_eq!(noted, ["bad 1", "bad 2", "bad 3", "good 1", "once 1", "once 2"].map(once));
    let letters = call(&server.address, "ListDeadLetters", &json!({"spreadName": "mail"}));
    let letter = &letters["deadLetters"][0];
    assert_eq!((&letter["payload"], &letter["attemptCount"]), (&json!("YmFk"), &json!(3)));
}

#[test]
fn leases_last_while_the_command_runs_also_those_of_jobs_that_wait() {
    let (server, ledger) = (server(), Ledger::new());
    let flags = ["--feeders", "2", "--lease-duration", "1s", "--max-attempts", "1"];
    let (tsv, expected) = jobs(2, 2);
    assert_eq!(submit(&server.address, &flags, &tsv).0, Some(0));
    let script = format!("sleep 0.7; {NOTE}");
    let flags = ["--until-empty", "--batch", "3"];
    let start = || Worker::start(&server.address, &ledger, &flags, &script);
    // The first worker has three jobs and works for longer than a lease lasts.
    let mut workers = [start(), start()];
    for worker in &mut workers {
        let (status, said) = worker.end();
        assert_eq!(status, Some(0), "{said}");
        assert!(!said.contains("lost"), "{said}");
    }
    let mut lines = ledger.lines();
    lines.sort();
    assert_eq!(lines, expected, "each once");
}

#[test]
fn a_worker_that_is_told_to_end_finishes_its_job_and_gives_back_the_others() {
    let (server, ledger) = (server(), Ledger::new());
    let (tsv, expected) = jobs(1, 5);
    let flags = ["--feeders", "1", "--max-attempts", "1"];
    assert_eq!(submit(&server.address, &flags, &tsv).0, Some(0));
    let script = format!("touch begun; sleep 0.5; {NOTE}");
    let mut worker = Worker::start(&server.address, &ledger, &["--batch", "5"], &script);
    ledger.wait_until_begun();
    worker.signal(Signal::TERM);
    let (status, said) = worker.end();
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("offbeat: 1 job done, 4 jobs given back\n"), "{said}");
    assert_eq!(ledger.lines().len(), 1);
    let held = counts(&server.address);
    assert_eq!((&held["returnedJobCount"], &held["leasedJobCount"]), (&json!("4"), &json!("0")));
    // Attempts of released jobs do not count, so one attempt is enough for each.
    let mut worker = Worker::start(&server.address, &ledger, &["--until-empty"], NOTE);
    let (status, said) = worker.end();
    assert_eq!(status, Some(0), "{said}");
    let mut lines = ledger.lines();
    lines.sort();
    assert_eq!(lines, expected);
}

#[test]
fn a_command_that_outlasts_the_grace_period_is_ended_with_all_that_it_has_started() {
    let (server, ledger) = (server(), Ledger::new());
    let flags = ["--feeders", "1", "--max-attempts", "1"];
    assert_eq!(submit(&server.address, &flags, "a\tone\n").0, Some(0));
    let script = "touch begun; sleep 60; echo ended >> ledger";
    let mut worker = Worker::start(&server.address, &ledger, &["--grace-period", "0"], script);
    ledger.wait_until_begun();
    worker.signal(Signal::INT);
    let told = Instant::now();
    let (status, said) = worker.end();
    assert_eq!(status, Some(0), "{said}");
    // The `sleep` for which the shell waits holds the output open, too.
    assert!(told.elapsed() < Duration::from_secs(20), "the sleep goes on");
    assert!(said.contains("offbeat: 0 jobs done, 1 job given back\n"), "{said}");
    let mut worker = Worker::start(&server.address, &ledger, &["--until-empty"], NOTE);
    assert_eq!(worker.end().0, Some(0));
    assert_eq!(ledger.lines(), ["a\tone"]);
}

#[test]
fn a_job_without_a_placeholder_comes_on_standard_input() {
    let (server, ledger) = (server(), Ledger::new());
    let large = "x".repeat(200_000); // more than a pipe or an argument holds
    let line = json!({"group": "a", "jobs": ["two\nlines", {"to": "you"}, large]});
    assert_eq!(submit(&server.address, &["--feeders", "1"], &line.to_string()).0, Some(0));
    let work = |flags: &[&str], command: &[&str]| {
        let head = ["spread", "work", "mail", "--address", &server.address, "--until-empty"];
        Command::new(BINARY)
            .args([&head, flags, &["--"], command].concat())
            .current_dir(ledger.0.path())
            .output()
            .unwrap()
    };
    let missing = work(&[], &["no-such-program"]);
    assert_eq!(missing.status.code(), Some(1));
    let said = String::from_utf8(missing.stderr).unwrap();
    assert!(said.contains("no-such-program: ") && said.contains("1 job given back"), "{said}");
    let script = r#"cat > "$OFFBEAT_JOB_GROUP-$OFFBEAT_JOB_INDEX""#;
    let done = work(&["--batch", "2"], &["sh", "-c", script]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let written = |name: &str| fs::read_to_string(ledger.path(name)).unwrap();
    assert_eq!(written("a-0"), "two\nlines");
    assert_eq!(written("a-1"), r#"{"to":"you"}"#);
    assert_eq!(written("a-2"), large);
    // A command that does not read its job is not blocked by it.
    assert_eq!(
        submit(&server.address, &[], &line.to_string().replace("\"a\"", "\"b\"")).0,
        Some(0)
    );
    assert_eq!(work(&[], &["true"]).status.code(), Some(0));
}

#[test]
fn a_job_that_no_argument_can_hold_fails_and_the_next_ones_go_on() {
    let (server, ledger) = (server(), Ledger::new());
    let line = json!({"group": "a", "jobs": ["x".repeat(200_000), "nul\0", "fine"]});
    let flags = ["--feeders", "1", "--max-attempts", "1"];
    assert_eq!(submit(&server.address, &flags, &line.to_string()).0, Some(0));
    let mut worker = Worker::start(&server.address, &ledger, &["--until-empty"], NOTE);
    let (status, said) = worker.end();
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(said.matches("cannot be started").count(), 2, "{said}");
    assert!(said.contains("mail has 2 dead letters\n"), "{said}");
    assert_eq!(ledger.lines(), ["a\tfine"]);
}
