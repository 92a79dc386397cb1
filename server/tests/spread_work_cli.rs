//! `offbeat spread submit` and `work`, as processes, against servers that are processes too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod command;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use command::server::{Server, certificates};
use command::{BINARY, USAGE, offbeat_with};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn server() -> Server {
    Server::start(&["--admin-listen", "off"])
}

/// A folder in which commands note what they do.
struct Ledger(tempfile::TempDir);

impl Ledger {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Lines that were noted; lines of one write are never mixed.
    fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("ledger")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn wait_for(&self, count: usize) {
        let has_come = || {
            sleep(Duration::from_millis(20));
            self.lines().len() >= count
        };
        assert!((0..1_500).any(|_| has_come()), "only {:?}", self.lines());
    }

    fn wait_until_begun(&self) {
        let has_begun = || {
            sleep(Duration::from_millis(10));
            self.path("begun").exists()
        };
        assert!((0..3_000).any(|_| has_begun()), "no command has begun");
    }

    /// How many times each line was noted.
    fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        self.lines().into_iter().for_each(|line| *counts.entry(line).or_default() += 1);
        counts
    }
}

/// Jobs as TSV, the groups in turn, and what each command of the tests notes of them.
fn jobs(group_count: usize, job_count: usize) -> (String, Vec<String>) {
    let of_group = |job| (0..group_count).map(move |group| format!("g{group}\tj{group}-{job}"));
    let mut lines: Vec<_> = (0..job_count).flat_map(of_group).collect();
    let tsv = lines.iter().map(|line| format!("{line}\n")).collect();
    lines.sort();
    (tsv, lines)
}

