//! Prints how many jobs a second a hand-made queue on Redis reaches, at the given Unix socket:
//! three consumers of a stream with 256 jobs per call, and of a list as in Sidekiq with one job
//! per call. Neither offers any order but that of the jobs, and a list loses the jobs of a
//! consumer that dies.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "it measures")]

use std::time::Instant;

use redis::aio::MultiplexedConnection;
use redis::streams::{StreamReadOptions, StreamReadReply};
use redis::{AsyncCommands as _, Client};

const JOBS: usize = 200_000;
const CONSUMERS: usize = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client =
        Client::open(format!("redis+unix://{}", std::env::args().nth(1).unwrap())).unwrap();
    let stream = async |mut connection: MultiplexedConnection, name: String| -> usize {
        let options = StreamReadOptions::default().group("group", name).count(256);
        let mut done = 0;
        loop {
            let read: Option<StreamReadReply> =
                connection.xread_options(&["stream"], &[">"], &options).await.unwrap();
            let Some(read) = read.and_then(|mut read| read.keys.pop()) else { return done };
            let ids: Vec<&str> = read.ids.iter().map(|job| &*job.id).collect();
            let _: usize = connection.xack("stream", "group", &ids).await.unwrap();
            done += ids.len();
        }
    };
    let list = async |mut connection: MultiplexedConnection, _: String| -> usize {
        let mut done = 0;
        while connection.rpop::<_, Option<String>>("list", None).await.unwrap().is_some() {
            done += 1;
        }
        done
    };
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    for start in (0..JOBS).step_by(1_000) {
        let mut step = redis::pipe();
        for number in start..start + 1_000 {
            step.xadd("stream", "*", &[("job", number)]).ignore().lpush("list", number).ignore();
        }
        let _: () = step.query_async(&mut connection).await.unwrap();
    }
    let _: () = connection.xgroup_create("stream", "group", "0").await.unwrap();
    println!(
        "a stream of Redis by hand, jobs/s of three consumers, 256 a call\t{:.0}",
        rate(&client, stream).await
    );
    println!(
        "a list as Sidekiq has it, jobs/s of three consumers, one a call\t{:.0}",
        rate(&client, list).await
    );
}

/// Jobs a second that consumers take, each over a connection of its own.
async fn rate(
    client: &Client,
    consume: impl AsyncFn(MultiplexedConnection, String) -> usize,
) -> f64 {
    let mut connections = Vec::new();
    for _ in 0..CONSUMERS {
        connections.push(client.get_multiplexed_async_connection().await.unwrap());
    }
    let begun = Instant::now();
    let named = connections.into_iter().enumerate();
    let done = named.map(|(number, connection)| consume(connection, number.to_string()));
    let done: usize = futures_util::future::join_all(done).await.into_iter().sum();
    assert_eq!(done, JOBS);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let rate = done as f64 / begun.elapsed().as_secs_f64();
    rate
}
