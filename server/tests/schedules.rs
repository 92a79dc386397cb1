//! Schedules by name, asked of the server's binary: loading, reloading, and what a name changes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use prost::Message as _;
use prost_reflect::DynamicMessage;
use serde_json::{Value, json};
use support::{
    Http2, frame, grpc, grpc_request, http2, json_request, message, method_of, open_body, path_of,
    post2,
};
use tokio::net::TcpStream;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

const BINARY: &str = env!("CARGO_BIN_EXE_offbeat");

/// A default schedule of 8 hours, and a second version of it.
const FILE: &str = r#"
[[schedule]]
name = "bank-sync"
version = 1
period = "8h"

[[schedule]]
name = "bank-sync"
version = 2
period = "8h"
slot_count = 96
anchor_time = 2026-01-01T00:00:00Z
salt = "two"

[[schedule]]
name = "mail"
version = 1
period = "1d"
slot_count = 144
placement = "twister"
bucket_count = 65_536
profile = "ruby-3.0-3.1"
resolution = "1ms"
"#;

/// Of an 8-hour schedule with every default: SHA-256 of its canonical text, by sha256sum.
const FINGERPRINT: &str = "cd74c91b024ffadfde5872b76247d3b6d7ea6e1c3f405f4687f59acee00b4678";

/// A server, as the process that `offbeat serve` is.
struct Sidecar {
    child: Child,
    log: Receiver<Value>,
    address: String,
    admin: String,
}

