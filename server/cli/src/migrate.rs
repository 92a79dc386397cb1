//! `offbeat slots migrate`

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use offbeat_core::migration::{Crossing, Migration, Path, Step};
use offbeat_core::rejection::shorten;
use offbeat_core::sql::{ColumnSpec, ColumnType, Dialect, Index, ParameterStyle};
use offbeat_core::{Moment, Reason, Rejection, Schedule, ScheduleName, Span};
use serde::Serialize;

use super::Failure;
use super::due::instant;
use super::ids::{IdArgs, IdInput};
use super::kinds::KindArg;
use super::named::{NamedArgs, find, parse_name, read};
use super::output::{AnswerFormat, write_json_line};
use super::schedule::{
    CycleText, MoreScheduleArgs, ScheduleArgs, parse_count, parse_moment, parse_span,
};
use offbeat_service::clock;

#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    #[command(flatten)]
    ids: IdArgs,

    /// When the new schedule takes over (RFC 3339) [default: the next start of an old cycle]
    #[arg(id = "cutover_time", long = "cutover", value_name = "INSTANT", value_parser = parse_moment)]
    cutover: Option<Moment>,

    /// The shortest span between two runs of an ID [default: 0s]
    #[arg(long, value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    min_gap: Option<Span>,

    /// How to write the plan
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    format: AnswerFormat,

    #[command(flatten)]
    kind: KindArg,

    #[command(flatten)]
    old: ScheduleArgs,

    #[command(flatten)]
    new: NewScheduleArgs,

    #[command(flatten)]
    sql: SqlArgs,
}

/// What is not given of the new schedule is as in the old one; but a new cycle is active as a whole.
#[derive(Debug, Args)]
#[command(next_help_heading = "New schedule (what is not given is as in the old one)")]
struct NewScheduleArgs {
    /// The new schedule by name, of the file --schedules
    #[arg(
        long,
        value_name = "NAME/VERSION",
        requires = "schedules",
        value_parser = parse_name,
        conflicts_with_all = [
            "new_cycle", "new_slots", "new_placement", "new_salt", "new_anchor", "new_time_zone",
            "new_active", "new_exclude",
        ]
    )]
    new_schedule: Option<ScheduleName>,

    /// The new cycle; without --new-slots, it has the default number of slots
    #[arg(long, value_name = "SPAN|UNIT", value_parser = CycleText::parse, allow_hyphen_values = true)]
    new_cycle: Option<CycleText>,

    /// The number of slots in a new cycle
    #[arg(long, value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    new_slots: Option<i64>,

    /// How the new schedule places IDs
    #[arg(long, value_enum)]
    new_placement: Option<super::schedule::PlacementArg>,

    /// The new namespace
    #[arg(long, value_name = "TEXT")]
    new_salt: Option<String>,

    /// When new cycle 0 starts (RFC 3339)
    #[arg(long, value_name = "INSTANT", value_parser = parse_moment)]
    new_anchor: Option<Moment>,

    /// The new time zone of the calendar
    #[arg(long, value_name = "ZONE")]
    new_time_zone: Option<String>,

    /// The part of a new cycle to use; may be repeated
    #[arg(long, value_name = "WINDOW")]
    new_active: Vec<String>,

    /// When nothing may start by the new schedule; may be repeated
    #[arg(long, value_name = "TIMES")]
    new_exclude: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Statements")]
struct SqlArgs {
    /// Write the plan as conditions for this database
    #[arg(long, value_enum, requires_all = ["table", "column", "column_type"])]
    sql: Option<DialectArg>,

    /// The table of the IDs
    #[arg(long, value_name = "NAME", requires = "sql")]
    table: Option<String>,

    /// The column of the IDs
    #[arg(long, value_name = "NAME", requires = "sql")]
    column: Option<String>,

    /// What the column holds
    #[arg(long, value_enum, requires = "sql")]
    column_type: Option<ColumnTypeArg>,
}

