//! Days, weeks and months.

/// A unit of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarUnit {
    /// From midnight to midnight; number 0 is 1 January 1970.
    Day,
    /// From Monday to Sunday; number 0 starts on 29 December 1969.
    Week,
    /// From the first day to the last; number 0 is January 1970.
    Month,
}

impl CalendarUnit {
    /// The name in canonical texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::Week => "WEEK",
            Self::Month => "MONTH",
        }
    }

    /// The lengths that it can have, in days.
    #[must_use]
    pub const fn lengths(self) -> &'static [u64] {
        match self {
            Self::Day => &[1],
            Self::Week => &[7],
            Self::Month => &[28, 29, 30, 31],
        }
    }

    /// Its greatest length, in days.
    #[must_use]
    pub const fn longest(self) -> u64 {
        match self {
            Self::Day => 1,
            Self::Week => 7,
            Self::Month => 31,
        }
    }

    /// The day on which a unit starts, counted from 1 January 1970.
    pub(super) const fn first_day(self, number: i64) -> i64 {
        match self {
            Self::Day => number,
            Self::Week => number * 7 - 3, // 1 January 1970 was a Thursday
            Self::Month => days_before_month(number),
        }
    }

    /// The unit that holds a day.
    pub(super) const fn holding(self, day: i64) -> i64 {
        match self {
            Self::Day => day,
            Self::Week => (day + 3).div_euclid(7),
            Self::Month => {
                // A month has 28 to 31 days: the estimate is at most one too small or large.
                let mut month = (day * 4_800).div_euclid(146_097);
                while days_before_month(month + 1) <= day {
                    month += 1;
                }
                while days_before_month(month) > day {
                    month -= 1;
                }
                month
            }
        }
    }
}

/// Days from 1 January 1970 to the first of a month, counted from January 1970: years from
/// March on, so that the leap day comes last, as in Hinnant's `days_from_civil`.
const fn days_before_month(month: i64) -> i64 {
    let from_march = month + 1_970 * 12 - 2;
    let (year, month) = (from_march.div_euclid(12), from_march.rem_euclid(12));
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5 - 719_468
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn months_are_those_of_the_calendar() {
        let epoch = date(1970, 1, 1);
        for year in -9_998..=9_998_i16 {
            for month in 1..=12_i8 {
                let number = (i64::from(year) - 1_970) * 12 + i64::from(month) - 1;
                let first = (date(year, month, 1) - epoch).get_days().into();
                assert_eq!(CalendarUnit::Month.first_day(number), first);
                assert_eq!(CalendarUnit::Month.holding(first), number);
                assert_eq!(CalendarUnit::Month.holding(first - 1), number - 1);
            }
        }
    }

    #[test]
    fn weeks_start_on_monday() {
        assert_eq!(CalendarUnit::Week.first_day(0), -3);
        assert_eq!(CalendarUnit::Week.holding(3), 0); // Sunday, 4 January 1970
        assert_eq!(CalendarUnit::Week.holding(4), 1);
        assert_eq!(CalendarUnit::Week.holding(-4), -1);
    }
}
