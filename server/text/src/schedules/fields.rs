//! The fields of a table of TOML: taken one by one, and what is left is refused.

use offbeat_core::{
    CalendarSpec, CycleWindow, ExclusionSpec, KindSpec, Moment, Reason, Rejection, Span,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::{CycleText, parse_exclusions, parse_moment, parse_span, parse_unit, parse_windows};

/// A refusal, and where in the text it is.
#[derive(Debug)]
pub(super) struct LocatedRejection {
    pub(super) offset: usize,
    pub(super) rejection: Rejection,
}

/// A table whose fields are taken by name.
#[derive(Debug)]
pub(super) struct Fields<'t> {
    offset: usize,
    entries: DeTable<'t>,
    /// The names that were asked for, and where those that were there stand.
    asked: Vec<(&'static str, Option<usize>)>,
}

impl<'t> Fields<'t> {
    pub(super) fn of(offset: usize, entries: DeTable<'t>) -> Self {
        Self { offset, entries, asked: Vec::new() }
    }

    /// Takes a field, if it is there, as what `read` makes of it.
    pub(super) fn take<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&DeValue<'t>) -> Result<T, Rejection>,
    ) -> Result<Option<T>, LocatedRejection> {
        let found = self.entries.remove_entry(name);
        let offset = found.as_ref().map(|(key, _)| key.span().start);
        self.asked.push((name, offset));
        let value = found.map(|(_, value)| read(value.get_ref()));
        value.transpose().map_err(|rejection| LocatedRejection {
            offset: offset.unwrap_or(self.offset),
            rejection: rejection.under(name),
        })
    }

    /// Takes a field that must be there.
    pub(super) fn need<T>(
        &mut self,
        name: &'static str,
        allowed: &str,
        read: impl FnOnce(&DeValue<'t>) -> Result<T, Rejection>,
    ) -> Result<T, LocatedRejection> {
        self.take(name, read)?.ok_or_else(|| {
            self.misplaced(Rejection::new(Reason::FieldMissing, name, "nothing", allowed))
        })
    }

    /// Refuses what was not asked for.
    pub(super) fn end(&self) -> Result<(), LocatedRejection> {
        let Some((key, _)) = self.entries.iter().next() else {
            return Ok(());
        };
        let known: Vec<_> = self.asked.iter().map(|(name, _)| *name).collect();
        let allowed = format!("must be one of {}", known.join(", "));
        let value = format_args!("{:?}", key.get_ref());
        let rejection = Rejection::new(Reason::Malformed, "an unknown field", value, allowed);
        Err(LocatedRejection { offset: key.span().start, rejection })
    }

    /// Where the field stands that a refusal names; if it is not there, the table.
    pub(super) fn misplaced(&self, rejection: Rejection) -> LocatedRejection {
        let field = rejection.field.split(['.', '[']).next().unwrap_or_default();
        let asked = self.asked.iter().find(|(name, _)| *name == field);
        let offset = asked.and_then(|(_, offset)| *offset).unwrap_or(self.offset);
        LocatedRejection { offset, rejection }
    }
}

fn other_type(value: &DeValue<'_>, allowed: &str) -> Rejection {
    Rejection::new(
        Reason::Malformed,
        "",
        format_args!("a value of type {}", value.type_str()),
        allowed,
    )
}

pub(super) fn text<'v>(value: &'v DeValue<'_>) -> Result<&'v str, Rejection> {
    value.as_str().ok_or_else(|| other_type(value, "must be a text in quotes"))
}

pub(super) fn integer(value: &DeValue<'_>) -> Result<i64, Rejection> {
    let allowed = "must be a whole number, without quotes";
    let integer = value.as_integer().ok_or_else(|| other_type(value, allowed))?;
    i64::from_str_radix(integer.as_str(), integer.radix())
        .map_err(|_| Rejection::new(Reason::OutOfRange, "", integer, "must be below 2^63"))
}

/// A span such as "8h".
pub(super) fn span(value: &DeValue<'_>) -> Result<Span, Rejection> {
    let text = text(value)?;
    parse_span(text)
        .map_err(|allowed| Rejection::new(Reason::Malformed, "", format_args!("{text:?}"), allowed))
}

/// An instant, in quotes or as one of TOML.
pub(super) fn moment(value: &DeValue<'_>) -> Result<Moment, Rejection> {
    let text = match value {
        DeValue::Datetime(datetime) => datetime.to_string(),
        other => text(other)?.to_owned(),
    };
    parse_moment(&text)
        .map_err(|allowed| Rejection::new(Reason::Malformed, "", format_args!("{text:?}"), allowed))
}

/// `{ unit = "day", time_zone = "Europe/Berlin" }`.
pub(super) fn calendar(value: &DeValue<'_>) -> Result<CalendarSpec, Rejection> {
    let allowed = "must be a table such as { unit = \"day\", time_zone = \"Europe/Berlin\" }";
    let table = value.as_table().ok_or_else(|| other_type(value, allowed))?;
    let field = |name: &str| {
        let missing = || Rejection::new(Reason::FieldMissing, name, "nothing", allowed);
        let value = table.get(name).ok_or_else(missing)?;
        text(value.get_ref()).map_err(|refused| refused.under(name))
    };
    if let Some((key, _)) =
        table.iter().find(|(key, _)| !["unit", "time_zone"].contains(&key.get_ref().as_ref()))
    {
        let value = format_args!("{:?}", key.get_ref());
        return Err(Rejection::new(Reason::Malformed, "an unknown field", value, allowed));
    }
    let (unit, time_zone) = (field("unit")?, field("time_zone")?.to_owned());
    let known = parse_unit(unit).ok_or_else(|| {
        let allowed = "must be \"day\", \"week\" or \"month\"";
        Rejection::new(Reason::Malformed, "unit", format_args!("{unit:?}"), allowed)
    })?;
    Ok(CalendarSpec { unit: known, time_zone })
}

/// Active windows as texts: `["01:00-05:00"]`.
pub(super) fn windows(
    value: &DeValue<'_>,
    cycle: CycleText,
) -> Result<Vec<CycleWindow>, Rejection> {
    let texts = texts(value)?;
    parse_windows(texts.iter().copied(), cycle).map_err(unreadable)
}

/// Exclusions as texts: `["22:00-23:00 skip"]`; those without a time zone have that of the calendar.
pub(super) fn exclusions(
    value: &DeValue<'_>,
    time_zone: Option<&str>,
) -> Result<Vec<ExclusionSpec>, Rejection> {
    let texts = texts(value)?;
    parse_exclusions(texts.iter().copied(), time_zone).map_err(unreadable)
}

/// Kinds as texts or tables: `["import", { name = "export", run_time = "10m" }]`.
pub(super) fn kinds(value: &DeValue<'_>) -> Result<Vec<KindSpec>, Rejection> {
    let allowed =
        "must be a list of names, or of tables such as { name = \"import\", run_time = \"10m\" }";
    let array = value.as_array().ok_or_else(|| other_type(value, allowed))?;
    let kind = |(index, value): (usize, &Spanned<DeValue<'_>>)| {
        kind(value.get_ref(), allowed).map_err(|refused| refused.under(&format!("[{index}]")))
    };
    array.iter().enumerate().map(kind).collect()
}

fn kind(value: &DeValue<'_>, allowed: &str) -> Result<KindSpec, Rejection> {
    let Some(table) = value.as_table() else {
        let name = value.as_str().ok_or_else(|| other_type(value, allowed))?;
        return Ok(KindSpec::named(name));
    };
    let known = |key: &str| ["name", "run_time"].contains(&key);
    if let Some((key, _)) = table.iter().find(|(key, _)| !known(key.get_ref())) {
        let value = format_args!("{:?}", key.get_ref());
        return Err(Rejection::new(Reason::Malformed, "an unknown field", value, allowed));
    }
    let missing = || Rejection::new(Reason::FieldMissing, "name", "nothing", allowed);
    let name = text(table.get("name").ok_or_else(missing)?.get_ref());
    let name = name.map_err(|refused| refused.under("name"))?.to_owned();
    let run_time = table.get("run_time").map(|value| span(value.get_ref())).transpose();
    Ok(KindSpec { name, run_time: run_time.map_err(|refused| refused.under("run_time"))? })
}

/// Pairs of kinds: `[["import", "export"]]`.
pub(super) fn pairs(value: &DeValue<'_>) -> Result<Vec<(String, String)>, Rejection> {
    let allowed = "must be a list of pairs such as [\"import\", \"export\"]";
    let array = value.as_array().ok_or_else(|| other_type(value, allowed))?;
    let pair = |value: &Spanned<DeValue<'_>>| match texts(value.get_ref())?.as_slice() {
        [first, second] => Ok(((*first).to_owned(), (*second).to_owned())),
        other => {
            let value = format_args!("{} names", other.len());
            Err(Rejection::new(Reason::Malformed, "", value, allowed))
        }
    };
    array.iter().map(pair).collect()
}

