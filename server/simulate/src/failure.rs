//! Why a simulation cannot be made, or its results cannot be written.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use offbeat_core::Rejection;

/// Invalid usage, as `sysexits.h` numbers it.
pub(crate) const EXIT_USAGE: u8 = 64;

/// Why a command cannot do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Invalid usage: exit status 64.
    Usage(String),
    /// A runtime error: exit status 1.
    Other(String),
    /// The reader of the output has closed it, as in `offbeat simulate … | head`: exit status 0.
    OutputClosed,
}

impl Failure {
    /// An error of a file that is read or written.
    pub(crate) fn at(path: &Path, error: &io::Error) -> Self {
        Self::Other(format!("{}: {error}", path.display()))
    }

    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            Self::Usage(message) => (message, EXIT_USAGE.into()),
            Self::Other(message) => (message, ExitCode::FAILURE),
            Self::OutputClosed => return ExitCode::SUCCESS,
        };
        let _ = writeln!(io::stderr(), "offbeat-simulate: {message}");
        code
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Other(error.to_string()),
        }
    }
}

impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        Self::Usage(rejection.to_string())
    }
}
