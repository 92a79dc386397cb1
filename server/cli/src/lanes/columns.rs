//! Jobs from CSV with a header line.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};

use offbeat_core::limits::{MEMBER_NAME, PLAN_TYPES, RUN_TIME_MICROS, RUN_TIME_SAMPLES};
use offbeat_core::{Reason, Rejection};
use offbeat_service::limits::RUN_TIME_CSV_BYTES;
use offbeat_text::parse_span;

use super::arrivals::{Arrivals, parse_arrival};
use super::jobs::{Jobs, RunTimes};
use super::{ColumnArgs, UnitArg};
use crate::Failure;

/// Maximum number of columns that a refusal names, and of characters of each name.
const NAMED_COLUMNS: usize = 20;
const NAMED_CHARACTERS: usize = 40;

/// Reads jobs from the first line of the input, the header, and the rest.
pub(super) fn read(
    header: &[u8],
    rest: impl BufRead,
    column: &str,
    args: &ColumnArgs,
) -> Result<Jobs, Failure> {
    let room = RUN_TIME_CSV_BYTES.max_size() as u64;
    let input = header.chain(rest).take(room + 1);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter(header)).from_reader(input);
    let titles = reader.byte_headers().map_err(refused_line)?.clone();
    let place = |flag: &str, name: &str| place_of(flag, name, &titles);
    let run_time = place("--column", column)?;
    let kind = args.by.as_deref().map(|name| place("--by", name)).transpose()?;
    let time = args.time_column.as_deref().map(|name| place("--time-column", name)).transpose()?;
    let unit = args.unit.unwrap_or(UnitArg::S);

    let (mut all, mut types, mut times) =
        (Vec::new(), BTreeMap::<String, Vec<i64>>::new(), Vec::new());
    let mut record = csv::ByteRecord::new();
    let mut count = 0;
    while reader.read_byte_record(&mut record).map_err(refused_line)? {
        let line = record.position().map_or(0, csv::Position::line);
        let refused = |place: usize, reason: Reason, value: &str, allowed: &str| {
            let title = String::from_utf8_lossy(titles.get(place).unwrap_or_default());
            let field = format!("line {line}: {}", title.trim().escape_debug());
            Failure::Usage(
                Rejection::new(reason, field, format!("{:?}", shortened(value)), allowed)
                    .to_string(),
            )
        };
        let cell = |place: usize| {
            let bytes = record.get(place).unwrap_or_default().trim_ascii();
            std::str::from_utf8(bytes).map_err(|_| {
                let value = String::from_utf8_lossy(bytes);
                refused(place, Reason::Malformed, &value, "must be UTF-8")
            })
        };
        count += 1;
        if count > RUN_TIME_SAMPLES.max_size() {
            let allowed = format!("line {line}: one more is refused: must be {RUN_TIME_SAMPLES}");
            return Err(Failure::Usage(format!("{allowed}; draw from more at random")));
        }
        let text = cell(run_time)?;
        let micros = parse_micros(text, unit)
            .map_err(|(reason, allowed)| refused(run_time, reason, text, &allowed))?;
        if let Some(place) = time {
            let text = cell(place)?;
            times.push(
                parse_arrival(text)
                    .map_err(|allowed| refused(place, Reason::Malformed, text, &allowed))?,
            );
        }
        let Some(place) = kind else {
            all.push(micros);
            continue;
        };
        let name = cell(place)?;
        if let Some(samples) = types.get_mut(name) {
            samples.push(micros);
            continue;
        }
        if !MEMBER_NAME.allows(name.len() as i128) {
            let allowed = format!("must be {MEMBER_NAME}");
            return Err(refused(place, Reason::OutOfRange, name, &allowed));
        }
        if types.len() == PLAN_TYPES.max_size() {
            let allowed = format!("must be one of {PLAN_TYPES}, and there are as many before");
            return Err(refused(place, Reason::OutOfRange, name, &allowed));
        }
        types.insert(name.to_owned(), vec![micros]);
    }
    if reader.into_inner().limit() == 0 {
        return Err(Failure::Usage(format!("standard input: must be {RUN_TIME_CSV_BYTES}")));
    }
    let arrivals = match (&args.time_column, times.is_empty()) {
        (Some(column), false) => {
            let refused =
                |why| Failure::Usage(format!("--time-column: {column:?} is refused: {why}"));
            Some(Arrivals::of(&times).map_err(refused)?)
        }
        _ => None,
    };
    let run_times = if kind.is_some() { RunTimes::ByType(types) } else { RunTimes::All(all) };
    Ok(Jobs { run_times, arrivals })
}

