//! `StreamJobs`: jobs out as the consumer grants credit, settlements in.
//!
//! A task of its own reads the requests, so that settlements take effect at once, even if the
//! consumer reads no answers. Jobs are leased only if there is credit and room to send them: a
//! consumer that never reads holds at most as many jobs as it granted.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use offbeat_core::limits::CALL_JOBS;
use offbeat_core::spread::named::EmptyReason;
use offbeat_core::{Reason, Rejection};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::{Status, Streaming};

use super::{requests, responses};
use crate::api::convert::required;
use crate::limits::STREAM_CREDIT;
use crate::spreads::{LeasedJobs, SpreadStore};
use crate::work::{Permit, lost};
use offbeat_proto as proto;
use offbeat_proto::status;
use offbeat_proto::stream_jobs_request::Message as RequestMessage;
use offbeat_proto::stream_jobs_response::Message as Answer;

/// From this number of results on that the peer has not read, no more settlements are read.
const UNREAD_RESULTS: usize = 65_536;

/// How long one pull waits for jobs; then the next begins.
const WAIT: Duration = Duration::from_secs(60);

type Item = Result<proto::StreamJobsResponse, Status>;

/// The answers to a consumer's messages.
pub(super) fn jobs(
    store: Arc<dyn SpreadStore>,
    requests: Streaming<proto::StreamJobsRequest>,
    permit: Option<Permit>,
    zero: Instant,
) -> impl stream::Stream<Item = Item> {
    // One place is reserved while jobs are waited for, one is for results of settlements.
    let (answers, taken) = mpsc::channel(2);
    let task = tokio::spawn(async move {
        let consumer = Consumer::begin(store, requests, permit, zero);
        if let Err(status) = drive(consumer, &answers).await {
            let _ = answers.send(Err(status)).await; // fails if the consumer has left
        }
    });
    stream::unfold(Some((taken, task)), async |running| {
        let (mut taken, task) = running?;
        if let Some(item) = taken.recv().await {
            return Some((item, Some((taken, task))));
        }
        // A panic must not look like the end of the spread.
        let lost = task.await.map_err(lost).err()?;
        Some((Err(lost.into()), None))
    })
}

async fn drive(
    consumer: impl Future<Output = Result<Consumer, Status>>,
    answers: &mpsc::Sender<Item>,
) -> Result<(), Status> {
    tokio::select! {
        ended = async { consumer.await?.run(answers).await } => ended,
        () = answers.closed() => Ok(()),
    }
}

struct Consumer {
    store: Arc<dyn SpreadStore>,
    requests: Streaming<proto::StreamJobsRequest>,
    permit: Option<Permit>,
    spread: String,
    name: Arc<str>,
    credit: usize,
    /// Results of settlements that are not sent yet.
    settled: Vec<proto::SettleResult>,
    /// Start of the uptime clock of leases.
    zero: Instant,
}

impl Consumer {
    async fn begin(
        store: Arc<dyn SpreadStore>,
        mut requests: Streaming<proto::StreamJobsRequest>,
        permit: Option<Permit>,
        zero: Instant,
    ) -> Result<Self, Status> {
        let first = requests.message().await.map_err(status::of_frames)?;
        let start = match first.and_then(|request| request.message) {
            Some(RequestMessage::Start(start)) => Some(start),
            _ => None,
        };
        let refused = status::refused;
        let start = required("start", start, "it must be set in the first message");
        let proto::StreamJobsStart { spread_name, consumer_id, credit } = start.map_err(refused)?;
        let credit = credit.map_or(0, |credit| credit.job_count);
        let credit = match credit {
            0 => 0,
            credit => add_credit("start.credit.job_count", 0, credit).map_err(refused)?,
        };
        let (spread, name, settled) = (spread_name, consumer_id.into(), Vec::new());
        Ok(Self { store, requests, permit, spread, name, credit, settled, zero })
    }

