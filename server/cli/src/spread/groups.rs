//! Groups as text: JSON lines, a group each, or TSV, a job a line.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{BufRead, Read as _};
use std::rc::Rc;

use clap::ValueEnum;
use indexmap::IndexMap;
use offbeat_core::rejection::shorten;
use offbeat_service::limits::{GROUP_LINE_BYTES, SPREAD_INPUT_BYTES};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::names::SeenNames;
use crate::Failure;

/// How groups are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// JSON lines if the first line begins with {, else TSV
    Auto,
    /// A line {"group": "a", "jobs": ["a1", "a2"]} for each group, read when it is needed
    Json,
    /// A line `GROUP<TAB>JOB` for each job, in any order; all are read before the first turn
    Tsv,
}

const JSON_FORM: &str = r#"must be like {"group": "a", "jobs": ["a1", "a2"]}"#;
const TSV_FORM: &str = "must be GROUP<TAB>JOB";

/// What a group of TSV takes beside its text, in bytes.
const GROUP_OVERHEAD: usize = 128;

/// A group's name, or a job.
#[derive(Debug)]
pub(super) enum Word {
    /// Any JSON, as it was written.
    Json(Box<RawValue>),
    Text(String),
}

impl Word {
    /// The characters of a JSON string; of anything else, its JSON.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(json) if json.get().starts_with('"') => {
                // A lone surrogate stands for no character.
                serde_json::from_str(json.get()).map_or(Cow::Borrowed(json.get()), Cow::Owned)
            }
            Self::Json(json) => Cow::Borrowed(json.get()),
        }
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(json) => json.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// A group, and its jobs that were not taken yet.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: Rc<Word>,
    jobs: Jobs,
}

#[derive(Debug)]
enum Jobs {
    Json(VecDeque<Box<RawValue>>),
    Lines(JobLines),
}

/// Jobs in one text, a line feed after each: takes much less memory than a text for each.
#[derive(Debug, Default)]
struct JobLines {
    text: String,
    taken: usize,
    left: u64,
}

impl Group {
    /// How many jobs were not taken yet.
    pub(super) fn len(&self) -> u64 {
        match &self.jobs {
            Jobs::Json(jobs) => jobs.len() as u64,
            Jobs::Lines(jobs) => jobs.left,
        }
    }

    pub(super) fn next_job(&mut self) -> Option<Word> {
        match &mut self.jobs {
            Jobs::Json(jobs) => jobs.pop_front().map(Word::Json),
            Jobs::Lines(jobs) => jobs.next().map(|job| Word::Text(job.to_owned())),
        }
    }
}

impl JobLines {
    fn push(&mut self, job: &str) {
        self.text.push_str(job);
        self.text.push('\n');
        self.left += 1;
    }

    fn next(&mut self) -> Option<&str> {
        let (job, _) = self.text.get(self.taken..)?.split_once('\n')?;
        self.taken += job.len() + 1;
        self.left -= 1;
        Some(job)
    }
}

/// A line of JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupLine {
    group: Box<RawValue>,
    jobs: VecDeque<Box<RawValue>>,
}

/// Reads groups, one after the other.
pub(super) struct GroupReader<R> {
    lines: Lines<R>,
    format: InputFormat,
    names: SeenNames,
    /// Groups of TSV, once all of it was read.
    collected: Option<indexmap::map::IntoIter<String, JobLines>>,
}

impl<R: BufRead> GroupReader<R> {
    pub(super) fn new(input: R, format: InputFormat) -> Self {
        let lines = Lines { input, number: 0, line: Vec::new() };
        Self { lines, format, names: SeenNames::default(), collected: None }
    }

    /// The next group, if there is one.
    pub(super) fn next_group(&mut self) -> Result<Option<Group>, Failure> {
        if self.collected.is_none() {
            if !self.lines.advance()? {
                return Ok(None);
            }
            if self.format == InputFormat::Auto {
                self.format = self.detected()?;
            }
            if self.format == InputFormat::Json {
                return self.json_group().map(Some);
            }
            self.collected = Some(self.collect()?.into_iter());
        }
        let group = self.collected.as_mut().and_then(Iterator::next);
        Ok(group
            .map(|(name, jobs)| Group { name: Rc::new(Word::Text(name)), jobs: Jobs::Lines(jobs) }))
    }

    fn detected(&self) -> Result<InputFormat, Failure> {
        let line = self.lines.line.as_slice();
        if line.trim_ascii_start().starts_with(b"{") {
            Ok(InputFormat::Json)
        } else if line.contains(&b'\t') {
            Ok(InputFormat::Tsv)
        } else {
            let shown = shorten(&String::from_utf8_lossy(line));
            Err(self.lines.refused(format_args!("{shown}: {TSV_FORM}, or {JSON_FORM}")))
        }
    }

    fn json_group(&mut self) -> Result<Group, Failure> {
        let line = &self.lines.line;
        let read = match line.trim_ascii_start() {
            [b'{', ..] => serde_json::from_slice::<GroupLine>(line),
            // The reader would accept a list of the two fields, too.
            _ => Err(serde::de::Error::custom("not an object")),
        };
        let GroupLine { group, jobs } =
            read.map_err(|error| self.lines.refused(format_args!("{error}: {JSON_FORM}")))?;
        let name = Word::Json(group);
        if let Some(earlier) = self.names.insert(&name.text(), self.lines.number) {
            let shown = shorten(&name.text());
            return Err(self.lines.refused(format_args!(
                "the group {shown} was on line {earlier}: all jobs of a group must be on one line, or use TSV"
            )));
        }
        Ok(Group { name: Rc::new(name), jobs: Jobs::Json(jobs) })
    }

