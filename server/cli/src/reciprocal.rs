//! `offbeat slots reciprocal`

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use offbeat_core::comparison::{Delays, check_suitable};
use offbeat_core::reciprocal::{KindSlot, Reciprocals, Spacing};
use offbeat_core::{Rejection, Schedule, Span};
use serde::Serialize;

use super::Failure;
use super::output::{AnswerFormat, Row, RowFormat, RowWriter, write_json_line};
use super::schedule::{MoreScheduleArgs, parse_count, parse_span};
use offbeat_text::CycleText;

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("cycle_or_slots").required(true).multiple(true).args(["cycle", "slot_count", "schedules"])))]
pub(super) struct ReciprocalArgs {
    /// The length of the cycle, such as 8h. Without it and --schedule, --slots is needed, and no times are
    /// shown
    #[arg(long, alias = "period", value_name = "SPAN|UNIT", value_parser = CycleText::parse, allow_hyphen_values = true)]
    cycle: Option<CycleText>,

    /// The slot that the answer is about
    #[arg(id = "slot_index", long = "slot", value_name = "INDEX", default_value_t = 0, value_parser = parse_count, allow_hyphen_values = true)]
    slot: i64,

    /// The number of kinds that must not meet; required unless --run-time is given
    #[arg(
        id = "kind_count",
        long = "kind-count",
        value_name = "COUNT",
        value_parser = parse_count,
        required_unless_present = "run_times",
        conflicts_with = "run_times",
        allow_hyphen_values = true
    )]
    kinds: Option<i64>,

    /// How to space the kinds
    #[arg(long, value_enum, default_value_t = SpacingArg::Even)]
    spacing: SpacingArg,

    /// How long a run of a kind takes; repeat the flag for each kind, and give a schedule
    #[arg(long = "run-time", value_name = "SPAN", value_parser = parse_span, conflicts_with = "conflicts", allow_hyphen_values = true)]
    run_times: Vec<Span>,

    /// Two kinds that must not meet, where others may: 0-1; repeat the flag for each pair
    #[arg(long = "conflict", value_name = "KIND-KIND", value_parser = parse_pair, requires = "kind_count")]
    conflicts: Vec<(i64, i64)>,

    /// How long a due job may wait until it is enqueued: run budgets are shorter by it
    #[arg(long, value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    polling_delay: Option<Span>,

    /// How long the job that enqueues a slot may itself wait and run: run budgets are shorter by it
    #[arg(long, value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    slot_job_delay: Option<Span>,

    /// How to write the kinds
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    format: AnswerFormat,

    #[command(flatten)]
    schedule: MoreScheduleArgs,
}

/// How to space the kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SpacingArg {
    /// As far apart as can be
    Even,
    /// So that adding a kind moves none
    Stable,
}

#[derive(Debug, Serialize)]
struct Answer {
    slot_count: u32,
    slot_index: i64,
    gap_slot_count: u32,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    times: Option<Times>,
    kinds: Vec<KindRow>,
}

#[derive(Debug, Serialize)]
struct Times {
    gap: String,
    run_budget: String,
    independent_run_budget: String,
}

#[derive(Debug, Serialize)]
struct KindRow {
    kind_index: u32,
    offset_slot_count: u32,
    id_slot_index: u32,
    clock_slot_index: u32,
    gap_slot_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_budget: Option<String>,
}

impl Row for KindRow {
    const COLUMNS: &'static [(&'static str, isize)] = &[
        ("KIND", -5),
        ("USER'S SLOT", -11),
        ("TIME'S SLOT", -11),
        ("GAP", -7),
        ("RUN BUDGET", -10),
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.kind_index.to_string(),
            self.id_slot_index.to_string(),
            self.clock_slot_index.to_string(),
            self.gap_slot_count.to_string(),
            self.run_budget.clone().unwrap_or_default(),
        ]
    }
}

