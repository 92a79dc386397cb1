//! Rows as a table, as JSON lines or as CSV.

use std::io::Write;

use clap::ValueEnum;
use serde::Serialize;

use super::Failure;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RowFormat {
    /// Columns for people
    Table,
    /// One JSON object a line
    Json,
    /// A header line and comma-separated values
    Csv,
}

/// How a single answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AnswerFormat {
    /// Lines for people
    Table,
    /// One JSON object
    Json,
}

/// A row that knows its columns.
pub(super) trait Row: Serialize {
    /// The title and the width of each column; a width below zero aligns to the right.
    const COLUMNS: &'static [(&'static str, isize)];

    /// The cells, one for each column.
    fn cells(&self) -> Vec<String>;
}

/// Writes rows one by one, as they come.
pub(super) enum RowWriter<W: Write> {
    Table { out: W, titled: bool },
    Json { out: W },
    Csv { out: Box<csv::Writer<W>> },
}

impl<W: Write> RowWriter<W> {
    pub(super) fn new(format: RowFormat, out: W) -> Self {
        match format {
            RowFormat::Table => Self::Table { out, titled: false },
            RowFormat::Json => Self::Json { out },
            RowFormat::Csv => Self::Csv { out: Box::new(csv::Writer::from_writer(out)) },
        }
    }

    pub(super) fn write<R: Row>(&mut self, row: &R) -> Result<(), Failure> {
        match self {
            Self::Table { out, titled } => {
                if !*titled {
                    *titled = true;
                    let titles = R::COLUMNS.iter().map(|(title, _)| (*title).to_owned());
                    write_cells::<R, _>(out, titles)?;
                }
                write_cells::<R, _>(out, row.cells().into_iter())?;
            }
            Self::Json { out } => write_json_line(out, row)?,
            Self::Csv { out } => out.serialize(row)?,
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        match self {
            Self::Table { out, .. } | Self::Json { out } => out.flush()?,
            Self::Csv { out } => out.flush()?,
        }
        Ok(())
    }
}

fn write_cells<R: Row, W: Write>(
    out: &mut W,
    cells: impl Iterator<Item = String>,
) -> Result<(), Failure> {
    let padded = cells.zip(R::COLUMNS).map(|(cell, (_, width))| {
        let columns = width.unsigned_abs();
        if *width < 0 { format!("{cell:>columns$}") } else { format!("{cell:<columns$}") }
    });
    let line = padded.collect::<Vec<_>>().join("  ");
    writeln!(out, "{}", line.trim_end())?;
    Ok(())
}

/// Writes one JSON object and a line feed.
pub(super) fn write_json_line(out: &mut impl Write, row: &impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, row)?;
    writeln!(out)?;
    Ok(())
}

/// A number and its noun, in the plural if necessary.
pub(super) fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(number))
}

/// A number with a comma before each three digits.
pub(super) fn thousands(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1_000), number % 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (1_002_003, "1,002,003"), (70_010, "70,010")]
        {
            assert_eq!(thousands(number), text);
        }
    }
}
