//! The limits of scenarios; part of the one table of limits.

offbeat_core::limits! {
    /// Every limit of scenarios, in the order of the documentation.
    SCENARIO_LIMITS:

    SCENARIO_SECONDS = 1..=366 * 86_400, "s", "duration of a scenario", "366 days at most";
    SCENARIO_USERS = 1..=10_000_000, "users", "users of a scenario",
        "each has a run of every kind in every cycle";
    SCENARIO_WORKERS = 0..=100_000, "workers", "workers of a scenario",
        "constant, changing, or by an autoscaler";
    SCENARIO_KINDS = 1..=16, "kinds", "kinds of job in a scenario", "";
    SCENARIO_WINDOWS = 0..=366, "windows", "active windows of a cycle of a scenario",
        "of all its days together";
    SCENARIO_CALLS = 0..=1_000, "calls", "calls of a job of a scenario", "to the partner of its user";
    SCENARIO_ATTEMPTS = 1..=100, "attempts", "attempts of a job of a scenario", "while its partner is down";
    SCENARIO_STRATEGIES = 1..=16, "strategies", "strategies of a scenario", "";
    SCENARIO_SEEDS = 1..=64, "seeds", "seeds of a scenario", "one run of each strategy for each";
    SCENARIO_PARTNERS = 0..=64, "partners", "partners of a scenario",
        "each user is a customer of one";
    SCENARIO_OUTAGES = 1..=64, "outages", "outages of the producer, or of a partner, of a scenario", "";
    SCENARIO_JOBS = 1..=100_000_000, "jobs", "jobs of a scenario",
        "users x kinds x (cycles + outages of the producer) x strategies x seeds";
    SCENARIO_RUN_SECONDS = 1..=50_000_000, "s", "seconds of all runs of a scenario",
        "duration x strategies x seeds; each second has a row of 32 bytes";
    SCENARIO_EVENTS = 1..=2_000_000_000, "events", "events of a run of a scenario",
        "jobs that come, end and come back, and looks at the queue; over the network 50000000";
    SCENARIO_BYTES = 0..=256 << 10, "bytes", "scenario", "TOML; run times may stand in files beside it";
}