pub(super) fn run(args: &ReciprocalArgs) -> Result<ExitCode, Failure> {
    let schedule = args.schedule.schedule(args.cycle)?;
    if let Some(schedule) = &schedule {
        check_suitable(schedule)?;
    }
    let answer = answer(args, schedule.as_ref())?;
    let mut out = BufWriter::new(io::stdout().lock());
    match args.format {
        AnswerFormat::Json => write_json_line(&mut out, &answer)?,
        AnswerFormat::Table => write_table(&mut out, &answer)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn answer(args: &ReciprocalArgs, schedule: Option<&Schedule>) -> Result<Answer, Failure> {
    let slots = schedule.map(|schedule| i64::from(schedule.slot_count()));
    let slot_count = slots.or(args.schedule.slots).unwrap_or_default();
    let placed = place(args, schedule, slot_count)?;
    let span = |slots: u32| {
        schedule.map(|schedule| schedule.span(u64::from(slots) * schedule.slot_ticks()).to_string())
    };
    let delays = delays(args, schedule)?;
    let budget = |slots: u32| schedule.map(|schedule| delays.leave_of(schedule, slots).to_string());
    let row = |kind: &KindSlot| KindRow {
        kind_index: kind.kind_index,
        offset_slot_count: kind.offset,
        id_slot_index: kind.user_slot,
        clock_slot_index: kind.time_slot,
        gap_slot_count: kind.gap,
        offset: span(kind.offset),
        run_budget: budget(kind.gap),
    };
    let gap = placed.gap();
    let shortest = |slots| schedule.map(|schedule| schedule.shortest_gap(slots).0.to_string());
    let times = shortest(gap).zip(budget(gap)).zip(budget(gap.saturating_sub(1)));
    Ok(Answer {
        slot_count: placed.slot_count(),
        slot_index: args.slot,
        gap_slot_count: gap,
        times: times.map(|((gap, run_budget), independent_run_budget)| Times {
            gap,
            run_budget,
            independent_run_budget,
        }),
        kinds: placed.seen_from(args.slot)?.iter().map(row).collect(),
    })
}

fn place(
    args: &ReciprocalArgs,
    schedule: Option<&Schedule>,
    slot_count: i64,
) -> Result<Reciprocals, Failure> {
    let spacing = match args.spacing {
        SpacingArg::Even => Spacing::Even,
        SpacingArg::Stable => Spacing::Stable,
    };
    let refused = |message: &str| Err(Failure::Usage(message.to_owned()));
    let kinds = args.kinds.unwrap_or_default();
    let Some(schedule) = schedule.filter(|_| !args.run_times.is_empty()) else {
        if !args.run_times.is_empty() {
            return refused(
                "--run-time: must come with --cycle or --schedule: slots alone have no length",
            );
        }
        if args.conflicts.is_empty() {
            return Ok(Reciprocals::try_new(slot_count, kinds, spacing)?);
        }
        if spacing == Spacing::Stable {
            return refused("--conflict: must not be set with --spacing stable, which knows none");
        }
        return Ok(Reciprocals::try_with_conflicts(slot_count, kinds, &args.conflicts)?);
    };
    if spacing == Spacing::Stable {
        return refused(
            "--run-time: must not be set with --spacing stable, which makes no room for it",
        );
    }
    let needs: Vec<u64> = args
        .run_times
        .iter()
        .map(|time| schedule.slots_needed(*time).map_err(|refused| refused.under("--run-time")))
        .collect::<Result<_, Rejection>>()?;
    Ok(Reciprocals::try_with_needs(slot_count, &needs)?)
}

fn delays(args: &ReciprocalArgs, schedule: Option<&Schedule>) -> Result<Delays, Failure> {
    let none = Span::from_seconds(0);
    match (schedule, args.polling_delay, args.slot_job_delay) {
        (_, None, None) => Ok(Delays::NONE),
        (Some(schedule), polling, slot_job) => {
            Ok(Delays::try_new(schedule, polling.unwrap_or(none), slot_job.unwrap_or(none))?)
        }
        (None, ..) => Err(Failure::Usage(
            "--polling-delay and --slot-job-delay: must come with --cycle or --schedule: slots \
             alone have no length"
                .to_owned(),
        )),
    }
}

/// Reads a pair of kinds: `0-1`.
fn parse_pair(text: &str) -> Result<(i64, i64), String> {
    let pair = text.split_once('-').and_then(|(first, second)| {
        Some((first.parse::<u16>().ok()?.into(), second.parse::<u16>().ok()?.into()))
    });
    pair.ok_or_else(|| "must be two kinds, from 0, with a hyphen between them: 0-1".to_owned())
}

fn write_table(out: &mut impl Write, answer: &Answer) -> Result<(), Failure> {
    let Answer { slot_count, slot_index, gap_slot_count, times, kinds } = answer;
    let mut rows = RowWriter::new(RowFormat::Table, &mut *out);
    for kind in kinds {
        rows.write(kind)?;
    }
    drop(rows);
    writeln!(
        out,
        "\nUsers of slot {slot_index} (of {slot_count}) get kind K at the user's slot; while slot"
    )?;
    writeln!(out, "{slot_index} runs, kind K handles the users of the time's slot.")?;
    write!(out, "Smallest gap: {gap_slot_count} slots")?;
    if let Some(Times { run_budget, independent_run_budget, .. }) = times {
        write!(
            out,
            "; queue wait plus run time must stay within {run_budget}\n\
             (within {independent_run_budget} for kinds of different placement or salt)"
        )?;
        if run_budget == "0s" {
            write!(out, ":\nthe delays take all of the gap, and leave a job no time")?;
        }
    }
    writeln!(out, ".")?;
    Ok(())
}
