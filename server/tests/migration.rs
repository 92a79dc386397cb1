//! A migration of a table: running the statement of each step once, over the cutover, gives every
//! row exactly the runs of the plan.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

use std::collections::BTreeMap;

use offbeat_core::ids::hash;
use offbeat_core::migration::{Migration, Path};
use offbeat_core::sql::{ColumnSpec, ColumnType, Dialect, ParameterStyle};
use offbeat_core::{Id, Moment, PlacementKind, Schedule, ScheduleSpec, Span};
use rusqlite::Connection;

const HOUR: i64 = 3_600_000;
const ROWS: i64 = 4_000;

fn name(row: i64) -> String {
    format!("user-{row}")
}

fn fraction(row: i64) -> f64 {
    (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as f64 / 2.0f64.powi(64) * 0.999_999
}

/// A table of users with their hashes and stored fractions.
fn table(salt: &str) -> Connection {
    let table = Connection::open_in_memory().unwrap();
    table.execute_batch("CREATE TABLE account (n INTEGER, hash TEXT, share REAL); BEGIN").unwrap();
    for row in 0..ROWS {
        let name = name(row);
        let digits = format!("{:016x}", hash(salt, &Id::text(&name).unwrap()));
        let values = (row, digits, fraction(row));
        table.execute("INSERT INTO account VALUES (?, ?, ?)", values).unwrap();
    }
    table.execute_batch("COMMIT").unwrap();
    table
}

fn column(placement: PlacementKind) -> ColumnSpec {
    let (name, column_type) = match placement {
        PlacementKind::Fraction => ("share", ColumnType::Fraction),
        PlacementKind::Hash | PlacementKind::Twister => ("hash", ColumnType::HashDigits),
    };
    ColumnSpec {
        dialect: Dialect::Sqlite,
        schema: String::new(),
        table: "account".to_owned(),
        column: name.to_owned(),
        column_type,
        table_alias: String::new(),
        parameter_style: ParameterStyle::Literal,
        first_parameter_number: None,
        time_zone_column: String::new(),
    }
}

fn schedule(hours: i64, slots: i64, placement: PlacementKind, anchor: i64) -> Schedule {
    Schedule::try_new(&ScheduleSpec {
        slot_count: Some(slots),
        placement,
        anchor_time: Moment::from_unix_millis(anchor),
        ..ScheduleSpec::every(Span::from_seconds(hours * 3_600))
    })
    .unwrap()
}

/// The steps in which each row ran: start, end, and whether by the new schedule.
type Ran = BTreeMap<i64, Vec<(i64, i64, bool)>>;

fn run_steps(table: &Connection, migration: &Migration<'_>, column: &ColumnSpec) -> (Ran, i64) {
    let (steps, indexes) = migration.steps(column).unwrap();
    for index in &indexes {
        for statement in &index.create_statements {
            table.execute_batch(statement).unwrap();
        }
    }
    let mut ran = Ran::new();
    let mut end = i64::MIN;
    for step in &steps {
        let span = (step.start.unix_millis_ceil(), step.end.unix_millis_ceil(), step.by_new);
        let sql = format!("SELECT n FROM account WHERE {}", step.predicate.sql);
        let mut statement = table.prepare(&sql).unwrap();
        for row in statement.query_map([], |row| row.get::<_, i64>(0)).unwrap() {
            ran.entry(row.unwrap()).or_default().push(span);
        }
        assert!(span.0 >= end, "in order of time, without overlap");
        end = span.1;
    }
    (ran, end)
}

fn check(old: &Schedule, new: &Schedule, cutover: i64, min_gap: i64, path: Path) -> u64 {
    let placement = old.placement().kind();
    let table = table("");
    let moment = Moment::from_unix_millis(cutover).unwrap();
    let gap = Span::from_millis(min_gap as u64);
    let migration = Migration::try_new(old, new, moment, Some(gap)).unwrap();
    assert_eq!(migration.path(), path);
    let (ran, end) = run_steps(&table, &migration, &column(placement));
    let mut left_out = 0;
    for row in 0..ROWS {
        let name = name(row);
        let id = match placement {
            PlacementKind::Fraction => Id::fraction(fraction(row)).unwrap(),
            _ => Id::text(&name).unwrap(),
        };
        let (from, to) = (old.place(&id).unwrap(), new.place(&id).unwrap());
        let crossing = migration.crossing(&from, &to).unwrap();
        left_out += crossing.left_out;
        // The plan: the last old run, then the new runs from the first on.
        let mut expected = vec![(crossing.last_old.unix_millis, false)];
        let mut next = crossing.first_new.unix_millis;
        while next < end {
            expected.push((next, true));
            next += new.period().whole_millis().unwrap() as i64;
        }
        assert!(expected.len() >= 2, "the first new run is in the steps");
        let got = &ran[&row];
        assert_eq!(got.len(), expected.len(), "row {row}: {got:?} for {expected:?}");
        for ((start, end, by_new), (run, expected_by_new)) in got.iter().zip(&expected) {
            assert!(start <= run && run < end && by_new == expected_by_new, "row {row}");
        }
    }
    left_out
}

#[test]
fn a_shorter_cycle() {
    for placement in [PlacementKind::Hash, PlacementKind::Fraction] {
        let (old, new) = (schedule(12, 240, placement, 0), schedule(8, 128, placement, 0));
        // At a common start of cycles, in the middle of both cycles, and at no start of a slot.
        for cutover in [490_000 * HOUR, 490_003 * HOUR, 490_006 * HOUR + 1_234_567] {
            check(&old, &new, cutover, 0, Path::SameOrder);
            let left_out = check(&old, &new, cutover, 4 * HOUR, Path::SameOrder);
            assert!(cutover == 490_000 * HOUR || left_out > 100, "{left_out}");
            check(&old, &new, cutover, 8 * HOUR, Path::SameOrder);
        }
    }
}

#[test]
fn a_longer_cycle_a_moved_anchor_and_more_slots() {
    let hash = PlacementKind::Hash;
    let old = schedule(8, 128, hash, 0);
    let cutover = 490_003 * HOUR;
    check(&old, &schedule(24, 1_440, hash, 5_000), cutover, 3 * HOUR, Path::SameOrder);
    check(&old, &schedule(8, 128, hash, 3 * HOUR), cutover, 2 * HOUR, Path::SameOrder);
    check(&old, &schedule(8, 128, hash, 3 * HOUR), cutover, 6 * HOUR, Path::SameOrder);
    assert_eq!(check(&old, &schedule(8, 384, hash, 0), cutover, 8 * HOUR, Path::SameTimes), 0);
    assert_eq!(check(&old, &old.clone(), cutover, 8 * HOUR, Path::Unchanged), 0);
    // Slots of a second, several per step.
    check(&old, &schedule(8, 28_800, hash, 0), cutover, HOUR, Path::SameTimes);
}

#[test]
fn migrations_that_sql_cannot_express_are_refused() {
    let hash = PlacementKind::Hash;
    let old = schedule(8, 128, hash, 0);
    let at = Moment::from_unix_millis(490_000 * HOUR).unwrap();
    let refused = |new: &Schedule, gap: i64, column: &ColumnSpec| {
        let gap = Span::from_millis(gap as u64);
        Migration::try_new(&old, new, at, Some(gap)).unwrap().steps(column).unwrap_err()
    };
    let twister = schedule(8, 128, PlacementKind::Twister, 0);
    assert!(refused(&twister, 0, &column(hash)).allowed.contains("no database computes"));
    let salted = Schedule::try_new(&ScheduleSpec {
        salt: "new".to_owned(),
        ..ScheduleSpec::every(Span::from_seconds(8 * 3_600))
    })
    .unwrap();
    assert_eq!(refused(&salted, 0, &column(hash)).field, "column_type");
    let ids =
        ColumnSpec { dialect: Dialect::PostgreSql, column_type: ColumnType::Text, ..column(hash) };
    assert!(refused(&salted, 3 * HOUR, &ids).allowed.contains("shorter min_gap"));
}
