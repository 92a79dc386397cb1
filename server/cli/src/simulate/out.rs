//! What was counted in every second, to SQLite or CSV.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use offbeat_sim::results::{Figures, PartnerFigures, Results};
use offbeat_sim::scenario::Scenario;
use offbeat_sim::world::Row;
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

    fn path(&self) -> &Path {
        match self {
            Self::Sqlite(path) | Self::Csv(path) => path,
        }
    }
}

/// The rows of a run, which has ended.
pub(super) type Ended = (usize, Arc<Vec<Row>>);

/// Writes files as runs end, run after run: the same bytes, whichever ends first.
pub(super) fn write<'a>(
    outs: &'a [Out],
    scenario: &Scenario,
    ended: &Receiver<Ended>,
) -> Result<Vec<Written<'a>>, Failure> {
    let mut written = Vec::new();
    let mut early = BTreeMap::new();
    let seeds = scenario.seeds.len().max(1);
    for number in 0..scenario.strategies.len() * seeds {
        let rows = loop {
            if let Some(rows) = early.remove(&number) {
                break rows;
            }
            match ended.recv() {
                Ok((number, rows)) => _ = early.insert(number, rows),
                // The simulation was refused, which its own answer says.
                Err(_) => return Ok(written),
            }
        };
        if written.is_empty() {
            written = outs.iter().map(Written::new).collect::<Result<_, _>>()?;
        }
        let strategy = scenario.strategies.get(number / seeds).map_or("", |one| one.name.as_str());
        let seed = scenario.seeds.get(number % seeds).copied().unwrap_or_default();
        let run = Run { number, strategy, of: number / seeds, seed, rows: &rows };
        written.iter_mut().try_for_each(|file| file.write(&run))?;
    }
    Ok(written)
}

struct Run<'a> {
    number: usize,
    strategy: &'a str,
    /// The place of the strategy.
    of: usize,
    seed: u64,
    rows: &'a [Row],
}

/// A file that is being written; it is removed unless it is finished.
#[derive(Debug)]
pub(super) struct Written<'a> {
    out: &'a Out,
    file: Option<Writing>,
}

#[derive(Debug)]
enum Writing {
    Sqlite(Connection),
    Csv(BufWriter<File>),
}

impl Drop for Written<'_> {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = std::fs::remove_file(self.out.path());
        }
    }
}

impl<'a> Written<'a> {
    fn new(out: &'a Out) -> Result<Self, Failure> {
        let at = |error| super::at(out.path(), &error);
        let file = match out {
            Out::Csv(path) => {
                let mut file = BufWriter::new(File::create(path).map_err(at)?);
                file.write_all(csv_title().as_bytes()).map_err(at)?;
                Writing::Csv(file)
            }
            Out::Sqlite(path) => {
                if path.exists() {
                    std::fs::remove_file(path).map_err(at)?;
                }
                Writing::Sqlite(open(path).map_err(|error| failed(path, &error))?)
            }
        };
        Ok(Self { out, file: Some(file) })
    }

    fn write(&mut self, run: &Run<'_>) -> Result<(), Failure> {
        let path = self.out.path();
        match &mut self.file {
            Some(Writing::Csv(file)) => {
                write_csv(file, run).map_err(|error| super::at(path, &error))
            }
            Some(Writing::Sqlite(connection)) => {
                write_seconds(connection, run).map_err(|error| failed(path, &error))
            }
            None => Ok(()),
        }
    }

    /// Completes the file.
    pub(super) fn finish(mut self, results: &Results) -> Result<(), Failure> {
        let path = self.out.path();
        match self.file.take() {
            Some(Writing::Csv(mut file)) => file.flush().map_err(|error| super::at(path, &error)),
            Some(Writing::Sqlite(connection)) => write_figures(&connection, results)
                .and_then(|()| connection.execute_batch("COMMIT"))
                .and_then(|()| connection.close().map_err(|(_, error)| error))
                .map_err(|error| failed(path, &error)),
            None => Ok(()),
        }
    }
}

fn failed(path: &Path, error: &rusqlite::Error) -> Failure {
    Failure::Other(format!("{}: {error}", path.display()))
}

fn write_csv(out: &mut impl Write, run: &Run<'_>) -> io::Result<()> {
    let mut quoted = csv::Writer::from_writer(Vec::new());
    quoted.write_record([run.strategy])?;
    let quoted = quoted.into_inner().unwrap_or_default();
    let strategy = String::from_utf8_lossy(&quoted).trim_end().to_owned();
    for (second, row) in run.rows.iter().enumerate() {
        write!(out, "{strategy},{},{second}", run.seed)?;
        for value in row.values() {
            write!(out, ",{value}")?;
        }
        writeln!(out)?;
    }
    Ok(())
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
