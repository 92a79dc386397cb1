//! Sentences of a plan about types of job.

use offbeat_sim::lanes::{LanesByType, Plan, Ratio, Verdict};
use offbeat_text::figures::{figure, percent, span};

use super::request::Request;
use super::significance::{FEW_SAMPLES, LONGER, WORSE, interval};

/// Maximum number of types that a sentence names; further ones are counted.
const NAMED: usize = 6;

/// The verdict, if it is for lanes by type.
pub(super) fn verdict(plan: &Plan, request: &Request) -> Option<String> {
    let [now, ..] = &plan.rates;
    let found = plan.by_type.as_ref().filter(|_| plan.verdict == Verdict::LanesByType)?;
    Some(format!(
        "Jobs of {} go to the slow lane, all others to the express lane, without timeouts: the mean \
         slowdown falls from {} to {}, to {} of it ({}).",
        slow_types(found, request),
        figure(now.without_lanes.median.mean_slowdown),
        figure(now.by_type.as_ref()?.median.mean_slowdown),
        figure(found.slowdown_ratio.estimate),
        interval(found.slowdown_ratio)
    ))
}

/// `type "report"`, or `types "import" and "report"`.
fn slow_types(found: &LanesByType, request: &Request) -> String {
    let names = found.slow_types.iter().map(|place| format!("{:?}", request.type_name(*place)));
    let mut names: Vec<String> = names.collect();
    if names.len() > NAMED {
        let others = names.split_off(NAMED - 1).len();
        names.push(format!("{others} others"));
    }
    match names.split_last() {
        Some((last, [])) => format!("type {last}"),
        Some((last, before)) => format!("types {} and {last}", before.join(", ")),
        None => "no type".to_owned(),
    }
}

/// Beside a verdict for lanes by type, what timeouts would do.
pub(super) fn with_timeouts(plan: &Plan) -> Option<String> {
    let found = plan.by_type.as_ref()?;
    let (slowdown, sojourn) = found.slowdown_to_timeouts.zip(found.sojourn_to_timeouts)?;
    let (slowdown, sojourn) = (inverse(slowdown), inverse(sojourn));
    let word = if slowdown.low > WORSE { "worse" } else { "not clearly better" };
    Some(format!(
        "No job runs twice. The best lanes with timeouts are {word}: with them, the mean slowdown is {} \
         times that by type ({}), the mean time from arrival to end {} times.",
        figure(slowdown.estimate),
        interval(slowdown),
        figure(sojourn.estimate),
    ))
}

fn inverse(Ratio { estimate, low, high }: Ratio) -> Ratio {
    Ratio { estimate: 1.0 / estimate, low: 1.0 / high, high: 1.0 / low }
}

/// Beside lanes with timeouts, what lanes by type would do.
pub(super) fn beside_timeouts(plan: &Plan, request: &Request) -> Option<String> {
    let found = plan.by_type.as_ref()?;
    let (slowdown, sojourn) = found.slowdown_to_timeouts.zip(found.sojourn_to_timeouts)?;
    let remark = if found.has_room { "" } else { ", and they do not keep up with 20 % more jobs" };
    Some(format!(
        "Without timeouts, with jobs of {} in the slow lane, the mean slowdown is {} times that with \
         these lanes ({}), the mean time from arrival to end {} times{remark}.",
        slow_types(found, request),
        figure(slowdown.estimate),
        interval(slowdown),
        figure(sojourn.estimate),
    ))
}

/// Beside one queue, what lanes by type would do.
pub(super) fn beside_one_queue(plan: &Plan, request: &Request) -> Option<String> {
    let found = plan.by_type.as_ref()?;
    let remark = if found.has_room { "" } else { ", and they do not keep up with 20 % more jobs" };
    Some(format!(
        "Nor do lanes by type help, with jobs of {} in the slow lane: the mean slowdown is {} of that \
         with one queue ({}), the mean time from arrival to end {} of it{remark}.",
        slow_types(found, request),
        figure(found.slowdown_ratio.estimate),
        interval(found.slowdown_ratio),
        figure(found.sojourn_ratio.estimate),
    ))
}

/// Says which types are done later than in one queue.
pub(super) fn who_takes_longer(plan: &Plan, request: &Request) -> Vec<String> {
    let [now, ..] = &plan.rates;
    let Some(with) = &now.by_type else { return Vec::new() };
    let pairs = |place: usize| {
        let with = with.median.types.get(place)?.mean_sojourn;
        Some((with, now.without_lanes.median.types.get(place)?.mean_sojourn))
    };
    let longer = plan.types.iter().filter_map(|kind| {
        let (with, without) = pairs(kind.place)?;
        (with > LONGER * without).then(|| {
            let said = format!(
                "Jobs of type {:?} ({}) take longer: {} from arrival to end instead of {}, on average.",
                request.type_name(kind.place),
                percent(kind.share),
                span(with / 1e6),
                span(without / 1e6),
            );
            (with / without, said)
        })
    });
    let mut longer: Vec<(f64, String)> = longer.collect();
    longer.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let others = longer.len().saturating_sub(NAMED);
    let mut said: Vec<String> = longer.into_iter().take(NAMED).map(|(_, said)| said).collect();
    if others > 0 {
        said.push(format!("So do jobs of {others} more types."));
    }
    said
}

/// Warns of the type in the slow lane that has the fewest samples, if they are few.
pub(super) fn few_samples(plan: &Plan, request: &Request) -> Option<String> {
    let found = plan.by_type.as_ref()?;
    let few = plan
        .types
        .iter()
        .filter(|kind| found.slow_types.contains(&kind.place) && kind.samples < FEW_SAMPLES);
    let few = few.min_by_key(|kind| kind.samples)?;
    Some(format!(
        "Only {} of the run times are of type {:?}: measure more jobs, since the figures depend on the \
         long ones.",
        few.samples,
        request.type_name(few.place)
    ))
}

/// The share of each type that reaches the timeout: ` (48 % of "report", 2 % of "webhook")`.
pub(super) fn demoted(plan: &Plan, request: &Request) -> String {
    let shares = plan.types.iter().filter_map(|kind| {
        let share = plan.demoted.get(kind.place).copied().filter(|share| *share > 0.0)?;
        Some((share, format!("{} of {:?}", percent(share), request.type_name(kind.place))))
    });
    let mut shares: Vec<(f64, String)> = shares.collect();
    shares.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let others = shares.len().saturating_sub(NAMED);
    let named = shares.into_iter().take(NAMED).map(|(_, said)| said);
    let others = (others > 0).then(|| format!("some of {others} more types"));
    let said: Vec<String> = named.chain(others).collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) }
}
