//! Jobs for `offbeat spread submit` and `work`, and a record of what their commands do.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::server::Server;
use super::{BINARY, offbeat_with};

pub fn server() -> Server {
    Server::start(&["--admin-listen", "off"])
}

/// A folder in which commands record what they do.
pub struct Ledger(pub tempfile::TempDir);

impl Ledger {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The recorded lines. A line is one write, so lines are never mixed.
    pub fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("ledger")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn wait_for(&self, count: usize) {
        let has_come = || {
            sleep(Duration::from_millis(20));
            self.lines().len() >= count
        };
        assert!((0..1_500).any(|_| has_come()), "only {:?}", self.lines());
    }

    pub fn wait_until_begun(&self) {
        let has_begun = || {
            sleep(Duration::from_millis(10));
            self.path("begun").exists()
        };
        assert!((0..3_000).any(|_| has_begun()), "no command has begun");
    }

    /// How often each line was recorded.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        self.lines().into_iter().for_each(|line| *counts.entry(line).or_default() += 1);
        counts
    }
}

/// Jobs as TSV, with the groups in turn, and the line that the command of the tests records for
/// each.
pub fn jobs(group_count: usize, job_count: usize) -> (String, Vec<String>) {
    let of_group = |job| (0..group_count).map(move |group| format!("g{group}\tj{group}-{job}"));
    let mut lines: Vec<_> = (0..job_count).flat_map(of_group).collect();
    let tsv = lines.iter().map(|line| format!("{line}\n")).collect();
    lines.sort();
    (tsv, lines)
}

pub fn submit(address: &str, flags: &[&str], input: &str) -> (Option<i32>, String) {
    let all = [&["spread", "submit", "mail", "--address", address], flags].concat();
    let output = offbeat_with(&all, input.as_bytes(), &[]);
    assert!(output.stdout.is_empty());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// A worker that runs a script in the folder of the ledger, with the job as the first argument.
pub struct Worker(Option<Child>);

impl Worker {
    pub fn start(address: &str, ledger: &Ledger, flags: &[&str], script: &str) -> Self {
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

    pub fn signal(&self, signal: Signal) {
        let id = Pid::from_child(self.0.as_ref().unwrap());
        kill_process(id, signal).unwrap();
    }

    /// Waits for the worker to end; returns its exit status and standard error.
    pub fn end(&mut self) -> (Option<i32>, String) {
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

/// Records the job and its group in one write.
pub const NOTE: &str = r#"printf '%s\t%s\n' "$OFFBEAT_JOB_GROUP" "$1" >> ledger"#;

/// A JSON call, as curl makes it.
pub fn call(address: &str, method: &str, request: &Value) -> Value {
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

pub fn counts(address: &str) -> Value {
    let answer = call(address, "DescribeSpread", &json!({"spreadName": "mail"}));
    answer["description"]["counts"].clone()
}
