//! `offbeat slots assign`

use std::io::{self, BufWriter};
use std::process::ExitCode;

use clap::Args;
use offbeat_core::limits::SEARCHED_CYCLES;
use offbeat_core::rejection::shorten;
use offbeat_core::runs::{FirstRunPolicy, NewId, NewIdSpec};
use offbeat_core::runs::{Runs, run_id};
use offbeat_core::{Moment, Place, Reason, Rejection, Run, Schedule, Span};
use serde::Serialize;

use super::Failure;
use super::due::instant;
use super::ids::{IdArgs, IdInput};
use super::kinds::KindArg;
use super::output::{Row, RowFormat, RowWriter};
use super::schedule::{ScheduleArgs, parse_moment, parse_span};
use offbeat_service::clock;

#[derive(Debug, Args)]
pub(super) struct AssignArgs {
    #[command(flatten)]
    ids: IdArgs,

    /// Show the first runs at or after this instant (RFC 3339) [default: now]
    #[arg(id = "from_time", long = "from", value_name = "INSTANT", value_parser = parse_moment)]
    from: Option<Moment>,

    /// When the IDs were created (RFC 3339): their first runs are shown too
    #[arg(id = "create_time", long = "created", value_name = "INSTANT", value_parser = parse_moment)]
    created: Option<Moment>,

    /// With --created: an ID whose time in its first cycle has passed runs first within this span after
    /// its creation [default: in the next cycle]
    #[arg(id = "smear_span", long = "smear", requires = "create_time", value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    smear: Option<Span>,

    /// With --created, of a schedule with kinds: such an ID runs first in a turn of the catch-up clock
    /// after its creation
    #[arg(long, requires = "create_time", conflicts_with = "smear_span")]
    catch_up: bool,

    #[command(flatten)]
    kind: KindArg,

    /// How to write the assignments; offsets are spans in a table, else numbers of ticks
    #[arg(long, value_enum, default_value_t = RowFormat::Table)]
    format: RowFormat,

    #[command(flatten)]
    schedule: ScheduleArgs,
}

/// Offsets are in ticks: whole seconds, unless the resolution is finer.
#[derive(Debug, Serialize)]
struct Assignment<'a> {
    id: &'a str,
    slot_index: u32,
    slot_offset: u64,
    cycle_offset: u64,
    cycle_index: i64,
    next_run_time: String,
    run_key: Option<String>,
    run_id: Option<String>,
    /// When it would run without exclusions, if that is another time.
    nominal_time: Option<String>,
    #[serde(skip)]
    tick: Span,
}

impl Row for Assignment<'_> {
    const COLUMNS: &'static [(&'static str, isize)] =
        &[("ID", 36), ("SLOT", -7), ("SLOT OFFSET", -12), ("CYCLE OFFSET", -12), ("NEXT RUN", 20)];

    fn cells(&self) -> Vec<String> {
        vec![
            shorten(self.id),
            self.slot_index.to_string(),
            self.tick.times(self.slot_offset).to_string(),
            self.tick.times(self.cycle_offset).to_string(),
            self.next_run_time.clone(),
        ]
    }
}

/// The same for a piece of a weighted ID, and for a new ID. (The CSV library does not support
/// flattened fields.)
#[derive(Debug, Serialize)]
struct PieceAssignment<'a> {
    id: &'a str,
    piece_index: u32,
    slot_index: u32,
    slot_offset: u64,
    cycle_offset: u64,
    cycle_index: i64,
    next_run_time: String,
    run_key: Option<String>,
    first_run_time: Option<String>,
    first_run_key: Option<String>,
    #[serde(skip)]
    tick: Span,
}

impl Row for PieceAssignment<'_> {
    const COLUMNS: &'static [(&'static str, isize)] = &[
        ("ID", 24),
        ("PIECE", -5),
        ("SLOT", -7),
        ("SLOT OFFSET", -12),
        ("CYCLE OFFSET", -12),
        ("NEXT RUN", 20),
        ("FIRST RUN", 24),
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            shorten(self.id),
            self.piece_index.to_string(),
            self.slot_index.to_string(),
            self.tick.times(self.slot_offset).to_string(),
            self.tick.times(self.cycle_offset).to_string(),
            self.next_run_time.clone(),
            self.first_run_time.clone().unwrap_or_default(),
        ]
    }
}

