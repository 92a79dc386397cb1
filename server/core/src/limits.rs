//! The table of limits: refusals, documentation and tests read it here.

use core::fmt;

/// A range that a field, a count or a resource must stay in, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What is limited, as the documentation calls it.
    pub name: &'static str,
    /// The smallest value allowed.
    pub minimum: i64,
    /// The largest value allowed.
    pub maximum: i64,
    /// The unit of both.
    pub unit: &'static str,
    /// Why it is limited, or what to do beyond it.
    pub note: &'static str,
}

impl Limit {
    /// Whether `value` is allowed.
    #[must_use]
    pub const fn allows(&self, value: i128) -> bool {
        self.minimum as i128 <= value && value <= self.maximum as i128
    }

    /// The largest value as a size.
    #[must_use]
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "no maximum is negative"
    )]
    pub const fn max_size(&self) -> usize {
        self.maximum as usize
    }
}

/// The range in words: `1 to 1000 kinds`.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.minimum == self.maximum {
            write!(f, "{} {}", self.minimum, self.unit)
        } else {
            write!(f, "{} to {} {}", self.minimum, self.maximum, self.unit)
        }
    }
}

/// Milliseconds in a second.
pub(crate) const MILLIS_PER_SECOND: u64 = 1_000;

/// Length of a cycle.
pub const PERIOD: Limit = Limit {
    name: "period of a schedule",
    minimum: 1,
    maximum: 3_660 * 86_400 * 1_000,
    unit: "ms",
    note: "3660 days at most; a whole number of ticks of the resolution",
};

/// Length of a tick.
pub const RESOLUTION: Limit = Limit {
    name: "resolution of a schedule",
    minimum: 1,
    maximum: 1_000,
    unit: "ms",
    note: "must divide one second, so that every whole second is a tick",
};

/// Slots in a cycle.
pub const SLOT_COUNT: Limit = Limit {
    name: "slots in a cycle",
    minimum: 1,
    maximum: 1 << 20,
    unit: "slots",
    note: "must divide the period in ticks; TWISTER: at most the bucket count",
};

/// Names of schedules.
pub const SCHEDULE_NAME: Limit = Limit {
    name: "name of a schedule",
    minimum: 1,
    maximum: 64,
    unit: "characters (A-Z, a-z, 0-9, '.', '_' or '-')",
    note: "part of every run key; '/' separates its parts",
};

/// Versions of schedules.
pub const SCHEDULE_VERSION: Limit = Limit {
    name: "version of a schedule",
    minimum: 1,
    maximum: 1_000_000,
    unit: "(a number, not a count)",
    note: "never changes its meaning",
};

/// Schedules that are known by name at once.
pub const NAMED_SCHEDULES: Limit = Limit {
    name: "schedules in a file",
    minimum: 1,
    maximum: 1_000,
    unit: "schedules",
    note: "each version counts; a file without any is taken for a mistake",
};

/// Names and versions whose meaning a server remembers.
pub const REMEMBERED_SCHEDULES: Limit = Limit {
    name: "names and versions of schedules that a server remembers",
    minimum: 0,
    maximum: 10_000,
    unit: "schedules",
    note: "those that it has loaded since its start; a reload that would make more is refused",
};

/// Active windows.
pub const ACTIVE_WINDOWS: Limit = Limit {
    name: "active windows of a schedule",
    minimum: 0,
    maximum: 366,
    unit: "windows",
    note: "in order, not touching",
};

/// Exclusions.
pub const EXCLUSIONS: Limit = Limit {
    name: "exclusions of a schedule",
    minimum: 0,
    maximum: 366,
    unit: "exclusions",
    note: "dated and recurring together",
};

/// How often recurring exclusions recur.
pub const EXCLUDED_SPANS: Limit = Limit {
    name: "times that recurring exclusions come in a cycle",
    minimum: 0,
    maximum: 4_096,
    unit: "spans",
    note: "all of a schedule together: a daily one comes 3,661 times in 3,660 days",
};

/// Cycles that are searched for a run.
pub const SEARCHED_CYCLES: Limit = Limit {
    name: "cycles searched for a run",
    minimum: 0,
    maximum: 1_000,
    unit: "cycles",
    note: "where exclusions skip them all, there is no run",
};

/// Ranges of a predicate.
pub const PREDICATE_RANGES: Limit = Limit {
    name: "ranges in a predicate",
    minimum: 0,
    maximum: 64,
    unit: "ranges",
    note: "GetWindowPredicate: exclusions and changes of the clocks cut a window; ask for a shorter one",
};

