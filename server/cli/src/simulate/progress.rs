//! How far a simulation is, for people who wait at a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use tokio::time::Instant;

/// Characters of the bar.
const WIDTH: u64 = 40;

/// A bar on standard error, if that is a terminal.
pub(super) struct Progress {
    total: u64,
    begun: Instant,
    is_shown: bool,
}

impl Progress {
    /// Of so many seconds to be simulated.
    pub(super) fn new(total: u64) -> Self {
        Self { total, begun: Instant::now(), is_shown: io::stderr().is_terminal() }
    }

    /// So many of them are simulated. What cannot be shown is not worth a failure.
    pub(super) fn show(&self, done: u64) {
        if self.is_shown {
            let _ =
                write!(io::stderr(), "\r{}\x1b[K", line(done, self.total, self.begun.elapsed()));
        }
    }

    /// Leaves the line as it was.
    pub(super) fn clear(self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(done: u64, total: u64, took: Duration) -> String {
    let (done, total) = (done.min(total), total.max(1));
    let part = |of: u64| u64::try_from(u128::from(done) * u128::from(of) / u128::from(total));
    let filled = usize::try_from(part(WIDTH).unwrap_or(0)).unwrap_or(0);
    let percent = part(100).unwrap_or(0);
    let bar: String = "\u{2588}".repeat(filled);
    let left = match done {
        0 => String::new(),
        done => {
            let left = took.as_millis() * u128::from(total - done) / u128::from(done) / 1_000;
            format!(", {left} s left")
        }
    };
    format!("{bar:\u{2591}<40} {percent} % of {total} s{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_bar() {
        let took = Duration::from_secs(3);
        let (full, empty) = ("\u{2588}", "\u{2591}");
        assert_eq!(line(0, 600, took), format!("{} 0 % of 600 s", empty.repeat(40)));
        let some = format!("{}{} 25 % of 600 s, 9 s left", full.repeat(10), empty.repeat(30));
        assert_eq!(line(150, 600, took), some);
        assert_eq!(line(700, 600, took), format!("{} 100 % of 600 s, 0 s left", full.repeat(40)));
        assert_eq!(line(0, 0, took), format!("{} 0 % of 1 s", empty.repeat(40)));
        assert!(line(u64::MAX / 2, u64::MAX, took).contains(" 49 % of "));
    }
}
