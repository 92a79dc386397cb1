//! Writes the counts to an SQLite database.

use std::path::Path;

use offbeat_sim::results::{Figures, LateRunFigures, PartnerFigures, Results};
use offbeat_sim::world::Row;
use rusqlite::Connection;

use crate::failure::Failure;
use crate::run::Run;

/// What our databases have as their application: "Offb".
pub(crate) const APPLICATION_ID: i32 = 0x4f66_6662;

/// A database that is being written.
#[derive(Debug)]
pub(crate) struct Database(Connection);

impl Database {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        open(path).map(Self).map_err(|error| failed(path, &error))
    }

    pub(crate) fn write(&self, path: &Path, run: &Run<'_>) -> Result<(), Failure> {
        write_seconds(&self.0, run).map_err(|error| failed(path, &error))
    }

    /// Writes the results, and closes the file.
    pub(crate) fn finish(self, path: &Path, results: &Results) -> Result<(), Failure> {
        write_figures(&self.0, results)
            .and_then(|()| self.0.execute_batch("COMMIT"))
            .and_then(|()| self.0.close().map_err(|(_, error)| error))
            .map_err(|error| failed(path, &error))
    }
}

fn failed(path: &Path, error: &rusqlite::Error) -> Failure {
    Failure::Other(format!("{}: {error}", path.display()))
}

/// Rows of one statement: to begin and end one costs as much as some rows.
const ROWS_AT_ONCE: usize = 50;

/// An empty database, and its one transaction.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    // The file is written in one go: if that is cut off, it must be written again.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    // For each second, its run would be looked up, where SQLite was built to do so.
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    connection.pragma_update(None, "page_size", 65_536)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    let figures = Figures::NAMES.map(|name| format!("{name} REAL NOT NULL")).join(", ");
    let columns = Row::COLUMNS.map(|name| format!("{name} INTEGER NOT NULL")).join(", ");
    connection.execute_batch(&format!(
        "CREATE TABLE strategies (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, {figures});
         CREATE TABLE partners (strategy_id INTEGER NOT NULL REFERENCES strategies, name TEXT NOT NULL, jobs_finished REAL NOT NULL, throttled REAL NOT NULL, failed REAL NOT NULL, mean_wait REAL NOT NULL);
         CREATE TABLE late_runs (strategy_id INTEGER NOT NULL REFERENCES strategies, late REAL NOT NULL, superseded REAL NOT NULL, dropped REAL NOT NULL, least_kind_distance REAL);
         CREATE TABLE phases (strategy_id INTEGER NOT NULL REFERENCES strategies, from_second REAL NOT NULL, to_second REAL NOT NULL, workers_needed REAL NOT NULL, workers_available REAL NOT NULL, busy_workers REAL NOT NULL, mean_wait REAL NOT NULL, max_queue_depth REAL NOT NULL);
         CREATE TABLE runs (id INTEGER PRIMARY KEY, strategy_id INTEGER NOT NULL REFERENCES strategies, seed INTEGER NOT NULL);
         CREATE TABLE seconds (run_id INTEGER NOT NULL REFERENCES runs, second INTEGER NOT NULL, {columns});
         BEGIN;"
    ))?;
    Ok(connection)
}

/// One wide row a second: several times quicker than a row for each number.
fn write_seconds(connection: &Connection, run: &Run<'_>) -> rusqlite::Result<()> {
    let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let id = whole(run.number);
    let values = (id, whole(run.of), run.seed.cast_signed());
    connection.execute("INSERT INTO runs VALUES (?, ?, ?)", values)?;
    let (mut many, mut one) =
        (Seconds::new(connection, ROWS_AT_ONCE)?, Seconds::new(connection, 1)?);
    let (full, rest) = run.rows.as_chunks::<ROWS_AT_ONCE>();
    for (place, rows) in full.iter().enumerate() {
        many.insert(id, whole(place * ROWS_AT_ONCE), rows)?;
    }
    for (second, row) in (whole(full.len() * ROWS_AT_ONCE)..).zip(rest) {
        one.insert(id, second, std::slice::from_ref(row))?;
    }
    Ok(())
}

/// Inserts so many seconds that follow one another.
struct Seconds<'a>(rusqlite::Statement<'a>);

impl<'a> Seconds<'a> {
    fn new(connection: &'a Connection, rows: usize) -> rusqlite::Result<Self> {
        let columns = vec!["?"; Row::COLUMNS.len()].join(", ");
        let rows: Vec<String> =
            (0..rows).map(|row| format!("(?1, ?2 + {row}, {columns})")).collect();
        let insert = format!("INSERT INTO seconds VALUES {}", rows.join(", "));
        connection.prepare(&insert).map(Self)
    }

    fn insert(&mut self, run: i64, first: i64, rows: &[Row]) -> rusqlite::Result<()> {
        self.0.raw_bind_parameter(1, run)?;
        self.0.raw_bind_parameter(2, first)?;
        for (place, value) in (3..).zip(rows.iter().flat_map(Row::values)) {
            self.0.raw_bind_parameter(place, value)?;
        }
        self.0.raw_execute().map(|_| ())
    }
}

fn write_figures(connection: &Connection, results: &Results) -> rusqlite::Result<()> {
    let marks = vec!["?"; Figures::NAMES.len() + 3].join(", ");
    let mut strategy = connection.prepare(&format!("INSERT INTO strategies VALUES ({marks})"))?;
    let mut partner = connection.prepare("INSERT INTO partners VALUES (?, ?, ?, ?, ?, ?)")?;
    let mut phases = connection.prepare("INSERT INTO phases VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut late_runs = connection.prepare("INSERT INTO late_runs VALUES (?, ?, ?, ?, ?)")?;
    for (id, outcome) in (0_i64..).zip(&results.strategies) {
        strategy.raw_bind_parameter(1, id)?;
        strategy.raw_bind_parameter(2, &outcome.name)?;
        strategy.raw_bind_parameter(3, outcome.kind)?;
        for (place, figure) in outcome.figures.values().into_iter().enumerate() {
            strategy.raw_bind_parameter(place + 4, figure)?;
        }
        strategy.raw_execute()?;
        if let Some(LateRunFigures { late, superseded, dropped }) = outcome.late_runs {
            late_runs.execute((id, late, superseded, dropped, outcome.least_kind_distance))?;
        }
        for phase in &outcome.feasibility.phases {
            let workers = (phase.workers_needed, phase.workers_available, phase.busy_workers);
            let (needed, available, busy) = workers;
            let (wait, depth) = (phase.mean_wait, phase.max_queue_depth);
            phases.execute((id, phase.from, phase.to, needed, available, busy, wait, depth))?;
        }
        for PartnerFigures { name, jobs_finished, throttled, failed, mean_wait, .. } in
            &outcome.partners
        {
            partner.execute((id, name, jobs_finished, throttled, failed, mean_wait))?;
        }
    }
    Ok(())
}