impl Sidecar {
    fn start(schedules: Option<&Path>) -> Self {
        let mut command = Command::new(BINARY);
        command.args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]);
        command.args(["--log-format", "json"]);
        if let Some(file) = schedules {
            command.env("OFFBEAT_SCHEDULES", file);
        }
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, log) = channel();
        let errors = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in errors.lines() {
                let line = line.unwrap();
                let said = serde_json::from_str(&line).unwrap_or_else(|_| json!({"raw": line}));
                let _ = sender.send(said);
            }
        });
        let mut sidecar = Self { child, log, address: String::new(), admin: String::new() };
        sidecar.address = sidecar.until("address")["address"].as_str().unwrap().to_owned();
        sidecar.admin = sidecar.until("address")["address"].as_str().unwrap().to_owned();
        sidecar
    }

    /// The next line of the log that has a field.
    fn until(&self, field: &str) -> Value {
        loop {
            let line = self.log.recv_timeout(Duration::from_secs(15)).unwrap();
            if line.get(field).is_some() {
                return line;
            }
        }
    }

    fn hang_up(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    }

    /// Hangs up, and waits for what the server says of the file.
    fn reload(&self) -> Value {
        self.hang_up();
        let said = self.until("what");
        assert_eq!(said["what"], "schedules");
        said
    }

    async fn channel(&self) -> Http2 {
        let socket = TcpStream::connect(&self.address).await.unwrap();
        socket.set_nodelay(true).unwrap();
        http2(socket).await
    }

    async fn metrics(&self) -> String {
        let socket = TcpStream::connect(&self.admin).await.unwrap();
        let request = http::Request::get("/metrics").header("host", "localhost");
        let body = http_body_util::Full::from(Bytes::new()).boxed();
        let answer = support::post1(socket, request.body(body).unwrap()).await;
        String::from_utf8(answer.body.to_vec()).unwrap()
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with a file of schedules.
fn folder(content: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schedules.toml");
    fs::write(&file, content).unwrap();
    (folder, file)
}

fn version(name: &str, version: i64) -> Value {
    json!({"version": {"name": name, "version": version}})
}

/// What FILE says of bank-sync/2, in a request.
fn second() -> Value {
    json!({"spec": {
        "period": "28800s", "slotCount": 96, "anchorTime": "2026-01-01T00:00:00Z", "salt": "two",
    }})
}

async fn ask(channel: &mut Http2, method: &str, request: &Value) -> Result<Value, Status> {
    grpc(channel, method, request).await.map(|answer| serde_json::to_value(&answer).unwrap())
}

fn field_of(status: &Status) -> (Code, String, String) {
    let details = status.get_error_details();
    let metadata = &details.error_info().unwrap().metadata;
    (status.code(), metadata["field"].clone(), metadata["allowed"].clone())
}

/// Requests of all methods that take a schedule, without it.
fn questions() -> Vec<(&'static str, Value)> {
    let from = "2026-03-01T00:00:00Z";
    let column = json!({
        "dialect": "SQL_DIALECT_POSTGRESQL", "table": "account", "name": "id",
        "type": "SQL_COLUMN_TYPE_TEXT",
    });
    vec![
        ("DescribeSchedule", json!({"atTime": from})),
        ("ListSlots", json!({"startTime": from, "sqlColumn": column})),
        (
            "GetWindowPredicate",
            json!({"startTime": from, "endTime": "2026-03-01T01:00:00Z", "sqlColumn": column}),
        ),
        ("AssignSlot", json!({"id": {"text": "acme"}, "fromTime": from, "kind": "poll"})),
        ("AssignSlots", json!({"ids": {"texts": ["acme", "b"]}, "fromTime": from})),
        ("GetReciprocalSlots", json!({"kindCount": 2})),
    ]
}

/// The same answer, with one run key schedule instead of another.
fn with_key(answer: &Value, old: &str, new: &str) -> Value {
    let text = answer.to_string();
    let fingerprint = answer["identity"]["fingerprint"].clone();
    let mut replaced: Value = serde_json::from_str(&text.replace(old, new)).unwrap();
    replaced["identity"]["fingerprint"] = fingerprint;
    replaced
}

#[tokio::test]
async fn a_name_and_its_spec_have_the_same_answers_but_for_the_run_keys() {
    let (_folder, file) = folder(FILE);
    let sidecar = Sidecar::start(Some(&file));
    let mut channel = sidecar.channel().await;
    let specs =
        [("bank-sync", 1, json!({"spec": {"period": "28800s"}})), ("bank-sync", 2, second())];
    for (name, number, spec) in specs {
        for (method, mut request) in questions() {
            request["schedule"] = spec.clone();
            let by_spec = ask(&mut channel, method, &request).await.unwrap();
            request["schedule"] = version(name, number);
            let by_name = ask(&mut channel, method, &request).await.unwrap();
            let fingerprint = by_spec["identity"]["fingerprint"].as_str().unwrap();
            assert_eq!(by_spec["identity"]["runKeySchedule"], fingerprint);
            let key = format!("{name}/{number}");
            assert_eq!(by_name["identity"]["runKeySchedule"], json!(key));
            assert_eq!(by_name, with_key(&by_spec, fingerprint, &key), "{method}");
            if (method, number) == ("AssignSlot", 1) {
                assert_eq!(fingerprint, FINGERPRINT);
                let run_key = by_name["nextRuns"][0]["runKey"].as_str().unwrap();
                assert!(run_key.starts_with("bank-sync/1/poll/"), "{run_key}");
                assert!(run_key.ends_with("/0/acme"), "{run_key}");
            }
            if method == "AssignSlots" {
                let prefix = &by_name["assignments"]["runKeyPrefix"];
                assert_eq!(*prefix, json!(format!("{key}/default")));
            }
            // And by JSON.
            let json = json_request(&path_of(method), &request.to_string());
            let by_json = post2(&mut channel, json).await;
            assert_eq!(by_json.json()["identity"], by_name["identity"], "{method}");
        }
    }
    let request = json!({"schedule": version("mail", 1)});
    let described = ask(&mut channel, "DescribeSchedule", &request).await.unwrap();
    let mail = json!({
        "period": "86400s", "resolution": "0.001s", "anchorTime": "1970-01-01T00:00:00Z",
        "slotCount": 144, "placement": "PLACEMENT_TWISTER", "bucketCount": 65_536,
        "profile": "TWISTER_PROFILE_RUBY_3_0_TO_3_1",
    });
    assert_eq!(described["spec"], mail);
}

#[tokio::test]
async fn unknown_names_are_not_found_and_told_what_there_is() {
    let (_folder, file) = folder(FILE);
    let (with, without) = (Sidecar::start(Some(&file)), Sidecar::start(None));
    let (mut known, mut empty) = (with.channel().await, without.channel().await);
    for (method, mut request) in questions() {
        request["schedule"] = version("bank-sync", 3);
        let status = ask(&mut known, method, &request).await.unwrap_err();
        let (code, field, allowed) = field_of(&status);
        assert_eq!((code, field.as_str()), (Code::NotFound, "schedule.version"), "{method}");
        assert!(allowed.ends_with("bank-sync/1, bank-sync/2"), "{allowed}");
        let reason = &status.get_error_details().error_info().unwrap().reason.clone();
        assert_eq!(reason, "ERROR_REASON_UNKNOWN_SCHEDULE");
        let json = json_request(&path_of(method), &request.to_string());
        let by_json = post2(&mut known, json).await;
        assert_eq!((by_json.status.as_u16(), &by_json.json()["code"]), (404, &json!("not_found")));
        let status = ask(&mut empty, method, &request).await.unwrap_err();
        assert!(field_of(&status).2.contains("--schedules"), "{status}");
    }
    for (schedule, field) in [
        (version("bank-sync", 0), "schedule.version.version"),
        (version("bank-sync", -1), "schedule.version.version"),
        (version("bank-sync", 1_000_001), "schedule.version.version"),
        (version("", 1), "schedule.version.name"),
        (version("bank/sync", 1), "schedule.version.name"),
        (json!({}), "schedule"),
    ] {
        let request = json!({"schedule": schedule, "id": {"text": "a"}});
        let status = ask(&mut known, "AssignSlot", &request).await.unwrap_err();
        let (code, named, _) = field_of(&status);
        assert_eq!((code, named.as_str()), (Code::InvalidArgument, field), "{request}");
    }
}

#[tokio::test]
async fn a_reload_is_all_or_nothing_and_no_version_changes_its_meaning() {
    let (_folder, file) = folder(FILE);
    let sidecar = Sidecar::start(Some(&file));
    let mut channel = sidecar.channel().await;
    let known = async |channel: &mut Http2, name: &str, number| {
        let request = json!({"schedule": version(name, number), "id": {"integer": 7}});
        match ask(channel, "AssignSlot", &request).await {
            Ok(answer) => Some(answer["identity"]["fingerprint"].as_str().unwrap().to_owned()),
            Err(status) => {
                assert_eq!(status.code(), Code::NotFound);
                None
            }
        }
    };
    let first = known(&mut channel, "bank-sync", 1).await;

    // A new version beside the others; and bank-sync/2 goes.
    let without_second = FILE.replace("version = 2", "version = 3");
    fs::write(&file, &without_second).unwrap();
    let said = sidecar.until("names");
    assert_eq!(said["names"], "bank-sync/2", "it says what is gone");
    assert_eq!(sidecar.until("what")["message"], "read again", "without SIGHUP, within 5 s");
    assert!(known(&mut channel, "bank-sync", 3).await.is_some());
    assert_eq!(known(&mut channel, "bank-sync", 2).await, None);

    // bank-sync/1 with another meaning, beside a new version: neither is taken.
    let changed = without_second.replacen("\"8h\"", "\"12h\"", 1).replace("\"mail\"", "\"post\"");
    fs::write(&file, changed).unwrap();
    let refused = sidecar.reload();
    let why = refused["why"].as_str().unwrap();
    assert_eq!(refused["level"], "ERROR");
    assert!(why.contains("schedules.toml: schedule bank-sync/1: fingerprint"), "{why}");
    assert!(why.contains(FINGERPRINT), "{why}");
    assert_eq!(known(&mut channel, "bank-sync", 1).await, first);
    assert_eq!(known(&mut channel, "post", 1).await, None);
    assert!(known(&mut channel, "mail", 1).await.is_some());
    // Who asks again hears it again.
    assert_eq!(sidecar.reload()["why"], refused["why"]);

    // bank-sync/2 cannot come back as another one, but as itself.
    fs::write(&file, FILE.replace("slot_count = 96", "slot_count = 48")).unwrap();
    assert!(sidecar.reload()["why"].as_str().unwrap().contains("bank-sync/2"));
    assert_eq!(known(&mut channel, "bank-sync", 2).await, None);
    fs::write(&file, FILE).unwrap();
    assert_eq!(sidecar.reload()["message"], "read again");
    assert!(known(&mut channel, "bank-sync", 2).await.is_some());

    // What cannot be read, or is not there, changes nothing.
    for broken in ["[[schedule]]\nname = \"bank-sync\"\n", "", "[[schedule"] {
        fs::write(&file, broken).unwrap();
        assert!(sidecar.reload()["why"].as_str().unwrap().contains("schedules.toml:"));
    }
    fs::remove_file(&file).unwrap();
    assert!(sidecar.reload()["why"].as_str().unwrap().contains("schedules.toml"));
    assert_eq!(known(&mut channel, "bank-sync", 1).await, first);
    let metrics = sidecar.metrics().await;
    assert!(metrics.contains("offbeat_reloads_total{what=\"schedules\",result=\"ok\"} 2\n"));
    let refused = "offbeat_reloads_total{what=\"schedules\",result=\"refused\"} ";
    let count = metrics.lines().find_map(|line| line.strip_prefix(refused)).unwrap();
    assert!(count.parse::<u32>().unwrap() >= 6, "{count}");
}

#[tokio::test]
async fn a_config_map_is_exchanged_through_its_symbolic_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, content) in
        [("..one", FILE.to_owned()), ("..two", FILE.replace("\"mail\"", "\"post\""))]
    {
        fs::create_dir(path(name)).unwrap();
        fs::write(path(name).join("schedules.toml"), content).unwrap();
    }
    symlink("..one", path("..data")).unwrap();
    symlink("..data/schedules.toml", path("schedules.toml")).unwrap();
    let sidecar = Sidecar::start(Some(&path("schedules.toml")));
    let mut channel = sidecar.channel().await;
    symlink("..two", path("..data_tmp")).unwrap();
    fs::rename(path("..data_tmp"), path("..data")).unwrap();
    assert_eq!(sidecar.reload()["message"], "read again");
    let request = |name| json!({"schedule": version(name, 1)});
    assert!(ask(&mut channel, "DescribeSchedule", &request("post")).await.is_ok());
    assert!(ask(&mut channel, "DescribeSchedule", &request("mail")).await.is_err());
}

