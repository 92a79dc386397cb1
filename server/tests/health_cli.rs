//! `offbeat health` as a process, against servers that are processes too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod command;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use command::{BINARY, USAGE, offbeat, offbeat_with};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::Value;

struct Server {
    process: Child,
    address: String,
    admin: Option<String>,
}

impl Server {
    /// Starts one on free ports, and waits for it to be ready.
    fn start(flags: &[&str]) -> Self {
        let mut process = Command::new(BINARY)
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(flags)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let address_of = |message: &str, lines: &mut dyn Iterator<Item = String>| {
            let log: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
            assert_eq!(log["message"], message, "{log}");
            log["address"].as_str().unwrap().to_owned()
        };
        let stderr = BufReader::new(process.stderr.take().unwrap());
        let mut lines = stderr.lines().map(Result::unwrap);
        let address = address_of("listening", &mut lines);
        let has_admin = !flags.contains(&"off");
        let admin = has_admin.then(|| address_of("metrics and probes", &mut lines));
        // It listens a moment before it is ready.
        if let Some(admin) = &admin {
            let is_ready = || health(&["--admin-address", admin], &[]) == HEALTHY;
            assert!((0..100).any(|_| is_ready()), "it does not become ready");
        }
        Self { process, address, admin }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Exit status and message of `offbeat health`.
fn health(flags: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let output = offbeat_with(&[&["health"], flags].concat(), b"", variables);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

const HEALTHY: (Option<i32>, String) = (Some(0), String::new());

#[test]
fn the_admin_port_is_asked_by_default() {
    let server = Server::start(&["--admin-listen", "127.0.0.1:0"]);
    let admin = server.admin.as_deref().unwrap();
    assert_eq!(health(&[], &[("OFFBEAT_ADMIN_LISTEN", admin)]), HEALTHY);
    assert_eq!(health(&["--admin-address", admin], &[]), HEALTHY);
    let everywhere = admin.replace("127.0.0.1", "0.0.0.0");
    assert_eq!(health(&["--admin-address", &everywhere], &[]), HEALTHY);
    // The port of the services has no /readyz.
    let (code, message) = health(&["--admin-address", &server.address], &[]);
    assert_eq!(code, Some(1), "{message}");
}

#[test]
fn without_an_admin_port_the_services_are_asked() {
    let server = Server::start(&["--admin-listen", "off"]);
    let variables = [("OFFBEAT_ADMIN_LISTEN", "off"), ("OFFBEAT_LISTEN", &*server.address)];
    assert_eq!(health(&[], &variables), HEALTHY);
    assert_eq!(health(&["--address", &server.address], &[]), HEALTHY);
    assert_eq!(health(&[], &[("OFFBEAT_ADDRESS", &server.address)]), HEALTHY);
    let service = ["--service", "offbeat.v1.SlotService"];
    assert_eq!(health(&[&service[..], &["--address", &server.address]].concat(), &[]), HEALTHY);
    let (code, message) = health(&["--address", &server.address, "--service", "nobody"], &[]);
    assert_eq!(code, Some(1));
    assert!(message.contains("it has no service \"nobody\""), "{message}");
}

#[test]
fn a_unix_socket_is_asked_too() {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix:{}", folder.path().join("admin.sock").display());
    let server = Server::start(&["--admin-listen", &socket]);
    assert_eq!(health(&["--admin-address", server.admin.as_deref().unwrap()], &[]), HEALTHY);
}

fn certificates(folder: &Path) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["offbeat.internal".to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    fs::write(folder.join("ca.pem"), authority.pem()).unwrap();
    fs::write(folder.join("certificate.pem"), certificate.pem()).unwrap();
    fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
}

#[test]
fn a_server_with_tls_is_asked_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key, ca) = (path("certificate.pem"), path("key.pem"), path("ca.pem"));
    let tls = ["--tls-certificate", &certificate, "--tls-key", &key];
    let server = Server::start(&[&tls[..], &["--admin-listen", "127.0.0.1:0"]].concat());
    // The admin port has no TLS, and needs no certificate.
    assert_eq!(health(&["--admin-address", server.admin.as_deref().unwrap()], &[]), HEALTHY);
    let over_tls = ["--address", &server.address, "--tls-ca", &ca];
    assert_eq!(health(&over_tls, &[]), HEALTHY);
    let named = |name| [&over_tls[..], &["--tls-server-name", name]].concat();
    assert_eq!(health(&named("offbeat.internal"), &[]), HEALTHY);
    let (code, message) = health(&named("elsewhere.internal"), &[]);
    assert_eq!(code, Some(1));
    assert!(message.contains("certificate") && message.contains("elsewhere"), "{message}");
    assert_eq!(health(&["--address", &server.address], &[]).0, Some(1));
    let other = tempfile::tempdir().unwrap();
    certificates(other.path());
    let other = other.path().join("ca.pem").display().to_string();
    let (code, message) = health(&["--address", &server.address, "--tls-ca", &other], &[]);
    assert_eq!(code, Some(1));
    assert!(message.contains("certificate"), "{message}");
    for bad in [
        &["--tls-ca", &ca][..],
        &["--tls-ca", &key, "--address", &server.address],
        &["--tls-ca", &ca, "--address", "unix:/tmp/socket"],
    ] {
        assert_eq!(health(bad, &[]).0, Some(USAGE), "{bad:?}");
    }
}

/// Answers one connection with this text, or never if it is empty.
fn answer_once(text: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut request = [0; 1_024];
        while text.is_empty() && socket.read(&mut request).unwrap() > 0 {}
        let _ = socket.read(&mut request).unwrap();
        socket.write_all(text.as_bytes()).unwrap();
    });
    address
}

#[test]
fn a_server_that_is_not_ready_or_says_nothing_is_not_healthy() {
    for (text, words) in [
        ("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", "it is not ready"),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "it answered 404"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "is not serving"),
        ("", "no answer within 1s"),
    ] {
        let address = answer_once(text);
        let output = offbeat(&["health", "--admin-address", &address, "--timeout", "1"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(words) && message.contains(&address), "{message}");
    }
}
