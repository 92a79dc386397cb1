//! A plan as one page, which needs no network and no script.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::LanePlan;
use super::charts;
use super::drawing::{FORMATS, Format, escaped};
use super::figures::{self, Table};
use super::text::facts;
use crate::Failure;
use offbeat_proto::v1beta1::LaneVerdict;

const STYLE: &str = include_str!("../../assets/lane_report.css");

/// A line of the page that other files do not have.
const MARK: &str = "<meta name=\"generator\" content=\"offbeat lanes plan\">";

/// Refuses to overwrite a file that is neither empty nor a report of an earlier plan.
pub(super) fn check_overwrite(path: &Path, force: bool) -> Result<(), Failure> {
    // A file that is not regular, such as a pipe, holds nothing.
    if force || !path.is_file() || is_ours(path).map_err(|error| at(path, &error))? {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--report: {} is refused: must be a new file, or a report of an earlier plan: --force overwrites any",
        path.display()
    )))
}

fn is_ours(path: &Path) -> io::Result<bool> {
    let mut beginning = Vec::new();
    File::open(path)?.take(4_096).read_to_end(&mut beginning)?;
    let has_mark = beginning.windows(MARK.len()).any(|part| part == MARK.as_bytes());
    Ok(beginning.is_empty() || has_mark)
}

fn at(path: &Path, error: &io::Error) -> Failure {
    Failure::Other(format!("{}: {error}", path.display()))
}

pub(super) fn write(path: &Path, planned: &LanePlan<'_>) -> Result<(), Failure> {
    fs::write(path, page(planned)).map_err(|error| at(path, &error))
}

fn page(planned: &LanePlan<'_>) -> String {
    let plan = &planned.answer;
    let title = match plan.verdict() {
        LaneVerdict::Lanes => "Lanes",
        LaneVerdict::LanesByType => "Lanes by type",
        LaneVerdict::Undecided => "Undecided",
        LaneVerdict::NoLanes | LaneVerdict::Unspecified => "No lanes",
    };
    let mut main = String::new();
    let (first, rest) = planned.messages.split_first().map_or(("", &[][..]), |(a, b)| (a, b));
    let rest: String = rest.iter().map(|said| format!("<li>{}</li>\n", escaped(said))).collect();
    let _ = write!(
        main,
        "<p class=\"eyebrow\">Offbeat lane plan</p>\n<h1>{title}</h1>\n<p class=\"lead\">{}</p>\n\
         <ul class=\"notes\">\n{rest}</ul>\n<p class=\"intro\">{}</p>\n",
        escaped(first),
        escaped(&facts(planned)),
    );
    if plan.lane_set.is_some() || plan.lanes_by_type.is_some() {
        main += &section(
            match plan.verdict() {
                LaneVerdict::Lanes | LaneVerdict::LanesByType => "The lanes",
                _ => "The best lanes that were found",
            },
            "",
            &table(&figures::lanes(plan), "few"),
        );
    }
    if !plan.cutoffs.is_empty() {
        let intro = "Two lanes by the timeout of the express lane, each with its best split of the workers. \
                     Bars and bands: what nine of ten simulated streams of jobs lie within. Hollow: the \
                     workers do not keep up with 20 % more jobs. Both axes are logarithmic.";
        main += &section("Mean slowdown", intro, &drawn(|format| charts::slowdown(plan, format)));
    }
    let longer = drawn(|format| charts::who_takes_longer(plan, format));
    if !longer.is_empty() {
        let intro = "The mean time from arrival to end: with one queue (hollow) and with the lanes (filled).";
        main += &section("Who takes longer, and who less", intro, &longer);
    }
    let run_times = &planned.jobs.run_times;
    let intro =
        format!("{} jobs, counted by their run time on a logarithmic axis.", run_times.len());
    main +=
        &section("Run times", &intro, &drawn(|format| charts::histogram(plan, run_times, format)));
    let types = figures::types(plan);
    if !types.rows.is_empty() {
        let intro = "Those with the longest mean first. Sojourn: mean time from arrival to end.";
        main += &section("Types of job", intro, &table(&types, ""));
    }
    if plan.lane_set.is_some() || plan.lanes_by_type.is_some() {
        let intro = format!(
            "Medians of {} streams of {} jobs; in brackets, what nine of ten streams lie within.",
            plan.stream_count, plan.stream_job_count
        );
        main += &section("All figures", &intro, &table(&figures::performance(plan), ""));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n{MARK}\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>Offbeat lane plan: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{main}\
         <footer>Simulated: jobs arrive independently of one another (a Poisson process). Jobs that come in \
         bursts wait longer, with lanes and without. Slowdown is the time from arrival to end over the run \
         time, where shorter run times count as {}.</footer>\n</main>\n</body>\n</html>\n",
        escaped(&figures::time(plan.slowdown_floor.as_ref())),
    )
}

fn section(title: &str, intro: &str, content: &str) -> String {
    let intro = match intro {
        "" => String::new(),
        intro => format!("<p class=\"intro\">{}</p>\n", escaped(intro)),
    };
    format!(
        "<section>\n<h2>{title}</h2>\n{intro}<div class=\"panel\">\n{content}</div>\n</section>\n"
    )
}

/// A chart for each width of window.
fn drawn(chart: impl Fn(Format) -> String) -> String {
    FORMATS.into_iter().map(chart).collect()
}

fn table(table: &Table, class: &str) -> String {
    let is_names =
        |place: usize| table.titles.get(place).is_some_and(|title| title == "JOBS OF TYPE");
    let title = |text: &String| format!("<th scope=\"col\">{}</th>", escaped(&in_small(text)));
    let mut html = String::new();
    let titles: String = table.titles.iter().map(title).collect();
    let _ = writeln!(
        html,
        "<div class=\"scroll\">\n<table class=\"{class}\">\n<thead><tr>{titles}</tr></thead>\n<tbody>"
    );
    for row in &table.rows {
        html += "<tr>";
        for (place, cell) in row.iter().enumerate() {
            let text = escaped(cell.trim_start());
            let _ = match place {
                0 if cell.starts_with(' ') => {
                    write!(html, "<th scope=\"row\" class=\"more\">{text}</th>")
                }
                0 => write!(html, "<th scope=\"row\">{text}</th>"),
                _ if is_names(place) => write!(html, "<td class=\"name\">{text}</td>"),
                _ => write!(html, "<td>{text}</td>"),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n"
}

/// `ATTEMPT TIMEOUT` as `Attempt timeout`.
fn in_small(title: &str) -> String {
    let small = title.to_lowercase();
    let mut letters = small.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