#[tokio::test]
async fn a_stream_keeps_its_schedule_over_a_reload() {
    let (_folder, file) = folder(FILE);
    let sidecar = Sidecar::start(Some(&file));
    let mut channel = sidecar.channel().await;
    let method = method_of("StreamSlotAssignments");
    let encoded = |json: &Value| frame(&message(method.input(), json).encode_to_vec());
    let (sender, body) = open_body();
    let first = json!({
        "schedule": version("bank-sync", 2), "ids": {"texts": ["acme"]},
        "fromTime": "2026-03-01T00:00:00Z",
    });
    sender.send(encoded(&first)).unwrap();
    let call = grpc_request(&path_of("StreamSlotAssignments"), Bytes::new()).map(|_| body);
    channel.ready().await.unwrap();
    let mut answers = channel.send_request(call).await.unwrap().into_body();
    let mut next = async || {
        let frame = answers.frame().await.unwrap().unwrap().into_data().unwrap();
        let answer = DynamicMessage::decode(method.output(), &frame[5..]).unwrap();
        serde_json::to_value(&answer).unwrap()["assignments"].clone()
    };
    let before = next().await;
    fs::write(&file, FILE.replace("version = 2", "version = 3")).unwrap();
    assert_eq!(sidecar.reload()["message"], "read again");
    sender.send(encoded(&json!({"ids": {"texts": ["acme"]}}))).unwrap();
    assert_eq!(next().await, before, "the same rows, under the same keys");
    assert_eq!(before["runKeyPrefix"], "bank-sync/2/default");
    let request = json!({"schedule": version("bank-sync", 2)});
    let status = ask(&mut channel, "DescribeSchedule", &request);
    assert_eq!(status.await.unwrap_err().code(), Code::NotFound, "a new request sees the new file");
}

