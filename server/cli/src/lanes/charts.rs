//! The charts of a report.

use offbeat_proto::v1beta1::{self, LanePerformance, LaneVerdict};
use offbeat_text::figures::{figure, percent};

use super::drawing::{Anchor, Drawing, Format, LINE, Scale};
use super::figures::{classes, seconds, time};
use super::jobs::RunTimes;

/// Maximum number of types that have a strip.
const STRIPS: usize = 12;

/// Room at the left for figures.
const LEFT: f64 = 44.0;

/// The mean slowdown over the timeout of the express lane.
pub(super) fn slowdown(plan: &v1beta1::PlanLanesResponse, format: Format) -> String {
    const TOP: f64 = 24.0;
    const BOTTOM: f64 = 284.0;
    let mut drawing = Drawing::default();
    let cutoffs = plan.cutoffs.iter().map(|point| seconds(point.cutoff.as_ref()));
    let ranges = plan.cutoffs.iter().filter_map(|point| point.mean_slowdown_range);
    let range = |found: &LanePerformance| found.mean_slowdown_range;
    let by_type = plan.lanes_by_type.as_ref().and_then(|found| found.performance.as_ref());
    let levels: Vec<(&str, &str, &LanePerformance)> =
        [("queue", "one queue", plan.without_lanes.as_ref()), ("types", "by type", by_type)]
            .into_iter()
            .filter_map(|(class, name, found)| Some((class, name, found?)))
            .collect();
    let best = plan.with_lanes.as_ref().zip(plan.lane_set.as_ref());
    let all = ranges
        .chain(levels.iter().filter_map(|(_, _, found)| range(found)))
        .chain(best.and_then(|(found, _)| range(found)))
        .flat_map(|range| [range.low, range.high])
        .chain([1.0]);
    let right = format.width - 8.0;
    let x = Scale::new(cutoffs.clone(), LEFT + 8.0, right - 8.0);
    let y = Scale::new(all, BOTTOM, TOP);

    for (name, at) in y.numbers(26.0) {
        drawing.line("grid", (LEFT, at), (right, at));
        drawing.text("", (LEFT - 6.0, at + 4.0), Anchor::End, &name);
    }
    gaps(&mut drawing, plan, &x, (LEFT, right), (TOP, BOTTOM));
    for (name, at) in x.times(64.0) {
        drawing.line("axis", (at, BOTTOM), (at, BOTTOM + 5.0));
        drawing.text("", (at, BOTTOM + 20.0), Anchor::Middle, &name);
    }
    drawing.line("axis", (LEFT, BOTTOM), (right, BOTTOM));
    drawing.text("", (right, BOTTOM + 40.0), Anchor::End, "timeout of the express lane");

    let mut labels = Vec::new();
    for (class, name, found) in levels {
        let at = y.at(found.mean_slowdown);
        if let Some(range) = found.mean_slowdown_range {
            let (top, bottom) = (y.at(range.high), y.at(range.low));
            let class = format!("{class} area range");
            drawing.rect(&class, (LEFT, top), right - LEFT, (bottom - top).max(1.0));
        }
        drawing.line(&format!("{class} line dashed"), (LEFT, at), (right, at));
        labels.push((at - 5.0, class, format!("{name} {}", figure(found.mean_slowdown))));
    }
    curve(&mut drawing, plan, &x, &y);
    if let Some((found, set)) = best {
        let lane = set.lanes.first();
        let timeout = lane.and_then(|lane| lane.attempt_timeout.as_ref());
        let place = (x.at(seconds(timeout)), y.at(found.mean_slowdown));
        drawing.line("timeouts thin dashed", (place.0, TOP), (place.0, BOTTOM));
        drawing.dot("timeouts", place, 6.0);
        let label = format!("best: {} at {}", figure(found.mean_slowdown), time(timeout));
        let is_left = place.0 < format.width / 2.0;
        let (anchor, dx) = if is_left { (Anchor::Start, 9.0) } else { (Anchor::End, -9.0) };
        drawing.text("timeouts", (place.0 + dx, TOP - 4.0), anchor, &label);
    }
    apart(&mut labels);
    for (at, class, label) in labels {
        drawing.text(class, (right - 4.0, at), Anchor::End, &label);
    }
    drawing.svg(format, BOTTOM + 48.0, "The mean slowdown over the timeout of the express lane")
}