/// Text IDs.
pub const TEXT_ID: Limit = Limit {
    name: "text ID",
    minimum: 0,
    maximum: 1_024,
    unit: "bytes of UTF-8",
    note: "hash longer keys yourself",
};

/// Salts.
pub const SALT: Limit = Limit {
    name: "salt of a schedule",
    minimum: 0,
    maximum: 256,
    unit: "bytes of UTF-8",
    note: "it is hashed with every ID",
};

/// Names of kinds of job.
pub const KIND_NAME: Limit = Limit {
    name: "name of a kind",
    minimum: 1,
    maximum: 64,
    unit: "characters (A-Z, a-z, 0-9, '.', '_' or '-')",
    note: "part of every run key; '/' separates its parts",
};

/// IDs in one batch.
pub const BATCH_IDS: Limit = Limit {
    name: "IDs in a batch",
    minimum: 1,
    maximum: 65_536,
    unit: "IDs",
    note: "one AssignSlots call, or one message of StreamSlotAssignments; the clients split for you",
};

/// Refused IDs of a batch that are explained.
pub const DETAILED_ERRORS: Limit = Limit {
    name: "refused IDs explained in a batch",
    minimum: 0,
    maximum: 1_000,
    unit: "IDs",
    note: "further ones are named by index and reason alone",
};

/// Next runs in one answer.
pub const NEXT_RUNS: Limit = Limit {
    name: "next runs in an answer",
    minimum: 0,
    maximum: 1_000,
    unit: "runs",
    note: "ask again from the last one for more",
};

/// Slots in one answer.
pub const LISTED_SLOTS: Limit = Limit {
    name: "slots in an answer",
    minimum: 0,
    maximum: 4_096,
    unit: "slots",
    note: "ListSlots: ask for a shorter window",
};

/// Names of schemas, tables and columns.
pub const SQL_NAME: Limit = Limit {
    name: "name of a schema, table or column",
    minimum: 1,
    maximum: 256,
    unit: "bytes of UTF-8",
    note: "databases have smaller limits of their own",
};

/// Numbers of placeholders.
pub const FIRST_PARAMETER_NUMBER: Limit = Limit {
    name: "number of the first placeholder",
    minimum: 1,
    maximum: 65_000,
    unit: "(a number, not a count)",
    note: "a predicate has up to four",
};

/// Text of the predicates in one answer.
pub const PREDICATE_BYTES: Limit = Limit {
    name: "predicates in an answer",
    minimum: 0,
    maximum: 3 << 20,
    unit: "bytes",
    note: "ListSlots: ask for a shorter window; only long names and salts come near",
};

/// Quanta of weights.
pub const WEIGHT_QUANTUM: Limit = Limit {
    name: "weight quantum of a schedule",
    minimum: 1,
    maximum: 1 << 53,
    unit: "(in the caller's unit of weight)",
    note: "the weight up to which an ID is one piece",
};

/// Weights.
pub const WEIGHT: Limit = Limit {
    name: "weight of an ID",
    minimum: 0,
    maximum: 1 << 53,
    unit: "(in the caller's unit of weight)",
    note: "0 is one piece, as any weight up to the quantum",
};

/// Pieces of one ID in an answer.
pub const ANSWER_PIECES: Limit = Limit {
    name: "pieces of an ID in an answer of AssignSlot",
    minimum: 1,
    maximum: 4_096,
    unit: "pieces",
    note: "AssignSlots takes more",
};

/// Runs of all pieces in one answer.
pub const ANSWER_RUNS: Limit = Limit {
    name: "next runs of all pieces of an ID in an answer",
    minimum: 0,
    maximum: 16_384,
    unit: "runs",
    note: "AssignSlot: pieces times next_run_count",
};

/// Pieces of a batch.
pub const BATCH_PIECES: Limit = Limit {
    name: "pieces of all IDs of a batch",
    minimum: 1,
    maximum: 65_536,
    unit: "pieces",
    note: "send fewer IDs at once, or raise weight_quantum",
};

/// How far back missed runs are caught up.
pub const CATCH_UP_HORIZON: Limit = Limit {
    name: "catch-up horizon of due runs",
    minimum: 0,
    maximum: 3_660 * 86_400 * 1_000,
    unit: "ms",
    note: "3660 days at most; on_time_tolerance at least",
};

