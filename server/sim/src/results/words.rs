//! Times as people read them.

use crate::distribution::whole;

const DAY: u64 = 1_440;

/// A span in seconds, as text.
#[must_use]
pub fn span(seconds: f64) -> String {
    match seconds {
        s if s >= 172_800.0 => format!("{:.1} d", s / 86_400.0),
        s if s >= 7_200.0 => format!("{:.1} h", s / 3_600.0),
        s if s >= 120.0 => format!("{:.1} min", s / 60.0),
        s if s >= 1.0 || s == 0.0 => format!("{s:.1} s"),
        s => format!("{:.0} ms", s * 1_000.0),
    }
}

/// A time of the scenario in seconds, as text. The scenario begins at midnight of its day 1.
#[must_use]
pub fn begin(seconds: f64) -> String {
    clock(minutes(seconds) / DAY, minutes(seconds) % DAY)
}

/// The same for the end of something: midnight is then the end of a day.
#[must_use]
pub fn end(seconds: f64) -> String {
    match minutes(seconds) {
        0 => clock(0, 0),
        minutes => clock((minutes - 1) / DAY, (minutes - 1) % DAY + 1),
    }
}

fn minutes(seconds: f64) -> u64 {
    whole(libm::round(seconds / 60.0))
}

fn clock(day: u64, minute: u64) -> String {
    format!("day {} {:02}:{:02}", day + 1, minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midnight_ends_one_day_and_begins_the_next() {
        assert_eq!(
            [0.0, 90_000.0, 86_400.0].map(begin),
            ["day 1 00:00", "day 2 01:00", "day 2 00:00"]
        );
        assert_eq!(
            [0.0, 100_800.0, 86_400.0].map(end),
            ["day 1 00:00", "day 2 04:00", "day 1 24:00"]
        );
    }
}
