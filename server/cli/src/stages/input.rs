//! Stages as CSV or JSON.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read as _};

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::super::Failure;
use offbeat_proto as proto;
use offbeat_proto::json::read_json;
use offbeat_service::limits::INPUT_BYTES;
use offbeat_text::parse_span;

/// All of standard input, within its limit.
pub(super) fn read_input() -> Result<String, Failure> {
    let mut text = String::new();
    let room = INPUT_BYTES.max_size() as u64;
    let read = io::stdin().lock().take(room + 1).read_to_string(&mut text);
    read.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Failure::Usage("standard input: must be UTF-8".to_owned()),
        _ => error.into(),
    })?;
    if text.len() as u64 > room {
        return Err(Failure::Usage(format!("standard input: must be {INPUT_BYTES}")));
    }
    Ok(text)
}

/// The field that only rows of a timeline have.
pub(super) const TIME: &str = "time";

/// The fields of a stage: columns of CSV, or fields of a JSON object.
static FIELDS: [&str; 12] = [
    TIME,
    "name",
    "backlog_count",
    "mean_run_time",
    "run_times",
    "done",
    "min_worker_count",
    "max_worker_count",
    "current_worker_count",
    "busy_worker_count",
    "arrival_count",
    "arrival_period",
];

/// The fields of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowFields {
    /// Those of a stage.
    Stage,
    /// Those of a stage, and its time.
    TimedStage,
}

impl RowFields {
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Stage => FIELDS.get(1..).unwrap_or_default(),
            Self::TimedStage => &FIELDS,
        }
    }

    /// The name of a field as the protos have it. The names of the JSON API are accepted, too:
    /// `backlogCount`.
    fn known(self, field: &str) -> Result<String, Failure> {
        let mut snake_case = String::new();
        for letter in field.chars() {
            if letter.is_ascii_uppercase() {
                snake_case.push('_');
            }
            snake_case.push(letter.to_ascii_lowercase());
        }
        if self.names().contains(&snake_case.as_str()) {
            return Ok(snake_case);
        }
        let fields = self.names().join(", ");
        Err(Failure::Usage(format!("standard input: {field:?} is no field of a stage: {fields}")))
    }
}

/// Reads stages from a JSON array, or from CSV.
///
/// # Errors
/// When the text is neither, or a field is refused.
pub fn read_stages(input: &str) -> Result<Vec<proto::Stage>, Failure> {
    let json = json!({ "stages": read_rows(input, RowFields::Stage)? }).to_string();
    let read: proto::AllocateWorkersRequest =
        read_json("offbeat.v1.AllocateWorkersRequest", json.as_bytes())?;
    Ok(read.stages)
}

/// Reads a stage from its fields.
pub(super) fn read_stage(fields: &Fields) -> Result<proto::Stage, Failure> {
    let json = serde_json::to_vec(fields)?;
    Ok(read_json("offbeat.v1.Stage", &json)?)
}

/// The fields that a row sets, as the protos name them.
pub(super) type Fields = Map<String, Value>;

/// Reads rows from a JSON array, or from CSV.
pub(super) fn read_rows(input: &str, fields: RowFields) -> Result<Vec<Fields>, Failure> {
    if !input.trim_start().starts_with(['[', '{']) {
        return rows_of_csv(input, fields);
    }
    let rows: Vec<JsonRow> = serde_json::from_str(input).map_err(|error| {
        Failure::Usage(format!("standard input: must be a JSON array of stages ({error})"))
    })?;
    let row = |JsonRow(row): JsonRow| {
        let mut set = Fields::new();
        for (field, value) in row.into_iter().filter(|(_, value)| !value.is_null()) {
            let field = fields.known(&field)?;
            let value = with_seconds(&field, value);
            if set.insert(field.clone(), value).is_some() {
                let message = format!("standard input: {field} is set twice in one object");
                return Err(Failure::Usage(message));
            }
        }
        Ok(set)
    };
    rows.into_iter().map(row).collect()
}

/// An object without duplicate fields.
struct JsonRow(Fields);

impl<'de> Deserialize<'de> for JsonRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = JsonRow;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonRow, A::Error> {
                let mut fields = Fields::new();
                while let Some((field, value)) = map.next_entry::<String, Value>()? {
                    if fields.contains_key(&field) {
                        return Err(A::Error::custom(format_args!("duplicate field {field:?}")));
                    }
                    fields.insert(field, value);
                }
                Ok(JsonRow(fields))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// The fields that are spans, or lists of them.
const SPANS: [&str; 3] = ["mean_run_time", "run_times", "arrival_period"];

/// Converts spans such as "1m 30s" to the seconds of proto JSON.
fn with_seconds(field: &str, value: Value) -> Value {
    match value {
        Value::String(text) if SPANS.contains(&field) => {
            Value::String(parse_span(&text).map_or(text, |span| span.to_string()))
        }
        Value::Array(times) => {
            Value::Array(times.into_iter().map(|time| with_seconds(field, time)).collect())
        }
        other => other,
    }
}

/// Reads CSV. Columns are named like the fields of the JSON; an empty cell is a field that is not
/// set.
fn rows_of_csv(input: &str, fields: RowFields) -> Result<Vec<Fields>, Failure> {
    let bad = |error: csv::Error| Failure::Usage(format!("standard input: {error}"));
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input.as_bytes());
    let titles = reader.headers().map_err(bad)?.clone();
    let titles: Vec<String> =
        titles.iter().map(|title| fields.known(title)).collect::<Result<_, _>>()?;
    let mut distinct = BTreeSet::new();
    if let Some(title) = titles.iter().find(|title| !distinct.insert(*title)) {
        let fields = fields.names().join(", ");
        let message =
            format!("standard input: two columns {title:?}: must be one of each of {fields}");
        return Err(Failure::Usage(message));
    }
    let row = |record: csv::StringRecord| {
        let cells = titles.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
        cells
            .map(|(title, cell)| (title.clone(), with_seconds(title, value_of(title, cell))))
            .collect()
    };
    reader.records().map(|record| record.map(row).map_err(bad)).collect()
}

/// The JSON of a cell: numbers may be strings in proto JSON, booleans may not.
fn value_of(title: &str, cell: &str) -> Value {
    match (title, cell) {
        ("done", "true") => Value::Bool(true),
        ("done", "false") => Value::Bool(false),
        _ => Value::String(cell.to_owned()),
    }
}
