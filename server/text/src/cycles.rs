//! The cycle of a schedule: a span (`8h`, `1d`), or a unit of the calendar (`day`, `week`, `month`).

use offbeat_core::{CalendarSpec, CalendarUnit, CycleSpec, Span};

use crate::parse_span;

/// A cycle, before its time zone is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CycleText {
    /// A cycle of fixed length.
    Period(Span),
    /// A day, week or month of a calendar.
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
    pub(crate) const fn unit(self) -> Option<CalendarUnit> {
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
