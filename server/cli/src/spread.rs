//! `offbeat spread`

use std::collections::VecDeque;
use std::io::{self, BufRead, BufWriter, Read as _, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use offbeat_core::spread::{
    Certificate, Dealt, OnShortage, Policy, Pull, Source, Spread, SpreadSpec, Turn,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Failure;
use super::output::write_json_line;
use offbeat_service::limits::GROUP_LINE_BYTES;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PolicyName {
    /// Feeders in turn
    RoundRobin,
    /// The largest rested group first
    Cooldown,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ShortageName {
    /// The group that has rested longest takes the turn
    Emit,
    /// The turn passes: a line {"sequence": 7, "idle": true}
    Wait,
}

#[derive(Debug, Args)]
pub(super) struct SpreadArgs {
    /// The number of groups that take turns: the distance between jobs of one group
    #[arg(id = "feeder_count", long = "feeders", value_name = "COUNT")]
    feeders: i64,

    /// The order in which groups take turns
    #[arg(long, value_enum, default_value_t = PolicyName::RoundRobin)]
    policy: PolicyName,

    /// The most groups that are open at once, with cooldown [default: 1024, or --feeders if that is more]
    #[arg(id = "max_open_group_count", long = "max-open-groups", value_name = "COUNT")]
    max_open_groups: Option<i64>,

    /// Continue with this turn of the same groups: leave out those before it
    #[arg(long, default_value_t = 0, value_name = "SEQUENCE")]
    from_sequence: u64,

    /// What happens when every open group must still rest, with cooldown [default: emit]
    #[arg(long, value_enum)]
    on_shortage: Option<ShortageName>,
}

/// A line of input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupLine {
    group: Box<RawValue>,
    jobs: VecDeque<Box<RawValue>>,
}

/// A line of output.
#[derive(Serialize)]
#[serde(untagged)]
enum TurnLine<'a> {
    Job { sequence: u64, group: &'a RawValue, job: &'a RawValue },
    Idle { sequence: u64, idle: bool },
}

#[derive(Serialize)]
struct CertificateLine {
    job_count: u64,
    group_count: u64,
    min_gap_turns: Option<u64>,
    best_min_gap_turns: Option<u64>,
    close_pair_count: u64,
    close_pair_lower_bound: u64,
    widest_span_turns: u64,
}

/// Groups from standard input, line by line, when they are needed.
struct Lines<R, W: Write> {
    input: R,
    /// Flushed before the next line of input is awaited: the reader of the output may write it.
    output: BufWriter<W>,
    number: u64,
    line: Vec<u8>,
    failure: Option<Failure>,
}

impl<R: BufRead, W: Write> Lines<R, W> {
    fn read_group(&mut self) -> Result<Option<GroupLine>, Failure> {
        self.output.flush()?;
        let limit = GROUP_LINE_BYTES.max_size();
        let room = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        loop {
            self.line.clear();
            self.number += 1;
            if self.input.by_ref().take(room).read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        let number = self.number;
        if self.line.len() > limit {
            let message =
                format!("line {number}: a longer line is refused: must be {GROUP_LINE_BYTES}");
            return Err(Failure::Other(message));
        }
        let read = match self.line.trim_ascii_start() {
            [b'{', ..] => serde_json::from_slice(&self.line),
            // The reader would take a list of the two for one.
            _ => Err(serde::de::Error::custom("not an object")),
        };
        read.map(Some).map_err(|error| {
            let allowed = r#"must be like {"group": "a", "jobs": ["a1", "a2"]}"#;
            Failure::Other(format!("line {number}: {error}: {allowed}"))
        })
    }
}

impl<R: BufRead, W: Write> Source for Lines<R, W> {
    type Group = GroupLine;
    type Job = (Box<RawValue>, Box<RawValue>);

    fn next_group(&mut self) -> Pull<GroupLine> {
        match self.read_group() {
            Ok(Some(group)) => Pull::Ready(group),
            Ok(None) => Pull::End,
            Err(failure) => {
                self.failure = Some(failure);
                Pull::Pending // for ever: the caller sees the failure
            }
        }
    }

    fn next_job(&mut self, group: &mut GroupLine) -> Pull<Self::Job> {
        match group.jobs.pop_front() {
            Some(job) => Pull::Ready((group.group.clone(), job)),
            None => Pull::End,
        }
    }

    fn size(&self, group: &GroupLine) -> u64 {
        group.jobs.len() as u64
    }
}

pub(super) fn run(args: &SpreadArgs) -> Result<ExitCode, Failure> {
    let spec = SpreadSpec {
        policy: match args.policy {
            PolicyName::RoundRobin => Policy::RoundRobin,
            PolicyName::Cooldown => Policy::Cooldown,
        },
        feeder_count: args.feeders,
        max_open_group_count: args.max_open_groups,
        on_shortage: args.on_shortage.map(|shortage| match shortage {
            ShortageName::Emit => OnShortage::Emit,
            ShortageName::Wait => OnShortage::Wait,
        }),
    };
    let (input, output) = (io::stdin().lock(), io::stdout().lock());
    let certificate = deal(&spec, args.from_sequence, input, output)?;
    write_json_line(&mut io::stderr(), &certificate_line(&certificate))?;
    Ok(ExitCode::SUCCESS)
}

/// Spreads the groups of `input`, one a line, and leaves out the turns before `from_sequence`.
///
/// # Errors
/// When a line is no group, or `output` cannot be written.
pub fn deal(
    spec: &SpreadSpec,
    from_sequence: u64,
    input: impl BufRead,
    output: impl Write,
) -> Result<Certificate, Failure> {
    let mut spread = Spread::try_new(spec)?;
    let mut lines =
        Lines { input, output: BufWriter::new(output), number: 0, line: Vec::new(), failure: None };
    let mut turns = 0;
    loop {
        match spread.next(&mut lines) {
            Turn::Job(Dealt { sequence, .. }) | Turn::Idle { sequence }
                if sequence < from_sequence =>
            {
                turns = sequence + 1;
            }
            Turn::Job(Dealt { sequence, job: (group, job), .. }) => {
                turns = sequence + 1;
                let line = TurnLine::Job { sequence, group: &group, job: &job };
                write_json_line(&mut lines.output, &line)?;
            }
            Turn::Idle { sequence } => {
                turns = sequence + 1;
                write_json_line(&mut lines.output, &TurnLine::Idle { sequence, idle: true })?;
            }
            Turn::Pending => {
                if let Some(failure) = lines.failure.take() {
                    return Err(failure);
                }
            }
            Turn::End => break,
        }
    }
    lines.output.flush()?;
    if from_sequence > turns {
        let message =
            format!("--from-sequence: {from_sequence} is refused: must be 0 to {turns}, all turns");
        return Err(Failure::Usage(message));
    }
    Ok(spread.certificate())
}

fn certificate_line(certificate: &Certificate) -> CertificateLine {
    let Certificate {
        job_count,
        group_count,
        min_gap_turns,
        best_min_gap_turns,
        close_pair_count,
        close_pair_lower_bound,
        widest_span_turns,
    } = *certificate;
    CertificateLine {
        job_count,
        group_count,
        min_gap_turns,
        best_min_gap_turns,
        close_pair_count,
        close_pair_lower_bound,
        widest_span_turns,
    }
}
