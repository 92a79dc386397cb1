//! `offbeat spread`

mod calls;
mod certificate;
mod child;
mod consumer;
mod deal;
mod groups;
mod leases;
mod names;
mod producer;
mod signals;
mod submit;
mod work;
mod worker;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use offbeat_core::spread::{OnShortage, Policy, SpreadSpec};

use super::Failure;
use certificate::{CertificateFile, sentence};
pub use deal::{Formats, OutputFormat, deal};
pub use groups::InputFormat;

/// Exit status if the order is not good enough, or jobs became dead letters.
const EXIT_UNMET: u8 = 2;

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

/// The order in which groups are spread.
#[derive(Debug, Args)]
struct OrderArgs {
    /// The number of groups that take turns: the distance between jobs of one group
    #[arg(id = "feeder_count", long = "feeders", value_name = "COUNT")]
    feeders: Option<i64>,

    /// The order in which groups take turns [default: round-robin]
    #[arg(long, value_enum, requires = "feeder_count")]
    policy: Option<PolicyName>,

    /// The most groups that are open at once, with cooldown [default: 1024, or --feeders if that is more]
    #[arg(
        id = "max_open_group_count",
        long = "max-open-groups",
        value_name = "COUNT",
        requires = "feeder_count"
    )]
    max_open_groups: Option<i64>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct SpreadArgs {
    #[command(subcommand)]
    command: Option<SpreadCommand>,

    #[command(flatten)]
    order: OrderArgs,

    /// How groups are written
    #[arg(long, value_enum, default_value_t = InputFormat::Auto)]
    input: InputFormat,

    /// How turns are written [default: as the input; json with --on-shortage wait]
    #[arg(long, value_enum)]
    output: Option<OutputFormat>,

    /// Continue with this turn of the same groups: leave out those before it
    #[arg(long, default_value_t = 0, value_name = "SEQUENCE")]
    from_sequence: u64,

    /// What happens when every open group must still rest, with cooldown [default: emit]
    #[arg(long, value_enum)]
    on_shortage: Option<ShortageName>,

    /// Write the distances that were kept to this file, as JSON
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    /// End with exit status 2 if two jobs of a group are less than so many turns apart
    #[arg(long, value_name = "TURNS", value_parser = clap::value_parser!(u64).range(1..))]
    min_gap: Option<u64>,
}

#[derive(Debug, Subcommand)]
enum SpreadCommand {
    /// Submit groups from standard input to a named spread of a server
    ///
    /// Reads groups as `offbeat spread` does. Opens the spread, or uses it as it is open if there are no
    /// --feeders. A JSON string is submitted as its characters, anything else as its JSON. Submitting a
    /// group again changes nothing.
    Submit(submit::SubmitArgs),
    /// Take jobs of a named spread, and run a command for each
    ///
    /// The command gets the job in place of {}, or on standard input if no argument has a {}. Exit status
    /// 0 settles the job as done. Any other puts it back, until it has had all its attempts and becomes a
    /// dead letter. The lease is extended while the command runs; if it is lost all the same, the
    /// command is ended. Ends at SIGTERM or SIGINT, when the spread is closed, or --until-empty.
    ///
    /// The command finds OFFBEAT_JOB_GROUP, OFFBEAT_JOB_INDEX and, as its fencing token,
    /// OFFBEAT_JOB_EPOCH, OFFBEAT_JOB_SEQUENCE and OFFBEAT_JOB_ATTEMPT in its environment.
    Work(work::WorkArgs),
}

impl OrderArgs {
    fn policy(&self) -> Policy {
        match self.policy {
            None | Some(PolicyName::RoundRobin) => Policy::RoundRobin,
            Some(PolicyName::Cooldown) => Policy::Cooldown,
        }
    }
}

pub(super) fn run(args: &SpreadArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        Some(SpreadCommand::Submit(args)) => submit::run(args),
        Some(SpreadCommand::Work(args)) => work::run(args),
        None => spread(args),
    }
}

fn spread(args: &SpreadArgs) -> Result<ExitCode, Failure> {
    let spec = spec(args)?;
    let waits = spec.on_shortage == Some(OnShortage::Wait);
    if waits && args.output.is_some_and(|output| output != OutputFormat::Json) {
        let message =
            "--output: must be json with --on-shortage wait: no line of text is an idle turn";
        return Err(Failure::Usage(message.to_owned()));
    }
    let output = args.output.or(waits.then_some(OutputFormat::Json));
    let file = args.certificate.as_deref().map(CertificateFile::try_new).transpose()?;
    let formats = Formats { input: args.input, output };
    let (input, out) = (io::stdin().lock(), io::stdout().lock());
    let certificate = deal(&spec, args.from_sequence, formats, input, out)?;
    if let Some(file) = file {
        file.write(&certificate)?;
    }
    let _ = writeln!(io::stderr(), "{}", sentence(&certificate, &spec));
    match (certificate.min_gap_turns, args.min_gap) {
        (Some(gap), Some(wanted)) if gap < wanted => {
            let _ = writeln!(io::stderr(), "offbeat: --min-gap: {gap} is less than {wanted} turns");
            Ok(EXIT_UNMET.into())
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn spec(args: &SpreadArgs) -> Result<SpreadSpec, Failure> {
    let feeder_count = args.order.feeders.ok_or_else(|| {
        Failure::Usage("--feeders: is missing: the number of groups that take turns".to_owned())
    })?;
    Ok(SpreadSpec {
        policy: args.order.policy(),
        feeder_count,
        max_open_group_count: args.order.max_open_groups,
        on_shortage: args.on_shortage.map(|shortage| match shortage {
            ShortageName::Emit => OnShortage::Emit,
            ShortageName::Wait => OnShortage::Wait,
        }),
    })
}
