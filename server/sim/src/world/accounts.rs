//! The accounts of a run: rows by second, and its results.

use core::sync::atomic::Ordering;

use super::Watch;
use super::clock::{NEVER, SECOND};
use super::job::Job;
use super::kind_distances::KindDistances;
use super::metrics::{Row, slowdown};
use super::partners::Partners;
use super::phases::Phases;
use super::sums::Rows;
use super::trace::Trace;
use super::workers::Workers;
use crate::scenario::Scenario;

/// After how many rows a run reports its progress.
const ROWS_AT_A_TIME: u64 = 1_000;

pub(super) struct Accounts {
    row: Row,
    rows: Rows,
    /// How many rows the watch has been informed of.
    told_rows: u64,
    trace: Trace,
    in_system: u64,
    phases: Phases,
    kind_distances: KindDistances,
    /// When the last run of the first kind ended, by user.
    last_end: Vec<u64>,
    /// The floors of the slowdown, by kind; and that of children.
    floors: Vec<u64>,
    child_floor: u64,
}

impl Accounts {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let runs = scenario.strategies.len() * scenario.seeds.len();
        let jobs = usize::try_from(scenario.job_count()).unwrap_or_default() / runs.max(1);
        Self {
            row: Row::default(),
            rows: Rows::new(scenario.duration.div_ceil(SECOND), scenario.keeps_rows),
            told_rows: 0,
            trace: Trace {
                waits: Vec::with_capacity(jobs),
                sojourns: Vec::with_capacity(jobs),
                intervals: Vec::with_capacity(jobs),
                ..Trace::default()
            },
            in_system: 0,
            phases: Phases::new(scenario),
            kind_distances: KindDistances::new(scenario.population, scenario.kinds.len()),
            last_end: vec![NEVER; scenario.population as usize],
            floors: scenario.kinds.iter().map(|kind| kind.run_time.quantile(0.1)).collect(),
            child_floor: scenario.children.as_ref().map_or(1, |one| one.run_time.quantile(0.1)),
        }
    }

    /// Counts a span of time in which nothing happens.
    #[inline]
    pub(super) fn pass(&mut self, span: u64, workers: &Workers) {
        let (count, busy) = (workers.count(), workers.busy());
        self.trace.job_micros += u128::from(self.in_system) * u128::from(span);
        self.trace.available += u64::from(count.max(busy)) * span;
        self.trace.worked += u64::from(busy) * span;
    }

    /// Ends a second, with `depth` jobs in the queue.
    pub(super) fn end_second(&mut self, depth: usize, workers: &Workers, partners: &Partners) {
        let queue_depth = u32::try_from(depth).unwrap_or(u32::MAX);
        let (workers, busy_workers) = (workers.count(), workers.busy());
        let row = Row { queue_depth, busy_workers, workers, ..self.row };
        self.phases.end_second(&row, self.in_system - u64::from(busy_workers), partners);
        self.rows.push(row);
        self.row = Row::default();
    }

    /// Seconds of a step of the series.
    pub(super) const fn step(&self) -> u32 {
        self.rows.step()
    }

    /// Reports the progress to the watch, but not after each second, because other threads write
    /// there, too.
    #[inline]
    pub(super) fn tell_at_times(&mut self, watch: &Watch) {
        if self.rows.len() - self.told_rows >= ROWS_AT_A_TIME {
            self.tell(watch);
        }
    }

    pub(super) fn tell(&mut self, watch: &Watch) {
        let seconds = self.rows.len() - self.told_rows;
        self.told_rows = self.rows.len();
        watch.seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn enqueued(&mut self, job: &Job, partners: &Partners, now: u64) {
        self.phases.enqueued(partners.time_of(job, now), partners.asked_by(job));
        self.kind_distances.enqueued(job);
        self.row.enqueued += 1;
        self.trace.enqueued_jobs += 1;
        self.in_system += 1;
    }

    #[inline]
    pub(super) const fn lock_was_held(&mut self) {
        self.row.lock_conflicts += 1;
    }

    /// Counts a first attempt at a job that begins, or that had not begun when the run ended.
    #[inline]
    pub(super) fn waited(&mut self, wait: u64, asks: Option<(usize, u32)>) {
        self.trace.waits.push(wait);
        self.phases.waited(wait, asks);
    }

    #[inline]
    pub(super) const fn attempt_started(&mut self) {
        self.row.started += 1;
    }

    #[inline]
    pub(super) const fn wasted(&mut self, time: u64) {
        self.trace.wasted = self.trace.wasted.saturating_add(time);
    }

    pub(super) const fn attempt_failed(&mut self) {
        self.row.failed += 1;
    }

    /// Counts a job that is done and ran for `run_time`.
    #[inline]
    pub(super) fn done(&mut self, job: &Job, run_time: u64, now: u64) {
        self.row.finished += 1;
        self.in_system -= 1;
        let sojourn = now - job.enqueued;
        self.trace.sojourns.push(sojourn);
        let floor = self.floors.get(usize::from(job.kind)).copied().unwrap_or(self.child_floor);
        self.trace.slowdowns += slowdown(sojourn, run_time, floor);
        if job.kind == 0
            && let Some(last) = self.last_end.get_mut(job.user as usize)
        {
            if *last != NEVER {
                self.trace.intervals.push(now - *last);
            }
            *last = now;
        }
    }

    /// Counts a job that has failed for good, and returns when the last run of its user ended.
    pub(super) fn failed(&mut self, job: &Job) -> Option<u64> {
        self.in_system -= 1;
        self.trace.failed_jobs += 1;
        self.last_end.get(job.user as usize).copied().filter(|last| *last != NEVER)
    }

    /// Ends the run, and returns its results.
    pub(super) fn close(mut self, is_cut: bool, now: u64) -> Trace {
        let never = self.last_end.iter().filter(|last| **last == NEVER).count();
        self.trace.is_cut = is_cut;
        self.trace.least_kind_distance = self.kind_distances.least(now);
        self.trace.never_served = u32::try_from(never).unwrap_or(u32::MAX);
        self.trace.left_jobs = self.in_system;
        (self.trace.rows, self.trace.sums) = self.rows.close();
        (self.trace.phases, self.trace.tail) = self.phases.close();
        self.trace
    }
}
