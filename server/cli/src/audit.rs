//! `offbeat slots audit`

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Args;
use offbeat_core::Moment;
use offbeat_core::population::ExpectedLoad;
use offbeat_core::population::{Audit, AuditReport, Finding};
use serde::Serialize;

use super::Failure;
use super::chart::{self, Bar};
use super::ids::{IdArgs, IdInput};
use super::output::{AnswerFormat, write_json_line};
use super::schedule::{ScheduleArgs, parse_moment};
use offbeat_service::clock;

/// Maximum number of bars in the chart; with more slots, several share one.
const BARS: usize = 32;

#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    #[command(flatten)]
    ids: IdArgs,

    /// IDs must run at or after this instant (RFC 3339) [default: now]
    #[arg(id = "from_time", long = "from", value_name = "INSTANT", value_parser = parse_moment)]
    from: Option<Moment>,

    /// How to write the findings
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    format: AnswerFormat,

    #[command(flatten)]
    schedule: ScheduleArgs,
}

#[derive(Debug, Serialize)]
struct Findings<'a> {
    id_count: u64,
    refused_count: u64,
    slot_loads: &'a [f64],
    fullest_slot_index: u32,
    fullest_load: f64,
    fullest_to_mean_ratio: f64,
    expected_fullest_median: u64,
    expected_fullest_p99: u64,
    empty_slot_count: u32,
    chi_square: f64,
    p_value: Option<f64>,
    warnings: Vec<Warning<'a>>,
}

#[derive(Debug, Serialize)]
struct Warning<'a> {
    finding: &'static str,
    message: &'a str,
}

pub(super) fn run(args: &AuditArgs) -> Result<ExitCode, Failure> {
    let schedule = args.schedule.schedule()?;
    let mut audit = Audit::try_new(&schedule, args.from.unwrap_or_else(clock::now))?;
    let visit = |given: IdInput<'_>| {
        let IdInput { id, weight, .. } = given;
        Ok(schedule.place(&id).and_then(|place| audit.add(&id, &place, weight)))
    };
    let refused = args.ids.each(schedule.placement().kind(), visit)?;
    let report = audit.report()?;
    let expected = schedule.slot_load(report.id_count);
    let mut out = BufWriter::new(io::stdout().lock());
    match args.format {
        AnswerFormat::Json => write_json_line(&mut out, &findings(&report, expected, refused))?,
        AnswerFormat::Table => write_lines(&mut out, &report, expected, refused)?,
    }
    out.flush()?;
    Ok(if refused == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn findings(report: &AuditReport, expected: ExpectedLoad, refused_count: u64) -> Findings<'_> {
    let warning = |warning: &'_ offbeat_core::population::Warning| match warning.finding {
        Finding::NeverRun => "NEVER_RUN",
        Finding::TimeBasedUuids => "TIME_BASED_UUIDS",
        Finding::SparseIntegers => "SPARSE_INTEGERS",
        Finding::Uneven => "UNEVEN",
        Finding::HeavyId => "HEAVY_ID",
        Finding::Duplicates => "DUPLICATES",
    };
    Findings {
        id_count: report.id_count,
        refused_count,
        slot_loads: &report.slot_loads,
        fullest_slot_index: report.fullest_slot,
        fullest_load: report.fullest_load,
        fullest_to_mean_ratio: report.fullest_to_mean_ratio,
        expected_fullest_median: expected.fullest_median,
        expected_fullest_p99: expected.fullest_p99,
        empty_slot_count: report.empty_slot_count,
        chi_square: report.chi_square,
        p_value: report.p_value,
        warnings: report
            .warnings
            .iter()
            .map(|found| Warning { finding: warning(found), message: &found.message })
            .collect(),
    }
}

fn write_lines(
    out: &mut impl Write,
    report: &AuditReport,
    expected: ExpectedLoad,
    refused: u64,
) -> io::Result<()> {
    let slots = report.slot_loads.len();
    writeln!(out, "IDs          {} in {slots} slots, {refused} refused", report.id_count)?;
    writeln!(
        out,
        "fullest      slot {} with {:.1}, {:.2} times the mean; {} slots hold nothing",
        report.fullest_slot,
        report.fullest_load,
        report.fullest_to_mean_ratio,
        report.empty_slot_count
    )?;
    writeln!(
        out,
        "by chance    {} IDs in the fullest (median), {} (99th percentile)",
        expected.fullest_median, expected.fullest_p99
    )?;
    match report.p_value {
        Some(p) => writeln!(
            out,
            "chi-square   {:.1}; as uneven by chance with a probability of {p:.4}",
            report.chi_square
        )?,
        None => writeln!(
            out,
            "chi-square   {:.1}; says nothing with fewer than five IDs a slot",
            report.chi_square
        )?,
    }
    if report.warnings.is_empty() {
        writeln!(out, "warnings     none")?;
    }
    for warning in &report.warnings {
        writeln!(out, "WARNING      {}", warning.message)?;
    }
    writeln!(out)?;
    let bars: Vec<Bar> = chart::grouped(&report.slot_loads, BARS)
        .into_iter()
        .map(|(first, last, load)| Bar {
            label: if first == last {
                format!("slot {first}")
            } else {
                format!("slots {first}-{last}")
            },
            value: load,
            figure: format!("{load:.0}"),
        })
        .collect();
    chart::write(out, &bars, chart::width())
}
