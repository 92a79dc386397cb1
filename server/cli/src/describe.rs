//! `offbeat slots describe`

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Args;
use offbeat_core::limits::POPULATION;
use offbeat_core::population::ExpectedLoad;
use offbeat_core::schedule::Kind;
use offbeat_core::{Moment, Placement, Schedule};
use serde::Serialize;

use super::Failure;
use super::chart::{self, Bar};
use super::output::{AnswerFormat, write_json_line};
use super::schedule::{ScheduleArgs, parse_moment};
use offbeat_service::clock;
use offbeat_service::config::within;

#[derive(Debug, Args)]
pub(super) struct DescribeArgs {
    /// Name the slot of this instant (RFC 3339) [default: now]
    #[arg(id = "at_time", long = "at", value_name = "INSTANT", value_parser = parse_moment)]
    at: Option<Moment>,

    /// Estimate the load of this many IDs
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(POPULATION))]
    population: Option<i64>,

    /// How to write the description
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    format: AnswerFormat,

    #[command(flatten)]
    schedule: ScheduleArgs,
}

#[derive(Debug, Serialize)]
struct Description {
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_zone: Option<String>,
    resolution: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor_time: Option<String>,
    slot_count: u32,
    slot_duration: String,
    placement: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    buckets: Option<Buckets>,
    #[serde(flatten)]
    slot: Option<RunningSlot>,
    cycle_index: i64,
    cycle_start_time: String,
    cycle_end_time: String,
    active_duration: String,
    skipped_ratio: f64,
    deferred_ratio: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<KindRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    catch_up_span: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slot_load: Option<Load>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second_load: Option<Load>,
    canonical_text: String,
    #[serde(skip)]
    is_plain: bool,
}

#[derive(Debug, Serialize)]
struct KindRow {
    name: String,
    offset_slot_count: u32,
    gap_slot_count: u32,
    run_budget: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst_cycle_start_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_time: Option<String>,
}

impl From<&Kind> for KindRow {
    fn from(kind: &Kind) -> Self {
        Self {
            name: kind.name.clone(),
            offset_slot_count: kind.offset,
            gap_slot_count: kind.gap,
            run_budget: kind.gap_time.to_string(),
            worst_cycle_start_time: kind.shortest_cycle_start.map(|start| start.to_string()),
            run_time: kind.run_time.map(|time| time.to_string()),
        }
    }
}

#[derive(Debug, Serialize)]
struct RunningSlot {
    slot_index: u32,
    slot_start_time: String,
    slot_end_time: String,
}

#[derive(Debug, Serialize)]
struct Buckets {
    bucket_count: u32,
    profile: &'static str,
    min_per_slot: u32,
    max_per_slot: u32,
}

#[derive(Debug, Serialize)]
struct Load {
    mean: f64,
    fullest_median: u64,
    fullest_p99: u64,
}

impl From<ExpectedLoad> for Load {
    fn from(load: ExpectedLoad) -> Self {
        let ExpectedLoad { mean, fullest_median, fullest_p99 } = load;
        Self { mean, fullest_median, fullest_p99 }
    }
}

