//! Cycles, active windows and exclusions as people write them: on the command line and in
//! schedules files.
//!
//! - a cycle: a span (`8h`, `1d`) or a unit of the calendar (`day`, `week`, `month`);
//! - active windows: `01:00-05:00` (of each day), `Mon-Fri 01:00-05:00`, `Sat,Sun`, or spans from
//!   the start of the cycle, `2h-5h`;
//! - exclusions: `2026-12-24T00:00:00Z/2026-12-27T00:00:00Z`, `22:00-23:00`, `Mon-Fri
//!   22:00-23:00`, `month 0d-1d`; then, in any order, a time zone and `skip` or `defer`.

use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::{SpanRelativeTo, civil};
use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleSpec, CycleWindow, ExclusionPolicy, ExclusionSpec,
    ExclusionTimes, Moment, Span,
};

const DAY: u64 = 86_400_000;
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// What a cycle is, before its time zone is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CycleText {
    /// Of one length.
    Period(Span),
    /// By the calendar.
    Unit(CalendarUnit),
}

impl CycleText {
    /// Reads a span, or `day`, `week` or `month`.
    ///
    /// # Errors
    /// In words, when it is neither.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(unit) = parse_unit(text) {
            return Ok(Self::Unit(unit));
        }
        let span = parse_span(text)
            .map_err(|error| format!("{error}; or day, week or month, by the calendar"))?;
        Ok(Self::Period(span))
    }

    /// The same without the time zone.
    #[must_use]
    pub const fn of(cycle: &CycleSpec) -> Self {
        match cycle {
            CycleSpec::Period(period) => Self::Period(*period),
            CycleSpec::Calendar(calendar) => Self::Unit(calendar.unit),
        }
    }

    /// The cycle, with the zone that calendars need and periods do without.
    ///
    /// # Errors
    /// When a calendar has none.
    pub fn cycle(self, time_zone: Option<&str>) -> Result<CycleSpec, String> {
        match (self, time_zone) {
            (Self::Period(span), _) => Ok(CycleSpec::Period(span)),
            (Self::Unit(unit), Some(zone)) => {
                Ok(CycleSpec::Calendar(CalendarSpec { unit, time_zone: zone.to_owned() }))
            }
            (Self::Unit(unit), None) => {
                let unit = unit.name().to_lowercase();
                Err(format!("a cycle of a {unit} needs a time zone, such as Europe/Berlin"))
            }
        }
    }

    /// The unit, if it is one.
    const fn unit(self) -> Option<CalendarUnit> {
        match self {
            Self::Period(_) => None,
            Self::Unit(unit) => Some(unit),
        }
    }
}

/// Reads `day`, `week` or `month`, in any case.
#[must_use]
pub fn parse_unit(text: &str) -> Option<CalendarUnit> {
    [CalendarUnit::Day, CalendarUnit::Week, CalendarUnit::Month]
        .into_iter()
        .find(|unit| unit.name().eq_ignore_ascii_case(text))
}

