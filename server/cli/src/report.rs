//! The simulator's results as one page, which needs no network.

use std::fmt;

use miniz_oxide::inflate::decompress_to_vec_with_limit;
use offbeat_sim::results::Results;

/// What the page is made of, as the build has compressed it.
macro_rules! part {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name))
    };
}

const TEMPLATE: &[u8] = part!("template.html");
const STYLE: &[u8] = part!("report.css");
const LIBRARY: &[u8] = part!("uplot_uPlot.iife.min.js");
const SCRIPT: &[u8] = part!("report.js");

/// None of them is larger.
const LARGEST: usize = 1 << 20;

/// A line of the page by which it is told from other files.
pub const MARK: &str = "<meta name=\"generator\" content=\"offbeat simulate\">";

/// No page, which is a bug: the results have no JSON form, or the binary is damaged.
#[derive(Debug)]
pub struct NoPage(String);

impl fmt::Display for NoPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the report cannot be made: {}", self.0)
    }
}

impl std::error::Error for NoPage {}

/// The page.
///
/// # Errors
/// By a bug alone.
pub fn page(results: &Results) -> Result<String, NoPage> {
    let json = serde_json::to_string(results).map_err(|error| NoPage(error.to_string()))?;
    // Inside a script element nothing ends the text but this sign.
    let json = json.replace('<', "\\u003c");
    let page = text(TEMPLATE)?
        .replace("/*OFFBEAT:STYLE*/", &text(STYLE)?)
        .replace("/*OFFBEAT:LIBRARY*/", &text(LIBRARY)?)
        .replace("/*OFFBEAT:SCRIPT*/", &text(SCRIPT)?);
    // Last, for it holds names that anybody chose.
    Ok(page.replace("/*OFFBEAT:RESULTS*/", &json))
}

fn text(part: &[u8]) -> Result<String, NoPage> {
    let bytes = decompress_to_vec_with_limit(part, LARGEST);
    let bytes = bytes.map_err(|error| NoPage(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| NoPage(error.to_string()))
}
