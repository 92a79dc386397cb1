//! `offbeat slots compare`

use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use offbeat_core::comparison::{Job, Pair, Separation, compare};
use offbeat_core::limits::COMPARED_JOBS;
use offbeat_core::{ScheduleName, Span};
use serde::Serialize;

use super::Failure;
use super::named::{find, parse_name, read};
use super::output::{Row, RowFormat, RowWriter};
use super::schedule::parse_span;

/// Exit status if some jobs are not known to be apart.
const EXIT_NOT_APART: u8 = 1;

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// The file of schedules (TOML)
    #[arg(long, value_name = "FILE")]
    schedules: PathBuf,

    /// A job: its schedule, its kind where the schedule declares some, and how long it runs at most, such
    /// as bank-sync/1, bank-sync/1:import or reports/2=10m; repeat the flag for each job
    #[arg(long = "job", required = true, value_name = "NAME/VERSION[:KIND][=SPAN]", value_parser = parse_job)]
    jobs: Vec<JobText>,

    /// How to write the pairs
    #[arg(long, value_enum, default_value_t = RowFormat::Table)]
    format: RowFormat,
}

#[derive(Debug, Clone)]
struct JobText {
    text: String,
    name: ScheduleName,
    kind: Option<String>,
    run_time: Option<Span>,
}

#[derive(Debug, Serialize)]
struct PairRow<'a> {
    first: &'a str,
    second: &'a str,
    separation: &'static str,
    first_to_second: Option<String>,
    second_to_first: Option<String>,
    reason: String,
}

impl Row for PairRow<'_> {
    const COLUMNS: &'static [(&'static str, isize)] =
        &[("FIRST", 24), ("SECOND", 24), ("SEPARATION", 10), ("WHY", 60)];

    fn cells(&self) -> Vec<String> {
        let words = [self.first, self.second, self.separation, &self.reason];
        words.map(str::to_owned).to_vec()
    }
}

pub(super) fn run(args: &CompareArgs) -> Result<ExitCode, Failure> {
    let count = args.jobs.len();
    if !COMPARED_JOBS.allows(count as i128) {
        return Err(Failure::Usage(format!(
            "--job: {count} jobs are refused: must be {COMPARED_JOBS}"
        )));
    }
    let catalog = read(&args.schedules)?;
    let mut jobs = Vec::with_capacity(count);
    for JobText { text, name, kind, run_time } in &args.jobs {
        let schedule = find(&catalog, "--job", name)?;
        let job = Job::try_new(&schedule, kind.as_deref(), *run_time);
        jobs.push((text.as_str(), job.map_err(|refused| refused.under(&format!("--job {text}")))?));
    }
    let mut rows = RowWriter::new(args.format, BufWriter::new(io::stdout().lock()));
    let mut all_apart = true;
    for (index, (first, one)) in jobs.iter().enumerate() {
        for (second, other) in jobs.iter().skip(index + 1) {
            let Pair { separation, reason, distances } = compare(one, other);
            all_apart &= separation == Separation::Apart;
            let (forward, backward) = distances.unzip();
            rows.write(&PairRow {
                first,
                second,
                separation: match separation {
                    Separation::Apart => "APART",
                    Separation::Unknown => "UNKNOWN",
                    Separation::Meet => "MEET",
                },
                first_to_second: forward.map(|span| span.to_string()),
                second_to_first: backward.map(|span| span.to_string()),
                reason,
            })?;
        }
    }
    rows.flush()?;
    Ok(if all_apart { ExitCode::SUCCESS } else { EXIT_NOT_APART.into() })
}

fn parse_job(text: &str) -> Result<JobText, String> {
    let (job, run_time) = match text.split_once('=') {
        Some((job, span)) => (job, Some(parse_span(span)?)),
        None => (text, None),
    };
    let (name, kind) = match job.split_once(':') {
        Some((name, kind)) => (name, Some(kind.to_owned())),
        None => (job, None),
    };
    Ok(JobText { text: text.to_owned(), name: parse_name(name)?, kind, run_time })
}
