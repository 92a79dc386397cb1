//! A server as a process, and what it needs for TLS.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::Value;

use super::{BINARY, offbeat_with};

/// A server that is killed when it is dropped.
pub struct Server {
    pub process: Child,
    pub address: String,
    pub admin: Option<String>,
}

impl Server {
    /// Starts one on free ports, and waits for it to be ready.
    pub fn start(flags: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", flags)
    }

    /// Starts a server that listens at an address.
    pub fn start_at(listen: &str, flags: &[&str]) -> Self {
        let mut process = Command::new(BINARY)
            .args(["serve", "--listen", listen, "--log-format", "json"])
            .args(flags)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let address_of = |message: &str, lines: &mut dyn Iterator<Item = String>| {
            let mut logs = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
            let log = logs.find(|log| log["message"] == message).unwrap();
            log["address"].as_str().unwrap().to_owned()
        };
        let stderr = BufReader::new(process.stderr.take().unwrap());
        let mut lines = stderr.lines().map(Result::unwrap);
        let address = address_of("listening", &mut lines);
        let has_admin = !flags.contains(&"off");
        let admin = has_admin.then(|| address_of("metrics and probes", &mut lines));
        let server = Self { process, address, admin };
        // The server listens a moment before it is ready.
        if let (Some(admin), false) = (&server.admin, flags.contains(&"--admin-tls")) {
            let is_ready = || health(&["--admin-address", admin], &[]) == HEALTHY;
            assert!((0..100).any(|_| is_ready()), "it does not become ready");
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// The exit status and the message of `offbeat health`.
pub fn health(flags: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let output = offbeat_with(&[&["health"], flags].concat(), b"", variables);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

pub const HEALTHY: (Option<i32>, String) = (Some(0), String::new());

/// Writes an authority, and a certificate for `offbeat.internal` and 127.0.0.1 that it has signed.
pub fn certificates(folder: &Path) {
    certificates_for(folder, &["offbeat.internal", "127.0.0.1"]);
}

/// The same, for these names and addresses.
pub fn certificates_for(folder: &Path, names: &[&str]) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    fs::write(folder.join("ca.pem"), authority.pem()).unwrap();
    fs::write(folder.join("certificate.pem"), certificate.pem()).unwrap();
    fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
}
