//! A command that runs for a job.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::process::{ExitStatus, Stdio};

use offbeat_proto::LeasedJob;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Stands for the job in an argument.
const PLACEHOLDER: &[u8] = b"{}";

/// The command to run for each job.
pub(super) struct JobCommand<'a> {
    program: &'a OsStr,
    arguments: &'a [OsString],
    /// Whether the job goes to standard input: no argument has the placeholder.
    uses_stdin: bool,
}

impl<'a> JobCommand<'a> {
    /// A program and its arguments; none if there is no program.
    pub(super) fn new(words: &'a [OsString]) -> Option<Self> {
        let (program, arguments) = words.split_first()?;
        let uses_stdin = !arguments.iter().any(|argument| find(argument.as_bytes()).is_some());
        Some(Self { program, arguments, uses_stdin })
    }

    pub(super) const fn program(&self) -> &OsStr {
        self.program
    }

    /// Runs it for a job, in a process group of its own, which a signal to this program does not
    /// reach.
    pub(super) fn start(&self, epoch: i64, job: &LeasedJob) -> io::Result<RunningCommand> {
        let mut command = Command::new(self.program);
        for argument in self.arguments {
            command.arg(with_job(argument, &job.payload));
        }
        let stdin = if self.uses_stdin { Stdio::piped() } else { Stdio::null() };
        let mut child = command
            .env("OFFBEAT_JOB_GROUP", &job.group_id)
            .env("OFFBEAT_JOB_INDEX", job.job_index.to_string())
            .env("OFFBEAT_JOB_EPOCH", epoch.to_string())
            .env("OFFBEAT_JOB_SEQUENCE", job.sequence.to_string())
            .env("OFFBEAT_JOB_ATTEMPT", job.attempt.to_string())
            .stdin(stdin)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let input = child.stdin.take().map(|mut stdin| {
            let payload = job.payload.clone();
            // A command need not read its job.
            tokio::spawn(async move { drop(stdin.write_all(&payload).await) })
        });
        Ok(RunningCommand { child, input })
    }
}

/// A running command.
pub(super) struct RunningCommand {
    child: Child,
    input: Option<JoinHandle<()>>,
}

impl RunningCommand {
    /// Waits until it has ended.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks it to end (SIGTERM), and kills it if it has not ended at `by`.
    pub(super) async fn end(mut self, by: Instant) -> io::Result<ExitStatus> {
        self.signal(Signal::TERM);
        if let Ok(ended) = tokio::time::timeout_at(by, self.child.wait()).await {
            return ended;
        }
        self.signal(Signal::KILL);
        self.child.wait().await
    }

    /// Signals the command and the processes that it has started.
    fn signal(&self, signal: Signal) {
        let id = self.child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        if let Some(id) = id {
            let _ = kill_process_group(id, signal); // it may have ended
        }
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        if let Some(input) = self.input.take() {
            input.abort();
        }
    }
}

fn find(text: &[u8]) -> Option<usize> {
    text.windows(PLACEHOLDER.len()).position(|part| part == PLACEHOLDER)
}

fn with_job(argument: &OsStr, job: &[u8]) -> OsString {
    let mut rest = argument.as_bytes();
    let mut text = Vec::new();
    while let Some(at) = find(rest) {
        let (before, behind) = rest.split_at(at);
        text.extend_from_slice(before);
        text.extend_from_slice(job);
        rest = behind.strip_prefix(PLACEHOLDER).unwrap_or_default();
    }
    text.extend_from_slice(rest);
    OsString::from_vec(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_by_the_job() {
        for (argument, text) in [
            ("{}", "j{}b"),
            ("--job={}", "--job=j{}b"),
            ("{}/{}", "j{}b/j{}b"),
            ("{", "{"),
            ("{ }", "{ }"),
            ("", ""),
        ] {
            assert_eq!(with_job(argument.as_ref(), b"j{}b"), text);
        }
        let words = ["echo", "{}"].map(OsString::from);
        assert!(!JobCommand::new(&words).unwrap().uses_stdin);
        let words = ["{}", "x"].map(OsString::from);
        assert!(JobCommand::new(&words).unwrap().uses_stdin, "the program is no argument");
        assert!(JobCommand::new(&[]).is_none());
    }
}
