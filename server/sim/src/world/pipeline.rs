//! A pipeline: items go through all stages, and workers go where they are worth most.

use core::cmp::Reverse;
use core::sync::atomic::Ordering;

use std::collections::{BinaryHeap, VecDeque};

use offbeat_core::stages::{NextSpec, Rule, StageSpec, Weighting};
use offbeat_core::{Rejection, Span};

use super::Watch;
use super::clock::SECOND;
use super::job::Timed;
use super::metrics::{Row, slowdown};
use super::partners::Partners;
use super::phases::Phases;
use super::sums::Rows;
use super::trace::Trace;
use crate::distribution::{Draw, whole};
use crate::generator::Generator;
use crate::scenario::{Scenario, Strategy, StrategyKind};

/// Runs a pipeline with one of its strategies.
pub(super) fn run(
    scenario: &Scenario,
    strategy: &Strategy,
    seed: u64,
    watch: &Watch,
) -> Result<Trace, Rejection> {
    let mut pipeline = Pipeline::new(scenario, &strategy.kind, seed);
    pipeline.run(watch)?;
    Ok(pipeline.trace)
}

#[derive(Debug, Clone, Copy)]
struct Item {
    arrived: u64,
    has_started: bool,
    /// How long it ran in all stages.
    worked: u64,
}

/// A worker with an item.
#[derive(Debug, Clone, Copy)]
struct BusyWorker {
    worker: usize,
    item: Item,
}

struct Pipeline<'a> {
    scenario: &'a Scenario,
    /// The rule by which workers move; `None` if they stay at their stage.
    rule: Option<(Rule, Weighting)>,
    generator: Generator,
    draws: Vec<Draw>,
    stages: Vec<StageSpec>,
    waiting: Vec<VecDeque<Item>>,
    /// The stage of each worker; the last one if it is idle.
    places: Vec<usize>,
    /// Idle workers, by their stage.
    idle: Vec<Vec<usize>>,
    idle_count: usize,
    /// The floor of the slowdown, in microseconds.
    floor: u64,
    departures: BinaryHeap<Reverse<Timed<BusyWorker>>>,
    next_batch: u64,
    number: u64,
    now: u64,
    second_end: u64,
    row: Row,
    rows: Rows,
    in_system: u64,
    phases: Phases,
    /// Empty: items call no partners.
    partners: Partners,
    /// How long an item keeps a worker busy in all stages, on average, in microseconds.
    mean_work: u64,
    trace: Trace,
}

impl<'a> Pipeline<'a> {
    fn new(scenario: &'a Scenario, kind: &StrategyKind, seed: u64) -> Self {
        let rule = match kind {
            StrategyKind::Workers { rule, weighting } => Some((*rule, *weighting)),
            _ => None,
        };
        let stage = |kind: &crate::scenario::Kind| StageSpec {
            run_times: vec![Span::from_nanos(whole(kind.run_time.all().first * 1e9))],
            ..StageSpec::default()
        };
        let count = scenario.workers.first().map_or(0, |(_, count)| *count as usize);
        let stages: Vec<StageSpec> = scenario.stages.iter().map(stage).collect();
        // At first, workers are divided evenly.
        let places: Vec<usize> = (0..count).map(|worker| worker % stages.len().max(1)).collect();
        let mut pipeline = Self {
            scenario,
            rule,
            generator: Generator::new(seed),
            draws: scenario.stages.iter().map(|kind| Draw::new(&kind.run_time)).collect(),
            waiting: stages.iter().map(|_| VecDeque::new()).collect(),
            idle: vec![Vec::new(); stages.len()],
            idle_count: 0,
            places,
            stages,
            floor: scenario.stages.iter().map(|kind| kind.run_time.quantile(0.1)).sum(),
            departures: BinaryHeap::new(),
            next_batch: 0,
            number: 0,
            now: 0,
            second_end: SECOND,
            row: Row::default(),
            rows: Rows::new(scenario.duration.div_ceil(SECOND), scenario.keeps_rows),
            in_system: 0,
            phases: Phases::new(scenario),
            partners: Partners::new(scenario, seed, 1),
            mean_work: scenario
                .stages
                .iter()
                .map(|stage| whole(stage.run_time.all().first * 1e6))
                .sum(),
            trace: Trace::default(),
        };
        for worker in 0..count {
            let place = pipeline.places.get(worker).copied().unwrap_or_default();
            pipeline.stages.get_mut(place).into_iter().for_each(|stage| stage.current += 1);
            pipeline.rest(worker, place);
        }
        pipeline
    }

    fn run(&mut self, watch: &Watch) -> Result<(), Rejection> {
        let mut events = 0;
        while !watch.stop.load(Ordering::Relaxed) {
            events += 1;
            if events > self.scenario.max_events {
                return Err(super::too_many_events(self.scenario));
            }
            let departure = self.departures.peek().map_or(u64::MAX, |Reverse(next)| next.at);
            let next = departure.min(self.next_batch).min(self.scenario.duration);
            self.pass(next, watch);
            if next == self.scenario.duration {
                break;
            }
            if departure == next {
                self.depart();
            } else {
                self.arrive();
            }
            self.fill()?;
        }
        self.trace.is_cut = self.now < self.scenario.duration;
        if !self.trace.is_cut && self.second_end < self.now + SECOND {
            self.push_row(); // of the part of a second at the end
        }
        (self.trace.rows, self.trace.sums) = self.rows.close();
        self.trace.left_jobs = self.in_system;
        let phases = std::mem::replace(&mut self.phases, Phases::new(self.scenario));
        (self.trace.phases, self.trace.tail) = phases.close();
        let waiting = self.waiting.iter().flatten().filter(|item| !item.has_started);
        self.trace.waits.extend(waiting.map(|item| self.now - item.arrived));
        Ok(())
    }

