//! `offbeat spread work`

use std::ffi::OsString;
use std::process::{self, ExitCode};
use std::time::Duration;

use clap::Args;
use offbeat_core::limits::{CALL_JOBS, NACK_DELAY_MILLIS};
use offbeat_service::clock;
use offbeat_service::config::within;
use offbeat_service::limits::GRACE_SECONDS;

use super::calls::{CallArgs, Millis, millis_within, say};
use super::child::JobCommand;
use super::consumer::Consumer;
use super::signals::Signals;
use super::worker::{Task, Worker};
use crate::Failure;

#[derive(Debug, Args)]
pub(super) struct WorkArgs {
    /// The name of the spread
    #[arg(value_name = "NAME")]
    name: String,

    /// The number of jobs to take at a time; they are worked on one after the other
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = within(CALL_JOBS), allow_negative_numbers = true)]
    batch: i64,

    /// End when all jobs of the spread are settled, those of other workers too
    #[arg(long)]
    until_empty: bool,

    /// How long a job that failed waits for its second attempt; twice as long for each further one
    #[arg(long, value_name = "SPAN", default_value = "1s", value_parser = millis_within(NACK_DELAY_MILLIS))]
    retry_delay: Millis,

    /// How long the command may go on after SIGTERM or SIGINT, in seconds; then its job is given back
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = within(GRACE_SECONDS), allow_negative_numbers = true)]
    grace_period: i64,

    /// The command, and its arguments, in which {} stands for the job
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<OsString>,

    #[command(flatten)]
    calls: CallArgs,
}

pub(super) fn run(args: &WorkArgs) -> Result<ExitCode, Failure> {
    let command = JobCommand::new(&args.command)
        .ok_or_else(|| Failure::Usage("COMMAND: must not be missing".to_owned()))?;
    let client = args.calls.client()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let task = Task {
        batch: i32::try_from(args.batch).unwrap_or(i32::MAX), // within its limit
        until_empty: args.until_empty,
        retry_for: args.calls.retry_for(),
        retry_delay: args.retry_delay.into(),
        grace: Duration::from_secs(args.grace_period.unsigned_abs()),
    };
    let consumer = Consumer::new(client, args.name.clone(), consumer_id());
    runtime.block_on(async {
        let mut worker = Worker::new(task, command, consumer, Signals::listen()?);
        let worked = worker.work().await;
        worker.give_back().await;
        say(&worker.totals().to_string());
        worked
    })?;
    Ok(ExitCode::SUCCESS)
}

/// An ID that no other worker has, nor this one after a restart.
fn consumer_id() -> String {
    let (seconds, nanos) = clock::now().parts();
    format!("work-{}-{seconds}{nanos:09}", process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumers_have_names_of_their_own() {
        let (one, other) = (consumer_id(), consumer_id());
        assert_ne!(one, other);
        assert!(one.len() <= 128 && one.starts_with("work-"), "{one}");
    }
}
