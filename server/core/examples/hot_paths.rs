//! Runs one hot path a number of times, so that its instructions can be counted:
//! `hot_paths PATH TIMES`. Without arguments it lists the paths.
//! `benchmarks/instructions/check.py` counts under callgrind with two repetition counts, so that
//! the difference excludes the setup.
#![allow(clippy::unwrap_used, reason = "it is given what is right")]

use std::hint::black_box;
use std::num::NonZeroU64;

use offbeat_core::lanes::{LaneSetSpec, LaneSpec};
use offbeat_core::placement::simd::{Kernel, draws, hashes};
use offbeat_core::runs::{ColumnSelection, PackedIds};
use offbeat_core::spread::{Pull, Source, Spread, SpreadSpec, Turn};
use offbeat_core::stages::{Rule, Share, allocate};
use offbeat_core::{Id, Integer, Moment, PlacementKind, Profile, Schedule, ScheduleSpec, Span};

/// IDs per batch: many for vectorized kernels, few for the plain one, which is far slower.
const MANY: u64 = 3_840;
const FEW: u64 = 64;

fn seed(n: u64) -> u128 {
    u128::from(n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) | 1 << 127
}

fn kernel(name: &str) -> Option<Kernel> {
    Kernel::available().find(|kernel| kernel.name() == name)
}

fn schedule(placement: PlacementKind) -> Schedule {
    let spec = ScheduleSpec {
        slot_count: Some(144),
        placement,
        ..ScheduleSpec::every(Span::from_seconds(86_400))
    };
    Schedule::try_new(&spec).unwrap()
}

fn noon() -> Moment {
    Moment::from_unix_millis(1_767_268_800_000).unwrap()
}

fn twister(kernel: Kernel, count: u64) -> impl FnMut() {
    let seeds: Vec<_> = (0..count).map(|n| Integer::from(seed(n))).collect();
    let mut numbers = Vec::new();
    move || {
        numbers.clear();
        let limit = NonZeroU64::new(28_800).unwrap();
        draws(kernel, Profile::Ruby, limit, black_box(&seeds).iter().copied(), &mut numbers);
        black_box(&numbers);
    }
}

fn hash(kernel: Kernel, count: u64) -> impl FnMut() {
    let ids: Vec<_> = (0..count).map(|n| Id::Uuid(seed(n))).collect();
    let mut numbers = Vec::new();
    move || {
        numbers.clear();
        hashes(kernel, "salt", black_box(&ids).iter(), &mut numbers);
        black_box(&numbers);
    }
}

fn one_id(placement: PlacementKind) -> impl FnMut() {
    let schedule = schedule(placement);
    move || {
        let place = schedule.place(&black_box(Id::Uuid(seed(7)))).unwrap();
        let runs = schedule.runs_from(noon(), 1).unwrap();
        black_box((runs.last_run(&place).unwrap(), runs.next_run(&place).unwrap()));
    }
}

fn batch(kernel: Kernel, placement: PlacementKind) -> impl FnMut() {
    let schedule = schedule(placement);
    let ids: Vec<_> = (0..MANY).map(|n| seed(n).to_be_bytes()).collect();
    move || {
        let runs = schedule.runs_from(noon(), 1).unwrap();
        let ids = PackedIds::Uuids(black_box(&ids));
        black_box(runs.assign_packed_with(kernel, ids, ColumnSelection::ALL)).unwrap();
    }
}

fn slots() -> impl FnMut() {
    let schedule = schedule(PlacementKind::Hash);
    move || {
        black_box(schedule.slots_of_a_period_from(black_box(noon()))).unwrap();
    }
}

/// An endless source of groups of 20 jobs.
struct Numbers(u64);

impl Source for Numbers {
    type Group = core::ops::Range<u64>;
    type Job = u64;

    fn next_group(&mut self) -> Pull<Self::Group> {
        self.0 += 20;
        Pull::Ready(self.0 - 20..self.0)
    }

    fn next_job(&mut self, group: &mut Self::Group) -> Pull<u64> {
        group.next().map_or(Pull::End, Pull::Ready)
    }

    fn size(&self, group: &Self::Group) -> u64 {
        group.end - group.start
    }
}

fn spread(spec: &SpreadSpec) -> impl FnMut() + use<> {
    let (mut source, mut spread) = (Numbers(0), Spread::try_new(spec).unwrap());
    move || {
        let mut sum = 0;
        spread.turns(&mut source, 4_096, |turn| {
            if let Turn::Job(dealt) = turn {
                sum += dealt.job;
            }
        });
        black_box(sum);
    }
}

fn route() -> impl FnMut() {
    let lane =
        |seconds| LaneSpec { worker_count: 2, attempt_timeout: Some(Span::from_seconds(seconds)) };
    let lanes = LaneSetSpec { lanes: vec![lane(1), lane(900)], ..LaneSetSpec::default() };
    let lanes = lanes.check().unwrap();
    move || {
        black_box(lanes.route(black_box(&[0]), None, None)).unwrap();
    }
}

fn share_out(rule: Rule) -> impl FnMut() {
    let shares: Vec<_> =
        (0..1_000).map(|stage| Share::of(1 + stage * 2_654_435_761 % 1_000_003)).collect();
    move || {
        black_box(allocate(rule, black_box(&shares), 1_000_000));
    }
}

/// A path's name, its items per run, and its constructor, which returns `None` if the machine
/// lacks the kernel.
pub(crate) type Path = (&'static str, u64, fn() -> Option<Box<dyn FnMut()>>);

macro_rules! path {
    ($name:literal, $items:expr, $kernel:literal, $walk:expr) => {
        ($name, $items, || Some(Box::new($walk(kernel($kernel)?))))
    };
    ($name:literal, $items:expr, $walk:expr) => {
        ($name, $items, || Some(Box::new($walk)))
    };
}

pub(crate) const PATHS: [Path; 15] = [
    path!("draw, plain", FEW, "plain", |kernel| twister(kernel, FEW)),
    path!("draw, AVX2", MANY, "AVX2", |kernel| twister(kernel, MANY)),
    path!("hash, plain", FEW, "plain", |kernel| hash(kernel, FEW)),
    path!("hash, AVX2", MANY, "AVX2", |kernel| hash(kernel, MANY)),
    path!("assign one, HASH", 1, one_id(PlacementKind::Hash)),
    path!("assign one, TWISTER", 1, one_id(PlacementKind::Twister)),
    path!("assign many, HASH", MANY, "AVX2", |kernel| batch(kernel, PlacementKind::Hash)),
    path!("assign many, TWISTER", MANY, "AVX2", |kernel| batch(kernel, PlacementKind::Twister)),
    path!("list slots", 144, slots()),
    path!("spread, round robin", 4_096, spread(&SpreadSpec::round_robin(64))),
    path!("spread, cooldown", 4_096, spread(&SpreadSpec::cooldown(64))),
    path!("route", 1, route()),
    path!("allocate, minimum score", 1_000, share_out(Rule::MinimumScore)),
    path!("allocate, D'Hondt", 1_000, share_out(Rule::DHondt)),
    path!("nothing", 1, || ()),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(wanted), Some(times)) = (arguments.next(), arguments.next()) else {
        for (name, items, path) in PATHS {
            let usable = if path().is_some() { "usable" } else { "not on this machine" };
            println!("{name}\t{items}\t{usable}");
        }
        return;
    };
    let (_, _, path) = PATHS.iter().find(|(name, ..)| *name == wanted).unwrap();
    let mut walk = path().unwrap();
    for _ in 0..times.parse::<u32>().unwrap() {
        walk();
    }
}
