//! The limits of scenarios; part of the one table of limits.

use offbeat_core::limits::Limit;

/// How long a scenario lasts.
pub const SCENARIO_SECONDS: Limit = Limit {
    name: "duration of a scenario",
    minimum: 1,
    maximum: 366 * 86_400,
    unit: "s",
    note: "366 days at most",
};

/// Users of a scenario.
pub const SCENARIO_USERS: Limit = Limit {
    name: "users of a scenario",
    minimum: 1,
    maximum: 10_000_000,
    unit: "users",
    note: "each has a run of every kind in every cycle",
};

/// Workers of a scenario.
pub const SCENARIO_WORKERS: Limit = Limit {
    name: "workers of a scenario",
    minimum: 0,
    maximum: 100_000,
    unit: "workers",
    note: "constant, changing, or by an autoscaler",
};

/// Kinds of job.
pub const SCENARIO_KINDS: Limit =
    Limit { name: "kinds of job in a scenario", minimum: 1, maximum: 16, unit: "kinds", note: "" };

/// Strategies that are compared.
pub const SCENARIO_STRATEGIES: Limit = Limit {
    name: "strategies of a scenario",
    minimum: 1,
    maximum: 16,
    unit: "strategies",
    note: "",
};

/// Seeds.
pub const SCENARIO_SEEDS: Limit = Limit {
    name: "seeds of a scenario",
    minimum: 1,
    maximum: 64,
    unit: "seeds",
    note: "one run of each strategy for each",
};

/// Partners.
pub const SCENARIO_PARTNERS: Limit = Limit {
    name: "partners of a scenario",
    minimum: 0,
    maximum: 64,
    unit: "partners",
    note: "each user is a customer of one",
};

/// Jobs of all runs together.
pub const SCENARIO_JOBS: Limit = Limit {
    name: "jobs of a scenario",
    minimum: 1,
    maximum: 100_000_000,
    unit: "jobs",
    note: "users x kinds x cycles x strategies x seeds",
};

/// Events of a run.
pub const SCENARIO_EVENTS: Limit = Limit {
    name: "events of a run of a scenario",
    minimum: 1,
    maximum: 2_000_000_000,
    unit: "events",
    note: "jobs that come, end and come back, and looks at the queue; over the network 50000000",
};

/// Seconds of all runs together.
pub const SCENARIO_RUN_SECONDS: Limit = Limit {
    name: "seconds of all runs of a scenario",
    minimum: 1,
    maximum: 50_000_000,
    unit: "s",
    note: "duration x strategies x seeds; each second has a row of 32 bytes",
};

/// Scenarios.
pub const SCENARIO_BYTES: Limit = Limit {
    name: "scenario",
    minimum: 0,
    maximum: 256 << 10,
    unit: "bytes",
    note: "TOML; run times may stand in files beside it",
};

/// Every limit of scenarios, in the order of the documentation.
pub const SCENARIO_LIMITS: &[Limit] = &[
    SCENARIO_SECONDS,
    SCENARIO_USERS,
    SCENARIO_WORKERS,
    SCENARIO_KINDS,
    SCENARIO_STRATEGIES,
    SCENARIO_SEEDS,
    SCENARIO_PARTNERS,
    SCENARIO_JOBS,
    SCENARIO_RUN_SECONDS,
    SCENARIO_EVENTS,
];
