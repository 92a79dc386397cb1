//! Which lanes to have, if any.

use offbeat_core::{Rejection, Span};

use super::by_type::{Routing, Routings};
use super::judgement::{Verdict, verdict};
use super::question::{PlanSpec, Question};
use super::search::{Candidate, Search};
use super::selection::{CandidateTrial, Lanes, Room, Selection, select};
use super::span::micros;
use super::tags::Tags;
use super::timeouts::{PlannedLane, Timeouts, lanes_of};
use super::trial::{Ratio, STREAM_JOBS, Streams, Summary, Trial, mean_slowdown, mean_sojourn};
use super::types::{TypeFigures, longer, ranked};

/// Streams that are simulated at the rates below and above.
const SENSED: usize = 4;

/// The rates below and above, as parts of the given rate.
const LESS: f64 = 0.8;
const MORE: f64 = 1.2;

/// If a fifth more jobs would fill the workers to this part or more, lanes need no room for them:
/// one queue has none either, and jobs would wait without end with both.
const FULL: f64 = 0.9;

/// Lanes without timeouts: jobs of some types go to the slow lane.
#[derive(Debug, Clone, PartialEq)]
pub struct LanesByType {
    /// The places of these types, as they were given.
    pub slow_types: Vec<usize>,
    /// Workers of the express lane.
    pub express_workers: u32,
    /// Workers of the slow lane.
    pub slow_workers: u32,
    /// Whether the lanes also keep up with a fifth more jobs, if one queue does.
    pub has_room: bool,
    /// The mean slowdown, as a part of that in one queue.
    pub slowdown_ratio: Ratio,
    /// The same of the mean sojourn.
    pub sojourn_ratio: Ratio,
    /// The mean slowdown, as a part of that with timeouts; `None` without such lanes.
    pub slowdown_to_timeouts: Option<Ratio>,
    /// The same of the mean sojourn.
    pub sojourn_to_timeouts: Option<Ratio>,
}

/// How jobs fare at one arrival rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Jobs per second.
    pub arrival_rate: f64,
    /// With lanes, if there are any.
    pub with_lanes: Option<Summary>,
    /// With lanes by type, if there are any.
    pub by_type: Option<Summary>,
    /// The same jobs in one queue.
    pub without_lanes: Summary,
}

/// Figures of a cutoff between two lanes.
#[derive(Debug, Clone, PartialEq)]
pub struct CutoffFigures {
    /// The express lane's timeout.
    pub cutoff: Span,
    /// Workers of the express lane, in the best split by formula.
    pub express_workers: u32,
    /// The median of the mean slowdowns; `None` if the workers do not keep up.
    pub mean_slowdown: Option<f64>,
    /// The range that nine of ten streams lie within.
    pub slowdown_range: Option<[f64; 2]>,
    /// The median of the mean sojourns, in microseconds; `None` if the workers do not keep up.
    pub mean_sojourn: Option<f64>,
    /// Whether the lanes also keep up with a fifth more jobs, if one queue does.
    pub has_room: bool,
}

/// A verdict on lanes, with the best lanes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Whether to have lanes.
    pub verdict: Verdict,
    /// The best lanes that were found, fastest first; empty if none keep up.
    pub lanes: Vec<PlannedLane>,
    /// Whether the lanes also keep up with a fifth more jobs, if one queue does.
    pub has_room: bool,
    /// The mean slowdown with lanes, as a part of that without.
    pub slowdown_ratio: Option<Ratio>,
    /// The same of the mean sojourn.
    pub sojourn_ratio: Option<Ratio>,
    /// The best lanes by type that were found; `None` if types are not known, or no lanes keep up.
    pub by_type: Option<LanesByType>,
    /// At the requested rate, 20 % below it, and 20 % above it.
    pub rates: [Sensitivity; 3],
    /// Cutoffs between two lanes, ascending.
    pub cutoffs: Vec<CutoffFigures>,
    /// Classes of jobs by the lane that their run time ends in.
    pub classes: Vec<RunTimeClass>,
    /// Types of job, those with the longest mean first; empty if types are not known.
    pub types: Vec<TypeFigures>,
    /// By the place of a type, the share of its jobs that exceed the express lane's timeout.
    pub demoted: Vec<f64>,
    /// The run time that shorter run times count as, in a slowdown.
    pub slowdown_floor: Span,
    /// The mean run time, in seconds.
    pub mean_seconds: f64,
    /// The share of the workers' time that the run times fill.
    pub utilization: f64,
    /// How many streams were simulated for the answer.
    pub streams: usize,
    /// How many jobs each of them has.
    pub stream_jobs: usize,
}

/// Jobs of about one length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunTimeClass {
    /// The longest run time; `None` in the last class.
    pub longest: Option<Span>,
    /// Its share of all jobs.
    pub share: f64,
}