/// Reads active windows of a cycle. Those of all texts are put together: in order, those that
/// overlap or touch as one.
///
/// # Errors
/// In words, naming the text that cannot be read.
pub fn parse_windows<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    cycle: CycleText,
) -> Result<Vec<CycleWindow>, String> {
    let mut windows = Vec::new();
    for text in texts {
        let read = windows_of(text, cycle.unit()).map_err(|error| format!("{text:?}: {error}"))?;
        windows.extend(read);
    }
    windows.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(windows.len());
    for (start, end) in windows {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    Ok(merged.into_iter().map(window).collect())
}

fn window((start, end): (u64, u64)) -> CycleWindow {
    CycleWindow { start: Span::from_millis(start), end: Span::from_millis(end) }
}

/// The windows of a text, in milliseconds from the start of the unit.
fn windows_of(text: &str, unit: Option<CalendarUnit>) -> Result<Vec<(u64, u64)>, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (days, hours) = match words.as_slice() {
        [one] if one.contains(':') => (None, Some(*one)),
        [one] if one.starts_with(|c: char| c.is_ascii_digit()) => return spans(one),
        [one] => (Some(*one), None),
        [days, hours] => (Some(*days), Some(*hours)),
        _ => return Err(format!("must be one of {}", forms(unit))),
    };
    let days = match (days, unit) {
        (Some(days), Some(CalendarUnit::Week)) => weekdays(days)?,
        (Some(_), _) => return Err("days of the week go with a cycle of a week".to_owned()),
        (None, Some(unit)) => (0..unit.longest()).collect(),
        (None, None) => {
            let allowed = "times of day go with a cycle of a day, week or month: a period has spans \
                           from its start, such as 2h-5h";
            return Err(allowed.to_owned());
        }
    };
    let hours = hours.map_or_else(|| Ok((0, DAY)), clock_times)?;
    let week = unit.map_or(0, |unit| unit.longest() * DAY);
    let on_day = |day: u64| {
        let (start, end) = (day * DAY + hours.0, day * DAY + hours.1);
        if hours.0 < hours.1 {
            return [(start, end), (0, 0)];
        }
        // Over midnight, and from the end of the unit to its start.
        let next = (day + 1) * DAY % week;
        [(start, (day + 1) * DAY), (next, next + hours.1)]
    };
    Ok(days.into_iter().flat_map(on_day).filter(|(start, end)| start < end).collect())
}

fn forms(unit: Option<CalendarUnit>) -> &'static str {
    match unit {
        None => "2h-5h",
        Some(CalendarUnit::Week) => "01:00-05:00, Mon-Fri 01:00-05:00, Sat,Sun, 2h-5h",
        Some(CalendarUnit::Day | CalendarUnit::Month) => "01:00-05:00, 2h-5h",
    }
}

/// `2h-5h`, from the start of the unit.
fn spans(text: &str) -> Result<Vec<(u64, u64)>, String> {
    let allowed = "must be two spans from the start of the cycle, such as 2h-5h";
    let (start, end) = text.split_once('-').ok_or(allowed)?;
    let millis = |text: &str| {
        let span = if text == "0" { Ok(Span::from_seconds(0)) } else { parse_span(text) };
        span.ok().and_then(Span::whole_millis).ok_or(allowed)
    };
    let (start, end) = (millis(start)?, millis(end)?);
    if start >= end {
        return Err("must end after it starts".to_owned());
    }
    Ok(vec![(start, end)])
}

/// `01:00-05:00`, in milliseconds; over midnight the end is not after the start.
fn clock_times(text: &str) -> Result<(u64, u64), String> {
    let allowed = "must be two times of day, such as 01:00-05:00";
    let (start, end) = text.split_once('-').ok_or(allowed)?;
    let (start, end) = (clock_time(start).ok_or(allowed)?, clock_time(end).ok_or(allowed)?);
    if start == DAY || start == end {
        return Err("must be a part of a day that is not empty".to_owned());
    }
    Ok((start, end))
}

/// `01:00`, `01:00:30`, up to `24:00`.
fn clock_time(text: &str) -> Option<u64> {
    let mut parts = text.split(':');
    let mut part = |most: u64| {
        let digits = parts.next()?;
        let is_plain =
            (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse::<u64>().ok().filter(|number| is_plain && *number <= most)
    };
    let (hours, minutes) = (part(24)?, part(59)?);
    let has_seconds = text.matches(':').count() == 2;
    let seconds = if has_seconds { part(59)? } else { 0 };
    let millis = ((hours * 60 + minutes) * 60 + seconds) * 1_000;
    (millis <= DAY && parts.next().is_none()).then_some(millis)
}

/// `Mon`, `Mon-Fri`, `Sat,Sun`: days from Monday, 0.
fn weekdays(text: &str) -> Result<Vec<u64>, String> {
    let day = |name: &str| {
        let position = WEEKDAYS.iter().position(|day| day.eq_ignore_ascii_case(name));
        let number = position.and_then(|position| u64::try_from(position).ok());
        number.ok_or_else(|| format!("{name:?} is none of Mon, Tue, Wed, Thu, Fri, Sat and Sun"))
    };
    let mut days = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (day(first)?, day(last)?);
        let length = (last + 7 - first) % 7;
        days.extend((first..=first + length).map(|day| day % 7));
    }
    days.sort_unstable();
    days.dedup();
    Ok(days)
}

