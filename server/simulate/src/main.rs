//! The `offbeat-simulate` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    offbeat_simulate::main()
}
