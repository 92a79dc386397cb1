//! The server as a process (`offbeat serve`), with its log.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::{Http2, http2, post1};

const BINARY: &str = env!("CARGO_BIN_EXE_offbeat");

pub struct Sidecar {
    pub child: Child,
    log: Receiver<Value>,
    pub address: String,
    pub admin: String,
}

impl Sidecar {
    /// Starts a server on free ports with these flags and variables.
    pub fn start(flags: &[&str], variables: &[(&str, &Path)]) -> Self {
        let mut command = Command::new(BINARY);
        command.args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]);
        command.args(["--log-format", "json"]).args(flags);
        command.envs(variables.iter().copied());
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

    /// The next line of the log that has this field.
    pub fn until(&self, field: &str) -> Value {
        loop {
            let line = self.log.recv_timeout(Duration::from_secs(15)).unwrap();
            if line.get(field).is_some() {
                return line;
            }
        }
    }

    pub fn signal(&self, signal: &str) {
        let kill = format!("kill -{signal} {}", self.child.id()); // a bare Debian has no /bin/kill
        assert!(Command::new("bash").args(["-c", &kill]).status().unwrap().success());
    }

    /// Sends SIGHUP and waits for the report on the file of schedules.
    pub fn reload(&self) -> Value {
        self.signal("HUP");
        let said = self.until("what");
        assert_eq!(said["what"], "schedules");
        said
    }

    pub async fn channel(&self) -> Http2 {
        let socket = TcpStream::connect(&self.address).await.unwrap();
        socket.set_nodelay(true).unwrap();
        http2(socket).await
    }

    /// The status and the text of a page on the admin port.
    pub async fn look(&self, path: &str) -> (u16, String) {
        let socket = TcpStream::connect(&self.admin).await.unwrap();
        let request = http::Request::get(path).header("host", "localhost");
        let body = http_body_util::Full::from(Bytes::new()).boxed();
        let answer = post1(socket, request.body(body).unwrap()).await;
        (answer.status.as_u16(), String::from_utf8(answer.body.to_vec()).unwrap())
    }

    pub async fn metrics(&self) -> String {
        self.look("/metrics").await.1
    }

    /// The value of a series, if the series exists.
    pub async fn metric(&self, series: &str) -> Option<f64> {
        let text = self.metrics().await;
        let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.map(|value| value.parse().unwrap())
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