pub(super) fn run(args: &DescribeArgs) -> Result<ExitCode, Failure> {
    let schedule = args.schedule.schedule()?;
    let description = describe(
        &schedule,
        args.at.unwrap_or_else(clock::now),
        args.population.map(i64::unsigned_abs),
    )?;
    let mut out = BufWriter::new(io::stdout().lock());
    match args.format {
        AnswerFormat::Json => write_json_line(&mut out, &description)?,
        AnswerFormat::Table => write_lines(&mut out, &description)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn describe(
    schedule: &Schedule,
    at: Moment,
    population: Option<u64>,
) -> Result<Description, Failure> {
    let slot = schedule.slot_at(at)?;
    let cycle = schedule.cycle_at(at);
    let shares = schedule.cycle_shares(cycle);
    let slot_ticks = shares.active_ticks / u64::from(schedule.slot_count());
    let start =
        |cycle| schedule.cycle_start(cycle).map_or_else(String::new, |start| start.to_string());
    let calendar = schedule.calendar();
    let load = population.map(|ids| schedule.slot_load(ids));
    Ok(Description {
        fingerprint: schedule.fingerprint(),
        period: calendar.is_none().then(|| schedule.period().to_string()),
        cycle: calendar.map(|(unit, _)| unit.name()),
        time_zone: calendar.map(|(_, zone)| zone.to_owned()),
        resolution: schedule.resolution().to_string(),
        anchor_time: schedule.anchor_time().map(|anchor| anchor.to_string()),
        slot_count: schedule.slot_count(),
        slot_duration: schedule.span(slot_ticks).to_string(),
        placement: schedule.placement().kind().name(),
        buckets: buckets(schedule),
        slot: slot.map(|slot| RunningSlot {
            slot_index: slot.index,
            slot_start_time: slot.start.to_string(),
            slot_end_time: slot.end.to_string(),
        }),
        cycle_index: cycle,
        cycle_start_time: start(cycle),
        cycle_end_time: start(cycle + 1),
        active_duration: schedule.span(shares.active_ticks).to_string(),
        skipped_ratio: shares.skipped(),
        deferred_ratio: shares.deferred(),
        kinds: schedule
            .kinds()
            .map_or_else(Vec::new, |kinds| kinds.as_slice().iter().map(KindRow::from).collect()),
        catch_up_span: schedule.kinds().map(|kinds| kinds.catch_up_span().to_string()),
        slot_load: load.map(Load::from),
        second_load: population.and_then(|ids| schedule.second_load(ids)).map(Load::from),
        canonical_text: schedule.canonical_text(),
        is_plain: schedule.is_plain(),
    })
}

fn buckets(schedule: &Schedule) -> Option<Buckets> {
    let &Placement::Twister { bucket_count, profile } = schedule.placement() else {
        return None;
    };
    let (min_per_slot, max_per_slot) = schedule.buckets_per_slot()?;
    Some(Buckets { bucket_count, profile: profile.name(), min_per_slot, max_per_slot })
}

fn write_lines(out: &mut impl Write, description: &Description) -> io::Result<()> {
    let Description { resolution, slot_count, slot_duration, placement, .. } = description;
    match (&description.period, &description.anchor_time) {
        (Some(period), Some(anchor)) => writeln!(out, "cycle        {period}, from {anchor} on")?,
        _ => writeln!(
            out,
            "cycle        {}, by the clock of {}",
            description.cycle.unwrap_or_default(),
            description.time_zone.as_deref().unwrap_or_default()
        )?,
    }
    writeln!(out, "slots        {slot_count} of {slot_duration}, in ticks of {resolution}")?;
    match &description.buckets {
        Some(buckets) => writeln!(
            out,
            "placement    {placement}, {} buckets, {} to {} in a slot, profile {}",
            buckets.bucket_count, buckets.min_per_slot, buckets.max_per_slot, buckets.profile
        )?,
        None => writeln!(out, "placement    {placement}")?,
    }
    let cycle = description.cycle_index;
    match &description.slot {
        Some(RunningSlot { slot_index, slot_start_time, slot_end_time }) => writeln!(
            out,
            "running      slot {slot_index} of cycle {cycle}, {slot_start_time} to {slot_end_time}"
        )?,
        None => {
            writeln!(out, "running      nothing of cycle {cycle}: outside of the active windows")?;
        }
    }
    if !description.is_plain {
        let Description { cycle_start_time, cycle_end_time, active_duration, .. } = description;
        writeln!(
            out,
            "this cycle   {cycle_start_time} to {cycle_end_time}, active for {active_duration}"
        )?;
        let percent = |share: f64| share * 100.0;
        writeln!(
            out,
            "exclusions   defer {:.2} % of its runs, skip {:.2} %",
            percent(description.deferred_ratio),
            percent(description.skipped_ratio)
        )?;
    }
    for (index, kind) in description.kinds.iter().enumerate() {
        let KindRow { name, offset_slot_count, run_budget, .. } = kind;
        let head = if index == 0 { "kinds" } else { "" };
        let worst = kind
            .worst_cycle_start_time
            .as_ref()
            .map_or_else(String::new, |start| format!(" (the least: in the cycle of {start})"));
        writeln!(
            out,
            "{head:<12} {name} at +{offset_slot_count} slots, {run_budget} before the next{worst}"
        )?;
    }
    if let Some(span) = &description.catch_up_span {
        writeln!(out, "late runs    are spread over {span}, each kind in its own part of it")?;
    }
    if let Some(load) = &description.slot_load {
        writeln!(
            out,
            "load         {:.1} IDs in a slot on average; in the fullest {} (median), {} (99th percentile)",
            load.mean, load.fullest_median, load.fullest_p99
        )?;
    }
    if let Some(load) = &description.second_load {
        writeln!(
            out,
            "             {:.2} in a second on average; in the fullest {} (median), {} (99th percentile)",
            load.mean, load.fullest_median, load.fullest_p99
        )?;
    }
    writeln!(out, "fingerprint  {}", description.fingerprint)?;
    for (of, load) in [("slot", &description.slot_load), ("second", &description.second_load)] {
        if let Some(load) = load {
            writeln!(out)?;
            write_chart(out, of, load)?;
        }
    }
    Ok(())
}

/// Draws the load of an average slot or second beside that of the fullest ones.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn write_chart(out: &mut impl Write, of: &str, load: &Load) -> io::Result<()> {
    let bar = |what: &str, value: f64, figure: String| Bar {
        label: format!("{of}, {what}"),
        value,
        figure,
    };
    let whole = |what, count: u64| bar(what, count as f64, count.to_string());
    let bars = [
        bar("mean", load.mean, format!("{:.2}", load.mean)),
        whole("fullest (median)", load.fullest_median),
        whole("fullest (99 %)", load.fullest_p99),
    ];
    chart::write(out, &bars, chart::width())
}