impl PlanSpec {
    /// Plans lanes.
    ///
    /// # Errors
    /// When a number is out of its range, or the workers cannot do all that arrives.
    pub fn plan(&self) -> Result<Plan, Rejection> {
        let question = self.check()?;
        let Question { workers, rate, floor, mean, .. } = question;
        let load = |rate: f64| rate * mean / f64::from(workers);
        let tags = |rate: f64| Tags::new(&self.run_times, rate, floor, self.on_timeout);
        let (now, more) = (tags(rate), tags(rate * MORE));
        let search = Search::new(&self.run_times, &now, workers, question.longest_cutoff);
        let timeouts = Timeouts { search: &search, more: &more, on_timeout: self.on_timeout };
        let types = ranked(&self.run_times, floor);
        let routings = Routings { types: &types, workers, rate, more: rate * MORE };
        let room = if load(rate * MORE) < FULL { Room::Asked } else { Room::Any };
        let streams =
            |rate: f64| Streams::new(&self.run_times, rate, floor, self.seed.cast_unsigned());
        let own = streams(rate);
        let others = search.by_formula(question.lanes);
        let Selection { mut best, chart } = select(&timeouts, search.chart(), others, &own, room)?;
        let mut by_type =
            select(&routings, Vec::new(), routings.by_formula(room), &own, room)?.best;
        let bounds = best.as_ref().map(|best| best.candidate.cutoffs.clone()).unwrap_or_default();
        let mut queue = Trial::of_queue(workers, bounds.clone());
        let verdict = verdict(&own, &mut queue, best.as_mut(), by_type.as_mut());
        let now = Sensitivity {
            arrival_rate: rate,
            with_lanes: best.as_ref().map(|best| best.trial.summary(true)),
            by_type: by_type.as_ref().map(|best| best.trial.summary(true)),
            without_lanes: queue.summary(true),
        };
        let at = |factor: f64| -> Result<Sensitivity, Rejection> {
            let streams = streams(rate * factor);
            let mut queue = Trial::of_queue(workers, bounds.clone());
            streams.simulate(&mut [&mut queue], SENSED);
            Ok(Sensitivity {
                arrival_rate: rate * factor,
                with_lanes: sensed(&timeouts, best.as_ref(), &streams, factor)?,
                by_type: sensed(&routings, by_type.as_ref(), &streams, factor)?,
                without_lanes: queue.summary(load(rate * factor) < 1.0),
            })
        };
        let (less, more) = (at(LESS)?, at(MORE)?);
        let ratio = |figure| Some(best.as_ref()?.trial.against(&queue, figure));
        Ok(Plan {
            verdict,
            lanes: best
                .as_ref()
                .map(|best| lanes_of(&best.candidate).collect())
                .unwrap_or_default(),
            has_room: best.as_ref().is_some_and(|best| best.has_room),
            slowdown_ratio: ratio(mean_slowdown),
            sojourn_ratio: ratio(mean_sojourn),
            by_type: by_type.as_ref().map(|found| by_types(found, &types, best.as_ref(), &queue)),
            rates: [now, less, more],
            cutoffs: chart
                .into_iter()
                .map(|(candidate, trial)| {
                    shown(&candidate, trial, timeouts.has_room(&candidate, room))
                })
                .collect(),
            classes: self.classes(&bounds),
            demoted: bounds
                .first()
                .map(|bound| longer(&self.run_times, *bound, types.len()))
                .unwrap_or_default(),
            types,
            slowdown_floor: micros(floor),
            mean_seconds: mean,
            utilization: load(rate),
            streams: queue.count(),
            stream_jobs: STREAM_JOBS,
        })
    }

    fn classes(&self, bounds: &[u64]) -> Vec<RunTimeClass> {
        let end = self.run_times.micros().len();
        let places: Vec<usize> =
            bounds.iter().map(|bound| self.run_times.place(*bound)).chain([end]).collect();
        let longest = bounds.iter().map(|bound| Some(micros(*bound))).chain([None]);
        let from = core::iter::once(0).chain(places.iter().copied());
        let spans = from.zip(places.iter().copied());
        let class = |(longest, (from, to))| RunTimeClass {
            longest,
            share: self.run_times.moments(from, to).share,
        };
        longest.zip(spans).map(class).collect()
    }
}

/// How jobs fare with lanes at another rate: the requested one times `factor`.
fn sensed<L: Lanes>(
    lanes: &L,
    tried: Option<&CandidateTrial<L::Candidate>>,
    streams: &Streams<'_>,
    factor: f64,
) -> Result<Option<Summary>, Rejection> {
    let Some(CandidateTrial { candidate, .. }) = tried else { return Ok(None) };
    let mut trial = lanes.trial(candidate)?;
    streams.simulate(&mut [&mut trial], SENSED);
    let keeps_up = factor < 1.0 || lanes.keeps_up_with_more(candidate);
    Ok(Some(trial.summary(keeps_up)))
}

fn by_types(
    found: &CandidateTrial<Routing>,
    types: &[TypeFigures],
    timeouts: Option<&CandidateTrial<Candidate>>,
    queue: &Trial,
) -> LanesByType {
    let CandidateTrial { candidate, trial, has_room } = found;
    let worker = |lane: usize| candidate.workers.get(lane).copied().unwrap_or_default();
    LanesByType {
        slow_types: types.iter().take(candidate.slow_types).map(|kind| kind.place).collect(),
        express_workers: worker(0),
        slow_workers: worker(1),
        has_room: *has_room,
        slowdown_ratio: trial.against(queue, mean_slowdown),
        sojourn_ratio: trial.against(queue, mean_sojourn),
        slowdown_to_timeouts: timeouts.map(|other| trial.against(&other.trial, mean_slowdown)),
        sojourn_to_timeouts: timeouts.map(|other| trial.against(&other.trial, mean_sojourn)),
    }
}

fn shown(candidate: &Candidate, trial: Option<Trial>, has_room: bool) -> CutoffFigures {
    let summary = trial.map(|trial| trial.summary(true));
    CutoffFigures {
        cutoff: micros(candidate.cutoffs.first().copied().unwrap_or_default()),
        express_workers: candidate.workers.first().copied().unwrap_or_default(),
        mean_slowdown: summary.as_ref().map(|summary| summary.median.mean_slowdown),
        slowdown_range: summary.as_ref().map(|summary| summary.slowdown_range),
        mean_sojourn: summary.as_ref().map(|summary| summary.median.mean_sojourn),
        has_room: summary.is_some() && has_room,
    }
}
