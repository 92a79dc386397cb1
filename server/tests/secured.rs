//! TLS, tokens and users: who may call, and certificates that change while connections are open.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use offbeat::config::{Config, ListenAddress};
use prost::Message as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use support::authority::Authority;
use support::{
    Answer, Server, any_schedule, config_with, frame, grpc, grpc_request, http2, json_request,
    message, method_of, path_of, post1, post2, request,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tonic::Code;

fn question() -> serde_json::Value {
    json!({"schedule": any_schedule(), "id": {"text": "acme"}})
}

fn write(folder: &Path, (certificate, key): &(String, String)) {
    fs::write(folder.join("key.pem"), key).unwrap();
    fs::write(folder.join("certificate.pem"), certificate).unwrap();
}

fn tls_config(folder: &Path, more: &[&str]) -> Config {
    let path = |name: &str| folder.join(name).display().to_string();
    let (certificate, key) = (path("certificate.pem"), path("key.pem"));
    let flags = ["--tls-certificate", &certificate, "--tls-key", &key];
    config_with(&[&flags[..], more].concat())
}

/// Connects and trusts `authority`, with a client certificate if there is one.
async fn connect(
    server: &Server,
    authority: &Authority,
    own: Option<&(String, String)>,
    protocol: &[u8],
) -> std::io::Result<TlsStream<TcpStream>> {
    connect_over(server.tcp().await, authority, own, protocol).await
}

/// The same over a connection to any port.
async fn connect_over(
    socket: TcpStream,
    authority: &Authority,
    own: Option<&(String, String)>,
    protocol: &[u8],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match own {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    config.alpn_protocols = vec![protocol.to_vec()];
    let name = ServerName::try_from("offbeat.test").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, socket).await
}

#[tokio::test]
async fn certificates_change_under_open_connections() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (Authority::new(), Authority::new());
    write(folder.path(), &old.sign("offbeat.test"));
    let server = Server::start(&tls_config(folder.path(), &[]));
    let mut open = http2(connect(&server, &old, None, b"h2").await.unwrap()).await;
    grpc(&mut open, "AssignSlot", &question()).await.unwrap();
    let json = || json_request(&path_of("AssignSlot"), &question().to_string());
    let over_1 = connect(&server, &old, None, b"http/1.1").await.unwrap();
    assert_eq!(post1(over_1, json()).await.status, 200);
    assert!(connect(&server, &new, None, b"h2").await.is_err(), "not signed by that one");

    // An incomplete change is refused, and the old certificate stays in use.
    fs::write(folder.path().join("certificate.pem"), "no certificate").unwrap();
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(connect(&server, &old, None, b"h2").await.is_ok());

    write(folder.path(), &new.sign("offbeat.test"));
    let started = Instant::now();
    while connect(&server, &new, None, b"h2").await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(10), "the certificate was not read again");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    grpc(&mut open, "AssignSlot", &question()).await.unwrap();
    assert!(connect(&server, &old, None, b"h2").await.is_err());
}

#[tokio::test]
async fn the_admin_port_beyond_loopback_has_a_console_with_tls_and_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    write(folder.path(), &authority.sign("offbeat.test"));
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, "a-token-0123456789abcdef\n").unwrap();
    let more = ["--token-file", tokens.to_str().unwrap(), "--admin-listen", "0.0.0.0:0"];
    let server = Server::start(&tls_config(folder.path(), &[&more[..], &["--admin-tls"]].concat()));
    let Some(ListenAddress::Tcp(admin)) = server.admin else { panic!("there is no admin port") };
    let ask = async |path: &str, headers: &[(&str, &str)]| {
        let socket = TcpStream::connect(("127.0.0.1", admin.port())).await.unwrap();
        let socket = connect_over(socket, &authority, None, b"http/1.1").await.unwrap();
        let mut request = http::Request::builder().uri(path).header("host", "offbeat.test");
        if path.starts_with("/offbeat.") {
            request = request.method("POST").header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = if path.starts_with("/offbeat.") { question().to_string() } else { "".into() };
        let body = Full::new(Bytes::from(body)).boxed();
        post1(socket, request.body(body).unwrap()).await.status.as_u16()
    };
    let (mark, site) = (("offbeat-console", "1"), ("sec-fetch-site", "same-origin"));
    let token = ("authorization", "Bearer a-token-0123456789abcdef");
    assert_eq!(ask("/readyz", &[]).await, 200, "probes carry no token");
    assert_eq!((ask("/metrics", &[]).await, ask("/metrics", &[token]).await), (401, 200));
    assert_eq!(ask("/", &[]).await, 200);
    assert_eq!(ask("/console/settings", &[]).await, 401);
    assert_eq!(ask(&path_of("AssignSlot"), &[mark, site]).await, 401);
    assert_eq!(ask(&path_of("AssignSlot"), &[mark, site, token]).await, 200);
    // Without TLS there is no response.
    let plain = TcpStream::connect(("127.0.0.1", admin.port())).await.unwrap();
    let request = request("/readyz", &[("host", "localhost")], "");
    assert!(tokio::spawn(post1(plain, request)).await.is_err());
}