/// A database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DialectArg {
    Postgresql,
    Mysql,
    Mariadb,
    Sqlite,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColumnTypeArg {
    /// The database's own type uuid
    Uuid,
    /// 16 bytes of a UUID in order
    UuidBytes,
    /// 16 bytes as UUID_TO_BIN(x, 1) writes them
    UuidBytesSwapped,
    /// UUIDs with hyphens
    UuidText,
    /// UUIDs of 32 hexadecimal digits
    UuidDigits,
    /// Integers
    Integer,
    /// Text
    Text,
    /// Fractions in [0, 1)
    Fraction,
    /// The MD5 of salt and ID, 16 or 32 hexadecimal digits
    HashDigits,
}

impl SqlArgs {
    fn column(&self) -> Option<ColumnSpec> {
        Some(ColumnSpec {
            dialect: match self.sql? {
                DialectArg::Postgresql => Dialect::PostgreSql,
                DialectArg::Mysql => Dialect::MySql,
                DialectArg::Mariadb => Dialect::MariaDb,
                DialectArg::Sqlite => Dialect::Sqlite,
            },
            schema: String::new(),
            table: self.table.clone()?,
            column: self.column.clone()?,
            column_type: match self.column_type? {
                ColumnTypeArg::Uuid => ColumnType::Uuid,
                ColumnTypeArg::UuidBytes => ColumnType::UuidBytes,
                ColumnTypeArg::UuidBytesSwapped => ColumnType::UuidBytesSwapped,
                ColumnTypeArg::UuidText => ColumnType::UuidText,
                ColumnTypeArg::UuidDigits => ColumnType::UuidDigits,
                ColumnTypeArg::Integer => ColumnType::Integer,
                ColumnTypeArg::Text => ColumnType::Text,
                ColumnTypeArg::Fraction => ColumnType::Fraction,
                ColumnTypeArg::HashDigits => ColumnType::HashDigits,
            },
            table_alias: String::new(),
            parameter_style: ParameterStyle::Literal,
            first_parameter_number: None,
            time_zone_column: String::new(),
        })
    }
}

impl MigrateArgs {
    fn new_schedule(&self) -> Result<Schedule, Failure> {
        use super::schedule::PlacementArg;
        let NewScheduleArgs {
            new_schedule,
            new_cycle,
            new_slots,
            new_placement,
            new_salt,
            new_anchor,
            new_time_zone,
            new_active,
            new_exclude,
        } = &self.new;
        let old = &self.old.more;
        if let Some(path) = &old.named.schedules {
            let missing = || Failure::Usage("--new-schedule: must name the new one".to_owned());
            let name = new_schedule.as_ref().ok_or_else(missing)?;
            return Ok(find(&read(path)?, "--new-schedule", name)?);
        }
        let Some(cycle) = new_cycle.or(self.old.cycle) else {
            return Err(Failure::Usage("--new-cycle: is missing".to_owned()));
        };
        let takes_calendar = matches!(cycle, CycleText::Unit(_));
        let slots = if new_cycle.is_some() { *new_slots } else { new_slots.or(old.slots) };
        let placement = new_placement.unwrap_or(old.placement);
        let more = MoreScheduleArgs {
            named: NamedArgs { schedules: None, schedule: None },
            slots,
            placement,
            profile: old.profile.filter(|_| placement == PlacementArg::Twister),
            buckets: old.buckets.filter(|_| placement == PlacementArg::Twister),
            salt: match new_salt {
                Some(salt) => salt.clone(),
                None if placement == PlacementArg::Hash => old.salt.clone(),
                None => String::new(),
            },
            weight_quantum: old.weight_quantum,
            resolution: old.resolution,
            anchor: new_anchor.or(old.anchor.filter(|_| !takes_calendar)),
            time_zone: new_time_zone.clone().or_else(|| old.time_zone.clone()),
            active: match new_cycle {
                None if new_active.is_empty() => old.active.clone(),
                _ => new_active.clone(),
            },
            exclude: if new_exclude.is_empty() { &old.exclude } else { new_exclude }.clone(),
            kinds: old.kinds.clone(),
        };
        Schedule::try_new(&more.spec(cycle)?).map_err(|refused| {
            let field = format!("the new {}", refused.field.replace('_', " "));
            Failure::Usage(Rejection { field, ..refused }.to_string())
        })
    }
}