/// Refuses a first line that is not a run time but seems to be the header of CSV.
pub(super) fn refuse_header(first: &[u8]) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(first);
    let text = text.trim_start_matches('\u{feff}').trim();
    let is_number = text.is_empty() || text.parse::<f64>().is_ok();
    let is_name = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
    let has_columns = text.contains([',', ';', '\t']);
    if is_number
        || !(has_columns || text.starts_with(char::is_alphabetic) && text.chars().all(is_name))
    {
        return Ok(());
    }
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter(first)).from_reader(first);
    let Ok(titles) = reader.byte_headers() else { return Ok(()) };
    Err(Failure::Usage(format!(
        "line 1 of the run times: {:?} is refused: must be a run time in seconds. A CSV? Name the column \
         of the run times with --column: {}",
        shortened(text),
        names(titles)
    )))
}

/// The delimiter of columns: the one that the header has most of.
fn delimiter(header: &[u8]) -> u8 {
    let count = |delimiter: &u8| header.iter().filter(|byte| *byte == delimiter).count();
    // Of equal ones, the last counts: the comma wins.
    *b";\t,".iter().max_by_key(|delimiter| count(delimiter)).unwrap_or(&b',')
}

fn place_of(flag: &str, name: &str, titles: &csv::ByteRecord) -> Result<usize, Failure> {
    let is_it = |title: &[u8]| title.trim_ascii() == name.as_bytes();
    let mut places = titles.iter().enumerate().filter(|(_, title)| is_it(title));
    match (places.next(), places.next()) {
        (Some((place, _)), None) => Ok(place),
        (Some(_), Some(_)) => {
            Err(Failure::Usage(format!("{flag}: {name:?} is refused: two columns have this name")))
        }
        (None, _) => Err(Failure::Usage(format!(
            "{flag}: {name:?} is refused: must be a column of the header: {}",
            names(titles)
        ))),
    }
}

/// The names of the first columns of a header.
fn names(titles: &csv::ByteRecord) -> String {
    let named = titles
        .iter()
        .take(NAMED_COLUMNS)
        .map(|title| shortened(String::from_utf8_lossy(title).trim()).escape_debug().to_string());
    let others = titles.len().saturating_sub(NAMED_COLUMNS);
    let others = (others > 0).then(|| format!("and {others} more"));
    named.chain(others).collect::<Vec<_>>().join(", ")
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(NAMED_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Reads a number in `unit`, or a span. Returns microseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "it is in range")]
fn parse_micros(text: &str, unit: UnitArg) -> Result<i64, (Reason, String)> {
    let (micros_of_unit, name) = match unit {
        UnitArg::H => (3_600e6, "hours"),
        UnitArg::Min => (60e6, "minutes"),
        UnitArg::S => (1e6, "seconds"),
        UnitArg::Ms => (1e3, "milliseconds"),
        UnitArg::Us => (1.0, "microseconds"),
        UnitArg::Ns => (1e-3, "nanoseconds"),
    };
    let refused = |reason| {
        let range = "0.000001 to 31622400 s";
        (reason, format!("must be a number of {name}, or a span such as 1m30s: {range}"))
    };
    let micros = match text.parse::<f64>() {
        Ok(number) => (number * micros_of_unit).round(),
        Err(_) => {
            let span = parse_span(text).map_err(|_| refused(Reason::Malformed))?;
            (span.nanos() as f64 / 1e3).round()
        }
    };
    let range = RUN_TIME_MICROS.minimum as f64..=RUN_TIME_MICROS.maximum as f64;
    range.contains(&micros).then_some(micros as i64).ok_or_else(|| refused(Reason::OutOfRange))
}

fn refused_line(error: csv::Error) -> Failure {
    let line = error.position().map_or(0, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => Failure::Usage(format!(
            "line {line}: {len} cells are refused: must be {expected_len}, as in the header"
        )),
        _ => error.into(),
    }
}
