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
        let insert = format!("INSERT INTO seconds VALUES ({})", marks(Row::COLUMNS.len() + 2));
        let mut second = transaction.prepare(&insert)?;
        let seeds = i64::try_from(scenario.seeds.len()).unwrap_or(1).max(1);
        for (id, (_, seed, trace)) in (0_i64..).zip(runs(scenario, traces)) {
            run.execute((id, id / seeds, seed.cast_signed()))?;
            for (number, row) in (0_i64..).zip(&trace.rows) {
                second.raw_bind_parameter(1, id)?;
                second.raw_bind_parameter(2, number)?;
                for (place, value) in row.values().into_iter().enumerate() {
                    second.raw_bind_parameter(place + 3, value)?;
                }
                second.raw_execute()?;
            }
        }
    }
    transaction.commit()
}
