//! `offbeat stages timeline`

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Args;

use super::RuleArgs;
use super::input::read_input;
use super::pipeline::Pipeline;
use super::steps::{Steps, read_steps};
use super::timeline_rows::rows_of;
use super::timeline_table::write_timeline;
use crate::Failure;
use crate::output::{RowFormat, write_json_line};

#[derive(Debug, Args)]
pub(crate) struct TimelineArgs {
    #[command(flatten)]
    rule: RuleArgs,

    /// How to write the allocations
    #[arg(long, value_enum, default_value_t = RowFormat::Table)]
    format: RowFormat,
}

pub(crate) fn run(args: &TimelineArgs) -> Result<ExitCode, Failure> {
    let Steps { names, steps, .. } = read_steps(&read_input()?)?;
    let mut pipeline = Pipeline::new(names.len());
    let (mut rows, mut last, mut before) = (Vec::new(), None, None);
    for step in &steps {
        let at = |failure: Failure| match failure {
            Failure::Usage(message) => Failure::Usage(format!("at {}: {message}", step.time)),
            other => other,
        };
        if let Some(before) = before.replace(step) {
            pipeline.advance(step.since(before)).map_err(|refused| at(refused.into()))?;
        }
        pipeline.change(&step.changes).map_err(at)?;
        let stages = pipeline.stages.clone();
        let allocation = pipeline.allocate(&args.rule).map_err(|refused| at(refused.into()))?;
        rows.extend(rows_of(&step.time, &names, &stages, allocation.as_ref()));
        last = Some((stages, allocation));
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match (args.format, last) {
        (RowFormat::Json, _) => rows.iter().try_for_each(|row| write_json_line(&mut out, row))?,
        (RowFormat::Csv, _) => {
            let mut csv = csv::Writer::from_writer(&mut out);
            rows.iter().try_for_each(|row| csv.serialize(row))?;
            csv.flush()?;
        }
        (RowFormat::Table, Some((stages, allocation))) => {
            write_timeline(&mut out, &args.rule, &names, &rows, &stages, allocation.as_ref())?;
        }
        (RowFormat::Table, None) => {}
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
