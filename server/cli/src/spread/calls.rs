//! Calls of a named spread, made again while the server cannot be reached or has no room.

use std::io::{self, Write as _};
use std::time::Duration;

use clap::Args;
use offbeat_core::limits::Limit;
use offbeat_service::limits::RETRY_MILLIS;
use tokio::time::Instant;

use crate::Failure;
use crate::connect::{CallError, Client, ServerArgs, unary};
use crate::schedule::parse_span;

unary! { "offbeat.v1.NamedSpreadService":
    OpenSpreadRequest => "OpenSpread" => OpenSpreadResponse;
    DescribeSpreadRequest => "DescribeSpread" => DescribeSpreadResponse;
    SubmitGroupsRequest => "SubmitGroups" => SubmitGroupsResponse;
    WaitForGroupsRequest => "WaitForGroups" => WaitForGroupsResponse;
    PullJobsRequest => "PullJobs" => PullJobsResponse;
    SettleJobsRequest => "SettleJobs" => SettleJobsResponse;
}

const UNKNOWN_SPREAD: &str = "ERROR_REASON_UNKNOWN_SPREAD";

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Trouble that ends within this time is not reported.
const SILENT: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// How long to try again while the server cannot be reached or has no room
    #[arg(long, value_name = "SPAN", default_value = "60s", value_parser = millis_within(RETRY_MILLIS))]
    retry_for: Millis,

    #[command(flatten)]
    server: ServerArgs,
}

impl CallArgs {
    pub(super) fn client(&self) -> Result<Client, Failure> {
        self.server.client()
    }

    pub(super) fn retry_for(&self) -> Duration {
        self.retry_for.into()
    }
}

/// A span of time in whole milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Millis(pub(super) u64);

impl From<Millis> for Duration {
    fn from(Millis(millis): Millis) -> Self {
        Self::from_millis(millis)
    }
}

/// Reads a span within a limit in milliseconds.
pub(super) fn millis_within(
    limit: Limit,
) -> impl Fn(&str) -> Result<Millis, String> + Clone + Send + Sync + 'static {
    move |text| {
        let millis = parse_span(text)?.whole_millis();
        let millis = millis.filter(|millis| limit.allows((*millis).into()));
        millis.map(Millis).ok_or_else(|| format!("must be {limit}"))
    }
}

pub(super) fn is_unknown_spread(error: &CallError) -> bool {
    error.reason == UNKNOWN_SPREAD
}

/// Writes a message to standard error.
pub(super) fn say(message: &str) {
    let _ = writeln!(io::stderr(), "offbeat: {message}"); // a closed standard error changes nothing
}

/// For how long, and with which pauses, a call is made again.
pub(super) struct Retry {
    address: String,
    begin: Instant,
    limit: Duration,
    pause: Duration,
    is_silent: bool,
}

impl Retry {
    pub(super) fn new(client: &Client, limit: Duration) -> Self {
        Self {
            address: client.address().to_owned(),
            begin: Instant::now(),
            limit,
            pause: FIRST_PAUSE,
            is_silent: true,
        }
    }

    /// Waits before the next attempt; fails if there should be none.
    pub(super) async fn pause_after(&mut self, error: CallError) -> Result<(), Failure> {
        if error.is_transient() {
            self.pause_after_any(error).await
        } else {
            Err(self.failure(&error))
        }
    }

    /// The same for any error.
    pub(super) async fn pause_after_any(&mut self, error: CallError) -> Result<(), Failure> {
        let spent = self.begin.elapsed();
        if spent + self.pause > self.limit {
            return Err(self.failure(&error));
        }
        if self.is_silent && spent >= SILENT {
            self.is_silent = false;
            let limit = self.limit.as_secs();
            say(&format!("{}: {error}: trying again for up to {limit} s", self.address));
        }
        let asked = error.retry_delay.unwrap_or_default().min(LONGEST_PAUSE);
        tokio::time::sleep(self.pause.max(asked)).await;
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        Ok(())
    }

    /// The error of a call that is not made again.
    pub(super) fn failure(&self, error: &CallError) -> Failure {
        Failure::Other(format!("{}: {error}", self.address))
    }
}