/// A file, and what its refusal must say.
const REFUSED: [(&str, &[&str]); 19] = [
    ("", &[":1: schedule: is missing", "1 to 1000 schedules"]),
    ("[[schedule", &[":1: file: ", "must be TOML"]),
    ("name = \"a\"\n", &[":1: an unknown field: \"name\"", "[[schedule]]"]),
    ("schedule = 7\n", &["schedule: another value is refused", "[[schedule]]"]),
    ("schedule = [7]\n", &["schedule: a value of type integer", "[[schedule]]"]),
    ("[[schedule]]\nversion = 1\n", &[":1: name: is missing"]),
    ("[[schedule]]\nname = \"a\"\n", &[":1: version: is missing", "1 to 1000000"]),
    ("[[schedule]]\nname = \"a/b\"\nversion = 1\n", &[":2: name: \"a/b\" is refused", "1 to 64"]),
    ("[[schedule]]\nname = \"a\"\nversion = 0\n", &[":3: version: is missing"]),
    ("[[schedule]]\nname = \"a\"\nversion = \"1\"\n", &[":3: version: a value of type string"]),
    ("[[schedule]]\nname = \"a\"\nversion = 1\n", &[":1: schedule a/1: period: is missing", "8h"]),
    ("@period = \"8\"\n", &[":4: schedule a/1: period: \"8\" is refused", "units"]),
    (
        "@period = \"8h\"\n\nslots = 7\n",
        &[":6: schedule a/1: an unknown field: \"slots\"", "slot_count"],
    ),
    (
        "@period = \"8h\"\nslot_count = 7\n",
        &[":5: schedule a/1: slot_count: 7 is refused", "28800 ticks"],
    ),
    (
        "@period = \"8h\"\nplacement = \"HASH\"\n",
        &[":5: schedule a/1: placement: \"HASH\"", "\"twister\""],
    ),
    ("@period = \"8h\"\nprofile = \"php\"\n", &[":5: schedule a/1: profile:", "TWISTER"]),
    (
        "@period = \"8h\"\nanchor_time = 2026-01-01\n",
        &[":5: schedule a/1: anchor_time: \"2026-01-01\"", "RFC 3339"],
    ),
    ("@period = \"3661d\"\n", &[":4: schedule a/1: period: 316310400s is refused"]),
    (
        "@period = \"8h\"\n[[schedule]]\nname = \"a\"\nversion = 1\nperiod = \"8h\"\n",
        &[":7: schedule a/1: version: 1 is refused", "once"],
    ),
];

