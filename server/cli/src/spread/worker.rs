//! A worker of a named spread: takes its jobs, runs a command for each, and settles it.

use std::process::ExitStatus;
use std::time::Duration;
use std::{fmt, io};

use offbeat_core::limits::NACK_DELAY_MILLIS;
use offbeat_core::rejection::shorten;
use offbeat_proto::{SettleAction, SettleOutcome};
use tokio::time::{Instant, sleep_until};

use super::calls::{Retry, is_unknown_spread, say};
use super::child::{JobCommand, RunningCommand};
use super::consumer::{Consumer, PullOutcome};
use super::leases::HeldJob;
use super::signals::Signals;
use crate::Failure;
use crate::connect::CallError;
use crate::output::counted;

/// How long a pull waits for a job; a signal takes effect after that at the latest.
const PULL_WAIT: Duration = Duration::from_secs(1);

/// Time between SIGTERM and SIGKILL for a command.
const KILL_DELAY: Duration = Duration::from_secs(5);

/// How a worker works.
pub(super) struct Task {
    /// Jobs to lease at a time.
    pub(super) batch: i32,
    /// Ends when all jobs of the spread are settled.
    pub(super) until_empty: bool,
    /// How long to try calls again.
    pub(super) retry_for: Duration,
    /// How long a job that failed waits for its second attempt.
    pub(super) retry_delay: Duration,
    /// How long a command may continue after a signal.
    pub(super) grace: Duration,
}

/// Counts of a worker.
#[derive(Debug, Default)]
pub(super) struct Totals {
    done: u64,
    failed: u64,
    given_back: u64,
    lost: u64,
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} done", counted(self.done, "job"))?;
        for (count, what, how) in [
            (self.failed, "attempt", "failed"),
            (self.given_back, "job", "given back"),
            (self.lost, "lease", "lost"),
        ] {
            if count > 0 {
                write!(f, ", {} {how}", counted(count, what))?;
            }
        }
        Ok(())
    }
}

/// How a command has ended.
enum CommandEnd {
    /// The command ended by itself.
    Itself(ExitStatus),
    /// The lease of its job had ended, or was about to end.
    LeaseLost,
    /// This program has received SIGTERM or SIGINT.
    Interrupted,
}

