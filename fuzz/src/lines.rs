//! Input of the command line: groups, stages, run times, IDs, spans and instants.

use std::collections::BTreeMap;
use std::fmt::Display;

use offbeat::api::stages::allocate;
use offbeat::cli::input::IdType;
use offbeat::cli::spread::{Formats, InputFormat, OutputFormat, deal};
use offbeat::cli::stages::read_stages;
use offbeat::proto;
use offbeat_core::spread::{OnShortage, Policy, SpreadSpec};
use offbeat_core::{Moment, PlacementKind};
use offbeat_text::{Line, for_each_line, parse_moment, parse_span, read_run_times};
use serde_json::value::RawValue;

use super::choices::Choices;
use super::refusal;

/// The longest error message for a text that is refused.
const REFUSAL_BYTES: usize = 10_000;

fn heard<T>(read: Result<T, impl Display>) -> Option<T> {
    read.map_err(|error| error.to_string())
        .inspect_err(|said| {
            assert!(
                !said.is_empty() && said.len() <= REFUSAL_BYTES,
                "{} bytes: {said}",
                said.len()
            );
        })
        .ok()
}

/// Objects as written. `RawValue` keeps numbers that no number type can hold.
fn lines(text: &[u8]) -> Vec<BTreeMap<String, Box<RawValue>>> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// Groups as lines of JSON: every job comes out once, unchanged.
pub fn groups(data: &[u8]) {
    let mut choices = Choices::new(data);
    let policy = choices.one_of(&[Policy::RoundRobin, Policy::Cooldown]);
    let spec = SpreadSpec {
        policy,
        feeder_count: 1 + i64::from(choices.byte() % 8),
        max_open_group_count: None,
        on_shortage: (policy == Policy::Cooldown)
            .then(|| choices.one_of(&[OnShortage::Emit, OnShortage::Wait])),
    };
    let input = choices.rest();
    let mut output = Vec::new();
    group_lines(spec, input);
    let json = Formats { input: InputFormat::Json, output: None };
    let Some(certificate) = heard(deal(&spec, 0, json, input, &mut output)) else { return };
    let mut written = Vec::new();
    for (sequence, line) in lines(&output).into_iter().enumerate() {
        assert_eq!(line["sequence"].get(), sequence.to_string());
        if !line.contains_key("idle") {
            written.push((line["group"].to_string(), line["job"].to_string()));
        }
    }
    let mut asked = Vec::new();
    for line in lines(input) {
        let jobs: Vec<&RawValue> = serde_json::from_str(line["jobs"].get()).unwrap();
        asked.extend(jobs.iter().map(|job| (line["group"].to_string(), job.to_string())));
    }
    assert_eq!(certificate.job_count, asked.len() as u64);
    written.sort();
    asked.sort();
    assert_eq!(written, asked);
}

/// The same text as TSV: every line comes out once.
fn group_lines(spec: SpreadSpec, input: &[u8]) {
    let spec = SpreadSpec { on_shortage: None, ..spec };
    let tsv = Formats { input: InputFormat::Tsv, output: Some(OutputFormat::Tsv) };
    let mut output = Vec::new();
    if heard(deal(&spec, 0, tsv, input, &mut output)).is_none() {
        return;
    }
    let input = input
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\n")).unwrap_or(line));
    let mut asked: Vec<_> = input.filter(|line| line.contains(&b'\t')).collect();
    let mut written: Vec<_> = output
        .split_inclusive(|byte| *byte == b'\n')
        .filter_map(|line| line.strip_suffix(b"\n"))
        .collect();
    written.sort_unstable();
    asked.sort_unstable();
    assert_eq!(written, asked);
}

/// Stages as CSV or JSON, run times, IDs, spans and instants.
pub fn tables(data: &[u8]) {
    let mut choices = Choices::new(data);
    match choices.below(5) {
        0 | 1 => stages(&mut choices),
        2 => {
            let times = heard(read_run_times(choices.rest())).unwrap_or_default();
            assert!(times.iter().all(|micros| (1..=31_622_400_000_000).contains(micros)));
        }
        3 => ids(&mut choices),
        _ => times(&String::from_utf8_lossy(choices.rest())),
    }
}

fn stages(choices: &mut Choices<'_>) {
    let worker_count = Some(choices.narrow());
    let text = String::from_utf8_lossy(choices.rest());
    let Some(stages) = heard(read_stages(&text)) else { return };
    let request = proto::AllocateWorkersRequest { stages, worker_count, ..Default::default() };
    if let Err(refused) = allocate(request) {
        refusal::check(&refused);
    }
}

fn ids(choices: &mut Choices<'_>) {
    let placement = choices.one_of(&[PlacementKind::Hash, PlacementKind::Fraction]);
    let input = choices.rest();
    let mut count = 0;
    let each = |_, line: Line<'_>| {
        count += 1;
        let id = match line {
            Line::Text(text) => IdType::Auto.read(text, placement),
            Line::Refused(refused) => Err(refused),
        };
        match id {
            Ok(id) => assert!(id.to_string().len() <= 1_024),
            Err(refused) => refusal::check_bare(refused),
        }
        Ok::<_, std::io::Error>(())
    };
    for_each_line(input, each).unwrap();
    let ends = input.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(count, ends + usize::from(input.last().is_some_and(|last| *last != b'\n')));
}

fn times(text: &str) {
    if let Some(span) = heard(parse_span(text)) {
        let (seconds, nanos) = span.parts();
        assert_eq!(offbeat_core::Span::try_new(seconds, nanos), Ok(span));
    }
    if let Some(moment) = heard(parse_moment(text)) {
        assert!((Moment::MIN..=Moment::MAX).contains(&moment));
        assert_eq!(parse_moment(&moment.to_string()), Ok(moment), "{text}");
    }
}
