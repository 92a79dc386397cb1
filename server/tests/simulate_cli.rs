//! `offbeat simulate` as a process: it runs the program beside it, or the one on PATH.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod command;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use command::BINARY;

/// A program that prints `name` and its arguments, and ends with status 3.
fn write_program(folder: &Path, name: &str) {
    let path = folder.join("offbeat-simulate");
    fs::write(&path, format!("#!/bin/sh\necho \"{name}: $*\"\nexit 3\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs a copy of the program in `folder`, which contains no other program by default.
fn simulate(folder: &Path, path: &Path, arguments: &[&str]) -> Output {
    let program = folder.join("offbeat");
    if !program.exists() {
        fs::hard_link(BINARY, &program).or_else(|_| fs::copy(BINARY, &program).map(drop)).unwrap();
    }
    Command::new(program).arg("simulate").args(arguments).env("PATH", path).output().unwrap()
}

#[test]
fn the_program_beside_this_one_is_taken_before_that_on_path() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments = ["week.toml", "--report", "week.html", "--help", "-x"];
    let run = |path: &Path| simulate(folder.path(), path, &arguments);

    let missing = run(elsewhere.path());
    let message = String::from_utf8(missing.stderr).unwrap();
    assert_eq!(missing.status.code(), Some(1), "{message}");
    assert!(message.contains("offbeat-simulate is not installed"), "{message}");

    write_program(elsewhere.path(), "on PATH");
    let found = run(elsewhere.path());
    assert_eq!(found.status.code(), Some(3));
    let printed = String::from_utf8(found.stdout).unwrap();
    assert_eq!(printed, format!("on PATH: {}\n", arguments.join(" ")));

    write_program(folder.path(), "beside");
    let found = run(elsewhere.path());
    assert!(found.stdout.starts_with(b"beside: week.toml"), "{found:?}");
}

#[test]
fn help_names_the_program() {
    let help = Command::new(BINARY).arg("--help").output().unwrap();
    let text = String::from_utf8(help.stdout).unwrap();
    let line = text.lines().find(|line| line.trim_start().starts_with("simulate")).unwrap();
    assert!(line.contains("offbeat-simulate"), "{line}");
}
