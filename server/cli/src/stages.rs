//! `offbeat stages allocate`

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Read as _, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use offbeat_core::{Reason, Rejection, Span};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::Failure;
use super::output::{AnswerFormat, Row, RowFormat, RowWriter, write_json_line};
use super::schedule::parse_count;
use offbeat_proto as proto;
use offbeat_proto::allocate_workers_response::Outcome;
use offbeat_proto::json::read_json;
use offbeat_service::api::stages::allocate;
use offbeat_service::limits::INPUT_BYTES;

#[derive(Debug, Args)]
pub(super) struct AllocateArgs {
    /// The number of workers
    #[arg(id = "worker_count", long = "workers", value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    workers: i64,

    /// The rule by which they are allocated
    #[arg(long, value_enum, default_value_t = RuleArg::MinimumScore)]
    rule: RuleArg,

    /// How a stage's place in the pipeline counts
    #[arg(long, value_enum, default_value_t = WeightingArg::Even)]
    weighting: WeightingArg,

    /// Choose among the allocations that are at most this many moves away from the current one
    #[arg(id = "max_move_count", long = "max-moves", value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    max_moves: Option<i64>,

    /// Keep the current allocation unless the score falls by this many percent
    #[arg(id = "min_improvement_percent", long = "min-improvement", value_name = "PERCENT", value_parser = parse_count, default_value_t = 0, allow_hyphen_values = true)]
    min_improvement: i64,

    /// How to write the allocation
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    format: AnswerFormat,
}

/// The rule by which workers are allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RuleArg {
    /// The smallest sum of workload / (workers + 1)
    MinimumScore,
    /// Highest averages, kinder to large stages
    DHondt,
}

/// How a stage's place in the pipeline counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WeightingArg {
    /// Not at all
    Even,
    /// The workload of the i-th stage counts i times
    Latency,
}

pub(super) fn run(args: &AllocateArgs) -> Result<ExitCode, Failure> {
    let answer = allocate(question(args, &read_input()?)?)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let allocation = match answer.outcome {
        Some(Outcome::Allocation(allocation)) => Some(allocation),
        Some(Outcome::AllStagesDone(_)) | None => None,
    };
    match args.format {
        AnswerFormat::Json => write_json_line(&mut out, &as_json(allocation.as_ref()))?,
        AnswerFormat::Table => write_table(&mut out, allocation)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// All of standard input, within its limit.
fn read_input() -> Result<String, Failure> {
    let mut text = String::new();
    let room = INPUT_BYTES.max_size() as u64;
    let read = io::stdin().lock().take(room + 1).read_to_string(&mut text);
    read.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Failure::Usage("standard input: must be UTF-8".to_owned()),
        _ => error.into(),
    })?;
    if text.len() as u64 > room {
        return Err(Failure::Usage(format!("standard input: must be {INPUT_BYTES}")));
    }
    Ok(text)
}

/// The fields of a stage: columns of CSV, or fields of a JSON object.
const FIELDS: [&str; 9] = [
    "name",
    "backlog_count",
    "mean_run_time",
    "run_times",
    "done",
    "min_worker_count",
    "max_worker_count",
    "current_worker_count",
    "busy_worker_count",
];

/// Reads stages from a JSON array, or from CSV.
///
/// # Errors
/// When the text is neither, or a field is refused.
pub fn read_stages(input: &str) -> Result<Vec<proto::Stage>, Failure> {
    let json = if input.trim_start().starts_with(['[', '{']) {
        let stages: Vec<BTreeMap<String, IgnoredAny>> =
            serde_json::from_str(input).map_err(|error| {
                Failure::Usage(format!("standard input: must be a JSON array of stages ({error})"))
            })?;
        stages.iter().flat_map(BTreeMap::keys).try_for_each(|field| is_known(field))?;
        format!(r#"{{"stages":{input}}}"#)
    } else {
        json!({ "stages": stages_of_csv(input)? }).to_string()
    };
    let read: proto::AllocateWorkersRequest =
        read_json("offbeat.v1.AllocateWorkersRequest", json.as_bytes())?;
    Ok(read.stages)
}

/// Refuses a field that stages do not have. The names of the JSON API are good, too: `backlogCount`.
fn is_known(field: &str) -> Result<(), Failure> {
    let mut snake_case = String::new();
    for letter in field.chars() {
        if letter.is_ascii_uppercase() {
            snake_case.push('_');
        }
        snake_case.push(letter.to_ascii_lowercase());
    }
    if FIELDS.contains(&snake_case.as_str()) {
        return Ok(());
    }
    let fields = FIELDS.join(", ");
    Err(Failure::Usage(format!("standard input: {field:?} is no field of a stage: {fields}")))
}

fn question(args: &AllocateArgs, input: &str) -> Result<proto::AllocateWorkersRequest, Failure> {
    let stages = read_stages(input)?;
    let is_new = stages.iter().all(|stage| stage.current_worker_count == 0);
    if is_new && (args.max_moves.is_some() || args.min_improvement != 0) {
        let flag = if args.max_moves.is_some() { "--max-moves" } else { "--min-improvement" };
        return Err(Failure::Usage(format!(
            "{flag}: must not be set where no stage has a current_worker_count: all workers are new, \
             and none moves"
        )));
    }
    let narrow = |flag: &str, value: i64| {
        i32::try_from(value).map_err(|_| {
            let allowed = "must be a number of 32 bits";
            Rejection::new(Reason::OutOfRange, flag, value, allowed)
        })
    };
    let rule = match args.rule {
        RuleArg::MinimumScore => proto::AllocationRule::MinimumScore,
        RuleArg::DHondt => proto::AllocationRule::DHondt,
    };
    let weighting = match args.weighting {
        WeightingArg::Even => proto::StageWeighting::Even,
        WeightingArg::Latency => proto::StageWeighting::Latency,
    };
    Ok(proto::AllocateWorkersRequest {
        stages,
        worker_count: Some(narrow("--workers", args.workers)?),
        rule: rule.into(),
        weighting: weighting.into(),
        max_move_count: args.max_moves.map(|moves| narrow("--max-moves", moves)).transpose()?,
        min_improvement_percent: narrow("--min-improvement", args.min_improvement)?,
    })
}

/// The columns are named like the fields of the JSON; an empty cell is a field that is not set.
fn stages_of_csv(input: &str) -> Result<Vec<Value>, Failure> {
    let bad = |error: csv::Error| Failure::Usage(format!("standard input: {error}"));
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input.as_bytes());
    let titles = reader.headers().map_err(bad)?.clone();
    titles.iter().try_for_each(is_known)?;
    let mut distinct = BTreeSet::new();
    if let Some(title) = titles.iter().find(|title| !distinct.insert(*title)) {
        let fields = FIELDS.join(", ");
        let message =
            format!("standard input: two columns {title:?}: must be one of each of {fields}");
        return Err(Failure::Usage(message));
    }
    let stage = |record: csv::StringRecord| {
        let cells = titles.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
        let cells = cells.map(|(title, cell)| (title.to_owned(), value_of(title, cell)));
        let mut row = Map::new();
        row.extend(cells);
        Value::Object(row)
    };
    reader.records().map(|record| record.map(stage).map_err(bad)).collect()
}

