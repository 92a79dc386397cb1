//! Compresses what the report page is made of.

use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    compress_report(&PathBuf::from(std::env::var("OUT_DIR")?))
}

/// A hundredth of the binary, of which a sidecar has no use.
fn compress_report(out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    const FOLDER: &str = "assets/report";
    println!("cargo::rerun-if-changed={FOLDER}");
    for name in ["template.html", "report.css", "uplot/uPlot.iife.min.js", "report.js"] {
        let text = std::fs::read(Path::new(FOLDER).join(name))?;
        let file = name.replace('/', "_");
        std::fs::write(out.join(file), miniz_oxide::deflate::compress_to_vec(&text, 10))?;
    }
    Ok(())
}