/// Rows of due runs.
pub const DUE_RUNS: Limit = Limit {
    name: "runs in an answer of ListDueRuns",
    minimum: 0,
    maximum: 65_536,
    unit: "runs",
    note: "ask for fewer IDs at once, or shorten catch_up_horizon",
};

/// Cycles that are looked through for due runs, where exclusions are.
pub const DUE_CYCLES: Limit = Limit {
    name: "cycles and excluded spans that ListDueRuns looks through",
    minimum: 0,
    maximum: 16_777_216,
    unit: "cycles and spans",
    note: "of all IDs together; without exclusions runs are counted at once",
};

/// What exclusions make of cycles, worked out for one question.
pub const WORKED_OUT: Limit = Limit {
    name: "cycles and excluded spans that are worked out for an answer",
    minimum: 0,
    maximum: 16_777_216,
    unit: "cycles and spans",
    note: "AssignSlot, AssignSlots, ListDueRuns, PlanMigration: ask for fewer IDs, pieces or runs at \
           once, or take fewer recurring exclusions",
};

/// Steps of a migration.
pub const MIGRATION_STEPS: Limit = Limit {
    name: "steps of a migration in SQL",
    minimum: 0,
    maximum: 8_192,
    unit: "steps",
    note: "a slot each, or some of a schedule with more than 1024 slots; a tick each where min_gap has to tell the IDs apart",
};

/// Ranges of a migration's step.
pub const MIGRATION_RANGES: Limit = Limit {
    name: "ranges of the key in a step of a migration",
    minimum: 0,
    maximum: 64,
    unit: "ranges",
    note: "periods that are nearly equal need more",
};

/// Kinds on one cycle.
pub const KIND_COUNT: Limit = Limit {
    name: "kinds that must not meet",
    minimum: 1,
    maximum: 1_000,
    unit: "kinds",
    note: "GetReciprocalSlots",
};

/// Kinds between which there are conflicts.
pub const CONFLICTING_KINDS: Limit = Limit {
    name: "kinds that stand in a conflict",
    minimum: 2,
    maximum: 8,
    unit: "kinds",
    note: "GetReciprocalSlots with conflicts: an exact search",
};

/// Pairs of kinds that must not meet.
pub const CONFLICTS: Limit = Limit {
    name: "conflicts between kinds",
    minimum: 0,
    maximum: 28,
    unit: "pairs",
    note: "GetReciprocalSlots: as many as 8 kinds can have",
};

/// Population of a load estimate.
pub const POPULATION: Limit = Limit {
    name: "population of a load estimate",
    minimum: 1,
    maximum: 1_000_000_000,
    unit: "IDs",
    note: "DescribeSchedule",
};

/// Feeders of a spread.
pub const FEEDER_COUNT: Limit = Limit {
    name: "feeders of a spread",
    minimum: 1,
    maximum: 65_536,
    unit: "feeders",
    note: "the distance between jobs of a group that is aimed at",
};

/// Groups of a spread that are open at once.
pub const MAX_OPEN_GROUPS: Limit = Limit {
    name: "open groups of a spread",
    minimum: 1,
    maximum: 65_536,
    unit: "groups",
    note: "COOLDOWN: settable, 1024 by default, at least one for each feeder",
};

/// Jobs of an open group that are asked for ahead of their turns.
pub const JOB_WINDOW: Limit = Limit {
    name: "job window of a spread",
    minimum: 1,
    maximum: 65_536,
    unit: "jobs",
    note: "settable, 256 by default; 1 asks for each job in its turn",
};

/// Groups that are asked for before a feeder needs them.
pub const GROUP_WINDOW: Limit = Limit {
    name: "group window of a spread",
    minimum: 0,
    maximum: 65_536,
    unit: "groups",
    note: "settable, 0 by default; each saves a round trip",
};

/// Turns in a token.
pub const TOKEN_TURNS: Limit = Limit {
    name: "turns in a resume token",
    minimum: 0,
    maximum: 4_096,
    unit: "turns",
    note: "those of the last message; the clients make it so",
};

/// Stages.
pub const STAGE_COUNT: Limit = Limit {
    name: "stages of an allocation",
    minimum: 1,
    maximum: 100_000,
    unit: "stages",
    note: "one pipeline",
};

/// Workers of stages.
pub const STAGE_WORKERS: Limit = Limit {
    name: "workers of an allocation, or of one of its stages",
    minimum: 0,
    maximum: 1_000_000_000,
    unit: "workers",
    note: "each stage may have all of them",
};

