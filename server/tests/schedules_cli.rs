//! `offbeat schedules check`, and commands that take a schedule by name, as processes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod schedule_file;

use std::fs;
use std::process::{Command, Output, Stdio};

use schedule_file::{FILE, FINGERPRINT, folder};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_offbeat");

/// A file, and what its refusal must contain.
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
        let export = ["schedules", "export", &path];
        for (arguments, code) in [(&serve[..], 78), (&check, 2), (&export, 2)] {
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

/// Runs a command to its end, and stops it after 10 s if it starts to serve unexpectedly.
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
    assert_eq!(errors, "offbeat: bank-sync/2 is removed: requests that name it will be refused\n");
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
    let run_id = |line: &str| line.split("\"run_id\":\"").nth(1).unwrap()[..32].to_owned();
    let (of_name, of_flags) = (run_id(&by_name), run_id(&by_flags));
    assert_ne!(of_name, of_flags, "the key is another");
    assert_eq!(by_name.replace(&of_name, &of_flags), by_flags.replace(fingerprint, "bank-sync/2"));
    for command in [
        [&["slots", "describe"][..], &at].concat(),
        vec!["slots", "list", "--start", "2026-03-01T00:00:00Z"],
        vec!["slots", "reciprocal", "--kind-count", "2"],
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

/// Calendars, windows and exclusions have the same meaning in a file as on the command line.
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