/// Reads exclusions: a text can be several, as over midnight. Without a zone of its own, a
/// recurring one has `time_zone`.
///
/// # Errors
/// In words, naming the text that cannot be read.
pub fn parse_exclusions<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    time_zone: Option<&str>,
) -> Result<Vec<ExclusionSpec>, String> {
    let mut exclusions = Vec::new();
    for text in texts {
        let read = exclusions_of(text, time_zone).map_err(|error| format!("{text:?}: {error}"))?;
        exclusions.extend(read);
    }
    Ok(exclusions)
}

fn exclusions_of(text: &str, time_zone: Option<&str>) -> Result<Vec<ExclusionSpec>, String> {
    let mut policy = ExclusionPolicy::default();
    let mut zone = time_zone;
    let mut unit = None;
    let mut times = Vec::new();
    for word in text.split_whitespace() {
        match word.to_ascii_lowercase().as_str() {
            "skip" => policy = ExclusionPolicy::Skip,
            "defer" => policy = ExclusionPolicy::Defer,
            "daily" => unit = Some(CalendarUnit::Day),
            "weekly" => unit = Some(CalendarUnit::Week),
            "monthly" => unit = Some(CalendarUnit::Month),
            lower if parse_unit(lower).is_some() => unit = parse_unit(lower),
            _ if is_zone(word) => zone = Some(word),
            _ => times.push(word),
        }
    }
    if let [dated] = times.as_slice()
        && let Some((start, end)) = dated.split_once('/')
    {
        let (start, end) = (parse_moment(start)?, parse_moment(end)?);
        return Ok(vec![ExclusionSpec { times: ExclusionTimes::Dated { start, end }, policy }]);
    }
    let names_days = times.first().is_some_and(|word| word.starts_with(char::is_alphabetic));
    let default = if names_days { CalendarUnit::Week } else { CalendarUnit::Day };
    let unit = unit.unwrap_or(default);
    let zone = zone.ok_or("needs a time zone, such as Europe/Berlin")?;
    let windows = parse_windows([times.join(" ").as_str()], CycleText::Unit(unit))?;
    let recurring = |window| {
        let calendar = CalendarSpec { unit, time_zone: zone.to_owned() };
        ExclusionSpec { times: ExclusionTimes::Recurring { calendar, window }, policy }
    };
    Ok(windows.into_iter().map(recurring).collect())
}

/// Whether a word is meant as a time zone: `Europe/Berlin`, `UTC`; whether there is such a
/// zone is for the schedule to say.
fn is_zone(word: &str) -> bool {
    let starts_with_letter = word.starts_with(|c: char| c.is_ascii_alphabetic());
    word.eq_ignore_ascii_case("utc") || (starts_with_letter && word.contains('/'))
}

/// Reads a count; its range is the question's to check.
///
/// # Errors
/// In words, when it is no whole number.
pub fn parse_count(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "must be a whole number".to_owned())
}

/// Reads a span as people write it; months and years have no fixed length.
///
/// # Errors
/// In words, when it is none.
pub fn parse_span(text: &str) -> Result<Span, String> {
    let allowed = "must be a span with units, such as 8h, 90m, 1d or 1500ms";
    let span: jiff::Span = text.parse().map_err(|_| allowed)?;
    let relative = SpanRelativeTo::days_are_24_hours();
    let duration =
        span.to_duration(relative).map_err(|_| format!("{allowed} (no months or years)"))?;
    Span::try_new(duration.as_secs(), duration.subsec_nanos()).map_err(|error| error.to_string())
}

