//! The command line as a process: what it refuses, how it serves, how it ends.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod command;

use std::process::{Command, Stdio};

use command::{BINARY, USAGE, offbeat, offbeat_with, repository};
use serde_json::Value;

#[test]
fn wrong_usage_names_flag_value_and_range_and_exits_64() {
    for (arguments, words) in [
        (&["slots", "assign", "--cycle", "0s", "a"][..], &["--cycle", "0s", "316224000s"][..]),
        (&["slots", "assign", "--cycle", "-8h", "a"], &["--cycle", "-28800s"]),
        (&["slots", "assign", "--cycle", "3661d", "a"], &["--cycle", "3660 days"]),
        (&["slots", "assign", "--cycle", "8", "a"], &["--cycle", "8h"]),
        (&["slots", "assign", "a"], &["--cycle"]),
        (&["slots", "assign", "--cycle", "8h", "--slots", "7", "a"], &["--slots", "7", "6 and 8"]),
        (&["slots", "assign", "--cycle", "8h", "--slots", "0", "a"], &["--slots", "1 to 1048576"]),
        (&["slots", "assign", "--cycle", "8h", "--slots", "-1", "a"], &["--slots", "1 to 1048576"]),
        (
            &["slots", "assign", "--cycle", "8h", "--slots", "288", "--placement", "twister", "1"],
            &["--slots", "256"],
        ),
        (
            &["slots", "assign", "--cycle", "8h", "--profile", "php", "1"],
            &["--profile", "PHP", "TWISTER"],
        ),
        (
            &["slots", "assign", "--cycle", "8h", "--salt", "s", "--placement", "twister", "1"],
            &["--salt", "HASH"],
        ),
        (
            &[
                "slots",
                "assign",
                "--cycle",
                "8h",
                "--buckets",
                "300",
                "--placement",
                "twister",
                "1",
            ],
            &["--buckets", "65536"],
        ),
        (
            &["slots", "assign", "--cycle", "8h", "--resolution", "3ms", "1"],
            &["--resolution", "ms"],
        ),
        (
            &["slots", "assign", "--cycle", "8h", "--placement", "sideways", "1"],
            &["sideways", "twister"],
        ),
        (&["slots", "assign", "--cycle", "8h", "--from", "noon", "1"], &["--from", "RFC 3339"]),
        (
            &[
                "slots",
                "list",
                "--cycle",
                "8h",
                "--start",
                "2026-01-02T00:00:00Z",
                "--end",
                "2026-01-01T00:00:00Z",
            ],
            &["--end"],
        ),
        (
            &["slots", "reciprocal", "--slots", "8", "--kind-count", "9"],
            &["--kind-count", "1 to 8"],
        ),
        (
            &["slots", "reciprocal", "--slots", "8", "--kind-count", "2", "--slot", "8"],
            &["--slot", "0 to 7"],
        ),
        (&["slots", "reciprocal", "--kind-count", "2"], &["--slots"]),
        (
            &["slots", "reciprocal", "--slots", "8", "--cycle", "8h", "--run-time", "9h"],
            &["--run-time", "28800s"],
        ),
        (&["slots", "describe", "--cycle", "8h", "--population", "0"], &["--population"]),
        (&["serve", "--listen", "0.0.0.0:2328"], &["--listen", "0.0.0.0:2328", "--insecure"]),
        (&["serve", "--listen", "[::]:2328"], &["--insecure"]),
        (&["serve", "--listen", "nowhere"], &["--listen", "ADDRESS:PORT"]),
        (&["serve", "--max-requests", "0"], &["--max-requests", "1 to 65536 requests"]),
        (&["serve", "--log", "offbeat=loud"], &["--log"]),
        (&["serve", "--log", "verbose"], &["--log", "verbose", "debug"]),
        (
            &["slots", "assign", "--cycle", "8h", "--kind", "a/b", "1"],
            &["--kind", "a/b", "1 to 64"],
        ),
        (
            &["slots", "reciprocal", "--slots", "8", "--kind-count", "2", "--profile", "php"],
            &["--cycle"],
        ),
        (&["serve", "--grace-period", "-1"], &["--grace-period"]),
        (&["nonsense"], &["nonsense"]),
        (&[], &["Usage"]),
    ] {
        let output = offbeat(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(USAGE), "{arguments:?}: {errors}");
        for word in words {
            assert!(errors.contains(word), "{arguments:?} should name {word}: {errors}");
        }
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn variables_are_parsed_before_anything_is_bound() {
    for (name, value) in [
        ("OFFBEAT_LISTEN", "0.0.0.0:0"),
        ("OFFBEAT_LISTEN", "127.0.0.1:0,nonsense"),
        ("OFFBEAT_GRACE_PERIOD", "soon"),
        ("OFFBEAT_MAX_CONNECTIONS", "0"),
        ("OFFBEAT_MAX_REQUESTS", "-5"),
        ("OFFBEAT_UNARY_TIMEOUT", "0"),
        ("OFFBEAT_LOG_FORMAT", "xml"),
        ("OFFBEAT_LOG", "offbeat=loud"),
    ] {
        let output = offbeat_with(&["serve"], b"", &[(name, value)]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(USAGE), "{name}={value}: {errors}");
        assert!(!errors.contains("listening"), "{errors}");
    }
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let ids: String = (0..200_000).map(|number| format!("{number}\n")).collect();
    let output = Command::new("bash")
        .args([
            "-c",
            "set -o pipefail; \"$0\" slots assign --cycle 8h < \"$1\" | head -n 2",
            BINARY,
        ])
        .arg({
            let path = std::env::temp_dir().join(format!("offbeat-ids-{}", std::process::id()));
            std::fs::write(&path, ids).unwrap();
            path
        })
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 2);
    assert!(output.stderr.is_empty());
    let _ = std::fs::remove_file(
        std::env::temp_dir().join(format!("offbeat-ids-{}", std::process::id())),
    );
}

#[test]
fn a_server_that_does_not_listen_is_not_healthy() {
    let output = offbeat(&["health", "--address", "127.0.0.1:1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("127.0.0.1:1"));
    let output =
        offbeat_with(&["health"], b"", &[("OFFBEAT_ADMIN_LISTEN", "unix:/nowhere/at.all")]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("unix:/nowhere/at.all"));
}

#[test]
fn completions_and_help_are_printed() {
    for shell in ["bash", "zsh", "fish"] {
        let output = offbeat(&["completions", shell]);
        assert!(output.status.success());
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(["reciprocal", "simulate"].iter().all(|word| script.contains(word)), "{shell}");
    }
    for arguments in
        [&["--help"][..], &["slots", "assign", "--help"], &["serve", "--help"], &["--version"]]
    {
        let output = offbeat(arguments);
        assert!(output.status.success() && !output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_documented_limits_are_the_limits() {
    let documented = std::fs::read_to_string(repository().join("docs/limits.md")).unwrap();
    let printed = String::from_utf8(offbeat(&["limits"]).stdout).unwrap();
    assert!(
        documented.ends_with(&printed),
        "docs/limits.md should end with what `offbeat limits` prints"
    );
}

#[test]
fn a_server_obeys_signals_and_health_sees_it() {
    use std::io::{BufRead as _, BufReader};
    for signal in ["TERM", "INT"] {
        let mut server = Command::new(BINARY)
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut logs = BufReader::new(server.stderr.take().unwrap());
        let mut line = String::new();
        logs.read_line(&mut line).unwrap();
        let log: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(log["message"], "listening");
        let address = log["address"].as_str().unwrap();
        assert!(offbeat(&["health", "--address", address]).status.success());
        assert!(
            !offbeat(&["health", "--address", address, "--service", "nobody"]).status.success()
        );
        Command::new("bash") // for its built-in kill: a bare Debian has no other
            .args(["-c", &format!("kill -{signal} {}", server.id())])
            .status()
            .unwrap();
        assert_eq!(server.wait().unwrap().code(), Some(0));
        assert!(logs.lines().any(|line| line.unwrap().contains("stopped")));
    }
}
