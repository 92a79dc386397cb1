//! The folders of the core have an order: no two of them use each other, directly or indirectly.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails where something is wrong"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Collects all Rust files below `folder`.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// For each module, the modules of the crate that it names, in `use` lines and elsewhere. Its own
/// tests and the items at the root do not count.
fn imports() -> Graph {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&root, &mut found);
    let module = |path: &Path| {
        let first = path.strip_prefix(&root).unwrap().components().next().unwrap();
        first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
    };
    let modules: BTreeSet<String> = found.iter().map(|path| module(path)).collect();
    let mut graph = Graph::new();
    for path in found.iter().filter(|path| module(path) != "lib") {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        // `super`, repeated as often as a file is deep, means the root, too.
        let depth = path
            .strip_prefix(&root)
            .unwrap()
            .with_extension("")
            .iter()
            .filter(|part| *part != "mod")
            .count();
        assert!(!code.contains(&"super::".repeat(depth)), "{}: begin with crate::", path.display());
        let lines = code.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        let named = lines.flat_map(|line| line.split("crate::").skip(1)).map(|rest| {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            assert!(
                end > 0,
                "{}: name each module of the crate in a line of its own",
                path.display()
            );
            rest[..end].to_owned()
        });
        let own = module(path);
        let others = named.filter(|name| *name != own).inspect(|name| {
            assert!(modules.contains(name), "{}: crate::{name} is no module", path.display());
        });
        graph.entry(own.clone()).or_default().extend(others);
    }
    graph
}

/// The path from `module` back to itself, if there is one.
fn cycle<'a>(graph: &'a Graph, module: &'a str, way: &mut Vec<&'a str>) -> Option<String> {
    if let Some(start) = way.iter().position(|passed| *passed == module) {
        way.push(module);
        return Some(way[start..].join(" -> "));
    }
    way.push(module);
    let found = graph[module].iter().find_map(|next| cycle(graph, next, way));
    way.pop();
    found
}

#[test]
fn no_folder_uses_one_that_uses_it() {
    let graph = imports();
    assert!(graph["schedule"].contains("calendar"), "what is read are imports: {graph:?}");
    for module in graph.keys() {
        assert_eq!(cycle(&graph, module, &mut Vec::new()), None, "modules import in a circle");
    }
}
