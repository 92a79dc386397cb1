//! Figures and spans of time for people: three digits say enough.

/// A figure with three digits, without trailing zeros behind the point.
#[must_use]
pub fn figure(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if !size.is_finite() => return "∞".to_owned(),
        _ if size >= 99.95 || size == 0.0 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ if size >= 0.09995 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A span of time with three digits, in the unit that fits it.
#[must_use]
pub fn span(seconds: f64) -> String {
    let (value, unit) = match seconds.abs() {
        0.0 => (0.0, "s"),
        size if size < 0.000_999_5 => (seconds * 1e6, "µs"),
        size if size < 0.0995 => (seconds * 1e3, "ms"),
        size if size < 120.0 => (seconds, "s"),
        size if size < 7_200.0 => (seconds / 60.0, "min"),
        size if size < 172_800.0 => (seconds / 3_600.0, "h"),
        _ => (seconds / 86_400.0, "days"),
    };
    format!("{} {unit}", figure(value))
}

/// A share as a percentage.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{} %", figure(share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.073_166, "0.0732"),
            (0.5, "0.5"),
            (0.999, "0.999"),
            (1.4949, "1.49"),
            (9.999, "10"),
            (34.04, "34"),
            (99.96, "100"),
            (2_078.59, "2079"),
        ] {
            assert_eq!(figure(value), text, "{value}");
        }
    }

    #[test]
    fn spans_have_the_unit_that_fits() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (0.000_1, "100 µs"),
            (0.073_166, "73.2 ms"),
            (2.78, "2.78 s"),
            (119.0, "119 s"),
            (2_078.591_475, "34.6 min"),
            (14_400.0, "4 h"),
            (1e6, "11.6 days"),
        ] {
            assert_eq!(span(seconds), text, "{seconds}");
        }
    }
}
