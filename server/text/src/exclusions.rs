//! Exclusions: `2026-12-24T00:00:00Z/2026-12-27T00:00:00Z`, `22:00-23:00`, `Mon-Fri 22:00-23:00`,
//! `month 0d-1d`; then, in any order, a time zone and `skip` or `defer`.

use offbeat_core::{CalendarSpec, CalendarUnit, ExclusionPolicy, ExclusionSpec, ExclusionTimes};

use crate::{CycleText, parse_moment, parse_unit, parse_windows};

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

#[cfg(test)]
mod tests {
    use offbeat_core::Span;

    use super::*;

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
