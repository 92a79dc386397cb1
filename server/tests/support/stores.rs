//! Stores of named spreads, and groups for them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use offbeat::config::SpreadStoreConfig;
use offbeat::spreads::{LeasedJobs, RedisStore, SpreadStore as _};
use offbeat_core::spread::SpreadSpec;
use offbeat_core::spread::named::{Commit, GroupPart, NamedSpreadSpec, content_digest};

use super::redis_server::Redis;

pub(crate) const NOW: Duration = Duration::ZERO;
pub(crate) const BYTES: u64 = 64 << 20;

pub(crate) fn at(redis: &Redis) -> SpreadStoreConfig {
    SpreadStoreConfig::at(&redis.url(), "test:")
}

#[allow(dead_code, reason = "not every test has a Redis without replicas")]
pub(crate) async fn connect(redis: &Redis) -> Arc<RedisStore> {
    connect_by(&at(redis)).await
}

pub(crate) async fn connect_by(config: &SpreadStoreConfig) -> Arc<RedisStore> {
    let url = config.url.clone().unwrap();
    let store = RedisStore::connect(config, &url, BYTES).await.unwrap();
    let listening = Arc::clone(&store);
    tokio::spawn(async move { listening.keep_up().await });
    store
}

pub(crate) fn jobs(id: &str, count: usize) -> Vec<Bytes> {
    (0..count).map(|index| format!("{id}/{index}").into()).collect()
}

pub(crate) fn group(id: &str, count: usize) -> GroupPart {
    let payloads = jobs(id, count);
    let commit = Some(Commit {
        job_count: count.try_into().unwrap(),
        sha256: content_digest(&payloads).to_vec().into(),
        ..Commit::default()
    });
    GroupPart { group_id: id.to_owned(), payloads, commit, ..GroupPart::default() }
}

pub(crate) fn spec(lease_millis: i64) -> NamedSpreadSpec {
    NamedSpreadSpec { lease_millis, ..NamedSpreadSpec::new(SpreadSpec::round_robin(2)) }
}

pub(crate) fn one() -> Arc<str> {
    "one".into()
}

pub(crate) fn names(leased: &LeasedJobs) -> Vec<String> {
    let name = |job: &Bytes| String::from_utf8(job.to_vec()).unwrap();
    leased.jobs.iter().map(|job| name(&job.payload)).collect()
}

#[allow(dead_code, reason = "not every test fills a store")]
/// A group of jobs of 200 KiB.
pub(crate) fn large(id: String, count: i64) -> GroupPart {
    let payloads: Vec<Bytes> = (0..count).map(|_| vec![7; 200 << 10].into()).collect();
    let sha256 = content_digest(&payloads).to_vec().into();
    let commit = Some(Commit { job_count: count, sha256, ..Commit::default() });
    GroupPart { group_id: id, payloads, commit, ..GroupPart::default() }
}