#[tokio::test]
async fn clients_need_a_certificate_of_the_authority_if_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let (authority, stranger) = (Authority::new(), Authority::new());
    write(folder.path(), &authority.sign("offbeat.test"));
    let ca = folder.path().join("ca.pem");
    fs::write(&ca, authority.pem()).unwrap();
    let server =
        Server::start(&tls_config(folder.path(), &["--tls-client-ca", &ca.display().to_string()]));
    let own = authority.sign("client.test");
    let mut known = http2(connect(&server, &authority, Some(&own), b"h2").await.unwrap()).await;
    grpc(&mut known, "AssignSlot", &question()).await.unwrap();
    for own in [None, Some(stranger.sign("client.test"))] {
        // In TLS 1.3 a client learns of the refusal only when it reads.
        if let Ok(mut socket) = connect(&server, &authority, own.as_ref(), b"h2").await {
            let _ = socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
            assert!(socket.read(&mut [0; 64]).await.map_or(true, |count| count == 0));
        }
    }
}

#[tokio::test]
async fn plain_text_and_silence_end_at_a_tls_port() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Authority::new().sign("offbeat.test"));
    let server = Server::start(&tls_config(folder.path(), &[]));
    let mut plain = server.tcp().await;
    plain.write_all(b"POST / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said).await;
    assert!(!said.starts_with(b"HTTP"), "{said:?}");
    let (mut silent, started) = (server.tcp().await, Instant::now());
    assert_eq!(silent.read(&mut [0; 1]).await.unwrap_or(0), 0);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[tokio::test]
async fn files_that_are_no_certificates_are_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = Authority::new().sign("offbeat.test");
    let (_, other_key) = Authority::new().sign("offbeat.test");
    for (pair, named) in [
        ((String::new(), key.clone()), "--tls-certificate"),
        ((certificate.clone(), certificate.clone()), "--tls-key"),
        ((certificate, other_key), "--tls-certificate and --tls-key"),
    ] {
        write(folder.path(), &pair);
        let refused = offbeat::Server::bind(&tls_config(folder.path(), &[])).await;
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(named), "{refused}");
    }
    let missing = config_with(&["--token-file", "/nowhere/tokens"]);
    let refused = offbeat::Server::bind(&missing).await.unwrap_err().to_string();
    assert!(refused.contains("/nowhere/tokens"), "{refused}");
}

#[tokio::test]
async fn every_call_but_health_must_carry_a_token() {
    const OLD: &str = "an-old-token-0123456789";
    const NEW: &str = "a-new-token-0123456789";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    fs::write(&file, OLD).unwrap();
    let server = Server::start(&config_with(&["--token-file", &file.display().to_string()]));
    let mut channel = http2(server.tcp().await).await;
    let path = path_of("AssignSlot");
    let call = frame(&message(method_of("AssignSlot").input(), &question()).encode_to_vec());
    let with = |token: &str| format!("Bearer {token}").parse().unwrap();
    let mut ask = async |token: &str| {
        let mut request = grpc_request(&path, call.clone());
        request.headers_mut().insert("authorization", with(token));
        post2(&mut channel, request).await.grpc_status().code()
    };
    assert_eq!(ask(OLD).await, Code::Ok);
    assert_eq!(ask(NEW).await, Code::Unauthenticated);
    let bare = post2(&mut http2(server.tcp().await).await, grpc_request(&path, call.clone())).await;
    assert_eq!(bare.grpc_status().code(), Code::Unauthenticated);

    let json = || json_request(&path, &question().to_string());
    let refused: Answer = post1(server.tcp().await, json()).await;
    assert_eq!(
        (refused.status.as_u16(), refused.json()["code"].as_str()),
        (401, Some("unauthenticated"))
    );
    let mut allowed = json();
    allowed.headers_mut().insert("authorization", with(OLD));
    assert_eq!(post1(server.tcp().await, allowed).await.status, 200);

    let health = grpc_request("/grpc.health.v1.Health/Check", Bytes::from_static(&[0; 5]));
    let healthy = post2(&mut http2(server.tcp().await).await, health).await;
    assert_eq!(healthy.grpc_status().code(), Code::Ok);

    fs::write(&file, format!("{OLD}\n{NEW}\n")).unwrap();
    let started = Instant::now();
    while ask(NEW).await != Code::Ok {
        assert!(started.elapsed() < Duration::from_secs(10), "the tokens were not read again");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(ask(OLD).await, Code::Ok);
    fs::remove_file(&file).unwrap(); // for example by mistake
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(ask(NEW).await, Code::Ok, "those of before stay");
}

#[tokio::test]
async fn users_of_a_unix_socket_may_be_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deeper/offbeat.sock");
    let address = format!("unix:{}", path.display());
    let ours = rustix::process::geteuid().as_raw();
    let json = || json_request(&path_of("AssignSlot"), &question().to_string());
    for (uid, may) in [(ours, true), (ours + 1, false)] {
        let (uid, listen) = (uid.to_string(), address.parse::<ListenAddress>().unwrap());
        let flags = ["--socket-uids", &uid, "--socket-mode", "0600"];
        let server = Server::start(&Config { listen: vec![listen], ..config_with(&flags) });
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
        let mut socket = server.unix().await;
        if may {
            assert_eq!(post1(socket, json()).await.status, 200);
        } else {
            let refused = post1(server.unix().await, json()).await;
            assert_eq!(refused.status, 403);
            let said = String::from_utf8_lossy(&refused.body).into_owned();
            assert!(said.contains("must be one of --socket-uids"), "{said}");
            assert!(said.contains("ERROR_REASON_USER_NOT_ALLOWED"), "{said}");
            // A client that sends nothing more is soon disconnected.
            let _ = socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
            let end = async { while socket.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {} };
            tokio::time::timeout(Duration::from_secs(3), end).await.expect("it must end");
        }
    }
}