/// Reads an instant as RFC 3339, in the years 1 to 9999.
///
/// # Errors
/// In words, when it is none.
pub fn parse_moment(text: &str) -> Result<Moment, String> {
    let refused = || {
        let (first, last) = (Moment::MIN, Moment::MAX);
        format!("must be an instant as RFC 3339, such as 2026-01-01T00:00:00Z, {first} to {last}")
    };
    // The library reads more than RFC 3339 (and a leap second as the second before
    // it), but no instant of the last two days of the year 9999: hence the parts.
    if text.contains(['[', ' ']) || text.get(16..19) == Some(":60") {
        return Err(refused());
    }
    let pieces = Pieces::parse(text).map_err(|_| refused())?;
    let offset = match pieces.offset() {
        Some(PiecesOffset::Zulu) => 0,
        Some(PiecesOffset::Numeric(numeric)) => numeric.offset().seconds().into(),
        _ => return Err(refused()),
    };
    let time = pieces.time().ok_or_else(refused)?;
    let epoch = civil::date(1970, 1, 1).at(0, 0, 0, 0);
    let since_epoch = pieces.date().to_datetime(time).duration_since(epoch);
    // Both parts have the sign of the span; a moment counts nanoseconds upwards.
    let borrow = i64::from(since_epoch.subsec_nanos() < 0);
    let seconds = since_epoch.as_secs() - offset - borrow;
    let nanos = since_epoch.subsec_nanos().rem_euclid(1_000_000_000);
    Moment::try_new(seconds, nanos).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("8h", 28_800),
            ("90m", 5_400),
            ("1d", 86_400),
            ("1w", 604_800),
            ("1h 30m", 5_400),
            ("1h30m", 5_400),
            ("28800s", 28_800),
            ("PT8H", 28_800),
            ("0s", 0),
            ("-8h", -28_800),
            ("3661d", 3_661 * 86_400),
        ] {
            assert_eq!(parse_span(text), Ok(Span::from_seconds(seconds)), "{text}");
        }
        assert_eq!(parse_span("1500ms"), Ok(Span::from_millis(1_500)));
        for bad in ["", "8", "h", "8 parsecs", "1month", "1y"] {
            assert!(parse_span(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn instants_before_the_epoch_keep_their_fraction() {
        let moment = parse_moment("1969-12-31T23:59:59.5Z").unwrap();
        assert_eq!(moment.parts(), (-1, 500_000_000));
        assert_eq!(parse_moment("2026-01-01T01:00:00+01:00"), parse_moment("2026-01-01T00:00:00Z"));
        assert_eq!(parse_moment("9999-12-31T23:59:59.999999999Z"), Ok(Moment::MAX));
        assert_eq!(parse_moment("0001-01-01T00:00:00Z"), Ok(Moment::MIN));
        for bad in [
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-01-01 00:00:00Z",
            "2016-12-31T23:59:60Z",
            "2026-01-01T00:00:00+01:00[Europe/Paris]",
            "10000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+01:00",
        ] {
            assert!(parse_moment(bad).is_err(), "{bad}");
        }
    }

    fn read(texts: &[&str], cycle: CycleText) -> Vec<(String, String)> {
        let windows = parse_windows(texts.iter().copied(), cycle).unwrap();
        let hours = |span: Span| format!("{}", span.whole_millis().unwrap() / 3_600_000);
        windows.into_iter().map(|window| (hours(window.start), hours(window.end))).collect()
    }

    fn pairs(pairs: &[(u32, u32)]) -> Vec<(String, String)> {
        pairs.iter().map(|(start, end)| (start.to_string(), end.to_string())).collect()
    }

    #[test]
    fn windows_are_read_as_people_write_them() {
        use CalendarUnit::{Day, Month, Week};
        let unit = CycleText::Unit;
        assert_eq!(read(&["01:00-05:00"], unit(Day)), pairs(&[(1, 5)]));
        assert_eq!(read(&["22:00-02:00"], unit(Day)), pairs(&[(0, 2), (22, 24)]));
        assert_eq!(read(&["22:00-24:00", "0:00-2:00"], unit(Day)), pairs(&[(0, 2), (22, 24)]));
        assert_eq!(read(&["Sat,Sun"], unit(Week)), pairs(&[(120, 168)]));
        assert_eq!(read(&["Fri-Mon"], unit(Week)), pairs(&[(0, 24), (96, 168)]));
        assert_eq!(read(&["mon-tue 01:00-05:00"], unit(Week)), pairs(&[(1, 5), (25, 29)]));
        assert_eq!(read(&["Sun 23:00-01:00"], unit(Week)), pairs(&[(0, 1), (167, 168)]));
        assert_eq!(read(&["01:00-05:00"], unit(Week)).len(), 7);
        assert_eq!(read(&["01:00-05:00"], unit(Month)).len(), 31);
        assert_eq!(read(&["0d-2d", "4h-50h"], unit(Month)), pairs(&[(0, 50)]));
        let period = CycleText::parse("8h").unwrap();
        assert_eq!(read(&["2h-5h", "0-1h"], period), pairs(&[(0, 1), (2, 5)]));
    }

    #[test]
    fn what_is_no_window_is_refused_in_words() {
        let period = CycleText::parse("1d").unwrap();
        let day = CycleText::parse("Day").unwrap();
        for (text, cycle, words) in [
            ("01:00-05:00", period, "times of day go with"),
            ("Mon", day, "days of the week go with"),
            ("1:0:0:0-2:00", day, "must be two times of day"),
            ("25:00-26:00", day, "must be two times of day"),
            ("05:00-05:00", day, "not empty"),
            ("5h-2h", day, "must end after it starts"),
            ("2h", day, "must be two spans"),
            ("", day, "must be one of"),
        ] {
            let error = parse_windows([text], cycle).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        assert!(CycleText::parse("fortnight").unwrap_err().contains("day, week or month"));
        assert!(day.cycle(None).unwrap_err().contains("needs a time zone"));
    }

    #[test]
    fn exclusions_are_read_as_people_write_them() {
        let one = |text: &str| {
            let mut read = parse_exclusions([text], Some("Europe/Berlin")).unwrap();
            assert_eq!(read.len(), 1, "{text}");
            read.remove(0)
        };
        let dated = one("2026-12-24T00:00:00Z/2026-12-27T00:00:00Z skip");
        assert_eq!(dated.policy, ExclusionPolicy::Skip);
        assert!(matches!(dated.times, ExclusionTimes::Dated { .. }));
        for (text, unit, zone, start, policy) in [
            ("22:00-23:00", "DAY", "Europe/Berlin", 22, "DEFER"),
            ("daily 22:00-23:00 defer", "DAY", "Europe/Berlin", 22, "DEFER"),
            ("SKIP America/New_York Tue 22:00-23:00", "WEEK", "America/New_York", 46, "SKIP"),
            ("Sat-Sun utc", "WEEK", "utc", 120, "DEFER"),
            ("monthly 1d-2d", "MONTH", "Europe/Berlin", 24, "DEFER"),
        ] {
            let ExclusionSpec { times, policy: read } = one(text);
            let ExclusionTimes::Recurring { calendar, window } = times else { panic!("{text}") };
            assert_eq!((calendar.unit.name(), calendar.time_zone.as_str()), (unit, zone), "{text}");
            assert_eq!(window.start, Span::from_seconds(start * 3_600), "{text}");
            assert_eq!(read.name(), policy, "{text}");
        }
        assert_eq!(parse_exclusions(["22:00-02:00"], Some("UTC")).unwrap().len(), 2);
        assert!(parse_exclusions(["22:00-23:00"], None).unwrap_err().contains("time zone"));
        assert!(
            parse_exclusions(["2026-12-24/2026-12-27"], None).unwrap_err().contains("RFC 3339")
        );
    }
}
