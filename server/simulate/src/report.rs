//! The results as one page, which needs no network.

const TEMPLATE: &str = include_str!("../assets/template.html");
const STYLE: &str = include_str!("../assets/report.css");
const LIBRARY: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
const SCRIPT: &str = include_str!("../assets/report.js");

/// A line of the page that other files do not have.
pub const MARK: &str = "<meta name=\"generator\" content=\"offbeat simulate\">";

/// The page of these results: the JSON that `offbeat simulate --format json` and the RPC `Simulate`
/// answer with.
#[must_use]
pub fn page(results: &str) -> String {
    // In a script element only this sign can end the text.
    let results = results.replace('<', "\\u003c");
    TEMPLATE
        .replace("/*OFFBEAT:STYLE*/", STYLE)
        .replace("/*OFFBEAT:LIBRARY*/", LIBRARY)
        .replace("/*OFFBEAT:SCRIPT*/", SCRIPT)
        // Last: the results hold names that users chose.
        .replace("/*OFFBEAT:RESULTS*/", &results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_results_are_text_and_nothing_else() {
        let page = page(r#"{"name": "</script>/*OFFBEAT:STYLE*/"}"#);
        assert!(page.contains(MARK));
        assert!(page.contains(r#"{"name": "\u003c/script>/*OFFBEAT:STYLE*/"}"#));
        assert_eq!(page.matches(STYLE).count(), 1);
    }
}
