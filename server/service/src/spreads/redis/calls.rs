//! The calls that change a spread, as journal entries, and their results.
//!
//! The journal alone decides a spread: the same entries in the same order lead each process to the
//! same spread and the same results.

use std::sync::Arc;

use offbeat_core::Rejection;
use offbeat_core::spread::lease::{LeaseId, SettleAction, SettleOutcome};
use offbeat_core::spread::named::{
    BytesLeft, EmptyReason, GroupPart, GroupStatus, LeasedJob, LimitChanges, NamedSpread,
    NamedSpreadSpec, SpreadState,
};
use serde::{Deserialize, Serialize};

use crate::spreads::DeadLetterIds;

/// Version of the layout of entries and snapshots. It must also change if the same journal would
/// lead to another spread or other results.
pub(super) const LAYOUT: u32 = 1;

/// Digits of the time that begins an entry, in milliseconds, as `common.lua` writes it.
const TIME_DIGITS: usize = 15;
/// Digits of an epoch.
const EPOCH_DIGITS: usize = 20;

/// A call that may change a spread.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Call {
    Update(LimitChanges),
    Submit { parts: Vec<GroupPart>, elsewhere: BytesLeft },
    Pull { consumer: Arc<str>, count: usize },
    Settle(Vec<(LeaseId, SettleAction)>),
    Redrive { letters: DeadLetterIds, elsewhere: BytesLeft },
    DeleteLetters(DeadLetterIds),
    Forget { bytes: u64 },
    Close,
}

/// The result of a call.
#[derive(Debug)]
pub(super) enum Answer {
    Done(Result<(), Rejection>),
    Statuses(Result<Vec<GroupStatus>, Rejection>),
    Jobs(Result<(Vec<LeasedJob>, Option<EmptyReason>), Rejection>),
    Outcomes(Vec<SettleOutcome>),
    Count(Result<u64, Rejection>),
}

/// Identifies a call; a process recognizes its own calls by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct CallId {
    pub(super) process: u64,
    pub(super) number: u64,
}

/// An entry of a journal.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its time, by the clock of Redis.
    pub(super) millis: u64,
    pub(super) event: Event,
}

/// A change of a spread.
#[derive(Debug)]
pub(super) enum Event {
    Opened { epoch: u64, spec: NamedSpreadSpec },
    Restarted { epoch: u64 },
    Called(CallId, Call),
}

/// The bytes of an entry for a call, to which the script adds its kind and the time.
pub(super) fn encoded(id: CallId, call: &Call) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_stdvec(&(id, call))
}

impl Entry {
    /// Reads an entry; `None` if it is invalid.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (time, rest) = bytes.split_at_checked(TIME_DIGITS)?;
        let (kind, rest) = rest.split_first()?;
        let event = match kind {
            b'C' => {
                let (id, call) = postcard::from_bytes(rest).ok()?;
                Event::Called(id, call)
            }
            b'O' | b'R' => {
                let (epoch, spec) = rest.split_at_checked(EPOCH_DIGITS)?;
                let epoch = number(epoch)?;
                match kind {
                    b'O' => Event::Opened { epoch, spec: postcard::from_bytes(spec).ok()? },
                    _ => Event::Restarted { epoch },
                }
            }
            _ => return None,
        };
        Some(Self { millis: number(time)?, event })
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    str::from_utf8(digits).ok()?.parse().ok()
}

impl Call {
    /// Whether it may increase the stored data.
    pub(super) const fn grows(&self) -> bool {
        matches!(self, Self::Submit { .. } | Self::Redrive { .. })
    }

    /// Applies it to the spread of `epoch` at `now`, in milliseconds of the spread's clock.
    pub(super) fn apply(self, machine: &mut NamedSpread, epoch: u64, now: u64) -> Answer {
        machine.advance(now);
        match self {
            Self::Update(changes) => Answer::Done(machine.update(&changes)),
            Self::Submit { parts, elsewhere } => {
                Answer::Statuses(machine.submit(now, &parts, elsewhere))
            }
            Self::Pull { consumer, count } => {
                let jobs = machine.pull(now, &consumer, count);
                Answer::Jobs(jobs.map(|jobs| {
                    let reason = jobs.is_empty().then(|| empty_reason(machine, &consumer));
                    (jobs, reason)
                }))
            }
            Self::Settle(settlements) => {
                let settle = |(id, action)| machine.settle(now, id, action);
                Answer::Outcomes(settlements.into_iter().map(settle).collect())
            }
            Self::Redrive { letters, elsewhere } => {
                Answer::Count(machine.redrive(now, letters.in_epoch(epoch), elsewhere))
            }
            Self::DeleteLetters(letters) => {
                let numbers = letters.in_epoch(epoch).iter().copied();
                Answer::Count(Ok(machine.delete_dead_letters(numbers)))
            }
            Self::Forget { bytes } => {
                machine.forget_ended(bytes);
                Answer::Done(Ok(()))
            }
            Self::Close => {
                machine.close();
                Answer::Done(Ok(()))
            }
        }
    }
}

/// The reason that a consumer has no job.
pub(super) fn empty_reason(machine: &NamedSpread, consumer: &Arc<str>) -> EmptyReason {
    match machine.state() {
        SpreadState::Closed => EmptyReason::Ended,
        SpreadState::Open | SpreadState::Draining => machine.empty_reason(consumer),
    }
}