#[test]
fn a_bad_file_is_refused_by_line_schedule_field_value_and_range() {
    for (content, words) in REFUSED {
        let content = content.replace('@', "[[schedule]]\nname = \"a\"\nversion = 1\n");
        let (_folder, file) = folder(&content);
        let path = file.display().to_string();
        let serve = ["serve", "--listen", "127.0.0.1:0", "--schedules", &path];
        let check = ["schedules", "check", &path];
        for (arguments, code) in [(&serve[..], 1), (&check, 2)] {
            let output = run(arguments);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(code), "{content}: {said}");
            assert_eq!(said.lines().count(), 1, "{said}");
            assert!(said.contains("schedules.toml:"), "{said}");
            for words in words {
                assert!(said.contains(words), "{content}: {said} should say {words}");
            }
        }
    }
    let large = format!("{FILE}# {}\n", "x".repeat(1 << 20));
    let (_folder, file) = folder(&large);
    let output = run(&["schedules", "check", &file.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("1 to 1048576 bytes"));
    let latin = folder("");
    fs::write(&latin.1, b"[[schedule]]\n\xe4").unwrap();
    let output = run(&["schedules", "check", &latin.1.display().to_string()]);
    assert!(String::from_utf8(output.stderr).unwrap().contains(":2: file: bytes that are no text"));
}

