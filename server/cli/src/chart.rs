//! Bar charts as plain text, as wide as the terminal.

use std::io::{self, Write};

/// If standard output is not a terminal and COLUMNS is not set.
const DEFAULT_WIDTH: usize = 80;
const NARROWEST: usize = 40;
const WIDEST: usize = 160;

/// Columns of the terminal, if standard output is one; else those of COLUMNS, or 80. From 40 to
/// 160.
pub(super) fn width() -> usize {
    let columns = match rustix::termios::tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => Some(usize::from(size.ws_col)),
        _ => std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()),
    };
    columns.unwrap_or(DEFAULT_WIDTH).clamp(NARROWEST, WIDEST)
}

/// A bar: what it is, how long, and the figure behind it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) value: f64,
    pub(super) figure: String,
}

/// Writes bars below one another, the longest as long as there is room.
pub(super) fn write(out: &mut impl Write, bars: &[Bar], width: usize) -> io::Result<()> {
    let widest = |text: fn(&Bar) -> &str| {
        bars.iter().map(|bar| text(bar).chars().count()).max().unwrap_or_default()
    };
    let (labels, figures) = (widest(|bar| &bar.label), widest(|bar| &bar.figure));
    let room = width.saturating_sub(labels + figures + 4).max(1);
    let longest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    for Bar { label, value, figure } in bars {
        let length = if longest > 0.0 { scaled(value / longest, room) } else { 0 };
        writeln!(out, "{label:>labels$}  {figure:>figures$}  {}", "#".repeat(length))?;
    }
    Ok(())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a few hundred columns at most"
)]
fn scaled(share: f64, room: usize) -> usize {
    ((share * room as f64).round() as usize).min(room)
}

/// At most `most` sums of neighbouring cells, each with the first and the last of them.
pub(super) fn grouped(cells: &[f64], most: usize) -> Vec<(usize, usize, f64)> {
    let size = cells.len().div_ceil(most.max(1)).max(1);
    (0..)
        .step_by(size)
        .zip(cells.chunks(size))
        .map(|(first, group)| (first, first + group.len() - 1, group.iter().sum()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share_of_the_room() {
        let bar = |label: &str, value: f64| Bar {
            label: label.to_owned(),
            value,
            figure: format!("{value}"),
        };
        let mut out = Vec::new();
        write(&mut out, &[bar("a", 20.0), bar("bb", 10.0), bar("c", 0.0)], 28).unwrap();
        let text = String::from_utf8(out).unwrap();
        let long = "#".repeat(20);
        assert_eq!(text, format!(" a  20  {long}\nbb  10  {}\n c   0  \n", "#".repeat(10)));
    }

    #[test]
    fn cells_are_summed_in_groups_that_lose_none() {
        assert_eq!(grouped(&[1.0, 2.0, 3.0], 2), [(0, 1, 3.0), (2, 2, 3.0)]);
        assert_eq!(grouped(&[1.0, 2.0], 32), [(0, 0, 1.0), (1, 1, 2.0)]);
        assert!(grouped(&[], 3).is_empty());
        assert!(grouped(&[1.0; 1_000], 32).len() <= 32);
    }
}