/// Shades the timeouts with which the workers do not keep up.
fn gaps(
    drawing: &mut Drawing,
    plan: &v1beta1::PlanLanesResponse,
    x: &Scale,
    (left, right): (f64, f64),
    (top, bottom): (f64, f64),
) {
    let place = |at: usize| plan.cutoffs.get(at).map(|point| x.at(seconds(point.cutoff.as_ref())));
    let middle = |one: Option<f64>, other: Option<f64>, end: f64| match (one, other) {
        (Some(one), Some(other)) => f64::midpoint(one, other),
        _ => end,
    };
    let mut from = None;
    for at in 0..=plan.cutoffs.len() {
        let is_gap = plan.cutoffs.get(at).is_some_and(|point| point.mean_slowdown.is_none());
        let before = at.checked_sub(1).and_then(place);
        match (is_gap, from) {
            (true, None) => from = Some(middle(before, place(at), left)),
            (false, Some(begin)) => {
                let end = middle(before, place(at), right);
                drawing.rect("gap", (begin, top), end - begin, bottom - top);
                let wide = end - begin;
                let words: &[&str] = match wide {
                    wide if wide > 190.0 => &["the workers do not keep up"],
                    wide if wide > 84.0 => &["the workers", "do not keep up"],
                    wide if wide > 52.0 => &["do not", "keep up"],
                    _ => &[],
                };
                for (line, words) in words.iter().zip(0..) {
                    let y = bottom - 26.0 + LINE * f64::from(words);
                    drawing.text("", (f64::midpoint(begin, end), y), Anchor::Middle, line);
                }
                from = None;
            }
            _ => {}
        }
    }
}

/// Draws a point for each cutoff, and the range of its streams; hollow if the workers do not keep
/// up with more jobs.
fn curve(drawing: &mut Drawing, plan: &v1beta1::PlanLanesResponse, x: &Scale, y: &Scale) {
    let place = |point: &v1beta1::CutoffFigures| {
        let slowdown = point.mean_slowdown?;
        Some((x.at(seconds(point.cutoff.as_ref())), y.at(slowdown)))
    };
    let is_stable = |point: &v1beta1::CutoffFigures| point.mean_slowdown.is_some();
    for run in plan.cutoffs.chunk_by(|one, other| is_stable(one) == is_stable(other)) {
        drawing.path("timeouts line", &run.iter().filter_map(place).collect::<Vec<_>>());
    }
    for point in &plan.cutoffs {
        let Some(at) = place(point) else { continue };
        if let Some(range) = &point.mean_slowdown_range {
            drawing.line("timeouts thin", (at.0, y.at(range.low)), (at.0, y.at(range.high)));
        }
        let has_room = point.stable_with_more_arrivals;
        drawing.dot(if has_room { "timeouts" } else { "timeouts hollow" }, at, 3.5);
    }
}

/// Moves labels down until none overlap.
fn apart<T>(labels: &mut [(f64, T, String)]) {
    labels.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
    let mut last = f64::MIN;
    for (at, ..) in labels {
        *at = at.max(last + LINE);
        last = *at;
    }
}

/// A histogram of the run times, with a strip for each type.
pub(super) fn histogram(
    plan: &v1beta1::PlanLanesResponse,
    run_times: &RunTimes,
    format: Format,
) -> String {
    let groups = run_times.groups();
    let of = |name: &str| groups.iter().find(|(other, _)| *other == Some(name));
    let ranked = plan.job_types.iter().filter_map(|kind| Some((Some(kind), of(&kind.name)?.1)));
    let mut strips: Vec<(Option<&v1beta1::JobTypeFigures>, &[i64])> = ranked.collect();
    if strips.is_empty() {
        strips = groups.iter().map(|(_, micros)| (None, *micros)).collect();
    }
    strips.truncate(STRIPS);
    let head_of_two = if format.is_narrow() { 22.0 + LINE } else { 22.0 };
    let (head, bars) = if strips.len() > 1 { (head_of_two, 44.0) } else { (4.0, 160.0) };
    let mut drawing = Drawing::default();
    let right = format.width - 8.0;
    #[expect(clippy::cast_precision_loss, reason = "to be drawn")]
    let in_seconds = |micros: &i64| *micros as f64 / 1e6;
    let all = groups.iter().flat_map(|(_, micros)| micros.iter()).map(in_seconds);
    let x = Scale::new(all, 8.0, right - 8.0);
    let parts = if format.width > 500.0 { 60 } else { 30 };
    let edges = x.steps(parts);
    let top = 20.0;
    let mut at = top;
    for (kind, micros) in strips {
        if let Some(kind) = kind {
            let share = format!(
                "{} of jobs, {} of work",
                percent(kind.job_ratio),
                percent(kind.work_ratio)
            );
            drawing.titled(format, at + 14.0, &shortened(&kind.name), "", &share);
        }
        let bottom = at + head + bars;
        let counts = counted(&edges, micros.iter().map(in_seconds));
        let most = counts.iter().copied().max().unwrap_or_default().max(1);
        for (count, edge) in counts.iter().zip(edges.windows(2)) {
            let [low, high] = edge else { continue };
            if *count > 0 {
                let height = (bars * share(*count, most)).max(1.0);
                let (from, to) = (x.at(*low), x.at(*high));
                drawing.rect("queue area", (from, bottom - height), to - from - 0.6, height);
            }
        }
        drawing.line("axis", (8.0, bottom), (right, bottom));
        at = bottom + 4.0;
    }
    for (name, place) in x.times(64.0) {
        drawing.line("axis", (place, at - 4.0), (place, at + 1.0));
        drawing.text("", (place, at + 16.0), Anchor::Middle, &name);
    }
    drawing.text("", (right, at + 36.0), Anchor::End, "run time");
    let lane = plan.lane_set.as_ref().and_then(|set| set.lanes.first());
    if let Some(timeout) = lane.and_then(|lane| lane.attempt_timeout.as_ref()) {
        let place = x.at(seconds(Some(timeout)));
        drawing.line("timeouts thin dashed", (place, 14.0), (place, at - 4.0));
        let is_left = place < format.width / 2.0;
        let anchor = if is_left { Anchor::Start } else { Anchor::End };
        let label = format!("express timeout {}", time(Some(timeout)));
        drawing.text("timeouts", (place, 10.0), anchor, &label);
    }
    drawing.svg(format, at + 44.0, "How many jobs ran how long")
}