/// Work of a stage.
pub const WORKLOAD_MICROS: Limit = Limit {
    name: "workload of a stage",
    minimum: 0,
    maximum: i64::MAX,
    unit: "us",
    note: "backlog times mean service time",
};

/// Moves of an allocation that are looked for.
pub const STAGE_MOVES: Limit = Limit {
    name: "moves between stages",
    minimum: 0,
    maximum: 1_000_000_000,
    unit: "moves",
    note: "max_moves; without it, as many as there must be",
};

/// By how much an allocation must be better.
pub const IMPROVEMENT_PERCENT: Limit = Limit {
    name: "improvement of an allocation",
    minimum: 0,
    maximum: 100,
    unit: "%",
    note: "AllocateWorkers: by which the score falls",
};

/// By how much another stage must be better.
pub const NEXT_IMPROVEMENT_PERCENT: Limit = Limit {
    name: "improvement of a move",
    minimum: 0,
    maximum: 10_000,
    unit: "%",
    note: "NextStage: by which the worker is worth more",
};

/// Lanes of a set.
pub const LANE_COUNT: Limit = Limit {
    name: "lanes of a set",
    minimum: 2,
    maximum: 16,
    unit: "lanes",
    note: "one lane is a queue, and needs no rule",
};

/// Workers of a lane.
pub const LANE_WORKERS: Limit = Limit {
    name: "workers of a lane",
    minimum: 0,
    maximum: 1_000_000,
    unit: "workers",
    note: "the express and the slow lane: 1 or more",
};

/// Workers of all lanes.
pub const SPLIT_WORKERS: Limit = Limit {
    name: "workers of all lanes",
    minimum: 2,
    maximum: 16_000_000,
    unit: "workers",
    note: "SplitWorkers",
};

/// How long an attempt may run.
pub const LANE_TIMEOUT_MILLIS: Limit = Limit {
    name: "attempt timeout of a lane",
    minimum: 1,
    maximum: 366 * 86_400_000,
    unit: "ms",
    note: "366 days at most; longer than in the lane before",
};

/// Jobs of a call that are dispatched.
pub const DISPATCHED_JOBS: Limit = Limit {
    name: "jobs that wait, in a call",
    minimum: 0,
    maximum: 65_536,
    unit: "jobs",
    note: "DispatchJobs: the first of a longer queue are enough",
};

/// IDs of jobs that are dispatched.
pub const JOB_ID: Limit = Limit {
    name: "ID of a job that is dispatched",
    minimum: 0,
    maximum: 256,
    unit: "bytes of UTF-8",
    note: "given back as it is",
};

/// Run times.
pub const RUN_TIME_MICROS: Limit = Limit {
    name: "run time that lanes are planned for",
    minimum: 1,
    maximum: 366 * 86_400_000_000,
    unit: "us",
    note: "366 days at most",
};

/// Samples of run times.
pub const RUN_TIME_SAMPLES: Limit = Limit {
    name: "samples of run times",
    minimum: 1,
    maximum: 400_000,
    unit: "samples",
    note: "PlanLanes: draw from more at random, or count them in a histogram",
};

/// Buckets of a histogram.
pub const HISTOGRAM_BUCKETS: Limit = Limit {
    name: "buckets of a histogram of run times",
    minimum: 1,
    maximum: 10_000,
    unit: "buckets",
    note: "PlanLanes",
};

/// Workers to plan for.
pub const PLAN_WORKERS: Limit = Limit {
    name: "workers that lanes are planned for",
    minimum: 1,
    maximum: 1_000,
    unit: "workers",
    note: "PlanLanes",
};

/// Lanes to plan.
pub const PLAN_LANES: Limit = Limit {
    name: "lanes of a plan",
    minimum: 2,
    maximum: 3,
    unit: "lanes",
    note: "PlanLanes; 3 by default",
};

/// Names of stages and lanes.
pub const MEMBER_NAME: Limit = Limit {
    name: "name of a stage, or of a lane",
    minimum: 1,
    maximum: 128,
    unit: "bytes of UTF-8",
    note: "another for each of the call",
};

/// How long a lease lasts.
pub const LEASE_MILLIS: Limit = Limit {
    name: "lease of a job of a named spread",
    minimum: 1_000,
    maximum: 600_000,
    unit: "ms",
    note: "settable, 30 s by default; may be extended while it lasts",
};

