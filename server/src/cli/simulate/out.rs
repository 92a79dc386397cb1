//! What was counted in every second, to SQLite or CSV.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use offbeat_sim::results::{Figures, Results};
use offbeat_sim::scenario::Scenario;
use offbeat_sim::world::{Row, Trace};
use rusqlite::Connection;

use super::super::Failure;

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

    pub(super) fn write(
        &self,
        scenario: &Scenario,
        traces: &[Vec<Trace>],
        results: &Results,
    ) -> Result<(), Failure> {
        match self {
            Self::Csv(path) => {
                write_csv(path, scenario, traces).map_err(|error| super::at(path, &error))
            }
            Self::Sqlite(path) => {
                let failed =
                    |error: rusqlite::Error| Failure::Other(format!("{}: {error}", path.display()));
                if path.exists() {
                    std::fs::remove_file(path).map_err(|error| super::at(path, &error))?;
                }
                write_sqlite(path, scenario, traces, results).map_err(failed)
            }
        }
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
    writeln!(out, "strategy,seed,second,{}", Row::COLUMNS.join(","))?;
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

fn bind(
    insert: &mut rusqlite::Statement<'_>,
    run: i64,
    first: i64,
    rows: &[Row],
) -> rusqlite::Result<()> {
    let mut place = 0;
    for (number, row) in (first..).zip(rows) {
        for value in [run, number].into_iter().chain(row.values().map(i64::from)) {
            place += 1;
            insert.raw_bind_parameter(place, value)?;
        }
    }
    Ok(())
}

/// One wide row a second: several times quicker than a row for each number.
fn write_sqlite(
    path: &Path,
    scenario: &Scenario,
    traces: &[Vec<Trace>],
    results: &Results,
) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    // The file is made anew in one go: if that is cut off, it is to be made again.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "page_size", 65_536)?;
    let figures = Figures::NAMES.map(|name| format!("{name} REAL NOT NULL")).join(", ");
    let columns = Row::COLUMNS.map(|name| format!("{name} INTEGER NOT NULL")).join(", ");
    connection.execute_batch(&format!(
        "CREATE TABLE strategies (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, {figures});
         CREATE TABLE runs (id INTEGER PRIMARY KEY, strategy_id INTEGER NOT NULL REFERENCES strategies, seed INTEGER NOT NULL);
         CREATE TABLE seconds (run_id INTEGER NOT NULL REFERENCES runs, second INTEGER NOT NULL, {columns});"
    ))?;
    let transaction = connection.transaction()?;
    let marks = |count: usize| vec!["?"; count].join(", ");
    {
        let insert = format!("INSERT INTO strategies VALUES ({})", marks(Figures::NAMES.len() + 3));
        let mut strategy = transaction.prepare(&insert)?;
        for (id, outcome) in (0_i64..).zip(&results.strategies) {
            strategy.raw_bind_parameter(1, id)?;
            strategy.raw_bind_parameter(2, &outcome.name)?;
            strategy.raw_bind_parameter(3, outcome.kind)?;
            for (place, name) in Figures::NAMES.iter().enumerate() {
                strategy.raw_bind_parameter(place + 4, outcome.figures.get(name))?;
            }
            strategy.raw_execute()?;
        }
        let mut run = transaction.prepare("INSERT INTO runs VALUES (?, ?, ?)")?;
        let row = format!("({})", marks(Row::COLUMNS.len() + 2));
        let insert = |rows: usize| {
            let rows = vec![row.as_str(); rows].join(", ");
            transaction.prepare(&format!("INSERT INTO seconds VALUES {rows}"))
        };
        let (mut many, mut one) = (insert(ROWS_AT_ONCE)?, insert(1)?);
        let seeds = i64::try_from(scenario.seeds.len()).unwrap_or(1).max(1);
        for (id, (_, seed, trace)) in (0_i64..).zip(runs(scenario, traces)) {
            run.execute((id, id / seeds, seed.cast_signed()))?;
            let mut first = 0_i64;
            for rows in trace.rows.chunks(ROWS_AT_ONCE) {
                if rows.len() == ROWS_AT_ONCE {
                    bind(&mut many, id, first, rows)?;
                    many.raw_execute()?;
                    first += i64::try_from(rows.len()).unwrap_or_default();
                    continue;
                }
                for row in rows {
                    bind(&mut one, id, first, std::slice::from_ref(row))?;
                    one.raw_execute()?;
                    first += 1;
                }
            }
        }
    }
    transaction.commit()
}
