//! Measures how long the hot paths take whose instructions `examples/hot_paths.rs` counts:
//! `cargo bench --package offbeat-core`
#![allow(missing_docs, reason = "nobody calls it")]

use divan::Bencher;
use divan::counter::ItemsCount;

#[path = "../examples/hot_paths.rs"]
#[allow(dead_code, reason = "it is a program, too")]
mod program;

fn main() {
    divan::main();
}

fn names() -> impl Iterator<Item = &'static str> {
    program::PATHS.iter().filter(|(_, _, path)| path().is_some()).map(|(name, ..)| *name)
}

#[divan::bench(args = names())]
fn hot_path(bencher: Bencher<'_, '_>, name: &str) {
    let path = program::PATHS.iter().find(|(path, ..)| *path == name);
    if let Some((walk, items)) = path.and_then(|(_, items, path)| Some((path()?, *items))) {
        bencher.counter(ItemsCount::new(items)).bench_local(walk);
    }
}