/// How many times a job is lent.
pub const MAX_ATTEMPTS: Limit = Limit {
    name: "attempts at a job",
    minimum: 1,
    maximum: 1_000,
    unit: "attempts",
    note: "settable, 5 by default; then the dead letters",
};

/// Jobs that one consumer holds.
pub const CONSUMER_LEASES: Limit = Limit {
    name: "jobs lent to one consumer at once",
    minimum: 1,
    maximum: 65_536,
    unit: "jobs",
    note: "settable, 1024 by default; beyond it no job is lent to it",
};

/// Jobs that are lent or were.
pub const OUTSTANDING_LEASES: Limit = Limit {
    name: "jobs of a named spread that are lent or wait to be lent again",
    minimum: 1,
    maximum: 1 << 18,
    unit: "jobs",
    note: "beyond it no new job is lent",
};

/// Settled leases that are remembered, so that saying it again is answered as before.
pub const REMEMBERED_LEASES: Limit = Limit {
    name: "settled leases of a named spread that are remembered",
    minimum: 0,
    maximum: 65_536,
    unit: "leases",
    note: "an older one is stale",
};

/// Delay of a nack.
pub const NACK_DELAY_MILLIS: Limit = Limit {
    name: "delay of a nack",
    minimum: 0,
    maximum: 86_400_000,
    unit: "ms",
    note: "the job is held so long",
};

/// Names of spreads.
pub const SPREAD_NAME: Limit = Limit {
    name: "name of a spread",
    minimum: 1,
    maximum: 128,
    unit: "bytes of UTF-8",
    note: "what producers and consumers share",
};

/// Names of consumers.
pub const CONSUMER_NAME: Limit = Limit {
    name: "name of a consumer",
    minimum: 1,
    maximum: 128,
    unit: "bytes of UTF-8",
    note: "one for each consumer, the same in all its calls",
};

/// IDs of groups.
pub const GROUP_ID: Limit = Limit {
    name: "ID of a group",
    minimum: 1,
    maximum: 256,
    unit: "bytes of UTF-8",
    note: "what makes submitting it again harmless",
};

/// A job of a named spread.
pub const JOB_BYTES: Limit = Limit {
    name: "job of a named spread",
    minimum: 0,
    maximum: 256 << 10,
    unit: "bytes",
    note: "put larger ones elsewhere, and their address here",
};

/// Groups of a named spread.
pub const SPREAD_GROUPS: Limit = Limit {
    name: "groups of a named spread at once",
    minimum: 1,
    maximum: 1_000_000,
    unit: "groups",
    note: "settable, 65536 by default; partial ones included; beyond it RESOURCE_EXHAUSTED with a retry delay",
};

/// Jobs of a named spread.
pub const SPREAD_JOBS: Limit = Limit {
    name: "jobs of a named spread at once",
    minimum: 1,
    maximum: 100_000_000,
    unit: "jobs",
    note: "settable, 1000000 by default; dead letters included; a group's jobs count until all are settled",
};

/// Bytes of a named spread.
pub const SPREAD_BYTES: Limit = Limit {
    name: "bytes of the jobs of a named spread at once",
    minimum: 1,
    maximum: 1 << 40,
    unit: "bytes",
    note: "settable, 64 MiB by default; each job counts 8 more, each group 64 and its ID; dead letters included; the oldest partial group may go beyond it",
};

/// Consumers of a named spread.
pub const SPREAD_CONSUMERS: Limit = Limit {
    name: "consumers of a named spread that hold jobs",
    minimum: 0,
    maximum: 4_096,
    unit: "consumers",
    note: "beyond it RESOURCE_EXHAUSTED with a retry delay",
};

/// Settled groups that are remembered.
pub const REMEMBERED_GROUPS: Limit = Limit {
    name: "settled groups of a named spread that are remembered",
    minimum: 0,
    maximum: 65_536,
    unit: "groups",
    note: "an older one that is submitted again is dealt again",
};

/// How long a partial group is kept.
pub const PARTIAL_GROUP_MILLIS: Limit = Limit {
    name: "time to the next part of a group",
    minimum: 0,
    maximum: 60_000,
    unit: "ms",
    note: "then what has come of it is dropped; it was never committed",
};

/// Groups of one call.
pub const CALL_GROUPS: Limit = Limit {
    name: "groups, or parts of groups, in a call",
    minimum: 1,
    maximum: 4_096,
    unit: "groups",
    note: "SubmitGroups, WaitForGroups",
};

