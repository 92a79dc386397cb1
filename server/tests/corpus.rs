//! Replays the inputs that the fuzzer found worth keeping. Each folder of `tests/corpus` has the
//! name of a target of `fuzz/`.
#![allow(clippy::unwrap_used)]

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

use targets::methods::{NAMED, STATELESS};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_target_has_inputs_and_every_input_a_target() {
    let mut targets: Vec<_> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
    targets.sort_unstable();
    assert_eq!(names(&corpus()), targets);
}

/// Facts about the server have no input.
#[test]
fn every_stable_method_is_fuzzed() {
    let pool = offbeat::proto::descriptors::pool();
    let services = pool.services().filter(|service| service.package_name() == "offbeat.v1");
    let methods = services.flat_map(|service| {
        let name = service.name().to_owned();
        let names = service.methods().map(move |method| format!("{name}/{}", method.name()));
        names.collect::<Vec<_>>()
    });
    for method in methods.filter(|method| method != "ServerInfoService/GetServerInfo") {
        let fuzzed = STATELESS.iter().chain(&NAMED).any(|known| *known == method);
        assert!(fuzzed, "{method}: see fuzz/src/methods.rs");
    }
}

/// Inputs stay in the repository forever, so only the fewest that reach the same coverage are
/// kept.
#[test]
fn all_inputs_together_are_small() {
    let folders = names(&corpus()).into_iter().map(|name| corpus().join(name));
    let inputs = folders.flat_map(|folder| {
        names(&folder).into_iter().map(move |input| fs::metadata(folder.join(input)).unwrap().len())
    });
    let bytes: u64 = inputs.sum();
    assert!(bytes <= 400_000, "{bytes} bytes: see fuzz/keep.sh");
}

fn replay(name: &str) {
    let folder = corpus().join(name);
    let inputs = names(&folder);
    assert!(!inputs.is_empty());
    for input in inputs {
        println!("{name}/{input}"); // visible if the input fails
        targets::target(name)(&fs::read(folder.join(input)).unwrap());
    }
    targets::target(name)(&[]);
}

macro_rules! replay {
    ($($name:ident)*) => { $(#[test] fn $name() { replay(stringify!($name)); })* };
}

replay! {
    certificates control_frames frames groups headers ids json leases named orders plans
    scenarios schedules settings store tables wire
}
