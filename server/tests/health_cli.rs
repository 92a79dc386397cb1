//! `offbeat health` as a process, against servers that are processes as well.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod command;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use command::server::{HEALTHY, Server, certificates, certificates_for, health};
use command::{USAGE, offbeat};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

#[test]
fn the_admin_port_is_asked_by_default() {
    let server = Server::start(&["--admin-listen", "127.0.0.1:0"]);
    let admin = server.admin.as_deref().unwrap();
    assert_eq!(health(&[], &[("OFFBEAT_ADMIN_LISTEN", admin)]), HEALTHY);
    assert_eq!(health(&["--admin-address", admin], &[]), HEALTHY);
    let everywhere = admin.replace("127.0.0.1", "0.0.0.0");
    assert_eq!(health(&["--admin-address", &everywhere], &[]), HEALTHY);
    // The port of the services does not serve /readyz.
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

#[test]
fn a_server_with_tls_is_asked_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key, ca) = (path("certificate.pem"), path("key.pem"), path("ca.pem"));
    let tls = ["--tls-certificate", &certificate, "--tls-key", &key];
    let server = Server::start(&[&tls[..], &["--admin-listen", "127.0.0.1:0"]].concat());
    // The admin port has no TLS, so its probe needs no certificate.
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
    let server =
        Server::start(&[&tls[..], &["--admin-listen", "127.0.0.1:0", "--admin-tls"]].concat());
    let admin = ["--admin-address", server.admin.as_deref().unwrap()];
    let is_healthy = || health(&[&admin[..], &["--tls-ca", &ca]].concat(), &[]) == HEALTHY;
    assert!((0..100).any(|_| is_healthy()), "it does not become ready");
    assert_eq!(health(&admin, &[]).0, Some(1));
    for bad in [
        &["--tls-ca", &key, "--address", &server.address][..],
        &["--tls-ca", &ca, "--address", "unix:/tmp/socket"],
    ] {
        assert_eq!(health(bad, &[]).0, Some(USAGE), "{bad:?}");
    }
}

#[test]
fn a_certificate_may_name_localhost_and_no_address() {
    let folder = tempfile::tempdir().unwrap();
    certificates_for(folder.path(), &["localhost"]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key, ca) = (path("certificate.pem"), path("key.pem"), path("ca.pem"));
    let tls = ["--tls-certificate", &certificate, "--tls-key", &key, "--admin-listen", "off"];
    let server = Server::start(&tls);
    let local = server.address.replace("127.0.0.1", "localhost");
    assert_eq!(health(&["--address", &local, "--tls-ca", &ca], &[]), HEALTHY);
    let (code, message) = health(&["--address", &server.address, "--tls-ca", &ca], &[]);
    assert_eq!(code, Some(1));
    assert!(message.contains("127.0.0.1"), "{message}");
}

#[test]
fn the_certificate_of_an_authority_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (path("certificate.pem"), path("key.pem"));
    // As `openssl req -x509` makes it by default.
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let own = KeyPair::generate().unwrap();
    fs::write(&certificate, params.self_signed(&own).unwrap().pem()).unwrap();
    fs::write(&key, own.serialize_pem()).unwrap();
    let tls = ["--tls-certificate", &certificate, "--tls-key", &key, "--admin-listen", "off"];
    let server = Server::start(&tls);
    let (code, message) = health(&["--address", &server.address, "--tls-ca", &certificate], &[]);
    assert_eq!(code, Some(1));
    assert!(message.contains("basicConstraints CA:FALSE"), "{message}");
}

/// Answers one connection with this text, or not at all if the text is empty.
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
