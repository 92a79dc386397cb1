//! Sentences of a plan: its verdict, and the drawbacks of the lanes.

use offbeat_core::lanes::OnTimeout;
use offbeat_sim::lanes::{ClassPerformance, Plan, Ratio, Verdict};
use offbeat_text::figures::{figure, percent, span};

use super::request::Request;
use super::sentences_of_types as types;
use super::significance::{FEW_SAMPLES, LONGER, interval};

pub(super) fn sentences(plan: &Plan, request: &Request) -> Vec<String> {
    let mut said = vec![verdict(plan, request)];
    match plan.verdict {
        Verdict::LanesByType => {
            said.extend(types::who_takes_longer(plan, request));
            said.extend(plan.by_type.as_ref().and_then(|found| overall(found.sojourn_ratio)));
            said.extend(with_more_jobs(plan));
            said.extend(types::few_samples(plan, request));
            said.extend(types::with_timeouts(plan));
        }
        Verdict::NoLanes => said.extend(types::beside_one_queue(plan, request)),
        Verdict::Lanes | Verdict::Undecided if !plan.lanes.is_empty() => {
            said.extend(who_takes_longer(plan));
            said.extend(plan.sojourn_ratio.and_then(overall));
            said.extend(with_more_jobs(plan));
            said.extend(few_samples(plan, &request.samples));
            said.extend(runs_twice(plan, request));
            said.extend(types::beside_timeouts(plan, request));
        }
        Verdict::Lanes | Verdict::Undecided => {}
    }
    said
}

fn verdict(plan: &Plan, request: &Request) -> String {
    let [now, ..] = &plan.rates;
    let without = figure(now.without_lanes.median.mean_slowdown);
    if let Some(said) = types::verdict(plan, request) {
        return said;
    }
    if plan.cutoffs.is_empty() && plan.by_type.is_none() {
        return "There is nothing to try: lanes need two workers, and run times that differ."
            .to_owned();
    }
    let found = plan.slowdown_ratio.zip(plan.sojourn_ratio).zip(now.with_lanes.as_ref());
    let Some(((slowdown, sojourn), with)) = found else {
        return match plan.verdict {
            Verdict::Undecided => {
                "A few long jobs decide, and the simulated streams of jobs differ too much \
                                   to say."
                    .to_owned()
            }
            _ => "No lanes with timeouts were found that keep up with the arrivals.".to_owned(),
        };
    };
    let with = figure(with.median.mean_slowdown);
    let (to, range) = (figure(slowdown.estimate), interval(slowdown));
    match plan.verdict {
        Verdict::Lanes | Verdict::LanesByType => {
            format!("The mean slowdown falls from {without} to {with}, to {to} of it ({range}).")
        }
        Verdict::Undecided => format!(
            "A few long jobs decide, and the simulated streams of jobs differ too much to say: with \
             the best lanes, the mean slowdown is {to} of that with one queue ({range})."
        ),
        Verdict::NoLanes if !plan.has_room => format!(
            "The best lanes do not keep up with 20 % more jobs, which one queue for all workers does. \
             Today their mean slowdown would be {to} of that of one queue ({range})."
        ),
        Verdict::NoLanes if slowdown.low > 0.95 || slowdown.estimate > 1.0 => format!(
            "One queue for all workers is as good, or better: with the best lanes, the mean slowdown \
             is {to} of that with one queue ({range})."
        ),
        Verdict::NoLanes => format!(
            "One queue for all workers is as good, or better: with the best lanes, the mean slowdown \
             is {to} of that with one queue ({range}), and the mean time from arrival to end {} of it \
             ({}).",
            figure(sojourn.estimate),
            interval(sojourn)
        ),
    }
}

/// Says which jobs start twice.
fn runs_twice(plan: &Plan, request: &Request) -> Option<String> {
    if request.on_timeout != OnTimeout::Abort {
        return None;
    }
    let slow: f64 = plan.classes.iter().skip(1).map(|class| class.share).sum();
    let by_type = types::demoted(plan, request);
    Some(format!(
        "A job that reaches a timeout starts again from the beginning, as {} of all jobs may{by_type}: \
         it must be safe to run twice.",
        percent(slow)
    ))
}