    /// All groups, from the current line on, in the order of their first jobs.
    fn collect(&mut self) -> Result<IndexMap<String, JobLines>, Failure> {
        let mut groups = IndexMap::<String, JobLines>::new();
        let mut held = 0;
        loop {
            let line = std::str::from_utf8(&self.lines.line)
                .map_err(|_| self.lines.refused(format_args!("must be UTF-8")))?;
            let (group, job) = line
                .split_once('\t')
                .ok_or_else(|| self.lines.refused(format_args!("{}: {TSV_FORM}", shorten(line))))?;
            if group.is_empty() {
                let shown = shorten(line);
                return Err(self
                    .lines
                    .refused(format_args!("{shown}: the group must not be empty")));
            }
            held += line.len();
            match groups.get_mut(group) {
                Some(jobs) => jobs.push(job),
                None => {
                    held += GROUP_OVERHEAD;
                    groups.entry(group.to_owned()).or_default().push(job);
                }
            }
            if held > SPREAD_INPUT_BYTES.max_size() {
                return Err(self.lines.refused(format_args!(
                    "more is refused: TSV must be {SPREAD_INPUT_BYTES}, and {GROUP_OVERHEAD} of them for \
                     each group: write JSON lines, a group each, which are read one by one"
                )));
            }
            if !self.lines.advance()? {
                return Ok(groups);
            }
        }
    }
}

/// Lines that are not blank, each within its limit.
struct Lines<R> {
    input: R,
    /// Number of the line, from 1.
    number: u64,
    /// The line without its end: LF, or CR LF.
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Reads the next line, if there is one.
    fn advance(&mut self) -> Result<bool, Failure> {
        let limit = GROUP_LINE_BYTES.max_size();
        let room = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(2); // and the line end
        loop {
            self.line.clear();
            self.number += 1;
            if self.input.by_ref().take(room).read_until(b'\n', &mut self.line)? == 0 {
                return Ok(false);
            }
            if self.line.pop_if(|last| *last == b'\n').is_some() {
                self.line.pop_if(|last| *last == b'\r');
            }
            if self.line.len() > limit {
                return Err(self.refused(format_args!(
                    "a longer line is refused: must be {GROUP_LINE_BYTES}"
                )));
            }
            // A tab alone is a job without a name and a group.
            if self.line.iter().any(|byte| !byte.is_ascii_whitespace() || *byte == b'\t') {
                return Ok(true);
            }
        }
    }

    fn refused(&self, why: std::fmt::Arguments<'_>) -> Failure {
        Failure::Other(format!("line {}: {why}", self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &str, format: InputFormat) -> Result<Vec<(String, Vec<String>)>, String> {
        let mut reader = GroupReader::new(input.as_bytes(), format);
        let mut groups = Vec::new();
        while let Some(mut group) = reader.next_group().map_err(|error| error.to_string())? {
            let count = group.len();
            let jobs: Vec<_> = std::iter::from_fn(|| group.next_job())
                .map(|job| job.text().into_owned())
                .collect();
            assert_eq!((jobs.len() as u64, group.len()), (count, 0));
            groups.push((group.name.text().into_owned(), jobs));
        }
        Ok(groups)
    }

    fn group(name: &str, jobs: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), jobs.iter().map(|job| (*job).to_owned()).collect())
    }

    #[test]
    fn tsv_is_collected_by_group() {
        let input = "b\tb1\na\ta1\r\n\nb\tb 2\twith a tab \na\t\nb\tb1";
        let groups = [group("b", &["b1", "b 2\twith a tab ", "b1"]), group("a", &["a1", ""])];
        assert_eq!(read(input, InputFormat::Auto).unwrap(), groups);
        assert_eq!(read(input, InputFormat::Tsv).unwrap(), groups);
        let like_json = "{\"a\"}\tjob\n";
        assert_eq!(read(like_json, InputFormat::Tsv).unwrap(), [group("{\"a\"}", &["job"])]);
    }

    #[test]
    fn strings_of_json_are_their_characters() {
        let input = r#" {"group": "\u0061", "jobs": ["a\nb", 1.0, [1, "x"]]}"#;
        let groups = [group("a", &["a\nb", "1.0", "[1, \"x\"]"])];
        assert_eq!(read(input, InputFormat::Auto).unwrap(), groups);
        let surrogate = r#"{"group": "\ud800", "jobs": []}"#;
        assert_eq!(read(surrogate, InputFormat::Json).unwrap().len(), 1);
    }

    #[test]
    fn a_group_on_two_lines_is_refused_with_both() {
        for again in [r#""a""#, r#""\u0061""#] {
            let input = format!(
                "{{\"group\": \"a\", \"jobs\": [1]}}\n\n{{\"group\": \"b\", \"jobs\": [1]}}\n\
                 {{\"group\": {again}, \"jobs\": [2]}}\n"
            );
            let refused = read(&input, InputFormat::Auto).unwrap_err();
            assert!(refused.starts_with("line 4: the group a was on line 1: "), "{refused}");
        }
    }

    #[test]
    fn invalid_lines_are_refused_by_number() {
        for (input, words) in [
            ("\n\njob\n", "line 3: job: must be GROUP<TAB>JOB, or must be like {"),
            ("a\tb\njob\n", "line 2: job: must be GROUP<TAB>JOB"),
            ("a\tb\n\t\n", "the group must not be empty"),
            ("\tjob\n", "the group must not be empty"),
            ("{}\tjob\n", "missing field"),
        ] {
            let refused = read(input, InputFormat::Auto).unwrap_err();
            assert!(refused.contains(words), "{input:?}: {refused}");
        }
        let mut reader = GroupReader::new(&b"a\t\xff\n"[..], InputFormat::Auto);
        assert_eq!(reader.next_group().unwrap_err().to_string(), "line 1: must be UTF-8");
    }
}