/// Runs a command to its end; a server that serves, against what was expected, is ended.
fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["10", BINARY]).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn printed(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn check_prints_fingerprints_and_holds_a_file_against_the_one_before() {
    let (_old, old) = folder(FILE);
    let removed = FILE.replace("version = 2", "version = 3");
    let (_new, new) = folder(&removed);
    let (_bad, bad) = folder(&FILE.replace("slot_count = 96", "slot_count = 48"));
    let paths = [&old, &new, &bad].map(|path| path.display().to_string());
    let [old, new, bad] = paths.each_ref().map(String::as_str);
    let (code, out, errors) = printed(&run(&["schedules", "check", old, "--format", "csv"]));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[0], "schedule,fingerprint,period,slot_count,placement");
    assert_eq!(lines[1], format!("bank-sync/1,{FINGERPRINT},28800s,128,HASH"));
    assert_eq!(lines.len(), 4);
    let (code, _, errors) = printed(&run(&["schedules", "check", new, "--against", old]));
    assert_eq!(code, Some(0));
    assert_eq!(errors, "offbeat: bank-sync/2 is removed: who names it will be refused\n");
    let (code, out, errors) = printed(&run(&["schedules", "check", bad, "--against", old]));
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(
        errors.contains("schedule bank-sync/2: fingerprint") && errors.contains("another version")
    );
    let (code, _, errors) = printed(&run(&["schedules", "check", "/nowhere"]));
    assert_eq!(code, Some(1), "{errors}");
}

#[test]
fn commands_take_schedules_by_name() {
    let (_folder, file) = folder(FILE);
    let path = file.display().to_string();
    let named = ["--schedules", &path, "--schedule", "bank-sync/2"];
    let flags =
        ["--cycle", "8h", "--slots", "96", "--anchor", "2026-01-01T00:00:00Z", "--salt", "two"];
    let from = ["--from", "2026-03-01T00:00:00Z", "--kind", "poll"];
    let at = ["--at", "2026-03-01T00:00:00Z"];
    let json = ["--format", "json"];
    let both = |command: &[&str]| {
        let by_name = printed(&run(&[command, &named, &json].concat()));
        let by_flags = printed(&run(&[command, &flags, &json].concat()));
        assert_eq!((by_name.0, by_name.2.as_str()), (Some(0), ""), "{command:?}");
        (by_name.1, by_flags.1)
    };
    let (by_name, by_flags) = both(&[&["slots", "assign", "acme"][..], &from].concat());
    let fingerprint = by_flags.split("\"run_key\":\"").nth(1).unwrap().split('/').next().unwrap();
    assert_eq!(by_name, by_flags.replace(fingerprint, "bank-sync/2"));
    for command in [
        [&["slots", "describe"][..], &at].concat(),
        vec!["slots", "list", "--start", "2026-03-01T00:00:00Z"],
        vec!["slots", "reciprocal", "--kinds", "2"],
    ] {
        let (by_name, by_flags) = both(&command);
        assert_eq!(by_name, by_flags, "{command:?}");
    }
    for (arguments, words) in [
        (vec!["--schedules", &path], "--schedule"),
        (vec!["--schedule", "bank-sync/1"], "--schedules"),
        (vec!["--schedules", &path, "--schedule", "bank-sync/9"], "bank-sync/1, bank-sync/2"),
        (vec!["--schedules", &path, "--schedule", "bank-sync"], "bank-sync/1"),
        ([&named[..], &["--cycle", "8h"]].concat(), "--cycle"),
        ([&named[..], &["--slots", "8"]].concat(), "--slots"),
        ([&named[..], &["--salt", "x"]].concat(), "--salt"),
        ([&named[..], &["--placement", "hash"]].concat(), "--placement"),
        ([&named[..], &["--profile", "php"]].concat(), "--profile"),
        ([&named[..], &["--buckets", "256"]].concat(), "--buckets"),
        ([&named[..], &["--resolution", "1s"]].concat(), "--resolution"),
        ([&named[..], &["--anchor", "2026-01-01T00:00:00Z"]].concat(), "--anchor"),
        (vec![], "--cycle"),
    ] {
        let (code, _, errors) =
            printed(&run(&[&["slots", "assign", "a"], &arguments[..]].concat()));
        assert_eq!(code, Some(64), "{arguments:?}");
        assert!(errors.contains(words), "{arguments:?}: {errors}");
    }
}

