//! The simulator's results as one page, which needs no network.

use offbeat_sim::results::Results;

const TEMPLATE: &str = include_str!("../assets/report/template.html");
const STYLE: &str = include_str!("../assets/report/report.css");
const LIBRARY: &str = include_str!("../assets/report/uplot/uPlot.iife.min.js");
const SCRIPT: &str = include_str!("../assets/report/report.js");

/// A line of the page by which it is told from other files.
pub const MARK: &str = "<meta name=\"generator\" content=\"offbeat simulate\">";

/// The page.
///
/// # Errors
/// When the results have no JSON form, which is a bug.
pub fn page(results: &Results) -> Result<String, serde_json::Error> {
    // Inside a script element nothing ends the text but this sign.
    let json = serde_json::to_string(results)?.replace('<', "\\u003c");
    let page = TEMPLATE
        .replace("/*OFFBEAT:STYLE*/", STYLE)
        .replace("/*OFFBEAT:LIBRARY*/", LIBRARY)
        .replace("/*OFFBEAT:SCRIPT*/", SCRIPT);
    // Last, for it holds names that anybody chose.
    Ok(page.replace("/*OFFBEAT:RESULTS*/", &json))
}
