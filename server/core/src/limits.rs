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

/// Kinds on one cycle.
pub const KIND_COUNT: Limit = Limit {
    name: "kinds that must not meet",
    minimum: 1,
    maximum: 1_000,
    unit: "kinds",
    note: "GetReciprocalSlots",
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

// The limits of leases: no call reaches them yet, so the documented table leaves them out.

/// How long a lease lasts.
pub const LEASE_MILLIS: Limit = Limit {
    name: "lease of a job",
    minimum: 1_000,
    maximum: 600_000,
    unit: "ms",
    note: "30 s by default; may be extended while it lasts",
};

/// How many times a job is lent.
pub const MAX_ATTEMPTS: Limit = Limit {
    name: "attempts at a job",
    minimum: 1,
    maximum: 1_000,
    unit: "attempts",
    note: "5 by default; then the dead letters",
};

/// Leases at once.
pub const OUTSTANDING_LEASES: Limit = Limit {
    name: "leases at once",
    minimum: 1,
    maximum: 1 << 20,
    unit: "leases",
    note: "beyond it no job is lent",
};

/// Settled leases that are remembered, so that saying it again is answered as before.
pub const REMEMBERED_LEASES: Limit = Limit {
    name: "settled leases that are remembered",
    minimum: 0,
    maximum: 65_536,
    unit: "leases",
    note: "an older one is stale",
};

/// Every limit of a decision, in the order of the documentation.
pub const DECISION_LIMITS: &[Limit] = &[
    PERIOD,
    RESOLUTION,
    SLOT_COUNT,
    SALT,
    TEXT_ID,
    KIND_NAME,
    BATCH_IDS,
    DETAILED_ERRORS,
    NEXT_RUNS,
    LISTED_SLOTS,
    SQL_NAME,
    FIRST_PARAMETER_NUMBER,
    PREDICATE_BYTES,
    KIND_COUNT,
    POPULATION,
    FEEDER_COUNT,
    MAX_OPEN_GROUPS,
    JOB_WINDOW,
    GROUP_WINDOW,
];
