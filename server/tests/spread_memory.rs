//! The memory of `SpreadService` does not grow with the jobs.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use offbeat::proto::SpreadSpec;
use offbeat::proto::spread_service_client::SpreadServiceClient;
use support::spread::{feeders, spread};
use tonic::transport::Endpoint;

/// A server whose memory is measured.
struct MeasuredServer(Child);

impl MeasuredServer {
    fn start(port: u16) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_offbeat"))
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("listening"), "{line}");
        Self(child)
    }

    /// Peak memory in KiB.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for MeasuredServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A debug build is slow, so it gets a tenth of the jobs.
const JOBS: u64 = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };

#[tokio::test]
async fn memory_grows_with_nothing() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = MeasuredServer::start(port);
    let address = format!("http://127.0.0.1:{port}");
    let channel = Endpoint::try_from(address).unwrap().connect().await.unwrap();
    let mut client = SpreadServiceClient::new(channel);
    spread(&mut client, feeders(2), [3, 3].into_iter(), |_| ()).await;
    let idle = server.peak();
    // A few long groups, then many short ones.
    for (size, group_window) in [(JOBS / 8, 0), (10, 256)] {
        let sizes = std::iter::repeat_n(size, usize::try_from(JOBS / size).unwrap());
        let spec = SpreadSpec { group_window, job_window: Some(4_096), ..feeders(64) };
        let mut turns = 0;
        let certificate = spread(&mut client, spec, sizes, |_| turns += 1).await;
        assert_eq!((certificate.job_count, turns), (JOBS.cast_signed(), JOBS));
    }
    let grown = server.peak() - idle;
    assert!(grown < 32 << 10, "{grown} KiB more than idle");
    println!("{JOBS} jobs twice: {grown} KiB more than idle");
}