fn unreadable(why: String) -> Rejection {
    Rejection::new(Reason::Malformed, "", "a text that cannot be read", why)
}

fn texts<'v>(value: &'v DeValue<'_>) -> Result<Vec<&'v str>, Rejection> {
    let allowed = "must be a list of texts in quotes";
    let array = value.as_array().ok_or_else(|| other_type(value, allowed))?;
    array.iter().map(|value| text(value.get_ref())).collect()
}

/// One of a few words.
pub(super) fn word<T: Copy>(value: &DeValue<'_>, words: &[(&str, T)]) -> Result<T, Rejection> {
    let text = text(value)?;
    let known = words.iter().find(|(word, _)| *word == text).map(|(_, meant)| *meant);
    known.ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let allowed = format!("must be {}", words.join(", "));
        Rejection::new(Reason::Malformed, "", format_args!("{text:?}"), allowed)
    })
}

/// The tables of an array of tables, and where each begins.
pub(super) fn tables<'t>(
    array: Spanned<DeValue<'t>>,
) -> Result<Vec<(usize, DeTable<'t>)>, LocatedRejection> {
    let (offset, allowed) = (array.span().start, "must be tables, each below a line [[schedule]]");
    let misplaced = |offset, rejection| LocatedRejection { offset, rejection };
    let DeValue::Array(array) = array.into_inner() else {
        let rejection = Rejection::new(Reason::Malformed, "schedule", "another value", allowed);
        return Err(misplaced(offset, rejection));
    };
    let table = |value: Spanned<DeValue<'t>>| {
        let offset = value.span().start;
        match value.into_inner() {
            DeValue::Table(table) => Ok((offset, table)),
            other => Err(misplaced(offset, other_type(&other, allowed).under("schedule"))),
        }
    };
    array.into_iter().map(table).collect()
}