/// Says which jobs are done later than in one queue.
fn who_takes_longer(plan: &Plan) -> Vec<String> {
    let [now, ..] = &plan.rates;
    let Some(with) = &now.with_lanes else { return Vec::new() };
    let pairs = with.median.classes.iter().zip(&now.without_lanes.median.classes);
    let said = plan.classes.iter().enumerate().zip(pairs).filter_map(|((place, class), pair)| {
        let (with, without): (&ClassPerformance, &ClassPerformance) = pair;
        if with.mean_sojourn <= LONGER * without.mean_sojourn || class.share <= 0.0 {
            return None;
        }
        let seconds = |bound: offbeat_core::Span| span(bound.nanos() as f64 / 1e9);
        let above = plan.classes.get(place.wrapping_sub(1)).and_then(|class| class.longest);
        let jobs = match (above, class.longest) {
            (None, Some(longest)) => format!("up to {}", seconds(longest)),
            (Some(above), Some(longest)) => {
                format!("of {} to {}", seconds(above), seconds(longest))
            }
            (Some(above), None) => format!("longer than {}", seconds(above)),
            (None, None) => return None,
        };
        Some(format!(
            "Jobs {jobs} ({}) take longer: {} from arrival to end instead of {}, on average.",
            percent(class.share),
            span(with.mean_sojourn / 1e6),
            span(without.mean_sojourn / 1e6),
        ))
    });
    said.collect()
}

/// Over all jobs, whether they are done later than in one queue.
fn overall(ratio: Ratio) -> Option<String> {
    (ratio.low > LONGER).then(|| {
        format!(
            "Over all jobs, the mean time from arrival to end is {} times that with one queue ({}).",
            figure(ratio.estimate),
            interval(ratio)
        )
    })
}

fn with_more_jobs(plan: &Plan) -> Option<String> {
    let [_, _, more] = &plan.rates;
    let with = match plan.verdict {
        Verdict::LanesByType => more.by_type.as_ref()?,
        _ => more.with_lanes.as_ref()?,
    };
    match (with.keeps_up, more.without_lanes.keeps_up) {
        (false, true) => Some(
            "With 20 % more jobs, workers in lanes do not keep up; in one queue they do, just so."
                .to_owned(),
        ),
        (false, false) => {
            Some("With 20 % more jobs, workers do not keep up, with lanes or without.".to_owned())
        }
        (true, _) => None,
    }
}

fn few_samples(plan: &Plan, samples: &[usize]) -> Option<String> {
    let (last, rest) = samples.split_last()?;
    let above = plan.classes.iter().rev().nth(1)?.longest?;
    let all = rest.iter().sum::<usize>() + last;
    (*last < FEW_SAMPLES).then(|| {
        format!(
            "Of the {all} run times, only {last} exceeded {}: measure more jobs, since the figures \
             depend on the long ones.",
            span(above.nanos() as f64 / 1e9)
        )
    })
}

#[cfg(test)]
mod tests {
    use offbeat_sim::distribution::Distribution;
    use offbeat_sim::lanes::PlanSpec;

    use super::*;

    fn plan(run_times: &[i64], worker_count: i64) -> Plan {
        let run_times = Distribution::of_samples(run_times).unwrap();
        let spec = PlanSpec {
            arrival_rate: 0.5 * worker_count as f64 / run_times.all().first,
            run_times,
            worker_count,
            tolerated_wait: None,
            slowdown_floor: None,
            on_timeout: OnTimeout::Abort,
            max_lane_count: Some(2),
            seed: 0,
        };
        spec.plan().unwrap()
    }

    fn request(samples: &[usize]) -> Request {
        let (samples, type_names) = (samples.to_vec(), Vec::new());
        Request { on_timeout: OnTimeout::Abort, samples, type_names }
    }

    #[test]
    fn each_verdict_has_its_words() {
        let mut plan = plan(&[500_000, 500_000, 500_000, 20_000_000], 4);
        for (verdict, has_room, words) in [
            (Verdict::Lanes, true, "The mean slowdown falls from "),
            (Verdict::Undecided, true, "differ too much to say"),
            (Verdict::NoLanes, true, "as good, or better"),
            (Verdict::NoLanes, false, "do not keep up with 20 % more jobs"),
        ] {
            (plan.verdict, plan.has_room) = (verdict, has_room);
            let said = sentences(&plan, &request(&[3, 1]));
            assert!(said[0].contains(words) && said[0].contains("95 % interval"), "{said:?}");
            assert_eq!(said.len() > 1, verdict != Verdict::NoLanes, "{said:?}");
        }
    }

    #[test]
    fn where_nothing_can_be_tried_it_says_so() {
        for plan in [plan(&[1_000_000; 4], 4), plan(&[500_000, 20_000_000], 1)] {
            let said = sentences(&plan, &request(&[]));
            assert_eq!(said.len(), 1);
            assert!(said[0].starts_with("There is nothing to try"), "{said:?}");
        }
    }
}