    fn pass(&mut self, to: u64, watch: &Watch) {
        while self.second_end <= to {
            self.push_row();
            self.second_end += SECOND;
            watch.seconds.fetch_add(1, Ordering::Relaxed);
        }
        let span = to - self.now;
        self.trace.job_micros += u128::from(self.in_system) * u128::from(span);
        self.trace.available += self.places.len() as u64 * span;
        self.trace.worked += (self.places.len() - self.idle_count) as u64 * span;
        self.now = to;
    }

    fn push_row(&mut self) {
        let busy = self.places.len() - self.idle_count;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let row = Row {
            queue_depth: count(self.waiting.iter().map(VecDeque::len).sum()),
            busy_workers: count(busy),
            workers: count(self.places.len()),
            ..self.row
        };
        self.phases.end_second(&row, self.in_system - busy as u64, &self.partners);
        self.rows.push(row);
        self.row = Row::default();
    }

    /// A batch of items at the beginning of each cycle.
    fn arrive(&mut self) {
        self.next_batch += self.scenario.timing.cycle;
        let item = Item { arrived: self.now, has_started: false, worked: 0 };
        let count = self.scenario.population;
        self.in_system += u64::from(count);
        self.trace.enqueued_jobs += u64::from(count);
        self.row.enqueued += count;
        self.phases.enqueued(u64::from(count).saturating_mul(self.mean_work), None);
        if let (Some(first), Some(stage)) = (self.waiting.first_mut(), self.stages.first_mut()) {
            first.extend((0..count).map(|_| item));
            stage.backlog_count += i64::from(count);
        }
    }

    fn depart(&mut self) {
        let Some(Reverse(Timed { what, .. })) = self.departures.pop() else { return };
        let BusyWorker { worker, item } = what;
        let stage = self.places.get(worker).copied().unwrap_or_default();
        self.stages.get_mut(stage).into_iter().for_each(|stage| stage.busy -= 1);
        self.rest(worker, stage);
        match (self.waiting.get_mut(stage + 1), self.stages.get_mut(stage + 1)) {
            (Some(next), Some(spec)) => {
                next.push_back(item);
                spec.backlog_count += 1;
            }
            _ => {
                self.in_system -= 1;
                self.row.finished += 1;
                self.trace.sojourns.push(self.now - item.arrived);
                self.trace.slowdowns += slowdown(self.now - item.arrived, item.worked, self.floor);
            }
        }
    }

    /// Makes a worker idle.
    fn rest(&mut self, worker: usize, stage: usize) {
        self.idle.get_mut(stage).into_iter().for_each(|idle| idle.push(worker));
        self.idle_count += 1;
    }

    /// Lets idle workers go where there is work, as long as there is both.
    fn fill(&mut self) -> Result<(), Rejection> {
        loop {
            let waits =
                |place: &usize| self.waiting.get(*place).is_some_and(|queue| !queue.is_empty());
            let rests = |place: &usize| self.idle.get(*place).is_some_and(|idle| !idle.is_empty());
            let mut places = 0..self.idle.len();
            // Workers that stay at their stage need work there; others need any work.
            let from = match self.rule {
                None => places.find(|place| waits(place) && rests(place)),
                Some(_) => {
                    places.clone().any(|place| waits(&place)).then(|| places.find(rests)).flatten()
                }
            };
            let Some(from) = from else { return Ok(()) };
            let goes = self.next_place(from)?;
            // The worker goes where items wait, because it is worth nothing elsewhere.
            let Some(item) = self.waiting.get_mut(goes).and_then(VecDeque::pop_front) else {
                return Ok(());
            };
            let Some(worker) = self.idle.get_mut(from).and_then(Vec::pop) else { return Ok(()) };
            self.idle_count -= 1;
            self.stages.get_mut(from).into_iter().for_each(|stage| stage.current -= 1);
            self.stages.get_mut(goes).into_iter().for_each(|stage| stage.current += 1);
            self.places.get_mut(worker).into_iter().for_each(|place| *place = goes);
            self.start(worker, goes, item);
        }
    }

    /// Where a worker goes: the decision of `ChooseStage`.
    fn next_place(&self, from: usize) -> Result<usize, Rejection> {
        let Some((rule, weighting)) = self.rule else { return Ok(from) };
        let (stages, from) = (self.stages.clone(), Some(from));
        let (min_gain_percent, prevent_starvation) = (0, false);
        let spec = NextSpec { stages, from, rule, weighting, min_gain_percent, prevent_starvation };
        let next = spec.next()?;
        Ok(next.and_then(|next| next.stage).or(from).unwrap_or_default())
    }

    fn start(&mut self, worker: usize, stage: usize, mut item: Item) {
        if !item.has_started {
            self.trace.waits.push(self.now - item.arrived);
            self.phases.waited(self.now - item.arrived, None);
            item.has_started = true;
        }
        let share = self.generator.uniform();
        let time = self.draws.get(stage).map_or(1, |draw| draw.at(share));
        item.worked += time;
        if let Some(spec) = self.stages.get_mut(stage) {
            spec.backlog_count -= 1;
            spec.busy += 1;
        }
        self.row.started += 1;
        let number = self.number;
        self.number += 1;
        let what = BusyWorker { worker, item };
        self.departures.push(Reverse(Timed { at: self.now + time, number, what }));
    }
}