/// Jobs of one call.
pub const CALL_JOBS: Limit = Limit {
    name: "jobs in a call",
    minimum: 1,
    maximum: 4_096,
    unit: "jobs",
    note: "PullJobs, SettleJobs, DeleteDeadLetters",
};

/// Bytes of an answer with jobs.
pub const ANSWER_BYTES: Limit = Limit {
    name: "bytes of jobs in an answer",
    minimum: 0,
    maximum: 1 << 20,
    unit: "bytes",
    note: "the last job may go beyond it: PullJobs, StreamJobs, ListDeadLetters",
};

/// Ranges of settled jobs.
pub const SETTLED_RANGES: Limit = Limit {
    name: "ranges of settled jobs of a group",
    minimum: 0,
    maximum: 1_024,
    unit: "ranges",
    note: "the first ones; what is left out is dealt again after a restart",
};

/// Ranges of one answer.
pub const ANSWER_RANGES: Limit = Limit {
    name: "ranges of settled jobs in an answer",
    minimum: 0,
    maximum: 65_536,
    unit: "ranges",
    note: "SubmitGroups, WaitForGroups: the groups that come first have theirs",
};

/// Entries of a page.
pub const PAGE_SIZE: Limit = Limit {
    name: "page",
    minimum: 1,
    maximum: 1_000,
    unit: "entries",
    note: "ListSpreads, ListDeadLetters: 100 by default",
};

/// Every limit of a decision, in the order of the documentation.
pub const DECISION_LIMITS: &[Limit] = &[
    PERIOD,
    RESOLUTION,
    SLOT_COUNT,
    ACTIVE_WINDOWS,
    EXCLUSIONS,
    EXCLUDED_SPANS,
    SEARCHED_CYCLES,
    PREDICATE_RANGES,
    SALT,
    SCHEDULE_NAME,
    SCHEDULE_VERSION,
    NAMED_SCHEDULES,
    REMEMBERED_SCHEDULES,
    TEXT_ID,
    KIND_NAME,
    BATCH_IDS,
    DETAILED_ERRORS,
    NEXT_RUNS,
    LISTED_SLOTS,
    SQL_NAME,
    FIRST_PARAMETER_NUMBER,
    PREDICATE_BYTES,
    WEIGHT_QUANTUM,
    WEIGHT,
    ANSWER_PIECES,
    ANSWER_RUNS,
    BATCH_PIECES,
    CATCH_UP_HORIZON,
    DUE_RUNS,
    DUE_CYCLES,
    WORKED_OUT,
    MIGRATION_STEPS,
    MIGRATION_RANGES,
    KIND_COUNT,
    CONFLICTING_KINDS,
    CONFLICTS,
    POPULATION,
    FEEDER_COUNT,
    MAX_OPEN_GROUPS,
    JOB_WINDOW,
    GROUP_WINDOW,
    TOKEN_TURNS,
    SPREAD_NAME,
    GROUP_ID,
    CONSUMER_NAME,
    JOB_BYTES,
    LEASE_MILLIS,
    MAX_ATTEMPTS,
    NACK_DELAY_MILLIS,
    CONSUMER_LEASES,
    OUTSTANDING_LEASES,
    REMEMBERED_LEASES,
    SPREAD_GROUPS,
    SPREAD_JOBS,
    SPREAD_BYTES,
    SPREAD_CONSUMERS,
    REMEMBERED_GROUPS,
    PARTIAL_GROUP_MILLIS,
    CALL_GROUPS,
    CALL_JOBS,
    ANSWER_BYTES,
    SETTLED_RANGES,
    ANSWER_RANGES,
    PAGE_SIZE,
    MEMBER_NAME,
    STAGE_COUNT,
    STAGE_WORKERS,
    WORKLOAD_MICROS,
    STAGE_MOVES,
    IMPROVEMENT_PERCENT,
    NEXT_IMPROVEMENT_PERCENT,
    LANE_COUNT,
    LANE_WORKERS,
    LANE_TIMEOUT_MILLIS,
    DISPATCHED_JOBS,
    JOB_ID,
    SPLIT_WORKERS,
    PLAN_WORKERS,
    PLAN_LANES,
    RUN_TIME_MICROS,
    RUN_TIME_SAMPLES,
    HISTOGRAM_BUCKETS,
];