/// Calendars, windows and exclusions in a file mean what they mean on the command line.
#[test]
fn a_file_holds_calendars_active_windows_and_exclusions() {
    const CALENDARS: &str = r#"
[[schedule]]
name = "reports"
version = 1
calendar = { unit = "week", time_zone = "Europe/Berlin" }
active_windows = ["Mon-Fri 01:00-05:00"]
exclusions = ["2026-12-24T00:00:00Z/2026-12-27T00:00:00Z skip", "03:00-03:30"]

[[schedule]]
name = "reports"
version = 2
period = "1d"
active_windows = ["2h-5h"]
exclusions = ["America/New_York 22:00-23:00 defer"]
weight_quantum = 100
"#;
    let (_kept, path) = folder(CALENDARS);
    let file = path.to_str().unwrap();
    let (status, out, errors) = printed(&run(&["schedules", "check", file, "--format", "json"]));
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let by_flags = |flags: &[&str]| {
        let all =
            [&["slots", "describe", "--format", "json", "--at", "2026-01-01T00:00:00Z"], flags]
                .concat();
        let (status, out, errors) = printed(&run(&all));
        assert_eq!((status, errors.as_str()), (Some(0), ""));
        serde_json::from_str::<Value>(&out).unwrap()["fingerprint"].clone()
    };
    let first = by_flags(&[
        "--cycle",
        "week",
        "--time-zone",
        "Europe/Berlin",
        "--active",
        "Mon-Fri 01:00-05:00",
        "--exclude",
        "2026-12-24T00:00:00Z/2026-12-27T00:00:00Z skip",
        "--exclude",
        "03:00-03:30",
    ]);
    let second = by_flags(&[
        "--cycle",
        "1d",
        "--active",
        "2h-5h",
        "--exclude",
        "America/New_York 22:00-23:00 defer",
        "--weight-quantum",
        "100",
    ]);
    assert_eq!([&rows[0]["fingerprint"], &rows[1]["fingerprint"]], [&first, &second]);

    for (line, field, words) in [
        ("calendar = { unit = \"day\" }\n", "calendar.time_zone", "must be a table such as"),
        ("calendar = { unit = \"hour\", time_zone = \"UTC\" }\n", "calendar.unit", "\"month\""),
        ("calendar = { unit = \"day\", time_zone = \"Berlin\" }\n", "calendar.time_zone", "IANA"),
        ("calendar = \"day\"\n", "calendar", "must be a table such as"),
        (
            "period = \"1d\"\nactive_windows = [\"01:00-05:00\"]\n",
            "active_windows",
            "times of day go with",
        ),
        ("period = \"1d\"\nexclusions = [\"22:00-23:00\"]\n", "exclusions", "needs a time zone"),
        ("period = \"1d\"\nexclusions = \"22:00-23:00\"\n", "exclusions", "list of texts"),
        (
            "period = \"1d\"\ncalendar = { unit = \"day\", time_zone = \"UTC\" }\n",
            "period",
            "together with calendar",
        ),
    ] {
        let (_kept, path) = folder(&format!("[[schedule]]\nname = \"a\"\nversion = 1\n{line}"));
        let (status, _, errors) = printed(&run(&["schedules", "check", path.to_str().unwrap()]));
        assert_eq!(status, Some(2), "{line}");
        assert!(errors.contains(&format!("schedule a/1: {field}: ")), "{errors}");
        assert!(errors.contains(words), "{errors}");
    }
}