/// Works on the jobs of a spread.
pub(super) struct Worker<'a> {
    task: Task,
    command: JobCommand<'a>,
    consumer: Consumer,
    signals: Signals,
    totals: Totals,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        task: Task,
        command: JobCommand<'a>,
        consumer: Consumer,
        signals: Signals,
    ) -> Self {
        Self { task, command, consumer, signals, totals: Totals::default() }
    }

    pub(super) const fn totals(&self) -> &Totals {
        &self.totals
    }

    fn retry(&self) -> Retry {
        self.consumer.retry(self.task.retry_for)
    }

    /// Works until there will be no more jobs, or a signal has come.
    pub(super) async fn work(&mut self) -> Result<(), Failure> {
        while !self.signals.have_come() {
            match self.pull().await? {
                PullOutcome::Closed => return Ok(()),
                PullOutcome::Nothing if self.task.until_empty && self.is_empty().await? => {
                    return Ok(());
                }
                PullOutcome::Nothing | PullOutcome::Jobs => {}
            }
            while self.consumer.first().is_some() && !self.signals.have_come() {
                self.work_on_first().await?;
            }
        }
        Ok(())
    }

    /// Pulls until the server has answered, or a signal has come.
    async fn pull(&mut self) -> Result<PullOutcome, Failure> {
        let mut retry = self.retry();
        let mut said = false;
        while !self.signals.have_come() {
            let asked = Instant::now();
            match self.consumer.pull(self.task.batch, PULL_WAIT).await {
                Ok(PullOutcome::Nothing) => {
                    self.sleep_until(asked + PULL_WAIT).await; // some reasons are answered at once
                    return Ok(PullOutcome::Nothing);
                }
                Ok(pulled) => return Ok(pulled),
                Err(error) if is_unknown_spread(&error) && !self.task.until_empty => {
                    if !said {
                        say(&format!(
                            "the spread {} is not open yet: waiting",
                            self.consumer.spread_name()
                        ));
                        said = true;
                    }
                    self.sleep_until(asked + PULL_WAIT).await;
                }
                Err(error) if error.is_transient() || is_unknown_spread(&error) => {
                    self.pause(&mut retry, error).await?;
                }
                Err(error) => return Err(retry.failure(&error)),
            }
        }
        Ok(PullOutcome::Nothing)
    }

    /// Whether every job of the spread is settled.
    async fn is_empty(&mut self) -> Result<bool, Failure> {
        match self.consumer.counts().await {
            Ok(counts) => {
                let is_empty = counts.group_count == 0 && counts.partial_group_count == 0;
                if is_empty && counts.dead_letter_count > 0 {
                    let letters = counted(counts.dead_letter_count.unsigned_abs(), "dead letter");
                    say(&format!("{} has {letters}", self.consumer.spread_name()));
                }
                Ok(is_empty)
            }
            // The next pull meets the same error.
            Err(error) if error.is_transient() || is_unknown_spread(&error) => Ok(false),
            Err(error) => Err(self.retry().failure(&error)),
        }
    }

    /// Runs the command for the first job, and settles it.
    async fn work_on_first(&mut self) -> Result<(), Failure> {
        if Instant::now() >= self.consumer.extend_at() && !self.consumer.extend().await {
            return self.drop_first("its lease was lost before it was begun");
        }
        let Some(held) = self.consumer.first() else { return Ok(()) };
        if Instant::now() >= held.give_up_at() {
            return self.release_first().await;
        }
        let ended = match self.command.start(held.epoch, &held.job) {
            Ok(running) => self.watch(running).await?,
            Err(error) if is_of_program(&error) => {
                let program = self.command.program().to_string_lossy();
                return Err(Failure::Other(format!("{program}: {error}")));
            }
            // The job is too long for an argument, or has a NUL.
            Err(error) => return self.fail_first(&format!("cannot be started: {error}")).await,
        };
        match ended {
            CommandEnd::Itself(status) if status.success() => self.finish_first().await,
            CommandEnd::Itself(status) => self.fail_first(&status.to_string()).await,
            CommandEnd::LeaseLost => self.drop_first("its lease was lost: the command was ended"),
            CommandEnd::Interrupted => self.release_first().await,
        }
    }

    /// Waits for a command, and extends the leases meanwhile.
    async fn watch(&mut self, mut running: RunningCommand) -> Result<CommandEnd, Failure> {
        let mut signals = 0;
        let mut stop_at = None;
        loop {
            let Some(held) = self.consumer.first() else { return Ok(CommandEnd::LeaseLost) };
            let (give_up_at, ends) = (held.give_up_at(), held.ends());
            let extend_at = self.consumer.extend_at();
            tokio::select! {
                status = running.wait() => return Ok(CommandEnd::Itself(status?)),
                () = sleep_until(give_up_at) => {
                    running.end(ends).await?;
                    return Ok(CommandEnd::LeaseLost);
                }
                () = sleep_until(extend_at) => {
                    if !self.consumer.extend().await {
                        running.end(Instant::now() + KILL_DELAY).await?;
                        return Ok(CommandEnd::LeaseLost);
                    }
                }
                // The first signal leaves the command the grace period, the second none.
                () = self.signals.wait_for(signals + 1), if signals < 2 => {
                    let grace = if signals == 0 { self.task.grace } else { Duration::ZERO };
                    stop_at = Some(Instant::now() + grace);
                    signals += 1;
                }
                () = sleep_until(stop_at.unwrap_or(give_up_at)), if stop_at.is_some() => {
                    // It may succeed at the last moment.
                    let status = running.end(Instant::now() + KILL_DELAY).await?;
                    let is_done = status.success();
                    return Ok(match is_done {
                        true => CommandEnd::Itself(status),
                        false => CommandEnd::Interrupted,
                    });
                }
            }
        }
    }

    /// Settles the first job; tries again while a call may succeed. Returns the name of the job and
    /// the outcome.
    async fn settle_first(
        &mut self,
        action: SettleAction,
        delay: Duration,
    ) -> Result<(String, SettleOutcome), Failure> {
        let job = self.consumer.first().map(name_of).unwrap_or_default();
        let mut retry = self.retry();
        loop {
            match self.consumer.settle_first(action, delay).await {
                Ok(outcome) => return Ok((job, outcome)),
                Err(error) => self.pause_for_settlement(&mut retry, error).await?,
            }
        }
    }

    async fn finish_first(&mut self) -> Result<(), Failure> {
        let (job, outcome) = self.settle_first(SettleAction::Ack, Duration::ZERO).await?;
        if outcome == SettleOutcome::Acked {
            self.totals.done += 1;
        } else {
            self.totals.lost += 1;
            say(&format!("{job} is done, but its lease was lost: it may be done again"));
        }
        Ok(())
    }

    async fn fail_first(&mut self, why: &str) -> Result<(), Failure> {
        let attempt = self.consumer.first().map_or(1, |held| held.job.attempt);
        let delay = retry_delay(self.task.retry_delay, attempt);
        let (job, outcome) = self.settle_first(SettleAction::Nack, delay).await?;
        self.totals.failed += 1;
        let next = match outcome {
            SettleOutcome::DeadLettered => "it was the last attempt: a dead letter".to_owned(),
            SettleOutcome::Returned => format!("again in {delay:?}"),
            _ => "its lease was lost".to_owned(),
        };
        say(&format!("{job}, attempt {attempt}: {why}: {next}"));
        Ok(())
    }

    async fn release_first(&mut self) -> Result<(), Failure> {
        self.settle_first(SettleAction::Release, Duration::ZERO).await?;
        self.totals.given_back += 1;
        Ok(())
    }

    fn drop_first(&mut self, why: &str) -> Result<(), Failure> {
        let job = self.consumer.first().map(name_of).unwrap_or_default();
        say(&format!("{job}: {why}"));
        self.consumer.drop_first();
        self.totals.lost += 1;
        Ok(())
    }

    /// Gives back the jobs that were not begun.
    pub(super) async fn give_back(&mut self) {
        self.totals.given_back += self.consumer.release_all().await;
    }

    /// Waits until `end`, or until a signal comes.
    async fn sleep_until(&mut self, end: Instant) {
        tokio::select! {
            () = sleep_until(end) => {}
            () = self.signals.wait_for(1) => {}
        }
    }

    /// Waits before a pull is tried again, or until a signal comes.
    async fn pause(&mut self, retry: &mut Retry, error: CallError) -> Result<(), Failure> {
        tokio::select! {
            paused = retry.pause_after_any(error) => paused,
            () = self.signals.wait_for(1) => Ok(()),
        }
    }

    /// Waits before a settlement is tried again; fails at a second signal.
    async fn pause_for_settlement(
        &mut self,
        retry: &mut Retry,
        error: CallError,
    ) -> Result<(), Failure> {
        tokio::select! {
            paused = retry.pause_after(error) => paused,
            () = self.signals.wait_for(2) => Err(Failure::Other("interrupted".to_owned())),
        }
    }
}

/// Whether the program cannot be run for any job.
fn is_of_program(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

fn name_of(held: &HeldJob) -> String {
    format!("{} job {}", shorten(&held.job.group_id), held.job.job_index)
}

/// The delay after an attempt: twice as long after each further one, up to the limit.
fn retry_delay(first: Duration, attempt: i32) -> Duration {
    let doublings = u32::try_from(attempt - 1).unwrap_or_default().min(27);
    let longest = Duration::from_millis(NACK_DELAY_MILLIS.maximum.unsigned_abs());
    first.saturating_mul(1 << doublings).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_day() {
        for (first, attempt, millis) in [
            (1_000, 1, 1_000),
            (1_000, 2, 2_000),
            (1_000, 5, 16_000),
            (1_000, 18, 86_400_000),
            (1_000, 1_000, 86_400_000),
            (0, 1_000, 0),
            (86_400_000, i32::MAX, 86_400_000),
        ] {
            let first = Duration::from_millis(first);
            assert_eq!(retry_delay(first, attempt), Duration::from_millis(millis));
        }
    }
}