#[derive(Debug, Serialize)]
struct Plan {
    old_fingerprint: String,
    new_fingerprint: String,
    cutover_time: String,
    path: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_gap_bound: Option<String>,
    advice: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    indexes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<StepRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ids: Vec<IdRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of_all_ids: Option<Summary>,
}

#[derive(Debug, Serialize)]
struct StepRow {
    start_time: String,
    end_time: String,
    by_new_schedule: bool,
    sql: String,
}

#[derive(Debug, Serialize)]
struct IdRow {
    id: String,
    piece_index: u32,
    last_old_time: String,
    first_new_time: String,
    gap: String,
    moved: bool,
}

#[derive(Debug, Serialize)]
struct Summary {
    id_count: u64,
    moved_id_count: u64,
    left_out_run_count: u64,
    min_gap: String,
    max_gap: String,
    #[serde(skip)]
    gaps: (Span, Span),
}

pub(super) fn run(args: &MigrateArgs) -> Result<ExitCode, Failure> {
    let old = args.old.schedule_of_kind(args.kind.given())?;
    let new = args.new_schedule()?.of_kind(args.kind.given())?;
    let cutover = match args.cutover {
        Some(cutover) => cutover,
        None => old.cycle_start_after(clock::now()).ok_or_else(|| {
            Failure::Usage("--cutover must be given: the next cycle is past year 9999".to_owned())
        })?,
    };
    let migration = Migration::try_new(&old, &new, cutover, args.min_gap)?;
    let (steps, indexes) = match args.sql.column() {
        Some(column) => migration.steps(&column).map_err(|refused| refused.under("--sql"))?,
        None => Default::default(),
    };
    let mut plan = Plan {
        old_fingerprint: old.fingerprint(),
        new_fingerprint: new.fingerprint(),
        cutover_time: cutover.to_string(),
        path: match migration.path() {
            Path::Unchanged => "UNCHANGED",
            Path::SameTimes => "SAME_TIMES",
            Path::SameOrder => "SAME_ORDER",
            Path::NewPlaces => "NEW_PLACES",
        },
        max_gap_bound: migration.longest_gap().map(|gap| gap.to_string()),
        advice: migration.advice(),
        indexes: indexes.iter().flat_map(|index: &Index| index.create_statements.clone()).collect(),
        steps: steps.into_iter().map(StepRow::from).collect(),
        ids: Vec::new(),
        of_all_ids: None,
    };
    let sides = (&old, &new);
    // A plan for the schedules alone needs no IDs: at a terminal, it does not wait for any.
    let bad = if args.ids.ids.is_empty() && io::stdin().is_terminal() {
        0
    } else {
        args.ids.each(old.placement().kind(), |given| Ok(plan.add(&migration, sides, &given)))?
    };
    let mut out = BufWriter::new(io::stdout().lock());
    match args.format {
        AnswerFormat::Json => write_json_line(&mut out, &plan)?,
        AnswerFormat::Table => plan.write_lines(&mut out)?,
    }
    out.flush()?;
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The number of pieces of an ID, which both schedules must agree on.
fn pieces(given: &IdInput<'_>, old: &Schedule, new: &Schedule) -> Result<u32, Rejection> {
    let Some(weight) = given.weight else { return Ok(1) };
    let (before, after) = (old.piece_count(weight)?, new.piece_count(weight)?);
    if before != after {
        let allowed = format!(
            "its weight is {before} pieces by the old schedule and {after} by the new one, which do not \
             go over one by one: end those of the old at the cutover, and start those of the new (slots \
             assign --weighted says when)"
        );
        return Err(Rejection::new(Reason::Contradictory, "", shorten(given.text), allowed));
    }
    Ok(before)
}

impl From<Step> for StepRow {
    fn from(step: Step) -> Self {
        let Step { start, end, by_new, predicate } = step;
        Self {
            start_time: start.to_string(),
            end_time: end.to_string(),
            by_new_schedule: by_new,
            sql: predicate.sql,
        }
    }
}

impl Plan {
    fn add(
        &mut self,
        migration: &Migration<'_>,
        (old, new): (&Schedule, &Schedule),
        given: &IdInput<'_>,
    ) -> Result<(), Rejection> {
        let (from, to) = (old.place(&given.id)?, new.place(&given.id)?);
        migration.begin_answer();
        let crossings = (0..pieces(given, old, new)?)
            .map(|piece| migration.crossing(&old.piece(&from, piece), &new.piece(&to, piece)))
            .collect::<Result<Vec<Crossing>, _>>()?;
        for (piece, crossing) in (0..).zip(&crossings) {
            self.add_piece(given.text, piece, crossing);
        }
        Ok(())
    }

    fn add_piece(&mut self, id: &str, piece_index: u32, crossing: &Crossing) {
        let Crossing { last_old, first_new, left_out, moved } = *crossing;
        let gap = crossing.gap();
        self.ids.push(IdRow {
            id: id.to_owned(),
            piece_index,
            last_old_time: instant(last_old.unix_millis),
            first_new_time: instant(first_new.unix_millis),
            gap: gap.to_string(),
            moved,
        });
        let all = self.of_all_ids.get_or_insert_with(|| Summary {
            id_count: 0,
            moved_id_count: 0,
            left_out_run_count: 0,
            min_gap: String::new(),
            max_gap: String::new(),
            gaps: (gap, gap),
        });
        all.id_count += u64::from(piece_index == 0);
        all.moved_id_count += u64::from(piece_index == 0 && moved);
        all.left_out_run_count += left_out;
        all.gaps = (all.gaps.0.min(gap), all.gaps.1.max(gap));
        (all.min_gap, all.max_gap) = (all.gaps.0.to_string(), all.gaps.1.to_string());
    }

    fn write_lines(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "cutover      {}", self.cutover_time)?;
        writeln!(out, "path         {}", self.path)?;
        match &self.max_gap_bound {
            Some(gap) => writeln!(out, "longest gap  {gap}, for any ID")?,
            None => writeln!(out, "longest gap  not bounded: exclusions may skip runs")?,
        }
        if !self.advice.is_empty() {
            writeln!(out, "advice       {}", self.advice)?;
        }
        if let Some(all) = &self.of_all_ids {
            writeln!(
                out,
                "IDs          {}; {} of them move; gaps of {} to {}; {} runs left out",
                all.id_count, all.moved_id_count, all.min_gap, all.max_gap, all.left_out_run_count
            )?;
            writeln!(
                out,
                "\n{:<36}  {:>5}  {:<24}  {:<24}  {:>12}",
                "ID", "PIECE", "LAST OLD", "FIRST NEW", "GAP"
            )?;
            for row in &self.ids {
                let id = shorten(&row.id);
                let IdRow { piece_index, last_old_time, first_new_time, gap, .. } = row;
                writeln!(
                    out,
                    "{id:<36}  {piece_index:>5}  {last_old_time:<24}  {first_new_time:<24}  {gap:>12}"
                )?;
            }
        }
        for statement in &self.indexes {
            writeln!(out, "\n{statement};")?;
        }
        for step in &self.steps {
            let StepRow { start_time, end_time, by_new_schedule, sql } = step;
            let by = if *by_new_schedule { "new" } else { "old" };
            writeln!(out, "\n-- {by}: {start_time} to {end_time}\n{sql}")?;
        }
        Ok(())
    }
}
