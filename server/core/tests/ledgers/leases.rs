//! What leases promise to consumers, recorded as a history proceeds.

use offbeat_core::spread::lease::{
    Cause, Lease, LeaseId, LeaseSpec, Leases, Outcome, SettleAction, SettleOutcome,
};

pub(crate) const EPOCH: u64 = 7;
const LEASE: u64 = 1_000;
const MAX_ATTEMPT_COUNT: u32 = 3;

/// What the histories run against: the machine, or a deliberately broken one.
pub(crate) trait Machine {
    fn lease(
        &mut self,
        now: u64,
        consumer: u8,
        next: &mut dyn FnMut() -> Option<u64>,
        outcomes: &mut Vec<Outcome<u64>>,
    ) -> Option<Lease<u64>>;

    fn settle(
        &mut self,
        now: u64,
        id: LeaseId,
        action: SettleAction,
        outcomes: &mut Vec<Outcome<u64>>,
    ) -> SettleOutcome;

    fn next_event(&self, now: u64) -> Option<u64>;

    fn held_by(&self, consumer: u8) -> usize;
}

impl Machine for Leases<u64, u8> {
    fn lease(
        &mut self,
        now: u64,
        consumer: u8,
        next: &mut dyn FnMut() -> Option<u64>,
        outcomes: &mut Vec<Outcome<u64>>,
    ) -> Option<Lease<u64>> {
        self.expire(now, outcomes);
        self.lease(now, &consumer, next)
    }

    fn settle(
        &mut self,
        now: u64,
        id: LeaseId,
        action: SettleAction,
        outcomes: &mut Vec<Outcome<u64>>,
    ) -> SettleOutcome {
        self.settle(now, id, action, outcomes)
    }

    fn next_event(&self, now: u64) -> Option<u64> {
        self.next_event(now)
    }

    fn held_by(&self, consumer: u8) -> usize {
        self.held_by(&consumer)
    }
}

/// What an observer outside the machine knows of a job.
#[derive(Debug, Clone, Copy, Default)]
struct JobRecord {
    attempts: u32,
    /// Attempts that do not count, because the job was released.
    released: u32,
    consumer: u8,
    /// The last lease and its deadline; `None` once the job was returned.
    held: Option<(LeaseId, u64)>,
    /// When a returned job may be leased again.
    ready: Option<u64>,
    terminated: bool,
    /// Whether its consumer released the job after the lease had ended.
    released_late: bool,
    outcome: Option<Outcome<u64>>,
}

/// Records what was promised, and reports what was not kept.
struct Ledger {
    jobs: Vec<JobRecord>,
    /// The number of jobs that have been leased at least once.
    begun: usize,
    max_held: usize,
    max_outstanding: usize,
    now: u64,
}

pub(crate) type Checked<T = ()> = Result<T, String>;

fn ensure(holds: bool, promise: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(promise()) }
}

impl Ledger {
    fn new(job_count: usize, max_held: usize, max_outstanding: usize) -> Self {
        let jobs = vec![JobRecord::default(); job_count];
        Self { jobs, begun: 0, max_held, max_outstanding, now: 0 }
    }

    fn holds(&self, job: usize) -> bool {
        let JobRecord { held, outcome, .. } = self.jobs[job];
        outcome.is_none() && held.is_some_and(|(_, deadline)| deadline > self.now)
    }

    fn held_by(&self, consumer: u8) -> usize {
        let of = |job: &usize| self.holds(*job) && self.jobs[*job].consumer == consumer;
        (0..self.jobs.len()).filter(of).count()
    }

    /// Whether a consumer that asks now must get a job.
    fn is_due(&self, consumer: u8) -> bool {
        let expires = |job: &JobRecord| job.held.is_some_and(|(_, deadline)| deadline <= self.now);
        let is_last = |job: &JobRecord| job.attempts - job.released >= MAX_ATTEMPT_COUNT;
        let open = |job: &&JobRecord| job.outcome.is_none() && !(expires(job) && is_last(job));
        let again = self
            .jobs
            .iter()
            .filter(open)
            .any(|job| job.ready.map_or_else(|| expires(job), |ready| ready <= self.now));
        let begun = self.jobs.iter().take(self.begun).filter(open).count();
        let new = self.begun < self.jobs.len() && begun < self.max_outstanding;
        self.held_by(consumer) < self.max_held && (again || new)
    }

