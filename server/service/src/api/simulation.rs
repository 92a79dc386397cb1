//! `SimulationService`: runs a scenario on another thread, and streams its progress and results.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::Stream;
use offbeat_core::limits::Limit;
use offbeat_core::{Reason, Rejection, Span};
use offbeat_sim::results::{
    Digest, Figures, LateRunFigures, Outcome, PartnerFigures, Phase, PhaseOfPartner, Results,
};
use offbeat_sim::scenario::{Scenario, parse};
use offbeat_sim::world::{RunError, Watch, run_each};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::Interval;
use tonic::{Request, Response, Status};

use super::convert::{count, duration, wide};
use crate::config::Limits;
use crate::limits::SCENARIO_BYTES;
use crate::work::{Permit, WorkLost, offload};
use offbeat_proto::status;
use offbeat_proto::v1beta1::{
    self, simulate_response::Event, simulation_service_server::SimulationService,
};

/// Maximum number of events of a run over the network; the table of limits states it, too.
const SIMULATED_EVENTS: u64 = 50_000_000;

/// Interval between reports of progress.
const PROGRESS: Duration = Duration::from_millis(200);

/// Answers `SimulationService`: runs up to `at_once` simulations, and refuses further ones instead
/// of queueing them.
#[derive(Debug, Clone)]
pub struct SimulationHandlers {
    free: Arc<Semaphore>,
    at_once: usize,
    limits: ScenarioLimits,
}

/// Limits of the size of a scenario.
#[derive(Debug, Clone, Copy)]
struct ScenarioLimits {
    jobs: Limit,
    seconds: Limit,
    bytes: Limit,
}

impl SimulationHandlers {
    /// Handlers that simulate within `limits`.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let at_once = limits.simulations;
        let limits = ScenarioLimits {
            jobs: limits.simulated_jobs,
            seconds: limits.simulated_seconds,
            bytes: limits.simulation_bytes,
        };
        Self { free: Arc::new(Semaphore::new(at_once)), at_once, limits }
    }
}

type Answers = Pin<Box<dyn Stream<Item = Result<v1beta1::SimulateResponse, Status>> + Send>>;

#[tonic::async_trait]
impl SimulationService for SimulationHandlers {
    type SimulateStream = Answers;