    async fn run(mut self, answers: &mpsc::Sender<Item>) -> Result<(), Status> {
        // Refuses an unknown spread now: without credit, nothing else would.
        let nothing = self.store.pull(&self.spread, &self.name, 0, Duration::ZERO).await;
        nothing.map_err(status::refused)?;
        let uptime = Some(responses::since(self.zero, Instant::now()));
        let message = Some(Answer::Started(proto::StreamJobsStarted { uptime }));
        let _ = answers.send(Ok(proto::StreamJobsResponse { message })).await;
        let (store, spread) = (Arc::clone(&self.store), self.spread.clone());
        let name = Arc::clone(&self.name);
        // Kept while messages are read: if a pull from an external store is dropped midway, the
        // jobs that it leases must be given back.
        let mut leasing = None;
        loop {
            if leasing.is_none() && self.credit > 0 {
                leasing = Some(Box::pin(lease(&*store, &spread, &name, self.credit, answers)));
            }
            let (room, message) = tokio::select! {
                biased; // settlements first: they make room
                request = self.requests.message(), if self.settled.len() < UNREAD_RESULTS => {
                    let Some(request) = request.map_err(status::of_frames)? else { return self.finish(answers).await };
                    if let Some(permit) = &self.permit {
                        permit.release_request();
                    }
                    self.take(request).await.map_err(status::refused)?;
                    continue;
                }
                room = answers.reserve(), if !self.settled.is_empty() => {
                    let results = std::mem::take(&mut self.settled);
                    (room, Answer::SettleResults(proto::SettleResults { results }))
                }
                leased = optional(&mut leasing) => {
                    leasing = None;
                    let (room, leased) = leased.map_err(status::refused)?;
                    if leased.empty_reason == Some(EmptyReason::Ended) {
                        return self.finish(answers).await;
                    }
                    if leased.jobs.is_empty() {
                        if leased.stopped {
                            return Err(status::shutting_down());
                        }
                        continue;
                    }
                    self.credit -= leased.jobs.len();
                    (room, Answer::Leased(responses::leased(leased, self.zero)))
                }
            };
            let Ok(room) = room else { return Ok(()) }; // nobody reads any more
            room.send(Ok(proto::StreamJobsResponse { message: Some(message) }));
        }
    }

    async fn take(&mut self, request: proto::StreamJobsRequest) -> Result<(), Rejection> {
        match request.message {
            Some(RequestMessage::Credit(more)) => {
                self.credit = add_credit("credit.job_count", self.credit, more.job_count)?;
                Ok(())
            }
            Some(RequestMessage::Settlements(proto::JobSettlements { epoch, settlements })) => {
                let settlements = requests::settlements(epoch, settlements)
                    .map_err(|rejection| rejection.under("settlements"))?;
                let settled = self.store.settle(&self.spread, settlements).await?;
                self.settled.extend(responses::results(settled));
                Ok(())
            }
            Some(RequestMessage::Start(_)) => {
                let allowed = "must be set only in the first message";
                Err(Rejection::new(Reason::Contradictory, "start", "a later message's", allowed))
            }
            None => {
                let allowed = "start, credit or settlements must be set";
                Err(Rejection::new(Reason::FieldMissing, "message", "nothing", allowed))
            }
        }
    }

    /// Sends the remaining results at the end of a stream.
    async fn finish(mut self, answers: &mpsc::Sender<Item>) -> Result<(), Status> {
        let results = std::mem::take(&mut self.settled);
        if !results.is_empty() {
            let message = Some(Answer::SettleResults(proto::SettleResults { results }));
            let _ = answers.send(Ok(proto::StreamJobsResponse { message })).await;
        }
        Ok(())
    }
}

type Reservation<'a> = Result<mpsc::Permit<'a, Item>, mpsc::error::SendError<()>>;

/// The output of a future; pending if there is none.
async fn optional<F: Future + Unpin>(future: &mut Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

/// Leases jobs once there is room to send them. If dropped before it is ready, it leases nothing,
/// or gives the jobs back.
async fn lease<'a>(
    store: &dyn SpreadStore,
    spread: &str,
    consumer: &Arc<str>,
    credit: usize,
    answers: &'a mpsc::Sender<Item>,
) -> Result<(Reservation<'a>, LeasedJobs), Rejection> {
    let room = answers.reserve().await;
    let count = if room.is_ok() { credit.min(CALL_JOBS.max_size()) } else { 0 };
    let leased = store.pull(spread, consumer, count, WAIT).await?;
    Ok((room, leased))
}

fn add_credit(field: &str, credit: usize, more: i32) -> Result<usize, Rejection> {
    let most = STREAM_CREDIT.max_size() - credit;
    let more_jobs = usize::try_from(more).ok().filter(|more| (1..=most).contains(more));
    let more_jobs = more_jobs.ok_or_else(|| {
        let allowed = match credit {
            0 => format!("must be {STREAM_CREDIT}"),
            _ => format!("must be 1 to {most} jobs: {credit} are granted and were not sent"),
        };
        Rejection::new(Reason::OutOfRange, field, more, allowed)
    })?;
    Ok(credit + more_jobs)
}
