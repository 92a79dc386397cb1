//! What was counted in every second, to SQLite or CSV.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use offbeat_sim::results::{Figures, PartnerFigures, Results};
use offbeat_sim::scenario::Scenario;
use offbeat_sim::world::{Row, Trace};
use rusqlite::Connection;

use super::super::Failure;

/// By which our databases are told from others: "Offb".
pub(super) const APPLICATION_ID: i32 = 0x4f66_6662;

/// The first line of our CSV files.
pub(super) fn csv_title() -> String {
    format!("strategy,seed,second,{}\n", Row::COLUMNS.join(","))
}

/// A file to write, by its ending.
#[derive(Debug)]
pub(super) enum Out {
    Sqlite(PathBuf),
    Csv(PathBuf),
}

impl Out {
    pub(super) fn at(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("sqlite" | "sqlite3" | "db") => Ok(Self::Sqlite(path.to_owned())),
            Some("csv") => Ok(Self::Csv(path.to_owned())),
            _ => {
                let path = path.display();
                Err(Failure::Usage(format!(
                    "--out: {path} is refused: must end in .sqlite or .csv"
                )))
            }
        }
    }

    /// Writes what was counted in every second; the figures come behind it.
    pub(super) fn write_rows(
        &self,
        scenario: &Scenario,
        traces: &[Vec<Trace>],
    ) -> Result<Written<'_>, Failure> {
        match self {
            Self::Csv(path) => {
                write_csv(path, scenario, traces).map_err(|error| super::at(path, &error))?;
                Ok(Written::Csv)
            }
            Self::Sqlite(path) => {
                if path.exists() {
                    std::fs::remove_file(path).map_err(|error| super::at(path, &error))?;
                }
                let connection = open(path).and_then(|connection| {
                    write_seconds(&connection, scenario, traces)?;
                    Ok(connection)
                });
                let connection = connection.map_err(|error| failed(path, &error))?;
                Ok(Written::Sqlite { path, connection })
            }
        }
    }
}

fn failed(path: &Path, error: &rusqlite::Error) -> Failure {
    Failure::Other(format!("{}: {error}", path.display()))
}

/// A file that has its rows.
#[derive(Debug)]
pub(super) enum Written<'a> {
    Sqlite {
        path: &'a Path,
        connection: Connection,
    },
    /// It has no figures.
    Csv,
}

impl Written<'_> {
    /// Completes the file.
    pub(super) fn finish(self, results: &Results) -> Result<(), Failure> {
        let Self::Sqlite { path, connection } = self else { return Ok(()) };
        write_figures(&connection, results)
            .and_then(|()| connection.execute_batch("COMMIT"))
            .and_then(|()| connection.close().map_err(|(_, error)| error))
            .map_err(|error| failed(path, &error))
    }
}

/// The rows of each strategy and seed.
fn runs<'a>(
    scenario: &'a Scenario,
    traces: &'a [Vec<Trace>],
) -> impl Iterator<Item = (&'a str, u64, &'a Trace)> {
    scenario.strategies.iter().zip(traces).flat_map(|(strategy, traces)| {
        let seeds = scenario.seeds.iter().zip(traces);
        seeds.map(|(seed, trace)| (strategy.name.as_str(), *seed, trace))
    })
}

fn write_csv(path: &Path, scenario: &Scenario, traces: &[Vec<Trace>]) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    out.write_all(csv_title().as_bytes())?;
    for (strategy, seed, trace) in runs(scenario, traces) {
        let mut quoted = csv::Writer::from_writer(Vec::new());
        quoted.write_record([strategy])?;
        let quoted = quoted.into_inner().unwrap_or_default();
        let strategy = String::from_utf8_lossy(&quoted).trim_end().to_owned();
        for (second, row) in trace.rows.iter().enumerate() {
            write!(out, "{strategy},{seed},{second}")?;
            for value in row.values() {
                write!(out, ",{value}")?;
            }
            writeln!(out)?;
        }
    }
    out.flush()
}

/// Rows of one statement: to begin and end one costs as much as some rows.
const ROWS_AT_ONCE: usize = 50;

/// An empty database, and its one transaction.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    // The file is made anew in one go: if that is cut off, it is to be made again.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    // For each second, its run would be looked up.
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    connection.pragma_update(None, "page_size", 65_536)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    let figures = Figures::NAMES.map(|name| format!("{name} REAL NOT NULL")).join(", ");
    let columns = Row::COLUMNS.map(|name| format!("{name} INTEGER NOT NULL")).join(", ");
    connection.execute_batch(&format!(
        "CREATE TABLE strategies (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, {figures});
         CREATE TABLE partners (strategy_id INTEGER NOT NULL REFERENCES strategies, name TEXT NOT NULL, jobs_finished REAL NOT NULL, throttled REAL NOT NULL, failed REAL NOT NULL, mean_wait REAL NOT NULL);
         CREATE TABLE runs (id INTEGER PRIMARY KEY, strategy_id INTEGER NOT NULL REFERENCES strategies, seed INTEGER NOT NULL);
         CREATE TABLE seconds (run_id INTEGER NOT NULL REFERENCES runs, second INTEGER NOT NULL, {columns});
         BEGIN;"
    ))?;
    Ok(connection)
}

/// One wide row a second: several times quicker than a row for each number.
fn write_seconds(
    connection: &Connection,
    scenario: &Scenario,
    traces: &[Vec<Trace>],
) -> rusqlite::Result<()> {
    let mut run = connection.prepare("INSERT INTO runs VALUES (?, ?, ?)")?;
    let (mut many, mut one) =
        (Seconds::new(connection, ROWS_AT_ONCE)?, Seconds::new(connection, 1)?);
    let seeds = i64::try_from(scenario.seeds.len()).unwrap_or(1).max(1);
    for (id, (_, seed, trace)) in (0_i64..).zip(runs(scenario, traces)) {
        run.execute((id, id / seeds, seed.cast_signed()))?;
        let (full, rest) = trace.rows.as_chunks::<ROWS_AT_ONCE>();
        let mut first = 0_i64;
        for rows in full {
            many.insert(id, first, rows)?;
            first += i64::try_from(rows.len()).unwrap_or_default();
        }
        for (second, row) in (first..).zip(rest) {
            one.insert(id, second, std::slice::from_ref(row))?;
        }
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
    for (id, outcome) in (0_i64..).zip(&results.strategies) {
        strategy.raw_bind_parameter(1, id)?;
        strategy.raw_bind_parameter(2, &outcome.name)?;
        strategy.raw_bind_parameter(3, outcome.kind)?;
        for (place, name) in Figures::NAMES.iter().enumerate() {
            strategy.raw_bind_parameter(place + 4, outcome.figures.get(name))?;
        }
        strategy.raw_execute()?;
        for PartnerFigures { name, jobs_finished, throttled, failed, mean_wait } in
            &outcome.partners
        {
            partner.execute((id, name, jobs_finished, throttled, failed, mean_wait))?;
        }
    }
    Ok(())
}
