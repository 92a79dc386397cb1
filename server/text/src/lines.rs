//! Text that is read line by line.

use std::io::{self, BufRead, Read as _};

use offbeat_core::limits::Limit;
use offbeat_core::{Reason, Rejection};

/// Length of a line that the command line reads an ID from.
pub const INPUT_LINE_BYTES: Limit = Limit {
    id: "INPUT_LINE_BYTES",
    name: "line of input on the command line",
    minimum: 0,
    maximum: 4_096,
    unit: "bytes",
    note: "a longer one is a bad ID",
};

/// One line of input.
#[derive(Debug)]
pub enum Line<'a> {
    /// Its text, without its end: LF, or CR LF.
    Text(&'a str),
    /// It is longer than [`INPUT_LINE_BYTES`], or no UTF-8.
    Refused(Rejection),
}

/// Calls `visit` with each line and its number, from 1. No more than [`INPUT_LINE_BYTES`] of a line are
/// in memory.
///
/// # Errors
/// When `input` cannot be read, or `visit` fails.
pub fn for_each_line<E: From<io::Error>>(
    mut input: impl BufRead,
    mut visit: impl FnMut(u64, Line<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let limit = INPUT_LINE_BYTES.max_size();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let room = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(2); // and the line end
        if input.by_ref().take(room).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let ended = line.pop_if(|last| *last == b'\n').is_some();
        if ended {
            line.pop_if(|last| *last == b'\r');
        }
        if line.len() > limit {
            if !ended {
                input.skip_until(b'\n')?;
            }
            let allowed = format!("must be {INPUT_LINE_BYTES}");
            let rejection =
                Rejection::new(Reason::OutOfRange, "", "a line that is longer", allowed);
            visit(number, Line::Refused(rejection))?;
            continue;
        }
        match std::str::from_utf8(&line) {
            Ok(text) => visit(number, Line::Text(text))?,
            Err(_) => {
                let shown = String::from_utf8_lossy(&line);
                let rejection = Rejection::new(Reason::Malformed, "", shown, "must be UTF-8");
                visit(number, Line::Refused(rejection))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<(u64, Result<String, Reason>)> {
        let mut seen = Vec::new();
        for_each_line::<io::Error>(input, |number, line| {
            seen.push((
                number,
                match line {
                    Line::Text(text) => Ok(text.to_owned()),
                    Line::Refused(rejection) => Err(rejection.reason),
                },
            ));
            Ok(())
        })
        .unwrap();
        seen
    }

    #[test]
    fn only_the_line_end_is_stripped() {
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(
            lines(b" a \n\nb\r\nc\r\r\nd"),
            [(1, ok(" a ")), (2, ok("")), (3, ok("b")), (4, ok("c\r")), (5, ok("d"))]
        );
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [(1, ok(""))]);
    }

    #[test]
    fn bad_lines_are_told_and_the_next_are_read() {
        let limit = INPUT_LINE_BYTES.max_size();
        for extra in [1, 2, 3, 10_000] {
            let input = format!("{}\r\n{}\nz", "x".repeat(limit), "y".repeat(limit + extra));
            let seen = lines(input.as_bytes());
            assert_eq!(seen[0].1.as_ref().unwrap().len(), limit);
            assert_eq!(seen[1..], [(2, Err(Reason::OutOfRange)), (3, Ok("z".to_owned()))]);
        }
        assert_eq!(lines(b"\xff\nz"), [(1, Err(Reason::Malformed)), (2, Ok("z".to_owned()))]);
    }
}
