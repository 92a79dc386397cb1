//! Exclusions: `2026-12-24T00:00:00Z/2026-12-27T00:00:00Z`, `22:00-23:00`, `Mon-Fri 22:00-23:00`,
//! `monthly 0d-1d`; beside these, in any order, `skip` or `defer`, and the time zone of a recurring one.

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
    let (mut policy, mut unit, mut zone) = (None, None, None);
    let mut times = Vec::new();
    for word in text.split_whitespace() {
        let said = if policy_of(word).is_some() {
            &mut policy
        } else if unit_of(word).is_some() {
            &mut unit
        } else if is_zone(word) {
            &mut zone
        } else {
            times.push(word);
            continue;
        };
        if let Some(before) = said.replace(word) {
            return Err(format!("must say {before} or {word}, not both"));
        }
    }
    let policy = policy.and_then(policy_of).unwrap_or_default();
    if let [dated] = times.as_slice()
        && let Some((start, end)) = dated.split_once('/')
    {
        if let Some(word) = zone.or(unit) {
            let allowed =
                "goes with times that come again: the instants of this one have an offset";
            return Err(format!("{word} {allowed}"));
        }
        let (start, end) = (parse_moment(start)?, parse_moment(end)?);
        return Ok(vec![ExclusionSpec { times: ExclusionTimes::Dated { start, end }, policy }]);
    }
    let names_days = times.first().is_some_and(|word| word.starts_with(char::is_alphabetic));
    let default = if names_days { CalendarUnit::Week } else { CalendarUnit::Day };
    let unit = unit.and_then(unit_of).unwrap_or(default);
    let zone = zone.or(time_zone).ok_or("needs a time zone, such as Europe/Berlin")?;
    let windows = parse_windows([times.join(" ").as_str()], CycleText::Unit(unit))?;
    let recurring = |window| {
        let calendar = CalendarSpec { unit, time_zone: zone.to_owned() };
        ExclusionSpec { times: ExclusionTimes::Recurring { calendar, window }, policy }
    };
    Ok(windows.into_iter().map(recurring).collect())
}

fn policy_of(word: &str) -> Option<ExclusionPolicy> {
    [("skip", ExclusionPolicy::Skip), ("defer", ExclusionPolicy::Defer)]
        .into_iter()
        .find_map(|(name, policy)| word.eq_ignore_ascii_case(name).then_some(policy))
}

/// The unit of `daily`, `weekly` and `monthly`, or of `day`, `week` and `month`.
fn unit_of(word: &str) -> Option<CalendarUnit> {
    match word.to_ascii_lowercase().as_str() {
        "daily" => Some(CalendarUnit::Day),
        "weekly" => Some(CalendarUnit::Week),
        "monthly" => Some(CalendarUnit::Month),
        _ => parse_unit(word),
    }
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
        for (contradictory, words) in [
            ("22:00-23:00 skip defer", "must say skip or defer"),
            ("22:00-23:00 UTC Asia/Tokyo", "must say UTC or Asia/Tokyo"),
            ("day 22:00-23:00 weekly", "must say day or weekly"),
            ("2026-12-24T00:00:00Z/2026-12-27T00:00:00Z UTC", "UTC goes with"),
            ("monthly 2026-12-24T00:00:00Z/2026-12-27T00:00:00Z", "monthly goes with"),
        ] {
            let error = parse_exclusions([contradictory], Some("UTC")).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