/// How many values lie between one edge and the next.
fn counted(edges: &[f64], values: impl Iterator<Item = f64>) -> Vec<usize> {
    let mut counts = vec![0; edges.len().saturating_sub(1)];
    let last = counts.len().saturating_sub(1);
    for value in values {
        let place = edges.partition_point(|edge| *edge <= value).saturating_sub(1).min(last);
        counts.get_mut(place).into_iter().for_each(|count| *count += 1);
    }
    counts
}

#[expect(clippy::cast_precision_loss, reason = "to be drawn")]
fn share(count: usize, most: usize) -> f64 {
    count as f64 / most as f64
}

fn shortened(name: &str) -> String {
    const LONGEST: usize = 18;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

/// A row of the chart of jobs that take longer: the jobs, and their mean sojourns in seconds.
struct Change {
    jobs: String,
    with: f64,
    without: f64,
}

fn changes(plan: &v1beta1::PlanLanesResponse) -> Vec<Change> {
    let is_by_type = plan.verdict() == LaneVerdict::LanesByType || plan.lane_set.is_none();
    let of_classes = classes(plan).into_iter().map(|(jobs, class)| Change {
        jobs: format!("jobs {jobs} ({})", percent(class.job_ratio)),
        with: seconds(class.mean_sojourn_with_lanes.as_ref()),
        without: seconds(class.mean_sojourn_without_lanes.as_ref()),
    });
    let of_types = plan.job_types.iter().take(STRIPS).map(|kind| {
        let with = match is_by_type {
            true => kind.mean_sojourn_by_type.as_ref(),
            false => kind.mean_sojourn_with_lanes.as_ref(),
        };
        Change {
            jobs: format!("{} ({})", shortened(&kind.name), percent(kind.job_ratio)),
            with: seconds(with),
            without: seconds(kind.mean_sojourn_without_lanes.as_ref()),
        }
    });
    let classes = of_classes.filter(|_| !is_by_type);
    classes.chain(of_types).filter(|change| change.with > 0.0 && change.without > 0.0).collect()
}

/// Which jobs take longer from arrival to end than with one queue, and which are faster.
pub(super) fn who_takes_longer(plan: &v1beta1::PlanLanesResponse, format: Format) -> String {
    let head = if format.is_narrow() { 29.0 + LINE } else { 29.0 };
    let changes = changes(plan);
    if changes.is_empty() {
        return String::new();
    }
    let mut drawing = Drawing::default();
    let right = format.width - 8.0;
    let values = changes.iter().flat_map(|change| [change.with, change.without]);
    let x = Scale::new(values, 16.0, right - 16.0);
    let mut at = 0.0;
    for Change { jobs, with, without } in &changes {
        let class = match with / without {
            more if more > 1.05 => "longer",
            less if less < 1.0 / 1.05 => "types",
            _ => "queue",
        };
        let said = format!("{} instead of {}", in_words(*with), in_words(*without));
        drawing.titled(format, at + 14.0, jobs, class, &said);
        let y = at + head;
        drawing.line("grid", (8.0, y), (right, y));
        drawing.line(&format!("{class} line"), (x.at(*without), y), (x.at(*with), y));
        drawing.dot(&format!("{class} hollow"), (x.at(*without), y), 5.0);
        drawing.dot(class, (x.at(*with), y), 5.0);
        at += head + 17.0;
    }
    for (name, place) in x.times(64.0) {
        drawing.line("axis", (place, at), (place, at + 5.0));
        drawing.text("", (place, at + 20.0), Anchor::Middle, &name);
    }
    drawing.line("axis", (8.0, at), (right, at));
    drawing.text("", (right, at + 40.0), Anchor::End, "mean time from arrival to end");
    drawing.svg(format, at + 48.0, "Which jobs take longer, and which are faster")
}

fn in_words(seconds: f64) -> String {
    offbeat_text::figures::span(seconds)
}
