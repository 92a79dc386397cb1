//! Groups in, turns out.

use std::io::{BufRead, BufWriter, Write};
use std::rc::Rc;

use clap::ValueEnum;
use offbeat_core::rejection::shorten;
use offbeat_core::spread::{Certificate, DealtJob, Pull, Source, Spread, SpreadSpec, Turn};
use serde::Serialize;

use super::groups::{Group, GroupReader, InputFormat, Word};
use crate::Failure;
use crate::output::write_json_line;

/// How turns are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// A line {"sequence": 0, "group": "a", "job": "a1"} for each turn
    Json,
    /// A line `GROUP<TAB>JOB` for each job
    Tsv,
    /// The job alone
    Job,
}

/// How groups are read and turns written.
#[derive(Debug, Clone, Copy)]
pub struct Formats {
    /// How groups are written.
    pub input: InputFormat,
    /// How turns are written; by default as their groups were.
    pub output: Option<OutputFormat>,
}

/// A line of JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum TurnLine<'a> {
    Job { sequence: u64, group: &'a Word, job: &'a Word },
    Idle { sequence: u64, idle: bool },
}

/// Reads groups when they are needed.
struct Dispatcher<R, W: Write> {
    groups: GroupReader<R>,
    output: Output<W>,
    failure: Option<Failure>,
}

impl<R: BufRead, W: Write> Dispatcher<R, W> {
    fn read_group(&mut self) -> Result<Option<Group>, Failure> {
        // The program that reads the output may write the next line of input only then.
        self.output.out.flush()?;
        self.groups.next_group()
    }
}

impl<R: BufRead, W: Write> Source for Dispatcher<R, W> {
    type Group = Group;
    type Job = (Rc<Word>, Word);

    fn next_group(&mut self) -> Pull<Group> {
        match self.read_group() {
            Ok(Some(group)) => Pull::Ready(group),
            Ok(None) => Pull::End,
            Err(failure) => {
                self.failure = Some(failure);
                Pull::Pending // forever: the caller sees the failure
            }
        }
    }

    fn next_job(&mut self, group: &mut Group) -> Pull<Self::Job> {
        match group.next_job() {
            Some(job) => Pull::Ready((Rc::clone(&group.name), job)),
            None => Pull::End,
        }
    }

    fn size(&self, group: &Group) -> u64 {
        group.len()
    }
}

struct Output<W: Write> {
    out: BufWriter<W>,
    format: Option<OutputFormat>,
}

impl<W: Write> Output<W> {
    fn write_job(&mut self, sequence: u64, group: &Word, job: &Word) -> Result<(), Failure> {
        let as_read = match job {
            Word::Json(_) => OutputFormat::Json,
            Word::Text(_) => OutputFormat::Tsv,
        };
        match self.format.unwrap_or(as_read) {
            OutputFormat::Json => {
                return write_json_line(&mut self.out, &TurnLine::Job { sequence, group, job });
            }
            OutputFormat::Tsv => {
                write_text(&mut self.out, group, "the group", &['\t', '\n', '\r'], b'\t')?;
            }
            OutputFormat::Job => {}
        }
        write_text(&mut self.out, job, "a job", &['\n', '\r'], b'\n')
    }

    fn write_idle(&mut self, sequence: u64) -> Result<(), Failure> {
        write_json_line(&mut self.out, &TurnLine::Idle { sequence, idle: true })
    }
}

/// Writes a word on a line of text, and the character that ends it. Text that was read as TSV can
/// be written as it is.
fn write_text(
    out: &mut impl Write,
    word: &Word,
    what: &str,
    ends: &[char],
    end: u8,
) -> Result<(), Failure> {
    let text = word.text();
    if matches!(word, Word::Json(_)) && text.contains(ends) {
        let shown = shorten(&text);
        return Err(Failure::Other(format!(
            "{what} {shown} cannot be written on a line of text: use --output json"
        )));
    }
    out.write_all(text.as_bytes())?;
    out.write_all(&[end])?;
    Ok(())
}

/// Spreads the groups of `input`, and leaves out the turns before `from_sequence`.
///
/// # Errors
/// When the spec or the input is refused, `output` cannot be written, or there are fewer turns than
/// `from_sequence`.
pub fn deal(
    spec: &SpreadSpec,
    from_sequence: u64,
    formats: Formats,
    input: impl BufRead,
    output: impl Write,
) -> Result<Certificate, Failure> {
    let mut spread = Spread::try_new(spec)?;
    let mut dispatcher = Dispatcher {
        groups: GroupReader::new(input, formats.input),
        output: Output { out: BufWriter::new(output), format: formats.output },
        failure: None,
    };
    let mut turns = 0;
    loop {
        match spread.next(&mut dispatcher) {
            Turn::Job(DealtJob { sequence, .. }) | Turn::Idle { sequence }
                if sequence < from_sequence =>
            {
                turns = sequence + 1;
            }
            Turn::Job(DealtJob { sequence, job: (group, job), .. }) => {
                turns = sequence + 1;
                dispatcher.output.write_job(sequence, &group, &job)?;
            }
            Turn::Idle { sequence } => {
                turns = sequence + 1;
                dispatcher.output.write_idle(sequence)?;
            }
            Turn::Pending => {
                if let Some(failure) = dispatcher.failure.take() {
                    return Err(failure);
                }
            }
            Turn::End => break,
        }
    }
    dispatcher.output.out.flush()?;
    if from_sequence > turns {
        let message =
            format!("--from-sequence: {from_sequence} is refused: must be 0 to {turns}, all turns");
        return Err(Failure::Usage(message));
    }
    Ok(spread.certificate())
}
