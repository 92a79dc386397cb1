//! The table of limits: refusals, documentation and tests read it here.

use core::fmt;

/// A range that a field, a count or a resource must stay in, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Its ID: the name of its constant.
    pub id: &'static str,
    /// The limited quantity, as the documentation calls it.
    pub name: &'static str,
    /// The smallest value allowed.
    pub minimum: i64,
    /// The largest value allowed.
    pub maximum: i64,
    /// The unit of both; empty for numbers that count nothing.
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
            write!(f, "{}", self.minimum)?;
        } else {
            write!(f, "{} to {}", self.minimum, self.maximum)?;
        }
        if self.unit.is_empty() { Ok(()) } else { write!(f, " {}", self.unit) }
    }
}

/// Milliseconds in a second.
pub(crate) const MILLIS_PER_SECOND: u64 = 1_000;

/// Declares limits as constants, and a list of all of them in the order of the documentation.
///
/// An entry is `NAME = minimum..=maximum, "unit", "what is limited", "note";`. Where a default is
/// settable, it stands before the note: `default DEFAULT_NAME = 5, "5", "note"`, which makes a
/// constant of it, and the note begins with its text.
#[macro_export]
macro_rules! limits {
    (
        $(#[$list_doc:meta])* $list:ident:
        $(
            $name:ident = $range:expr, $unit:literal, $what:literal,
            $(default $default:ident = $value:expr, $shown:literal,)? $note:literal;
        )+
    ) => {
        $(
            #[doc = concat!("The ", $what, ": `", stringify!($range), "` ", $unit)]
            pub const $name: $crate::limits::Limit = $crate::limits::Limit {
                id: stringify!($name),
                name: $what,
                minimum: *($range).start(),
                maximum: *($range).end(),
                unit: $unit,
                note: concat!($("settable, ", $shown, " by default; ",)? $note),
            };
            $(
                #[doc = concat!("The default: `", stringify!($value), "` ", $unit)]
                pub const $default: i64 = $value;
                const _: () = assert!($name.allows($default as i128));
            )?
        )+

        $(#[$list_doc])*
        pub const $list: &[$crate::limits::Limit] = &[$($name),+];
    };
}

limits! {
    /// Every limit of a decision, in the order of the documentation.
    DECISION_LIMITS:

    // Schedules.
    PERIOD = 1..=3_660 * 86_400_000, "ms", "period of a schedule",
        "3660 days at most; a whole number of ticks of the resolution";
    RESOLUTION = 1..=1_000, "ms", "resolution of a schedule",
        "must divide one second, so that every whole second is a tick";
    SLOT_COUNT = 1..=1 << 20, "slots", "slots in a cycle",
        "must divide the period in ticks; TWISTER: at most the bucket count";
    ACTIVE_WINDOWS = 0..=366, "windows", "active windows of a schedule", "in order, not touching";
    EXCLUSIONS = 0..=366, "exclusions", "exclusions of a schedule", "dated and recurring together";
    EXCLUDED_SPANS = 0..=4_096, "spans", "times that recurring exclusions come in a cycle",
        "all of a schedule together: a daily one comes 3,661 times in 3,660 days";
    SEARCHED_CYCLES = 0..=1_000, "cycles", "cycles searched for a run",
        "where exclusions skip them all, there is no run";
    PREDICATE_RANGES = 0..=64, "ranges", "ranges in a predicate",
        "GetWindowPredicate: exclusions and changes of the clocks cut a window; ask for a shorter \
         one";
    SALT = 0..=256, "bytes of UTF-8", "salt of a schedule", "it is hashed with every ID";
    SCHEDULE_NAME = 1..=64, "characters (A-Z, a-z, 0-9, '.', '_' or '-')", "name of a schedule",
        "part of every run key; '/' separates its parts";
    SCHEDULE_VERSION = 1..=1_000_000, "", "version of a schedule", "never changes its meaning";
    NAMED_SCHEDULES = 1..=1_000, "schedules", "schedules in a file",
        "each version counts; a file without any is taken for a mistake";
    LISTED_SCHEDULES = 1..=1_000, "schedules", "page of schedules", "ListSchedules; 100 by default";
    REMEMBERED_SCHEDULES = 0..=10_000, "schedules",
        "names and versions of schedules that a server remembers",
        "those that it has loaded since its start; a reload that would make more is refused";

    // IDs.
    TEXT_ID = 0..=1_024, "bytes of UTF-8", "text ID", "hash longer keys yourself";
    KIND_NAME = 1..=64, "characters (A-Z, a-z, 0-9, '.', '_' or '-')", "name of a kind",
        "part of every run key; '/' separates its parts";
    BATCH_IDS = 1..=65_536, "IDs", "IDs in a batch",
        "one AssignSlots call, or one message of StreamSlotAssignments; the clients split for you";

    // Answers.
    DETAILED_ERRORS = 0..=1_000, "IDs", "refused IDs explained in a batch",
        "further ones are named by index and reason alone";
    NEXT_RUNS = 0..=1_000, "runs", "next runs in an answer", "ask again from the last one for more";
    LISTED_SLOTS = 0..=4_096, "slots", "slots in an answer", "ListSlots: ask for a shorter window";

    // Time zones by ID.
    TIME_ZONES = 0..=600, "time zones", "time zones of the IDs of a batch",
        "there are some 600, aliases included";
    ZONE_GAPS = 0..=1_000, "gaps", "gaps of different length between kinds, in all zones of a batch",
        "each is looked for in the changes of the clocks";
    PREDICATE_ZONES = 0..=64, "time zones", "time zones of a predicate",
        "GetWindowPredicate: ask once more for further ones";

    // Predicates in SQL.
    SQL_NAME = 1..=256, "bytes of UTF-8", "name of a schema, table or column",
        "databases have smaller limits of their own";
    FIRST_PARAMETER_NUMBER = 1..=65_000, "", "number of the first placeholder",
        "a predicate has up to 128 placeholders, and with time_zones up to 129 for each zone";
    PREDICATE_BYTES = 0..=3 << 20, "bytes", "predicates in an answer",
        "ListSlots: ask for a shorter window; only long names and salts come near";

    // Weights.
    WEIGHT_QUANTUM = 1..=1 << 53, "(in the caller's unit of weight)",
        "weight quantum of a schedule",
        "the weight up to which an ID is one piece";
    WEIGHT = 0..=1 << 53, "(in the caller's unit of weight)", "weight of an ID",
        "0 is one piece, as any weight up to the quantum";
    ANSWER_PIECES = 1..=4_096, "pieces", "pieces of an ID in an answer of AssignSlot",
        "AssignSlots takes more";
    ANSWER_RUNS = 0..=16_384, "runs", "next runs of all pieces of an ID in an answer",
        "AssignSlot: pieces times next_run_count";
    BATCH_PIECES = 1..=65_536, "pieces", "pieces of all IDs of a batch",
        "send fewer IDs at once, or raise weight_quantum";

    // Due runs.
    CATCH_UP_HORIZON = 0..=3_660 * 86_400_000, "ms", "catch-up horizon of due runs",
        "3660 days at most; on_time_tolerance at least";
    DUE_RUNS = 1..=65_536, "runs", "runs in a page of ListDueRuns",
        default DEFAULT_DUE_RUNS = 65_536, "65536", "further ones are in the next page";
    DUE_PAGED_RUNS = 0..=16_777_216, "runs", "due runs of all pages",
        "ask for fewer IDs at once, or shorten the horizon of the catch-up policy";
    DUE_CYCLES = 0..=16_777_216, "cycles and spans",
        "cycles and excluded spans that ListDueRuns looks through",
        "of all IDs together; without exclusions runs are counted at once";
    WORKED_OUT = 0..=2_097_152, "cycles and spans",
        "cycles and excluded spans that are worked out for an answer",
        "AssignSlot, AssignSlots, ListDueRuns, PlanMigration: ask for fewer IDs, pieces or runs at \
         once, or take fewer recurring exclusions";

    // Migrations.
    MIGRATION_STEPS = 0..=8_192, "steps", "steps of a migration in SQL",
        "a slot each, or some of a schedule with more than 1024 slots; a tick each where min_gap \
         has to tell the IDs apart";
    MIGRATION_RANGES = 0..=64, "ranges", "ranges of the key in a step of a migration",
        "periods that are nearly equal need more";

    // Kinds.
    KIND_COUNT = 1..=1_000, "kinds", "kinds of a schedule, or kinds that must not meet",
        "the runs of a schedule, GetReciprocalSlots";
    COMPARED_JOBS = 2..=32, "jobs", "jobs in a comparison", "CompareSchedules: each pair is compared";
    CATCH_UP_TURNS = 2..=65_536, "turns", "turns of the catch-up clock in a cycle",
        "at least twice as many as kinds";
    WORST_CHANGE_YEARS = 2_020..=2_037, "", "years whose changes of the clocks are looked at",
        "for the smallest gap between kinds of a calendar";
    CONFLICTING_KINDS = 2..=8, "kinds", "kinds that stand in a conflict",
        "GetReciprocalSlots with conflicts: an exact search";
    CONFLICTS = 0..=28, "pairs", "conflicts between kinds",
        "GetReciprocalSlots: as many as 8 kinds can have";

    // Load.
    POPULATION = 1..=1_000_000_000, "IDs", "population of a load estimate", "DescribeSchedule";

    // Spreads.
    FEEDER_COUNT = 1..=65_536, "feeders", "feeders of a spread",
        "the distance between jobs of a group that is aimed at";
    MAX_OPEN_GROUP_COUNT = 1..=65_536, "groups", "open groups of a spread",
        default DEFAULT_MAX_OPEN_GROUP_COUNT = 1_024, "1024", "COOLDOWN: at least one for each feeder";
    JOB_WINDOW = 1..=65_536, "jobs", "job window of a spread",
        default DEFAULT_JOB_WINDOW = 256, "256", "1 asks for each job in its turn";
    GROUP_WINDOW = 0..=65_536, "groups", "group window of a spread",
        default DEFAULT_GROUP_WINDOW = 0, "0", "each saves a round trip";
    TOKEN_TURNS = 0..=4_096, "turns", "turns in a resume token",
        "those of the last message; the clients make it so";

    // Named spreads and their leases.
    SPREAD_NAME = 1..=128, "bytes of UTF-8", "name of a spread",
        "what producers and consumers share";
    GROUP_ID = 1..=256, "bytes of UTF-8", "ID of a group",
        "what makes submitting it again harmless";
    CONSUMER_NAME = 1..=128, "bytes of UTF-8", "name of a consumer",
        "one for each consumer, the same in all its calls";
    JOB_BYTES = 0..=256 << 10, "bytes", "job of a named spread",
        "put larger ones elsewhere, and their address here";
    LEASE_MILLIS = 1_000..=600_000, "ms", "lease of a job of a named spread",
        default DEFAULT_LEASE_MILLIS = 30_000, "30 s", "may be extended while it lasts";
    MAX_ATTEMPT_COUNT = 1..=1_000, "attempts", "attempts at a job",
        default DEFAULT_MAX_ATTEMPT_COUNT = 5, "5", "then the dead letters";
    NACK_DELAY_MILLIS = 0..=86_400_000, "ms", "delay of a nack", "the job is held so long";
    CONSUMER_LEASES = 1..=65_536, "jobs", "jobs leased to one consumer at once",
        default DEFAULT_CONSUMER_LEASES = 1_024, "1024", "beyond it no job is leased to it";
    OUTSTANDING_LEASES = 1..=1 << 18, "jobs",
        "jobs of a named spread that are leased or wait to be leased again",
        "beyond it no new job is leased";
    REMEMBERED_LEASES = 0..=65_536, "leases",
        "settled leases of a named spread that are remembered",
        "an older one is stale";
    SPREAD_GROUPS = 1..=1_000_000, "groups", "groups of a named spread at once",
        default DEFAULT_SPREAD_GROUPS = 65_536, "65536", "partial ones included; beyond it \
         RESOURCE_EXHAUSTED with a retry delay";
    SPREAD_JOBS = 1..=100_000_000, "jobs", "jobs of a named spread at once",
        default DEFAULT_SPREAD_JOBS = 1_000_000, "1000000", "dead letters included; a group's jobs \
         count until all are settled";
    SPREAD_BYTES = 1..=1 << 40, "bytes", "bytes of the jobs of a named spread at once",
        default DEFAULT_SPREAD_BYTES = 64 << 20, "64 MiB", "each job counts 8 more, each group 64 \
         and its ID; dead letters included; the oldest partial group may go beyond it";
    SPREAD_CONSUMERS = 0..=4_096, "consumers", "consumers of a named spread that hold jobs",
        "beyond it RESOURCE_EXHAUSTED with a retry delay";
    REMEMBERED_GROUPS = 0..=65_536, "groups",
        "settled groups of a named spread that are remembered",
        "an older one that is submitted again is dealt again";
    PARTIAL_GROUP_MILLIS = 0..=60_000, "ms", "time to the next part of a group",
        "then what has come of it is dropped; it was never committed";
    CALL_GROUPS = 1..=4_096, "groups", "groups, or parts of groups, in a call",
        "SubmitGroups, WaitForGroups";
    CALL_JOBS = 1..=4_096, "jobs", "jobs in a call", "PullJobs, SettleJobs, DeleteDeadLetters";
    PULLED_BYTES = 0..=1 << 20, "bytes", "bytes of jobs in an answer",
        "the last job may go beyond it: PullJobs, StreamJobs, ListDeadLetters";
    SETTLED_RANGES = 0..=1_024, "ranges", "ranges of settled jobs of a group",
        "the first ones; what is left out is dealt again after a restart";
    ANSWER_RANGES = 0..=65_536, "ranges", "ranges of settled jobs in an answer",
        "SubmitGroups, WaitForGroups: the groups that come first have theirs";
    NEXT_JOBS = 0..=1_000, "jobs", "next jobs of a named spread", "DescribeSpread";
    PAGE_SIZE = 1..=1_000, "entries", "page",
        default DEFAULT_PAGE_SIZE = 100, "100", "ListSpreads, ListDeadLetters";

    // Stages.
    MEMBER_NAME = 1..=128, "bytes of UTF-8", "name of a stage, a lane, or a type of job",
        "another for each of the call";
    STAGE_COUNT = 1..=100_000, "stages", "stages of an allocation", "one pipeline";
    STAGE_WORKERS = 0..=1_000_000_000, "workers",
        "workers of an allocation, or of one of its stages",
        "each stage may have all of them";
    WORKLOAD_MICROS = 0..=i64::MAX, "us", "workload of a stage",
        "backlog times mean service time";
    ARRIVAL_PERIOD_MILLIS = 1..=366 * 86_400_000, "ms", "period of the arrivals of a stage",
        "366 days at most";
    STAGE_MOVES = 0..=100_000, "moves", "moves between stages",
        "max_move_count; without it, as many as there must be";
    IMPROVEMENT_PERCENT = 0..=100, "%", "improvement of an allocation",
        "AllocateWorkers: by which the score falls";
    NEXT_IMPROVEMENT_PERCENT = 0..=10_000, "%", "improvement of a move",
        "ChooseStage: by which the worker is worth more";

    // Lanes.
    LANE_COUNT = 2..=16, "lanes", "lanes of a set", "one lane is a queue, and needs no rule";
    LANE_WORKERS = 0..=1_000_000, "workers", "workers of a lane",
        "the express and the slow lane: 1 or more";
    LANE_TIMEOUT_MILLIS = 1..=366 * 86_400_000, "ms", "attempt timeout of a lane",
        "366 days at most; longer than in the lane before";
    DISPATCHED_JOBS = 0..=65_536, "jobs", "jobs that wait, in a call",
        "DispatchJobs: the first of a longer queue are enough";
    JOB_ID = 0..=256, "bytes of UTF-8", "ID of a job that is dispatched", "given back as it is";
    SPLIT_WORKERS = 2..=16_000_000, "workers", "workers of all lanes", "SplitWorkers";

    // Plans of lanes.
    PLAN_WORKERS = 1..=1_000, "workers", "workers that lanes are planned for", "PlanLanes";
    PLAN_LANES = 2..=3, "lanes", "lanes of a plan",
        default DEFAULT_PLAN_LANES = 3, "3", "PlanLanes";
    RUN_TIME_MICROS = 1..=366 * 86_400_000_000, "us",
        "run time that lanes are planned for",
        "366 days at most";
    RUN_TIME_SAMPLES = 1..=400_000, "samples", "samples of run times",
        "PlanLanes: draw from more at random, or count them in a histogram";
    PLAN_TYPES = 1..=64, "types", "types of job that lanes are planned for",
        "PlanLanes: name the others together";
    HISTOGRAM_BUCKETS = 1..=10_000, "buckets", "buckets of a histogram of run times", "PlanLanes";
}