fn submit(address: &str, flags: &[&str], input: &str) -> (Option<i32>, String) {
    let all = [&["spread", "submit", "mail", "--address", address], flags].concat();
    let output = offbeat_with(&all, input.as_bytes(), &[]);
    assert!(output.stdout.is_empty());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// A worker that runs a script with the job as its first argument and in the ledger's folder.
struct Worker(Option<Child>);

impl Worker {
    fn start(address: &str, ledger: &Ledger, flags: &[&str], script: &str) -> Self {
        let head = ["spread", "work", "mail", "--address", address];
        let tail = ["--", "sh", "-c", script, "sh", "{}"];
        let child = Command::new(BINARY)
            .args([&head, flags, &tail].concat())
            .current_dir(ledger.0.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self(Some(child))
    }

    fn signal(&self, signal: Signal) {
        let id = Pid::from_child(self.0.as_ref().unwrap());
        kill_process(id, signal).unwrap();
    }

    /// Waits for its end; the exit status and what it has said.
    fn end(&mut self) -> (Option<i32>, String) {
        let Output { status, stderr, .. } = self.0.take().unwrap().wait_with_output().unwrap();
        (status.code(), String::from_utf8(stderr).unwrap())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Notes the job and its group, in one write.
const NOTE: &str = r#"printf '%s\t%s\n' "$OFFBEAT_JOB_GROUP" "$1" >> ledger"#;

/// A call by JSON, as curl makes it.
fn call(address: &str, method: &str, request: &Value) -> Value {
    let mut socket = TcpStream::connect(address).unwrap();
    let body = request.to_string();
    write!(
        socket,
        "POST /offbeat.v1.NamedSpreadService/{method} HTTP/1.1\r\nhost: localhost\r\n\
         connection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

fn counts(address: &str) -> Value {
    let answer = call(address, "DescribeSpread", &json!({"spreadName": "mail"}));
    answer["description"]["counts"].clone()
}

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
    // The killed one had one job in its hands, and may have done it.
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
    // The first one has three jobs, and is longer at work than a lease lasts.
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
    // Attempts of jobs that were given back do not count: one is enough for each.
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
    // The sleep that the shell waits for has the output open, too.
    assert!(told.elapsed() < Duration::from_secs(20), "the sleep goes on");
    assert!(said.contains("offbeat: 0 jobs done, 1 job given back\n"), "{said}");
    let mut worker = Worker::start(&server.address, &ledger, &["--until-empty"], NOTE);
    assert_eq!(worker.end().0, Some(0));
    assert_eq!(ledger.lines(), ["a\tone"]);
}

/// A port on which nobody listens, below those that the kernel gives to clients.
fn free_address() -> String {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let first = 12_000 + u16::try_from(std::process::id() % 5_000).unwrap();
    let mut ports = std::iter::repeat_with(|| first + TAKEN.fetch_add(1, Ordering::Relaxed));
    let port = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    format!("127.0.0.1:{}", port.unwrap())
}

#[test]
fn groups_that_a_restart_has_lost_are_submitted_again() {
    let (address, ledger) = (free_address(), Ledger::new());
    let start = || Server::start_at(&address, &["--admin-listen", "off"]);
    let mut server = start();
    let (tsv, expected) = jobs(6, 10);
    let producer = std::thread::spawn({
        let address = address.clone();
        let flags = ["--feeders", "3", "--lease-duration", "1s", "--wait"];
        move || submit(&address, &flags, &tsv)
    });
    let script = format!("sleep 0.02; {NOTE}");
    let workers = [(); 2].map(|()| Worker::start(&address, &ledger, &[], &script));
    for count in [10, 30] {
        ledger.wait_for(count);
        drop(server); // killed
        sleep(Duration::from_millis(300));
        server = start();
    }
    let (status, said) = producer.join().unwrap();
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("submitting them again"), "{said}");
    assert!(said.ends_with("60 jobs of 6 groups settled\n"), "{said}");
    for mut worker in workers {
        worker.signal(Signal::TERM);
        let (status, said) = worker.end();
        assert_eq!(status, Some(0), "{said}");
    }
    assert!(ledger.counts().keys().eq(expected.iter()), "{:?}", ledger.counts());
    drop(server);
}

#[test]
fn a_job_that_a_restart_has_lost_is_not_run_twice_at_once() {
    let (address, ledger) = (free_address(), Ledger::new());
    let start = || Server::start_at(&address, &["--admin-listen", "off"]);
    let server = start();
    let producer = std::thread::spawn({
        let address = address.clone();
        let flags = ["--feeders", "1", "--lease-duration", "3s", "--wait"];
        move || submit(&address, &flags, "a\tslow\n")
    });
    let script = format!(
        r#"
        if kill -0 "$(cat begun)" 2>&-; then echo twice >> ledger; fi
        echo $$ > begun
        sleep 2
        {NOTE}
        "#
    );
    let workers = [(); 2].map(|()| Worker::start(&address, &ledger, &[], &script));
    ledger.wait_until_begun();
    drop(server); // killed
    let server = start();
    let (status, said) = producer.join().unwrap();
    assert_eq!(status, Some(0), "{said}");
    let ends = workers.map(|mut worker| {
        worker.signal(Signal::TERM);
        worker.end()
    });
    assert!(ends.iter().all(|(status, _)| *status == Some(0)), "{ends:?}");
    let lost = "a job 0: its lease was lost: the command was ended";
    assert_eq!(ends.iter().filter(|(_, said)| said.contains(lost)).count(), 1, "{ends:?}");
    assert_eq!(ledger.lines(), ["a\tslow"]);
    drop(server);
}

#[test]
fn a_command_is_ended_before_its_lease_ends_if_the_server_is_gone() {
    let (server, ledger) = (server(), Ledger::new());
    let flags = ["--feeders", "1", "--lease-duration", "2s"];
    assert_eq!(submit(&server.address, &flags, "a\tone\n").0, Some(0));
    let script = "touch begun; sleep 60";
    let mut worker = Worker::start(&server.address, &ledger, &["--retry-for", "0s"], script);
    ledger.wait_until_begun();
    let begun = Instant::now();
    drop(server);
    let (status, said) = worker.end();
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("a job 0: its lease was lost: the command was ended"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(2), "the lease had ended");
}

#[test]
fn a_full_spread_takes_the_rest_when_there_is_room() {
    let (server, ledger) = (server(), Ledger::new());
    // Opened elsewhere: it is used as it is.
    let limits = json!({"maxJobCount": 5});
    let spec = json!({"order": {"feederCount": 3}, "limits": limits});
    call(&server.address, "OpenSpread", &json!({"spreadName": "mail", "spec": spec}));
    let (tsv, expected) = jobs(10, 2);
    let mut worker = Worker::start(&server.address, &ledger, &[], NOTE);
    let (status, said) = submit(&server.address, &["--wait"], &tsv);
    assert_eq!(status, Some(0), "{said}");
    let mut lines = ledger.lines();
    lines.sort();
    assert_eq!(lines, expected);
    // A group that never fits is refused at once.
    let (tsv, _) = jobs(1, 6);
    let (status, said) = submit(&server.address, &[], &tsv.replace("g0", "large"));
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("group large: "), "{said}");
    call(&server.address, "CloseSpread", &json!({"spreadName": "mail"}));
    let (status, said) = worker.end();
    assert_eq!(status, Some(0), "a closed spread ends its workers: {said}");
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
    // A command that does not read its job is not held up by it.
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

#[test]
fn large_groups_are_submitted_in_parts() {
    let (server, ledger) = (server(), Ledger::new());
    let tsv: String = (0..30).map(|job| format!("a\t{job}{}\n", "y".repeat(100_000))).collect();
    let (status, said) = submit(&server.address, &["--feeders", "1"], &tsv);
    assert_eq!(status, Some(0), "{said}");
    let script = r#"printf '%.1s%s\n' "$1" "${#1}" >> ledger"#;
    let mut worker = Worker::start(&server.address, &ledger, &["--until-empty"], script);
    assert_eq!(worker.end().0, Some(0));
    assert_eq!(ledger.lines().len(), 30);
    assert!(ledger.lines().iter().all(|line| line.len() == 7), "{:?}", ledger.lines());
}

fn secrets(folder: &Path) -> (String, String) {
    certificates(folder);
    let token = folder.join("token");
    fs::write(&token, "a-token-of-sixteen-bytes\nanother-token-of-sixteen\n").unwrap();
    (folder.join("ca.pem").display().to_string(), token.display().to_string())
}

#[test]
fn servers_are_reached_over_tls_with_a_token_and_over_unix_sockets() {
    let ledger = Ledger::new();
    let (ca, token) = secrets(ledger.0.path());
    let (certificate, key) = (ledger.path("certificate.pem"), ledger.path("key.pem"));
    let secured = Server::start(&[
        "--admin-listen",
        "off",
        "--tls-certificate",
        certificate.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
        "--token-file",
        &token,
    ]);
    let access = ["--tls-ca", &ca, "--token-file", &token];
    let flags = [&["--feeders", "1"], &access[..]].concat();
    let (status, said) = submit(&secured.address, &flags, "a\tone\n");
    assert_eq!(status, Some(0), "{said}");
    let flags = [&["--until-empty"], &access[..]].concat();
    assert_eq!(Worker::start(&secured.address, &ledger, &flags, NOTE).end().0, Some(0));
    let (status, said) = submit(&secured.address, &access[..2], "a\tone\n");
    assert_eq!(status, Some(1));
    assert!(said.contains("authorization is refused"), "{said}");
    // A token goes to no other machine without TLS, and nothing is sent to find out.
    let (status, said) = submit("192.0.2.1:2328", &access[2..], "a\tone\n");
    assert_eq!(status, Some(USAGE));
    assert!(said.contains("--token-file: "), "{said}");

    let socket = format!("unix:{}", ledger.path("offbeat.sock").display());
    let local = Server::start_at(&socket, &["--admin-listen", "off"]);
    let (status, said) = submit(&local.address, &["--feeders", "1"], "a\ttwo\n");
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(Worker::start(&local.address, &ledger, &["--until-empty"], NOTE).end().0, Some(0));
    assert_eq!(ledger.lines(), ["a\tone", "a\ttwo"]);
}

#[test]
fn what_cannot_be_done_is_said() {
    let server = server();
    let address = &server.address;
    for (flags, input, expected, words) in [
        (&[][..], "a\t1\n", 1, "there is no spread mail: --feeders opens it"),
        (&["--feeders", "0"], "a\t1\n", USAGE, "--feeders: 0 is refused: must be 1 to 65536"),
        (&["--policy", "cooldown"], "a\t1\n", USAGE, "--feeders"),
        (&["--feeders", "2", "--lease-duration", "700s"], "", USAGE, "must be 1000 to 600000 ms"),
        (&["--feeders", "2"], "job\n", 1, "line 1: job: must be GROUP<TAB>JOB"),
        (&["--feeders", "3"], "a\t1\n", USAGE, "order.feeder_count: 3 is refused: must be 2"),
        (&["--wait", "--retry-for", "2d"], "", USAGE, "must be 0 to 86400000 ms"),
    ] {
        let (status, said) = submit(address, flags, input);
        assert_eq!(status, Some(expected), "{flags:?}: {said}");
        assert!(said.contains(words), "{said}");
    }
    let (status, said) = submit("127.0.0.1:1", &["--retry-for", "0s"], "");
    assert_eq!(status, Some(1));
    assert!(said.starts_with("offbeat: 127.0.0.1:1: Connection refused"), "{said}");
    let output = offbeat_with(&["spread", "work", "mail"], b"", &[]);
    assert_eq!(output.status.code(), Some(USAGE), "the command is missing");
    // Nobody knows whether a spread that is not there was emptied.
    let flags =
        ["spread", "work", "other", "--address", address, "--until-empty", "--retry-for", "100ms"];
    let output = offbeat_with(&[&flags[..], &["--", "true"]].concat(), b"", &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("other"), "{said}");
}
