//! `offbeat simulate`: a program of its own, so that a sidecar contains no databases and no pages.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;

use super::Failure;

const PROGRAM: &str = "offbeat-simulate";

#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    /// The arguments of offbeat-simulate: `offbeat simulate --help` prints its help
    #[arg(
        value_name = "ARGUMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_hint = clap::ValueHint::AnyPath
    )]
    arguments: Vec<OsString>,
}

/// Replaces this process by `offbeat-simulate`: the one beside this program, else the one on PATH.
pub(super) fn run(args: &SimulateArgs) -> Result<ExitCode, Failure> {
    let sibling = sibling().filter(|path| path.is_file());
    let error =
        Command::new(sibling.unwrap_or_else(|| PROGRAM.into())).args(&args.arguments).exec();
    Err(Failure::Other(match error.kind() {
        io::ErrorKind::NotFound => format!(
            "simulate: {PROGRAM} is not installed: put it beside this program or on PATH (cargo build \
             --release --package {PROGRAM})"
        ),
        _ => format!("simulate: {PROGRAM} cannot be started: {error}"),
    }))
}

fn sibling() -> Option<PathBuf> {
    Some(env::current_exe().ok()?.with_file_name(PROGRAM))
}
