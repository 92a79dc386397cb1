//! Prints the performance of spreads over the wire, against the server at the given address: jobs
//! a second of one stream; cycles of pull and settle; and the time from the submission of a job
//! until it is dealt. `benchmarks/spread/run.sh` starts the server.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "it measures")]

mod named;

use std::time::{Duration, Instant};

use named::{connect, order, percentile, pull_and_settle, requests, submit_to_deal};
use offbeat::proto::spread_request::Message as RequestMessage;
use offbeat::proto::spread_response::Message as Answer;
use offbeat::proto::spread_service_client::SpreadServiceClient;
use offbeat::proto::{SpreadInput, SpreadRequest, SpreadSpec};
use tonic::transport::Channel;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let address = std::env::args().nth(1).unwrap();
    let channel = connect(&address).await;
    for group in [20, 1_000] {
        let mut best = 0.0_f64;
        for _ in 0..3 {
            best = best.max(one_stream(channel.clone(), group, 50_000_000).await);
        }
        println!("Rust, columns of one stream, groups of {group}\t{best:.0}");
    }
    let mut best = 0.0_f64;
    for run in 0..3 {
        let (channels, spread) = ([channel.clone()], format!("cycle{run}"));
        best = best.max(pull_and_settle(&channels, &spread, 500_000, 4).await);
    }
    println!("Rust, pull and settle a named spread, 256 jobs a call\t{best:.0}");
    let delays = submit_to_deal(channel, 10_000, Duration::from_secs(5)).await;
    println!("from submit to deal at 10,000 jobs/s, p50 in µs\t{}", percentile(&delays, 50));
    println!("from submit to deal at 10,000 jobs/s, p99 in µs\t{}", percentile(&delays, 99));
}

/// Jobs a second of one stream that sends the sizes of groups and receives columns.
async fn one_stream(channel: Channel, group: i64, jobs: i64) -> f64 {
    let mut client = SpreadServiceClient::new(channel);
    let (sender, requests) = requests();
    let spec = SpreadSpec {
        order: Some(order()),
        job_window: Some(65_536),
        group_window: 4_096,
        ..SpreadSpec::default()
    };
    let say = |message| sender.send(SpreadRequest { message: Some(message) });
    let begun = Instant::now();
    say(RequestMessage::Spec(spec)).unwrap();
    let mut answers = client.spread(requests).await.unwrap().into_inner();
    let (mut made, mut total, mut sum, count) = (0, 0, 0_i64, jobs / group);
    while let Some(answer) = answers.message().await.unwrap() {
        match answer.message.unwrap() {
            Answer::Turns(turns) => {
                total += i64::try_from(turns.group_indexes.len()).unwrap();
                sum = sum.wrapping_add(turns.group_indexes.iter().sum::<i64>());
            }
            Answer::Demand(demand) => {
                let more = demand.group_count.min(count - made);
                made += more;
                let input = SpreadInput {
                    whole_group_sizes: vec![group; more.try_into().unwrap()],
                    no_more_groups: made == count,
                    ..SpreadInput::default()
                };
                let _ = say(RequestMessage::Input(input));
            }
            Answer::Certificate(_) => {}
        }
    }
    assert_eq!((total, sum), (jobs, count * (count - 1) / 2 * group));
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let rate = jobs as f64 / begun.elapsed().as_secs_f64();
    rate
}
