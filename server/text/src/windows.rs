//! Active windows: `01:00-05:00` of each day, `Mon-Fri 01:00-05:00` or `Sat,Sun` of a week, or spans
//! from the start of any cycle, `2h-5h`.

use offbeat_core::{CalendarUnit, CycleWindow, Span};

use crate::{CycleText, parse_span};

const DAY: u64 = 86_400_000;
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

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
    let starts_with_letter = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    let (days, hours) = match words.as_slice() {
        [one] if one.contains(':') => (None, Some(*one)),
        [one] if starts_with_letter(one) => (Some(*one), None),
        [days, hours] if starts_with_letter(days) => (Some(*days), Some(*hours)),
        [first, ..] if !starts_with_letter(first) && !text.contains(':') => return spans(text),
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

/// `2h-5h` or `12d 8h-16d 2h`, from the start of the unit.
fn spans(text: &str) -> Result<Vec<(u64, u64)>, String> {
    let allowed = "must be two spans from the start of the cycle, such as 2h-5h";
    let (start, end) = text.split_once('-').ok_or(allowed)?;
    let millis = |text: &str| {
        let text = text.trim();
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(read(&["1d 1h-2d 2h", "3d - 3d 1h"], unit(Month)), pairs(&[(25, 50), (72, 73)]));
    }

    #[test]
    fn invalid_windows_are_refused_with_a_reason() {
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
            ("-1h-2h", day, "must be two spans"),
            ("2h-1 parsec", day, "must be two spans"),
            ("", day, "must be one of"),
            ("01:00 05:00", day, "must be one of"),
            ("Mon Tue Wed", day, "must be one of"),
        ] {
            let error = parse_windows([text], cycle).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        assert!(CycleText::parse("fortnight").unwrap_err().contains("day, week or month"));
        assert!(day.cycle(None).unwrap_err().contains("needs a time zone"));
    }
}
