//! `offbeat spread submit`: what servers accept, how they are reached, and what is refused.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod command;

use std::fs;
use std::path::Path;

use command::server::{Server, certificates};
use command::spread::{Ledger, NOTE, Worker, call, jobs, server, submit};
use command::{USAGE, offbeat_with};
use serde_json::json;

#[test]
fn a_full_spread_takes_the_rest_when_there_is_room() {
    let (server, ledger) = (server(), Ledger::new());
    // Another client opened the spread: it is used as it is.
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
    // A group that can never fit is refused at once.
    let (tsv, _) = jobs(1, 6);
    let (status, said) = submit(&server.address, &[], &tsv.replace("g0", "large"));
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("group large: "), "{said}");
    call(&server.address, "CloseSpread", &json!({"spreadName": "mail"}));
    let (status, said) = worker.end();
    assert_eq!(status, Some(0), "a closed spread ends its workers: {said}");
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
    // Another authority's certificate is refused at once.
    let stranger = tempfile::tempdir().unwrap();
    certificates(stranger.path());
    let other = stranger.path().join("ca.pem").display().to_string();
    let (status, said) = submit(&secured.address, &["--tls-ca", &other], "a\tone\n");
    assert_eq!(status, Some(1));
    assert!(said.contains("certificate") && !said.contains("trying"), "{said}");
    // A token is never sent to another machine without TLS, and no connection is tried.
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
fn invalid_submissions_are_refused_with_a_reason() {
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
    // Whether a spread that does not exist was emptied is unknown.
    let flags =
        ["spread", "work", "other", "--address", address, "--until-empty", "--retry-for", "100ms"];
    let output = offbeat_with(&[&flags[..], &["--", "true"]].concat(), b"", &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("other"), "{said}");
}