pub(super) fn run(args: &AssignArgs) -> Result<ExitCode, Failure> {
    let schedule = args.schedule.schedule_of_kind(args.kind.given())?;
    let from = args.from.unwrap_or_else(clock::now);
    let new_id = |create_time| {
        let policy = match args.smear {
            Some(_) => FirstRunPolicy::NowSmeared,
            None if args.catch_up => FirstRunPolicy::NowSmeared,
            None => FirstRunPolicy::NextCycle,
        };
        let (smear_span, max_clock_skew) = (args.smear, None);
        let spec = NewIdSpec { create_time, policy, smear_span, max_clock_skew };
        NewId::try_new(&schedule, &spec, from)
    };
    let assigner = Assigner {
        schedule: &schedule,
        runs: schedule.runs_from(from, 1)?,
        run_key_prefix: schedule.run_key_prefix(args.kind.label())?,
        new_id: args.created.map(new_id).transpose()?,
    };
    let in_pieces = args.ids.weighted || args.created.is_some();
    let mut rows = RowWriter::new(args.format, BufWriter::new(io::stdout().lock()));
    let bad = args.ids.each(schedule.placement().kind(), |given| {
        let (place, pieces) = match assigner.place(&given) {
            Ok(placed) => placed,
            Err(rejection) => return Ok(Err(rejection)),
        };
        if in_pieces {
            for piece in 0..pieces {
                match assigner.piece(&given, &place, piece) {
                    Ok(assigned) => rows.write(&assigned)?,
                    Err(rejection) => return Ok(Err(rejection)),
                }
            }
        } else {
            match assigner.whole(&given, &place) {
                Ok(assigned) => rows.write(&assigned)?,
                Err(rejection) => return Ok(Err(rejection)),
            }
        }
        Ok(Ok(()))
    })?;
    rows.flush()?;
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The refusal of an ID whose runs exclusions skip in all searched cycles.
pub(super) fn no_run(given: &IdInput<'_>) -> Rejection {
    let cycles = SEARCHED_CYCLES.maximum;
    let allowed = format!("exclusions skip each of its runs for {cycles} cycles");
    Rejection::new(Reason::NoRun, "", shorten(given.text), allowed)
}

struct Assigner<'a> {
    schedule: &'a Schedule,
    runs: Runs<'a>,
    run_key_prefix: String,
    new_id: Option<NewId<'a>>,
}

impl Assigner<'_> {
    fn place(&self, given: &IdInput<'_>) -> Result<(Place, u32), Rejection> {
        self.runs.begin_answer();
        if let Some(new_id) = &self.new_id {
            new_id.begin_answer();
        }
        let place = self.schedule.place(&given.id)?;
        let pieces = given.weight.map_or(Ok(1), |weight| self.schedule.piece_count(weight))?;
        Ok((place, pieces))
    }

    fn next_run(&self, given: &IdInput<'_>, place: &Place) -> Result<Run, Rejection> {
        self.runs.next_run(place)?.ok_or_else(|| no_run(given))
    }

    fn whole<'t>(&self, given: &IdInput<'t>, place: &Place) -> Result<Assignment<'t>, Rejection> {
        let next = self.next_run(given, place)?;
        let place = self.schedule.place_in(place, next.cycle_index);
        Ok(Assignment {
            id: given.text,
            slot_index: place.slot,
            slot_offset: place.slot_offset,
            cycle_offset: place.cycle_offset,
            cycle_index: next.cycle_index,
            next_run_time: instant(next.unix_millis),
            nominal_time: Some(next.regular_unix_millis)
                .filter(|regular| *regular != next.unix_millis)
                .map(instant),
            run_id: next.key(&self.run_key_prefix, &given.id).as_deref().map(run_id),
            run_key: next.key(&self.run_key_prefix, &given.id),
            tick: self.schedule.resolution(),
        })
    }

    fn piece<'t>(
        &self,
        given: &IdInput<'t>,
        place: &Place,
        piece: u32,
    ) -> Result<PieceAssignment<'t>, Rejection> {
        let place = self.schedule.piece(place, piece);
        let next = self.next_run(given, &place)?;
        let first = match &self.new_id {
            Some(new_id) => new_id.first_run(&given.id, &place, piece)?,
            None => None,
        };
        let key = |run: Run| run.key_of_piece(&self.run_key_prefix, piece, &given.id);
        let place = self.schedule.place_in(&place, next.cycle_index);
        Ok(PieceAssignment {
            id: given.text,
            piece_index: piece,
            slot_index: place.slot,
            slot_offset: place.slot_offset,
            cycle_offset: place.cycle_offset,
            cycle_index: next.cycle_index,
            next_run_time: instant(next.unix_millis),
            run_key: key(next),
            first_run_time: first.map(|first| instant(first.run.unix_millis)),
            first_run_key: first.and_then(|first| key(first.run)),
            tick: self.schedule.resolution(),
        })
    }
}
