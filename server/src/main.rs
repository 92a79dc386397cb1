//! The `offbeat` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    offbeat::cli::main()
}
