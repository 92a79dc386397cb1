//! The program as a process, and what it prints.
#![allow(dead_code, unreachable_pub, missing_docs)]

pub mod server;
pub mod spread;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub const BINARY: &str = env!("CARGO_BIN_EXE_offbeat");
/// The exit code for invalid usage (sysexits.h).
pub const USAGE: i32 = 64;

pub fn offbeat(arguments: &[&str]) -> Output {
    offbeat_with(arguments, b"", &[])
}

pub fn offbeat_with(arguments: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Output {
    let mut child = Command::new(BINARY)
        .args(arguments)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

pub fn assign(arguments: &[&str], input: &str) -> (Vec<Value>, String, Option<i32>) {
    let all = [&["slots", "assign", "--format", "json"], arguments].concat();
    let output = offbeat_with(&all, input.as_bytes(), &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (rows, String::from_utf8(output.stderr).unwrap(), output.status.code())
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn vectors(file: &str) -> Value {
    let text = std::fs::read_to_string(repository().join("tests/vectors").join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub fn json_of(arguments: &[&str], input: &str) -> Value {
    let output = offbeat_with(arguments, input.as_bytes(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