    async fn simulate(
        &self,
        request: Request<v1beta1::SimulateRequest>,
    ) -> Result<Response<Answers>, Status> {
        let permit: Option<Permit> = request.extensions().get().cloned();
        let place = Arc::clone(&self.free).try_acquire_owned();
        let place = place.map_err(|_| status::simulations_busy(self.at_once))?;
        let v1beta1::SimulateRequest { scenario, include_json } = request.into_inner();
        let limits = self.limits;
        let read = move || read(&scenario, limits);
        let scenario = offload(true, permit.clone(), read).await?;
        let scenario = scenario.map_err(status::refused)?;
        let watch = Arc::new(Watch::default());
        let runs = (scenario.strategies.len() * scenario.seeds.len()) as u64;
        let total = Span::from_nanos(scenario.duration.saturating_mul(1_000)).times(runs);
        let watched = Arc::clone(&watch);
        // On a thread of its own: a simulation would occupy a thread of the pool for minutes.
        let (done, work) = oneshot::channel();
        let run = move || {
            let digest = |number, trace| Digest::of(&scenario, number, trace);
            let results = run_each(&scenario, 1, &watched, &digest)
                .and_then(|digests| Ok(Results::new(&scenario, digests)?));
            let results = results.map(|results| results_of(&results, include_json));
            drop((permit, place)); // held until here, though the caller may have left
            let _ = done.send(results); // fails if the caller has left
        };
        let named = std::thread::Builder::new().name("simulation".to_owned());
        named.spawn(run).map_err(|error| status::internal(&error.to_string()))?;
        let running =
            RunningSimulation { work, watch, ticks: tokio::time::interval(PROGRESS), total };
        let answers = futures_util::stream::unfold(Some(running), |running| async {
            let mut running = running?;
            let (answer, goes_on) = running.next().await;
            Some((answer, goes_on.then_some(running)))
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

/// A simulation in progress. Dropping this stops it.
struct RunningSimulation {
    work: oneshot::Receiver<Result<Result<v1beta1::SimulationResults, Status>, RunError>>,
    watch: Arc<Watch>,
    ticks: Interval,
    total: Span,
}

impl Drop for RunningSimulation {
    fn drop(&mut self) {
        self.watch.stop.store(true, Ordering::Relaxed);
    }
}

impl RunningSimulation {
    async fn next(&mut self) -> (Result<v1beta1::SimulateResponse, Status>, bool) {
        let event = tokio::select! {
            biased;
            done = &mut self.work => {
                let results = match done {
                    Ok(Ok(results)) => results,
                    Ok(Err(RunError::Refused(rejection))) => Err(status::refused(rejection)),
                    // The simulation has panicked. So must the request: the layers answer and count
                    // it.
                    Ok(Err(RunError::Lost { .. })) | Err(_) => resume_unwind(Box::new(WorkLost)),
                };
                let answer = results.map(Event::Results);
                return (answer.map(|event| v1beta1::SimulateResponse { event: Some(event) }), false);
            }
            _ = self.ticks.tick() => {
                let seconds = self.watch.seconds.load(Ordering::Relaxed);
                let simulated = Span::from_seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
                Event::Progress(v1beta1::SimulationProgress {
                    simulated_duration: Some(duration(simulated.min(self.total))),
                    total_duration: Some(duration(self.total)),
                })
            }
        };
        (Ok(v1beta1::SimulateResponse { event: Some(event) }), true)
    }
}

fn read(text: &str, limits: ScenarioLimits) -> Result<Scenario, Rejection> {
    if !SCENARIO_BYTES.allows(text.len() as i128) {
        let (value, allowed) =
            (format!("{} bytes", text.len()), format!("must be {SCENARIO_BYTES}"));
        return Err(Rejection::new(Reason::OutOfRange, "scenario", value, allowed));
    }
    let no_files = |file: &str| {
        let allowed = "must not be set over the network: write quantiles instead";
        Err(Rejection::new(Reason::Contradictory, "samples", file, allowed))
    };
    let mut scenario = parse(text, &no_files)?;
    (scenario.max_events, scenario.keeps_rows) = (SIMULATED_EVENTS, false);
    for (field, made, of, limit) in [
        ("users.count", scenario.job_count(), "jobs", limits.jobs),
        ("duration", scenario.run_seconds(), "seconds", limits.seconds),
        ("users.count", scenario.memory(), "bytes of memory", limits.bytes),
    ] {
        if !limit.allows(i128::try_from(made).unwrap_or(i128::MAX)) {
            let allowed =
                format!("must make {limit} in all: larger scenarios run on the command line");
            return Err(Rejection::new(Reason::OutOfRange, field, format!("{made} {of}"), allowed));
        }
    }
    Ok(scenario)
}

fn results_of(results: &Results, include_json: bool) -> Result<v1beta1::SimulationResults, Status> {
    let ranking = &results.ranking;
    let rank = |name: &str| ranking.iter().position(|ranked| ranked == name).map_or(0, |at| at + 1);
    let strategies = results.strategies.iter().map(|outcome| {
        let overall_rank = i32::try_from(rank(&outcome.name)).unwrap_or(i32::MAX);
        strategy_of(outcome, overall_rank)
    });
    let json = include_json.then(|| serde_json::to_string(results)).transpose();
    Ok(v1beta1::SimulationResults {
        strategies: strategies.collect(),
        findings: results.findings.clone(),
        notes: results.scenario.notes.clone(),
        json: json.map_err(|error| status::internal(&error.to_string()))?.unwrap_or_default(),
    })
}

fn strategy_of(outcome: &Outcome, overall_rank: i32) -> v1beta1::StrategyResult {
    let (series, intervals) = (&outcome.series, &outcome.interval_histogram);
    let counts = |values: &[u32]| values.iter().map(|value| count(*value)).collect();
    let own = &outcome.feasibility;
    let loads = outcome.slots.iter().flat_map(|slots| slots.loads.iter().copied());
    v1beta1::StrategyResult {
        name: outcome.name.clone(),
        overall_rank,
        figures: Some(figures_of(outcome)),
        ranks: outcome.ranks.map(|ranks| v1beta1::StrategyRanks {
            consistent_delay: count(ranks.consistent_delay),
            no_spikes: count(ranks.no_spikes),
            even_throughput: count(ranks.even_throughput),
            no_conflicts: count(ranks.no_conflicts),
        }),
        series: Some(v1beta1::SimulationSeries {
            step_duration: Some(duration(Span::from_seconds(series.step.into()))),
            max_backlog_counts: counts(&series.queue_depth),
            mean_finished_per_second: series.finished_per_second.clone(),
            max_enqueued_per_second: counts(&series.enqueued_per_second),
            mean_busy_worker_counts: series.busy_workers.clone(),
            max_worker_counts: counts(&series.workers),
        }),
        intervals: Some(v1beta1::IntervalHistogram {
            edge_seconds: intervals.edges.clone(),
            interval_counts: intervals.counts.iter().map(|count| wide(*count)).collect(),
        }),
        slot_loads: loads.map(f64::from).collect(),
        partners: outcome.partners.iter().map(partner_of).collect(),
        late_runs: outcome.late_runs.map(|LateRunFigures { late, superseded, dropped }| {
            v1beta1::LateRunsResult {
                late_run_count: late,
                superseded_run_count: superseded,
                dropped_run_count: dropped,
            }
        }),
        least_kind_distance: outcome.least_kind_distance.and_then(seconds),
        jobs_pile_up: own.jobs_pile_up,
        enqueued_job_count: own.jobs_enqueued,
        needed_worker_count: own.workers_needed,
        available_worker_count: own.workers_available,
        phases: own.phases.iter().map(phase_of).collect(),
    }
}

fn phase_of(phase: &Phase) -> v1beta1::SimulationPhase {
    let partner = |partner: &PhaseOfPartner| v1beta1::PartnerPhase {
        is_down: partner.is_down,
        needed_calls_per_second: partner.calls_needed,
        max_calls_per_second: partner.calls_allowed.unwrap_or_default(),
        unanswered_worker_count: partner.unanswered_workers,
        mean_wait: seconds(partner.mean_wait),
    };
    v1beta1::SimulationPhase {
        start_offset: seconds(phase.from),
        end_offset: seconds(phase.to),
        needed_worker_count: phase.workers_needed,
        available_worker_count: phase.workers_available,
        mean_busy_worker_count: phase.busy_workers,
        mean_wait: seconds(phase.mean_wait),
        max_backlog_count: phase.max_queue_depth,
        producer_is_down: phase.producer_is_down,
        partners: phase.partners.iter().map(partner).collect(),
    }
}

/// Converts a time in seconds; `None` if nothing was measured.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole microseconds, up to the duration of a scenario"
)]
fn seconds(seconds: f64) -> Option<prost_types::Duration> {
    let micros = (seconds * 1e6).round();
    micros.is_finite().then(|| duration(Span::from_nanos(micros as u64 * 1_000)))
}

fn partner_of(partner: &PartnerFigures) -> v1beta1::PartnerResult {
    let PartnerFigures { name, jobs_finished, throttled, failed, mean_wait, .. } = partner;
    v1beta1::PartnerResult {
        name: name.clone(),
        finished_job_count: *jobs_finished,
        throttled_attempt_count: *throttled,
        failed_attempt_count: *failed,
        mean_wait: seconds(*mean_wait),
    }
}

fn figures_of(outcome: &Outcome) -> v1beta1::SimulationFigures {
    let Figures {
        jobs_finished,
        jobs_failed,
        mean_wait,
        p50_wait,
        p95_wait,
        p99_wait,
        mean_sojourn,
        p95_sojourn,
        max_queue_depth,
        peak_enqueued_per_second,
        utilization,
        throughput_variation,
        interval_mean,
        interval_variation,
        interval_p05,
        interval_p95,
        never_served,
        lock_conflicts,
        wasted_ratio,
        jobs_left,
        mean_slowdown,
    } = outcome.figures;
    v1beta1::SimulationFigures {
        finished_job_count: jobs_finished,
        failed_job_count: jobs_failed,
        left_job_count: jobs_left,
        mean_wait: seconds(mean_wait),
        p50_wait: seconds(p50_wait),
        p95_wait: seconds(p95_wait),
        p99_wait: seconds(p99_wait),
        mean_sojourn: seconds(mean_sojourn),
        p95_sojourn: seconds(p95_sojourn),
        max_backlog_count: max_queue_depth,
        max_enqueued_per_second: peak_enqueued_per_second,
        utilization,
        throughput_variation,
        mean_interval: seconds(interval_mean),
        interval_variation,
        p05_interval: seconds(interval_p05),
        p95_interval: seconds(interval_p95),
        unserved_user_count: never_served,
        lock_conflict_count: lock_conflicts,
        wasted_ratio,
        mean_slowdown,
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_simulation_that_panics_ends_its_request_as_a_panic() {
        let lost = |work| RunningSimulation {
            work,
            watch: Arc::default(),
            ticks: tokio::time::interval(PROGRESS),
            total: Span::from_seconds(1),
        };
        let (done, work) = oneshot::channel();
        drop(done); // as the thread's panic does
        let mut thread = lost(work);
        assert!(AssertUnwindSafe(thread.next()).catch_unwind().await.is_err());
        let (done, work) = oneshot::channel();
        assert!(done.send(Err(RunError::Lost { run: 1 })).is_ok());
        let mut run = lost(work);
        assert!(AssertUnwindSafe(run.next()).catch_unwind().await.is_err());
    }
}
