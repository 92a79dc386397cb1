//! The results as one page, which needs no network.

const TEMPLATE: &str = include_str!("../assets/template.html");

macro_rules! assets {
    ($($name:literal,)+) => {
        [$(($name, include_str!(concat!("../assets/", $name)))),+]
    };
}

/// The files that the template names.
const ASSETS: &[(&str, &str)] = &assets![
    "style/base.css",
    "style/summary.css",
    "style/tables.css",
    "style/legend.css",
    "style/charts.css",
    "style/uplot.css",
    "style/intervals.css",
    "style/dial.css",
    "style/narrow.css",
    "style/paper.css",
    "uplot/uPlot.iife.min.js",
    "script/elements.js",
    "script/words.js",
    "script/results.js",
    "script/scales.js",
    "script/criteria.js",
    "script/heading.js",
    "script/answer.js",
    "script/tables.js",
    "script/phases.js",
    "script/legend.js",
    "script/outages.js",
    "script/time_plot.js",
    "script/time_chart.js",
    "script/over_time.js",
    "script/partners.js",
    "script/intervals.js",
    "script/dial.js",
    "script/lanes.js",
    "script/page.js",
];

/// A line of the page that other files do not have.
pub const MARK: &str = "<meta name=\"generator\" content=\"offbeat simulate\">";

/// The page of these results: the JSON that `offbeat simulate --format json` and the RPC `Simulate`
/// answer with.
#[must_use]
pub fn page(results: &str) -> String {
    let place = |name: &str| format!("/*OFFBEAT:{name}*/");
    let mut page = TEMPLATE.to_owned();
    for (name, text) in ASSETS {
        page = page.replace(&place(name), text);
    }
    // In a script element only this sign can end the text. Last: the results hold names that users
    // chose.
    page.replace(&place("RESULTS"), &results.replace('<', "\\u003c"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_results_are_text_and_nothing_else() {
        let page = page(r#"{"name": "</script>/*OFFBEAT:style/base.css*/"}"#);
        assert!(page.contains(MARK));
        assert!(page.contains(r#"{"name": "\u003c/script>/*OFFBEAT:style/base.css*/"}"#));
    }

    #[test]
    fn each_asset_is_in_the_page_once_and_no_placeholder_is_left() {
        let page = page("{}");
        assert!(!page.contains("/*OFFBEAT:"));
        for (name, text) in ASSETS {
            assert_eq!(page.matches(text).count(), 1, "{name}");
        }
    }
}