    fn leased(&mut self, consumer: u8, lease: &Lease<u64>) -> Checked {
        let index = usize::try_from(lease.job).unwrap();
        ensure(!self.holds(index), || format!("two leases on job {index}"))?;
        let job = self.jobs[index];
        ensure(job.outcome.is_none(), || format!("job {index} was leased after its end"))?;
        ensure(job.ready.is_none_or(|ready| ready <= self.now), || {
            format!("job {index} was leased before its delay was over")
        })?;
        if job.attempts == 0 {
            ensure(index == self.begun, || format!("job {index} was leased out of order"))?;
            self.begun += 1;
        }
        let id = lease.id;
        ensure(id.epoch == EPOCH && id.attempt == job.attempts + 1, || format!("{id:?}"))?;
        ensure(id.attempt - job.released <= MAX_ATTEMPT_COUNT, || {
            format!("job {index}: too many attempts")
        })?;
        ensure(lease.deadline == self.now + LEASE, || format!("job {index}: {lease:?}"))?;
        let held = Some((id, lease.deadline));
        let released_late = false;
        self.jobs[index] =
            JobRecord { attempts: id.attempt, consumer, held, ready: None, released_late, ..job };
        ensure(self.held_by(consumer) <= self.max_held, || "too many leases".to_owned())
    }

    fn ended(&mut self, outcome: Outcome<u64>) -> Checked {
        let (Outcome::Settled(number) | Outcome::DeadLettered { job: number, .. }) = outcome;
        let job = &mut self.jobs[usize::try_from(number).unwrap()];
        ensure(job.outcome.is_none(), || format!("job {number} ended twice"))?;
        if let Outcome::DeadLettered { attempts, cause, .. } = outcome {
            let terminated = cause == Cause::Consumer;
            let told = attempts == job.attempts && terminated == job.terminated;
            ensure(told, || format!("job {number}: {outcome:?}"))?;
            ensure(attempts - job.released == MAX_ATTEMPT_COUNT || terminated, || {
                format!("job {number} became a dead letter after {attempts} attempts")
            })?;
        }
        job.outcome = Some(outcome);
        Ok(())
    }

    /// The outcome of a settlement that the promises require.
    fn expected(&self, index: usize, id: LeaseId, action: SettleAction) -> SettleOutcome {
        let job = self.jobs[index];
        let is_last = job.held.is_some_and(|(held, _)| held == id);
        if is_last && self.holds(index) {
            return match action {
                SettleAction::Ack => SettleOutcome::Acked,
                SettleAction::DeadLetter => SettleOutcome::DeadLettered,
                SettleAction::Nack { .. } if id.attempt - job.released == MAX_ATTEMPT_COUNT => {
                    SettleOutcome::DeadLettered
                }
                SettleAction::Nack { .. } | SettleAction::Release { .. } => SettleOutcome::Returned,
                SettleAction::ExtendLease => SettleOutcome::Extended { deadline: self.now + LEASE },
            };
        }
        let waits = job.outcome.is_none() && is_last && job.ready.is_none();
        let may_go_on = job.attempts - job.released < MAX_ATTEMPT_COUNT;
        let releases = matches!(action, SettleAction::Release { .. });
        if releases && waits && may_go_on && !job.released_late {
            return SettleOutcome::Returned;
        }
        match (job.outcome, action) {
            (Some(Outcome::Settled(_)), SettleAction::Ack) if is_last => SettleOutcome::Acked,
            (Some(Outcome::DeadLettered { .. }), SettleAction::DeadLetter) if is_last => {
                SettleOutcome::DeadLettered
            }
            _ => SettleOutcome::Stale,
        }
    }

    fn settled(&mut self, index: usize, action: SettleAction, outcome: SettleOutcome) {
        let now = self.now;
        let job = &mut self.jobs[index];
        match (outcome, action) {
            (SettleOutcome::Returned, SettleAction::Nack { delay }) => {
                (job.held, job.ready) = (None, Some(now + delay));
            }
            (SettleOutcome::Returned, SettleAction::Release { delay }) => {
                job.released += 1;
                if job.held.is_some_and(|(_, deadline)| deadline > now) {
                    (job.held, job.ready) = (None, Some(now + delay));
                } else {
                    job.released_late = true;
                    if delay > 0 {
                        // The job was ready already. The lease is kept, to know which consumer may
                        // still release the job.
                        job.ready = Some(now + delay);
                    }
                }
            }
            (SettleOutcome::Extended { deadline }, _) => {
                if let Some((_, old)) = &mut job.held {
                    *old = deadline;
                }
            }
            _ => {}
        }
    }
}

/// The machine, not broken.
pub(crate) fn machine(spec: &LeaseSpec) -> Box<dyn Machine> {
    Box::new(Leases::try_new(EPOCH, spec).unwrap())
}

