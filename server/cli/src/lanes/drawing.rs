//! Lines, texts and scales of SVG.

use std::fmt::Write as _;

use offbeat_text::figures::{figure, span};

/// Text, escaped for HTML and SVG.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() => escaped.extend(control.escape_debug()),
            other => escaped.push(other),
        }
    }
    escaped
}

/// How wide a drawing is, and for which windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Format {
    pub(super) class: &'static str,
    pub(super) width: f64,
}

impl Format {
    /// Whether there is no room for two texts on one line.
    pub(super) fn is_narrow(self) -> bool {
        self.width < 500.0
    }
}

pub(super) const FORMATS: [Format; 3] = [
    Format { class: "wide", width: 1006.0 },
    Format { class: "middle", width: 640.0 },
    Format { class: "narrow", width: 336.0 },
];

/// The smallest distance between two lines of text.
pub(super) const LINE: f64 = 16.0;

/// A drawing that grows.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    body: String,
}

/// Where a text begins, ends, or has its middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.push(&format!(
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        ));
    }

    pub(super) fn rect(&mut self, class: &str, (x, y): (f64, f64), width: f64, height: f64) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        self.push(&format!(
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"/>"#
        ));
    }

    pub(super) fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        self.push(&format!(r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius}"/>"#));
    }

    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.push(&format!(r#"<polyline class="{class}" points="{}"/>"#, points.join(" ")));
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.push(&format!(
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    /// The title of a row, and `text` at the other end of the row, or below if there is no room.
    pub(super) fn titled(&mut self, format: Format, y: f64, title: &str, class: &str, text: &str) {
        self.text("strong", (8.0, y), Anchor::Start, title);
        match format.is_narrow() {
            true => self.text(class, (8.0, y + LINE), Anchor::Start, text),
            false => self.text(class, (format.width - 8.0, y), Anchor::End, text),
        }
    }

    fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// The drawing as an element, which a screen reader calls `label`.
    pub(super) fn svg(self, format: Format, height: f64, label: &str) -> String {
        let Format { class, width } = format;
        let mut svg = String::new();
        let _ = writeln!(
            svg,
            r#"<svg class="{class}" viewBox="0 0 {width} {height:.0}" role="img" aria-label="{}">"#,
            escaped(label)
        );
        svg + &self.body + "</svg>\n"
    }
}

/// A logarithmic scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Maps values above 0 to places from `from` to `to`; wider than the values if these are nearly
    /// equal.
    pub(super) fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let fold = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
        let (low, high) = values.filter(|value| *value > 0.0).fold((f64::MAX, 0.0), fold);
        let (low, high) = if low <= high { (low, high) } else { (1.0, 1.0) };
        let (low, high) = if high < low * 1.2 { (low / 1.5, high * 1.5) } else { (low, high) };
        Self { low, high, from, to }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Values from `low` to `high`, of equal ratios: one more than there are parts.
    pub(super) fn steps(&self, parts: u32) -> Vec<f64> {
        let ratio = (self.high / self.low).ln();
        (0..=parts)
            .map(|part| self.low * (ratio * f64::from(part) / f64::from(parts)).exp())
            .collect()
    }

    /// Round values whose places are at least `apart`, each with its place; `rounder` ones first.
    fn ticks(&self, rounder: &[f64], round: &[f64], apart: f64) -> Vec<(f64, f64)> {
        let mut ticks: Vec<(f64, f64)> = Vec::new();
        for value in rounder.iter().chain(round) {
            let place = self.at(*value);
            let fits = (self.low * 0.999..=self.high * 1.001).contains(value)
                && ticks.iter().all(|(_, other)| (other - place).abs() >= apart);
            if fits {
                ticks.push((*value, place));
            }
        }
        ticks
    }

    /// Ticks of an axis of times, in seconds.
    pub(super) fn times(&self, apart: f64) -> Vec<(String, f64)> {
        const ROUNDER: [f64; 13] = [
            1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 60.0, 600.0, 3_600.0, 86_400.0, 864_000.0,
        ];
        const ROUND: [f64; 28] = [
            2e-6,
            5e-6,
            2e-5,
            5e-5,
            2e-4,
            5e-4,
            2e-3,
            5e-3,
            2e-2,
            5e-2,
            0.2,
            0.5,
            2.0,
            5.0,
            20.0,
            30.0,
            120.0,
            300.0,
            1_200.0,
            1_800.0,
            7_200.0,
            18_000.0,
            43_200.0,
            172_800.0,
            432_000.0,
            1_728_000.0,
            8_640_000.0,
            25_920_000.0,
        ];
        let ticks = self.ticks(&ROUNDER, &ROUND, apart);
        ticks.into_iter().map(|(value, place)| (tick_time(value), place)).collect()
    }

    /// Ticks of an axis of numbers from 1 on.
    pub(super) fn numbers(&self, apart: f64) -> Vec<(String, f64)> {
        let power = |power: i32| 10_f64.powi(power);
        let rounder: Vec<f64> = (0..=12).map(power).collect();
        let round: Vec<f64> =
            (0..=12).flat_map(|at| [2.0, 5.0, 1.5, 3.0].map(|of| of * power(at))).collect();
        let ticks = self.ticks(&rounder, &round, apart);
        ticks.into_iter().map(|(value, place)| (figure(value), place)).collect()
    }
}

/// A round time in its largest unit.
fn tick_time(seconds: f64) -> String {
    match seconds {
        minutes if (60.0..3_600.0).contains(&minutes) => format!("{} min", figure(minutes / 60.0)),
        hours if (3_600.0..86_400.0).contains(&hours) => format!("{} h", figure(hours / 3_600.0)),
        days if days >= 86_400.0 => format!("{} d", figure(days / 86_400.0)),
        other => span(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_and_nothing_else() {
        assert_eq!(escaped("</text><b a=\"&\">"), "&lt;/text&gt;&lt;b a=&quot;&amp;&quot;&gt;");
        assert_eq!(escaped("a\u{1b}[31m"), "a\\u{1b}[31m");
    }

    #[test]
    fn ticks_are_round_and_apart() {
        let scale = Scale::new([0.004, 4_000.0].into_iter(), 0.0, 600.0);
        let ticks = scale.times(60.0);
        let named: Vec<&str> = ticks.iter().map(|(name, _)| name.as_str()).collect();
        assert!(named.starts_with(&["10 ms", "0.1 s", "1 s", "10 s"]), "{named:?}");
        assert!(named.contains(&"10 min"), "{named:?}");
        for (place, (_, one)) in ticks.iter().enumerate() {
            assert!((0.0..=600.0).contains(one));
            assert!(ticks.iter().skip(place + 1).all(|(_, other)| (one - other).abs() >= 60.0));
        }
        assert_eq!(Scale::new([3.0].into_iter(), 0.0, 9.0).at(3.0), 4.5);
    }
}
