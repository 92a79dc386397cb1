//! Times of day. A scenario begins at midnight of its day 1, and each of its days has 24 hours.

use offbeat_core::{Reason, Rejection};

use super::fields::micros;
use super::timing::Timing;
use crate::limits::{SCENARIO_SECONDS, SCENARIO_WINDOWS};

const DAY: u64 = 86_400_000_000;

/// An instant in microseconds: a span from the beginning, `25h`, or a time of a day, `day 2 01:00`.
pub(super) fn instant(field: &str, text: &str) -> Result<u64, Rejection> {
    let Some(day_and_time) = text.strip_prefix("day ") else {
        return micros(field, text);
    };
    let bad = || {
        let allowed = "must be a span from the beginning, such as 25h, or a day and a time of day, \
                       such as \"day 2 01:00\"; the first is day 1, and its beginning 00:00";
        Rejection::new(Reason::Malformed, field, format!("{text:?}"), allowed)
    };
    let (day, time) = day_and_time.split_once([',', ' ']).ok_or_else(bad)?;
    let day: u64 = day.trim().parse().map_err(|_| bad())?;
    let time = time_of_day(time.trim()).ok_or_else(bad)?;
    let last = SCENARIO_SECONDS.maximum.unsigned_abs() * 1_000_000 / DAY;
    if !(1..=last).contains(&day) {
        let allowed = format!("must be day 1 to {last}");
        return Err(Rejection::new(Reason::OutOfRange, field, format!("{text:?}"), allowed));
    }
    Ok((day - 1) * DAY + time)
}

/// A cycle with active windows, each of which is written for every day, `22:00-06:00`.
pub(super) fn timing(field: &str, cycle: u64, texts: &[String]) -> Result<Timing, Rejection> {
    if texts.is_empty() {
        return Ok(Timing::whole(cycle));
    }
    let whole = format!("{} windows", texts.len());
    if !cycle.is_multiple_of(DAY) {
        let allowed = "must be set only with a cycle of whole days: windows repeat every day";
        return Err(Rejection::new(Reason::Contradictory, field, whole, allowed));
    }
    let days = cycle / DAY;
    let mut parts = Vec::new();
    for (place, text) in texts.iter().enumerate() {
        let (start, end) = window(&format!("{field}[{place}]"), text)?;
        for midnight in (0..days).map(|day| day * DAY) {
            parts.push((midnight + start, midnight + end.min(DAY)));
            if end > DAY {
                let next = (midnight + DAY) % cycle;
                parts.push((next, next + end - DAY));
            }
        }
        if !SCENARIO_WINDOWS.allows(parts.len() as i128) {
            let allowed = format!("must make {SCENARIO_WINDOWS} in a cycle, over all of its days");
            return Err(Rejection::new(Reason::OutOfRange, field, whole, allowed));
        }
    }
    Ok(Timing::within(cycle, parts))
}

/// The window from one time of day to another, which may be on the next day; in microseconds.
fn window(field: &str, text: &str) -> Result<(u64, u64), Rejection> {
    let times = text.split_once('-').and_then(|(start, end)| {
        Some((time_of_day(start.trim())?, time_of_day(end.trim())?))
            .filter(|(start, end)| *start < DAY && start != end)
    });
    let (start, end) = times.ok_or_else(|| {
        let allowed = "must be two times of day that differ, such as 01:00-05:00 or 22:00-06:00";
        Rejection::new(Reason::Malformed, field, format!("{text:?}"), allowed)
    })?;
    Ok((start, if end > start { end } else { end + DAY }))
}

/// `01:00` or `01:00:30`, up to `24:00`, in microseconds from midnight.
fn time_of_day(text: &str) -> Option<u64> {
    let mut parts = text.split(':').map(|part| {
        let is_plain = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u64>().ok().filter(|_| is_plain)
    });
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0))?;
    let time = (hours * 3_600 + minutes * 60 + seconds) * 1_000_000;
    (parts.next().is_none() && minutes < 60 && seconds < 60 && time <= DAY).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000_000;

    #[test]
    fn instants_are_spans_or_times_of_a_day() {
        for (text, hours) in
            [("25h", 25), ("day 2 01:00", 25), ("day 2, 01:00:00", 25), ("day 1 24:00", 24)]
        {
            assert_eq!(instant("from", text), Ok(hours * HOUR), "{text}");
        }
        for bad in [
            "day 0 01:00",
            "day 2",
            "day 2 1:00",
            "day 2 24:01",
            "day 2 01:60",
            "day 367 00:00",
            "01:00",
        ] {
            assert!(instant("from", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn windows_of_a_night_go_on_in_the_next_day() {
        let night =
            |days| timing("active_windows", days * DAY, &["22:00-06:00".to_owned()]).unwrap();
        assert_eq!(night(1), Timing::within(DAY, vec![(0, 6 * HOUR), (22 * HOUR, DAY)]));
        assert_eq!(night(7).active(), 56 * HOUR);
        assert_eq!(night(7).active_from(6 * HOUR), 22 * HOUR);
        assert_eq!(night(7).active_from(25 * HOUR), 25 * HOUR);
        for bad in ["22-6", "22:00-22:00", "24:00-06:00", "22:00", "a-b"] {
            assert!(timing("active_windows", DAY, &[bad.to_owned()]).is_err(), "{bad}");
        }
        assert!(timing("active_windows", DAY / 3, &["01:00-02:00".to_owned()]).is_err());
    }
}
