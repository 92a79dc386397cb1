//! What is counted while a scenario runs.

/// Every second has a row of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Row {
    /// Jobs that wait, at the end of the second.
    pub queue_depth: u32,
    /// Jobs that were enqueued in it.
    pub enqueued: u32,
    /// Attempts that began.
    pub started: u32,
    /// Jobs that were done.
    pub finished: u32,
    /// Attempts that failed: throttled, in an outage, or out of time.
    pub failed: u32,
    /// Attempts that found their lock held.
    pub lock_conflicts: u32,
    /// Workers with a job, at the end of the second.
    pub busy_workers: u32,
    /// Workers, at the end of the second.
    pub workers: u32,
}

impl Row {
    /// The names of the columns.
    pub const COLUMNS: [&'static str; 8] = [
        "queue_depth",
        "enqueued",
        "started",
        "finished",
        "failed",
        "lock_conflicts",
        "busy_workers",
        "workers",
    ];

    /// The columns.
    #[must_use]
    pub const fn values(&self) -> [u32; 8] {
        [
            self.queue_depth,
            self.enqueued,
            self.started,
            self.finished,
            self.failed,
            self.lock_conflicts,
            self.busy_workers,
            self.workers,
        ]
    }
}

/// All that a run leaves.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// By second.
    pub rows: Vec<Row>,
    /// Of each first attempt, how long its job had waited, in microseconds.
    pub waits: Vec<u64>,
    /// Of each job that was done, how long that took since it was enqueued.
    pub sojourns: Vec<u64>,
    /// Between the ends of two runs of the first kind of a user.
    pub intervals: Vec<u64>,
    /// Users whose first kind never ran to its end.
    pub never_served: u32,
    /// Jobs that failed for good.
    pub failed_jobs: u64,
    /// Workers' time with jobs, in microseconds; and the part of it that came to nothing.
    pub worked: u64,
    /// See `worked`.
    pub wasted: u64,
    /// Workers' time in all.
    pub available: u64,
    /// Of jobs in the system, summed over time: for Little's law.
    pub job_micros: u128,
    /// Jobs enqueued, and of them those that were neither done nor failed at the end.
    pub enqueued_jobs: u64,
    /// See `enqueued_jobs`.
    pub left_jobs: u64,
    /// Whether it was stopped before its end.
    pub is_cut: bool,
}
