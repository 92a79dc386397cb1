//! Writes the counts of every second to SQLite or CSV.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use offbeat_sim::results::Results;
use offbeat_sim::scenario::Scenario;
use offbeat_sim::world::Row;

use crate::database::Database;
use crate::failure::Failure;
use crate::run::{FinishedRun, Run};

/// The first line of our CSV files.
pub(crate) fn csv_title() -> String {
    format!("strategy,seed,second,{}\n", Row::COLUMNS.join(","))
}

/// A file to write, by its ending.
#[derive(Debug)]
pub(crate) enum OutputPath {
    Sqlite(PathBuf),
    Csv(PathBuf),
}

impl OutputPath {
    pub(crate) fn at(path: &Path) -> Result<Self, Failure> {
        let refused = |why| Failure::Usage(format!("--out: {} is refused: {why}", path.display()));
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("sqlite" | "sqlite3" | "db") => Ok(Self::Sqlite(path.to_owned())),
            Some("csv") => Ok(Self::Csv(path.to_owned())),
            _ => Err(refused("must end in .sqlite or .csv")),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Sqlite(path) | Self::Csv(path) => path,
        }
    }
}

/// Writes files as runs end, run after run: the same bytes, whichever ends first.
pub(crate) fn write<'a>(
    outs: &'a [OutputPath],
    scenario: &Scenario,
    ended: &Receiver<FinishedRun>,
) -> Result<Vec<OutputFile<'a>>, Failure> {
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
            written = outs.iter().map(OutputFile::new).collect::<Result<_, _>>()?;
        }
        let strategy = scenario.strategies.get(number / seeds).map_or("", |one| one.name.as_str());
        let seed = scenario.seeds.get(number % seeds).copied().unwrap_or_default();
        let run = Run { number, strategy, of: number / seeds, seed, rows: &rows };
        written.iter_mut().try_for_each(|file| file.write(&run))?;
    }
    Ok(written)
}

/// A file that is being written; it is removed unless it is finished.
#[derive(Debug)]
pub(crate) struct OutputFile<'a> {
    out: &'a OutputPath,
    file: Option<OutputWriter>,
}

#[derive(Debug)]
enum OutputWriter {
    Sqlite(Database),
    Csv(BufWriter<File>),
}

impl Drop for OutputFile<'_> {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = std::fs::remove_file(self.out.path());
        }
    }
}

impl<'a> OutputFile<'a> {
    fn new(out: &'a OutputPath) -> Result<Self, Failure> {
        let at = |error| Failure::at(out.path(), &error);
        let file = match out {
            OutputPath::Csv(path) => {
                let mut file = BufWriter::new(File::create(path).map_err(at)?);
                file.write_all(csv_title().as_bytes()).map_err(at)?;
                OutputWriter::Csv(file)
            }
            OutputPath::Sqlite(path) => {
                if path.exists() {
                    std::fs::remove_file(path).map_err(at)?;
                }
                OutputWriter::Sqlite(Database::create(path)?)
            }
        };
        Ok(Self { out, file: Some(file) })
    }

    fn write(&mut self, run: &Run<'_>) -> Result<(), Failure> {
        let path = self.out.path();
        match &mut self.file {
            Some(OutputWriter::Csv(file)) => {
                write_csv(file, run).map_err(|error| Failure::at(path, &error))
            }
            Some(OutputWriter::Sqlite(database)) => database.write(path, run),
            None => Ok(()),
        }
    }

    /// Completes the file.
    pub(crate) fn finish(mut self, results: &Results) -> Result<(), Failure> {
        let path = self.out.path();
        match self.file.take() {
            Some(OutputWriter::Csv(mut file)) => {
                file.flush().map_err(|error| Failure::at(path, &error))
            }
            Some(OutputWriter::Sqlite(database)) => database.finish(path, results),
            None => Ok(()),
        }
    }
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
