//! Prints the performance of named spreads that Redis keeps, against the servers at the given
//! addresses: jobs a second of three consumers, the cost of a pull beside many open groups, and
//! the time from the submission of a job until it is dealt. `benchmarks/store/run.sh` starts Redis
//! and the servers.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "it measures")]

mod named;

use std::time::Duration;

use named::{connect, percentile, pull_and_settle, pull_beside, submit_to_deal};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap();
    let mut channels = Vec::new();
    for address in arguments {
        channels.push(connect(&address).await);
    }
    let mut best = 0.0_f64;
    for run in 0..3 {
        let spread = format!("{what} {run}");
        best = best.max(pull_and_settle(&channels, &spread, 200_000, 3).await);
    }
    println!("{what}, jobs/s of three consumers, 256 a call\t{best:.0}");
    let channel = channels.pop().unwrap();
    if !channels.is_empty() {
        return;
    }
    let (few, many) =
        (pull_beside(channel.clone(), 100).await, pull_beside(channel.clone(), 100_000).await);
    println!("{what}, a pull of 16 beside 100 open groups, in µs\t{few}");
    println!("{what}, a pull of 16 beside 100,000 open groups, in µs\t{many}");
    let delays = submit_to_deal(channel, 1_000, Duration::from_secs(5)).await;
    println!("{what}, from submit to deal at 1,000 jobs/s, p50 in µs\t{}", percentile(&delays, 50));
    println!("{what}, from submit to deal at 1,000 jobs/s, p99 in µs\t{}", percentile(&delays, 99));
}
