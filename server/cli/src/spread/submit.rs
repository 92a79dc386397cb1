//! `offbeat spread submit`

use std::io;
use std::process::ExitCode;

use clap::Args;
use offbeat_core::limits::{LEASE_MILLIS, MAX_ATTEMPT_COUNT};
use offbeat_core::spread::{Policy, Spread, SpreadSpec};
use offbeat_core::{Reason, Rejection};
use offbeat_proto::{NamedSpreadSpec, SpreadLimits, SpreadOrder, SpreadPolicy};
use offbeat_service::config::within;

use super::calls::{CallArgs, Millis, millis_within, say};
use super::groups::{GroupReader, InputFormat};
use super::producer::{Producer, Totals};
use super::{EXIT_UNMET, OrderArgs};
use crate::Failure;
use crate::output::counted;

#[derive(Debug, Args)]
pub(super) struct SubmitArgs {
    /// The name of the spread
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    order: OrderArgs,

    /// How long a lease lasts, with --feeders [default: 30s]
    #[arg(long, value_name = "SPAN", requires = "feeder_count", value_parser = millis_within(LEASE_MILLIS))]
    lease_duration: Option<Millis>,

    /// The attempts at a job before it becomes a dead letter, with --feeders [default: 5]
    #[arg(id = "max_attempt_count", long = "max-attempts", value_name = "COUNT", requires = "feeder_count", value_parser = within(MAX_ATTEMPT_COUNT), allow_negative_numbers = true)]
    max_attempts: Option<i64>,

    /// How groups are written
    #[arg(long, value_enum, default_value_t = InputFormat::Auto)]
    input: InputFormat,

    /// Wait until all jobs are settled, and submit those again that a restart of the server has lost;
    /// exit status 2 if some became dead letters
    #[arg(long)]
    wait: bool,

    #[command(flatten)]
    calls: CallArgs,
}

pub(super) fn run(args: &SubmitArgs) -> Result<ExitCode, Failure> {
    let spec = spec(args)?;
    let client = args.calls.client()?;
    // The second thread notices connections that end while the input is awaited.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let mut producer = Producer::open(client, &args.name, spec, args.calls.retry_for()).await?;
        let mut groups = GroupReader::new(io::stdin().lock(), args.input);
        while let Some(group) = groups.next_group()? {
            producer.submit(group).await?;
        }
        say_submitted(producer.totals(), args.wait);
        if !args.wait {
            return Ok(ExitCode::SUCCESS);
        }
        producer.wait().await?;
        Ok(say_settled(producer.totals()))
    })
}

fn jobs_of_groups(totals: &Totals) -> String {
    format!("{} of {}", counted(totals.job_count, "job"), counted(totals.group_count, "group"))
}

fn say_submitted(totals: &Totals, waits: bool) {
    let next = if waits {
        "waiting until they are settled"
    } else {
        "they are as safe as the server keeps them (--wait submits them again if it loses them)"
    };
    say(&format!("{} received: {next}", jobs_of_groups(totals)));
    if totals.earlier_count > 0 {
        let groups = counted(totals.earlier_count, "group");
        say(&format!("{groups} had been settled before: not run again under the same name"));
    }
}

fn say_settled(totals: &Totals) -> ExitCode {
    let jobs = jobs_of_groups(totals);
    if totals.dead_letter_count == 0 {
        say(&format!("{jobs} settled"));
        return ExitCode::SUCCESS;
    }
    say(&format!("{jobs} settled, {}", counted(totals.dead_letter_count, "dead letter")));
    EXIT_UNMET.into()
}

/// The spec to open the spread with; `None` without `--feeders`.
fn spec(args: &SubmitArgs) -> Result<Option<NamedSpreadSpec>, Failure> {
    let Some(feeder_count) = args.order.feeders else { return Ok(None) };
    let max_open_group_count = args.order.max_open_groups;
    let policy = args.order.policy();
    Spread::<()>::try_new(&SpreadSpec {
        policy,
        feeder_count,
        max_open_group_count,
        on_shortage: None,
    })?;
    let order = SpreadOrder {
        policy: match policy {
            Policy::RoundRobin => SpreadPolicy::RoundRobin,
            Policy::Cooldown => SpreadPolicy::Cooldown,
        }
        .into(),
        feeder_count: Some(narrow("feeder_count", feeder_count)?),
        max_open_group_count: max_open_group_count
            .map(|count| narrow("max_open_group_count", count))
            .transpose()?,
    };
    let limits = SpreadLimits {
        max_attempt_count: args
            .max_attempts
            .map(|count| narrow("max_attempt_count", count))
            .transpose()?,
        ..SpreadLimits::default()
    };
    let lease_duration = args.lease_duration.map(std::time::Duration::from);
    Ok(Some(NamedSpreadSpec {
        order: Some(order),
        lease_duration: lease_duration.and_then(|lease| lease.try_into().ok()),
        limits: Some(limits),
    }))
}

fn narrow(field: &str, value: i64) -> Result<i32, Rejection> {
    let allowed = "must be a number of 32 bits";
    i32::try_from(value).map_err(|_| Rejection::new(Reason::OutOfRange, field, value, allowed))
}