/// Numbers may be strings in proto JSON; truth values may not.
fn value_of(title: &str, cell: &str) -> Value {
    match (title, cell) {
        ("done", "true") => Value::Bool(true),
        ("done", "false") => Value::Bool(false),
        _ => Value::String(cell.to_owned()),
    }
}

fn as_json(allocation: Option<&proto::WorkerAllocation>) -> Value {
    let row = |stage: &proto::StageAllocation| json!({ "stage_name": stage.stage_name, "worker_count": stage.worker_count });
    let rows = allocation.map(|found| found.stages.iter().map(row).collect::<Vec<_>>());
    json!({ "allocations": rows })
}

/// The cells of a stage, in a table alone.
#[derive(serde::Serialize)]
struct StageRow(Vec<String>);

impl Row for StageRow {
    const COLUMNS: &'static [(&'static str, isize)] = &[
        ("STAGE", 20),
        ("WORKERS", -10),
        ("WORKLOAD S", -16),
        ("SCORE S", -16),
        ("NEXT QUOTIENT S", -16),
        ("", 0),
    ];

    fn cells(&self) -> Vec<String> {
        self.0.clone()
    }
}

fn write_table(
    out: &mut impl Write,
    allocation: Option<proto::WorkerAllocation>,
) -> Result<(), Failure> {
    let Some(allocation) = allocation else {
        writeln!(out, "Every stage is done: no worker is needed.")?;
        return Ok(());
    };
    let seconds = |micros: f64| format!("{:.3}", micros / 1e6);
    let mut rows = RowWriter::new(RowFormat::Table, &mut *out);
    for stage in &allocation.stages {
        #[expect(clippy::cast_precision_loss, reason = "to be read by people")]
        let workload = stage.workload_micros as f64;
        let assumed = || {
            let mean = stage.mean_run_time.unwrap_or_default();
            let mean = Span::try_new(mean.seconds, mean.nanos);
            mean.map(|mean| format!("not measured: {mean} assumed")).unwrap_or_default()
        };
        let remark = if stage.run_time_estimated { assumed() } else { String::new() };
        rows.write(&StageRow(vec![
            stage.stage_name.clone(),
            stage.worker_count.to_string(),
            seconds(workload),
            seconds(stage.score),
            seconds(stage.next_quotient),
            remark,
        ]))?;
    }
    drop(rows);
    writeln!(out)?;
    for proto::WorkerMove { from_stage_name, to_stage_name, worker_count } in &allocation.moves {
        match (from_stage_name.as_str(), to_stage_name.as_str()) {
            ("", to) => writeln!(out, "{worker_count} new to {to}")?,
            (from, "") => writeln!(out, "{worker_count} of {from} not needed")?,
            (from, to) => writeln!(out, "{worker_count} from {from} to {to}")?,
        }
    }
    if allocation.unassigned_worker_count > 0 {
        let count = allocation.unassigned_worker_count;
        writeln!(out, "{count} left over: every stage has its maximum")?;
    }
    if allocation.improvement_too_small {
        writeln!(out, "A better allocation was turned down for --min-improvement.")?;
    }
    writeln!(out, "Score {} s.", seconds(allocation.score))?;
    Ok(())
}
