//! `offbeat spread submit` and `work` while their server is restarted.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod command;

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use command::server::Server;
use command::spread::{Ledger, NOTE, Worker, jobs, server, submit};
use rustix::process::Signal;

/// A free port below the range from which the kernel picks client ports.
fn free_address() -> String {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let first = 12_000 + u16::try_from(std::process::id() % 5_000).unwrap();
    let mut ports = std::iter::repeat_with(|| first + TAKEN.fetch_add(1, Ordering::Relaxed));
    let port = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    format!("127.0.0.1:{}", port.unwrap())
}

#[test]
fn groups_that_a_restart_has_lost_are_submitted_again() {
    let (address, ledger) = (free_address(), Ledger::new());
    let start = || Server::start_at(&address, &["--admin-listen", "off"]);
    let mut server = start();
    let (tsv, expected) = jobs(6, 10);
    let producer = std::thread::spawn({
        let address = address.clone();
        let flags = ["--feeders", "3", "--lease-duration", "1s", "--wait"];
        move || submit(&address, &flags, &tsv)
    });
    let script = format!("sleep 0.02; {NOTE}");
    let workers = [(); 2].map(|()| Worker::start(&address, &ledger, &[], &script));
    for count in [10, 30] {
        ledger.wait_for(count);
        drop(server); // kills the server
        sleep(Duration::from_millis(300));
        server = start();
    }
    let (status, said) = producer.join().unwrap();
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("submitting them again"), "{said}");
    assert!(said.ends_with("60 jobs of 6 groups settled\n"), "{said}");
    for mut worker in workers {
        worker.signal(Signal::TERM);
        let (status, said) = worker.end();
        assert_eq!(status, Some(0), "{said}");
    }
    assert!(ledger.counts().keys().eq(expected.iter()), "{:?}", ledger.counts());
    drop(server);
}

#[test]
fn a_job_that_a_restart_has_lost_is_not_run_twice_at_once() {
    let (address, ledger) = (free_address(), Ledger::new());
    let start = || Server::start_at(&address, &["--admin-listen", "off"]);
    let server = start();
    let producer = std::thread::spawn({
        let address = address.clone();
        let flags = ["--feeders", "1", "--lease-duration", "3s", "--wait"];
        move || submit(&address, &flags, "a\tslow\n")
    });
    let script = format!(
        r#"
        if kill -0 "$(cat begun)" 2>&-; then echo twice >> ledger; fi
        echo $$ > begun
        sleep 2
        {NOTE}
        "#
    );
    let workers = [(); 2].map(|()| Worker::start(&address, &ledger, &[], &script));
    ledger.wait_until_begun();
    drop(server); // kills the server
    let server = start();
    let (status, said) = producer.join().unwrap();
    assert_eq!(status, Some(0), "{said}");
    let ends = workers.map(|mut worker| {
        worker.signal(Signal::TERM);
        worker.end()
    });
    assert!(ends.iter().all(|(status, _)| *status == Some(0)), "{ends:?}");
    let lost = "a job 0: its lease was lost: the command was ended";
    assert_eq!(ends.iter().filter(|(_, said)| said.contains(lost)).count(), 1, "{ends:?}");
    assert_eq!(ledger.lines(), ["a\tslow"]);
    drop(server);
}

#[test]
fn a_command_is_ended_before_its_lease_ends_if_the_server_is_gone() {
    let (server, ledger) = (server(), Ledger::new());
    let flags = ["--feeders", "1", "--lease-duration", "2s"];
    assert_eq!(submit(&server.address, &flags, "a\tone\n").0, Some(0));
    let script = "touch begun; sleep 60";
    let mut worker = Worker::start(&server.address, &ledger, &["--retry-for", "0s"], script);
    ledger.wait_until_begun();
    let begun = Instant::now();
    drop(server);
    let (status, said) = worker.end();
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("a job 0: its lease was lost: the command was ended"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(2), "the lease had ended");
}