/// Runs a history of events, then lets every job end, and returns the promise that was broken.
/// `below` returns a number below each limit and so chooses the events.
pub(crate) fn history(
    below: &mut dyn FnMut(usize) -> usize,
    build: impl FnOnce(&LeaseSpec) -> Box<dyn Machine>,
) -> Checked {
    let (job_count, max_held, max_outstanding) = (1 + below(12), 1 + below(4), 1 + below(6));
    let mut machine = build(&LeaseSpec {
        lease_millis: LEASE.cast_signed(),
        max_attempt_count: MAX_ATTEMPT_COUNT.into(),
        max_consumer_lease_count: i64::try_from(max_held).unwrap(),
        max_outstanding: i64::try_from(max_outstanding).unwrap(),
    });
    let mut ledger = Ledger::new(job_count, max_held, max_outstanding);
    let mut given: Vec<(usize, LeaseId)> = Vec::new();
    for _ in 0..60 {
        match below(4) {
            0 => ledger.now += [0, 1, LEASE / 3, LEASE - 1, LEASE, 3 * LEASE][below(6)],
            1 => take(&mut *machine, &mut ledger, &mut given, below(2), below(5))?,
            _ if given.is_empty() => {}
            _ => {
                let (job, mut id) = given[below(given.len())];
                if below(20) == 0 {
                    id.epoch -= 1; // from before a restart
                }
                let action = match below(7) {
                    0..3 => SettleAction::Ack,
                    3 => SettleAction::Nack { delay: [0, LEASE / 2][below(2)] },
                    4 => SettleAction::ExtendLease,
                    5 => SettleAction::Release { delay: [0, LEASE / 2][below(2)] },
                    _ => SettleAction::DeadLetter,
                };
                say(&mut *machine, &mut ledger, job, id, action)?;
            }
        }
    }
    // To the end: leased jobs are acknowledged, and time advances only when nothing can be leased.
    for _ in 0..10 * job_count + 10 {
        if ledger.jobs.iter().all(|job| job.outcome.is_some()) {
            return ensure(machine.next_event(ledger.now).is_none(), || {
                "it waits for nothing".to_owned()
            });
        }
        let before = given.len();
        for consumer in 0..2 {
            take(&mut *machine, &mut ledger, &mut given, consumer, job_count)?;
        }
        let idle = given.len() == before;
        for (job, id) in given.split_off(before) {
            say(&mut *machine, &mut ledger, job, id, SettleAction::Ack)?;
        }
        if idle {
            let Some(event) = machine.next_event(ledger.now) else { break };
            ensure(event > ledger.now, || "an event of the past".to_owned())?;
            ledger.now = event;
        }
    }
    let lost = ledger.jobs.iter().filter(|job| job.outcome.is_none()).count();
    ensure(lost == 0, || format!("{lost} jobs were lost"))
}

fn take(
    machine: &mut dyn Machine,
    ledger: &mut Ledger,
    given: &mut Vec<(usize, LeaseId)>,
    consumer: usize,
    count: usize,
) -> Checked {
    let consumer = u8::try_from(consumer).unwrap();
    for _ in 0..count {
        let mut outcomes = Vec::new();
        let new = (ledger.begun < ledger.jobs.len()).then_some(ledger.begun as u64);
        let due = ledger.is_due(consumer);
        let lease = machine.lease(ledger.now, consumer, &mut || new, &mut outcomes);
        outcomes.into_iter().try_for_each(|outcome| ledger.ended(outcome))?;
        ensure(lease.is_some() == due, || format!("{lease:?} where one was due: {due}"))?;
        let Some(lease) = lease else { break };
        ledger.leased(consumer, &lease)?;
        given.push((usize::try_from(lease.job).unwrap(), lease.id));
    }
    let held = machine.held_by(consumer);
    ensure(held == ledger.held_by(consumer) || count == 0, || format!("it says it holds {held}"))
}

fn say(
    machine: &mut dyn Machine,
    ledger: &mut Ledger,
    job: usize,
    id: LeaseId,
    action: SettleAction,
) -> Checked {
    let mut outcomes = Vec::new();
    let outcome = machine.settle(ledger.now, id, action, &mut outcomes);
    // A lease that has expired by now expires before the settlement counts.
    let expected = ledger.expected(job, id, action);
    ledger.jobs[job].terminated |=
        action == SettleAction::DeadLetter && expected == SettleOutcome::DeadLettered;
    outcomes.into_iter().try_for_each(|outcome| ledger.ended(outcome))?;
    let expected = match (expected, action) {
        // The last lease of the job has just expired.
        (SettleOutcome::Stale, SettleAction::DeadLetter) => ledger.expected(job, id, action),
        _ => expected,
    };
    ensure(outcome == expected, || {
        format!("job {job}: {action:?} of {id:?} came to {outcome:?}, not {expected:?}")
    })?;
    ledger.settled(job, action, outcome);
    Ok(())
}
