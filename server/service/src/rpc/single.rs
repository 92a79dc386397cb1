//! `AssignSlot` as nearly everybody asks it: one ID in one piece, a few runs, cycles of one length.
//!
//! What is answered is what [`assign`](super::assign) answers, by shorter ways: a schedule is checked
//! and named once for many questions, answers are written in memory that is used again, and
//! twisters, which are slow one by one, are drawn for all requests of a turn of the event loop
//! together. Whatever is not so simple, or will be refused, is nobody's question here.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use offbeat_core::{Catalog, Id, Moment, Place, Placement, Schedule, ScheduleName};
use prost::Message as _;

use super::codec::PREFIX;
use super::convert;
use super::turn::{Seat, Turn};
use crate::proto;
use crate::schedules::Loaded;

/// More runs are for the other way.
const MOST_RUNS: usize = 16;
/// Schedules that are remembered, with the kinds that were asked for.
const REMEMBERED: usize = 16;
/// Longer descriptions are not remembered.
const REMEMBERED_BYTES: usize = 1 << 10;

/// Answers plain questions.
#[derive(Debug)]
pub(crate) struct Assigner {
    now: fn() -> Moment,
    schedules: Loaded,
    known: Mutex<Known>,
    turn: Arc<Mutex<Turn>>,
    /// The last answer: its strings keep their memory.
    answer: Mutex<proto::AssignSlotResponse>,
}

/// A schedule that was asked for with a kind of job.
#[derive(Debug)]
pub(super) struct Prepared {
    asked: proto::Schedule,
    kind: String,
    pub(super) schedule: Arc<Schedule>,
    identity: proto::ScheduleIdentity,
    run_key_prefix: String,
}

/// Schedules in the order in which they were last asked for.
#[derive(Debug, Default)]
struct Known {
    /// Those with names are of these.
    catalog: Arc<Catalog>,
    prepared: Vec<Arc<Prepared>>,
}

/// A question that has an answer.
#[derive(Debug)]
pub(crate) struct Question {
    prepared: Arc<Prepared>,
    id: OwnId,
    from: Moment,
    run_count: usize,
}

/// An ID that needs no message.
#[derive(Debug)]
enum OwnId {
    Text(String),
    Other(Id<'static>),
}

impl OwnId {
    fn try_new(message: proto::Id) -> Option<Self> {
        let other = match convert::id(&message).ok()? {
            Id::Text(_) => None,
            Id::Uuid(uuid) => Some(Id::Uuid(uuid)),
            Id::Integer(integer) => Some(Id::Integer(integer)),
            Id::Fraction(fraction) => Some(Id::Fraction(fraction)),
        };
        match (other, message.id) {
            (Some(id), _) => Some(Self::Other(id)),
            (None, Some(proto::id::Id::Text(text))) => Some(Self::Text(text)),
            (None, _) => None,
        }
    }

    fn get(&self) -> Option<Id<'_>> {
        match self {
            Self::Text(text) => Id::text(text).ok(),
            Self::Other(id) => Some(*id),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Assigner {
    pub(crate) fn new(now: fn() -> Moment, schedules: Loaded) -> Self {
        let (known, turn, answer) = Default::default();
        Self { now, schedules, known, turn, answer }
    }

    /// Who will ask in this turn of the event loop.
    pub(crate) const fn turn(&self) -> &Arc<Mutex<Turn>> {
        &self.turn
    }

    /// The question of a message, if it is a plain one.
    pub(crate) fn read(&self, message: Bytes) -> Option<Question> {
        let proto::AssignSlotRequest {
            schedule,
            id,
            from_time,
            next_run_count,
            kind,
            weight,
            newcomer,
        } = proto::AssignSlotRequest::decode(message).ok()?;
        if weight.is_some() || newcomer.is_some() {
            return None;
        }
        let run_count = usize::try_from(next_run_count.unwrap_or(1)).ok()?;
        if run_count > MOST_RUNS {
            return None;
        }
        let prepared = lock(&self.known).find(schedule?, kind, &self.schedules)?;
        let from = convert::moment_or_now("", from_time, self.now).ok()?;
        prepared.schedule.check_from(from, run_count).ok()?;
        Some(Question { prepared, id: OwnId::try_new(id?)?, from, run_count })
    }

    /// Where the ID stands; at the end of the turn, if others are to ask in it and it is quicker
    /// to decide together.
    pub(crate) async fn place(&self, question: &Question, mut seat: Seat) -> Option<Place> {
        let Question { prepared, id, .. } = question;
        let together = matches!(prepared.schedule.placement(), Placement::Twister { .. });
        match id {
            OwnId::Other(id @ (Id::Uuid(_) | Id::Integer(_))) if together => {
                poll_fn(|cx| seat.poll(cx, || (Arc::clone(&prepared.schedule), *id))).await
            }
            id => prepared.schedule.place(&id.get()?).ok(),
        }
    }

    /// The answer, as gRPC frames it.
    pub(crate) fn answer(&self, question: &Question, place: &Place) -> Option<Vec<u8>> {
        let Question { prepared, id, from, run_count } = question;
        let id = id.get()?;
        let schedule = &*prepared.schedule;
        let runs = schedule.runs_from(*from, *run_count).ok()?;
        let mut answer = lock(&self.answer);
        let proto::AssignSlotResponse {
            identity,
            slot_index,
            slot_offset,
            cycle_offset,
            last_run,
            next_runs,
            reason,
            first_run: _,      // of newcomers
            further_pieces: _, // of weights
        } = &mut *answer;
        let proto::ScheduleIdentity { fingerprint, run_key_schedule } =
            identity.get_or_insert_default();
        fingerprint.clone_from(&prepared.identity.fingerprint);
        run_key_schedule.clone_from(&prepared.identity.run_key_schedule);
        *slot_index = convert::count(place.slot);
        *slot_offset = Some(convert::duration(schedule.span(place.slot_offset)));
        *cycle_offset = Some(convert::duration(schedule.span(place.cycle_offset)));
        let reason = reason.get_or_insert_default();
        convert::rewrite_reason(reason, place, &id);
        let rewrite = |into: &mut proto::Run, run: offbeat_core::Run| {
            let prefix = prepared.run_key_prefix.as_str();
            convert::rewrite_run(into, run, prefix, &id, &reason.canonical_id);
        };
        match runs.last_run(place).ok()? {
            Some(run) => rewrite(last_run.get_or_insert_default(), run),
            None => *last_run = None,
        }
        next_runs.resize_with(*run_count, proto::Run::default);
        for (into, run) in next_runs.iter_mut().zip(runs.next_runs(place)) {
            rewrite(into, run.ok()?);
        }
        let length = answer.encoded_len();
        let mut framed = Vec::with_capacity(PREFIX + length);
        framed.push(0);
        framed.extend(u32::try_from(length).ok()?.to_be_bytes());
        answer.encode_raw(&mut framed);
        Some(framed)
    }
}

impl Known {
    fn find(
        &mut self,
        asked: proto::Schedule,
        kind: String,
        schedules: &Loaded,
    ) -> Option<Arc<Prepared>> {
        let is_it = |one: &Arc<Prepared>| one.asked == asked && one.kind == kind;
        if !schedules.is(&self.catalog) {
            *self = Self { catalog: schedules.snapshot(), prepared: Vec::new() };
        }
        if let Some(at) = self.prepared.iter().position(is_it) {
            let asked_lately = self.prepared.get_mut(..=at)?;
            asked_lately.rotate_right(1);
            return asked_lately.first().cloned();
        }
        let prepared = Arc::new(Prepared::try_new(asked, kind, &self.catalog)?);
        if prepared.asked.encoded_len() <= REMEMBERED_BYTES {
            self.prepared.truncate(REMEMBERED - 1);
            self.prepared.insert(0, Arc::clone(&prepared));
        }
        Some(prepared)
    }
}

impl Prepared {
    fn try_new(asked: proto::Schedule, kind: String, catalog: &Catalog) -> Option<Self> {
        if !may_be_plain(&asked, catalog) {
            return None;
        }
        let schedule = convert::schedule(Some(asked.clone()), catalog).ok()?;
        if !schedule.is_plain() {
            return None;
        }
        let run_key_prefix = convert::run_key_prefix(&schedule, &kind).ok()?;
        let identity = convert::identity(&schedule);
        Some(Self { asked, kind, schedule, identity, run_key_prefix })
    }
}

/// Whether cycles are periods and nothing else, as far as one sees at once.
fn may_be_plain(schedule: &proto::Schedule, catalog: &Catalog) -> bool {
    use proto::schedule::Schedule as Wire;
    use proto::schedule_spec::Cycle;
    match &schedule.schedule {
        None => false,
        Some(Wire::Spec(spec)) => {
            let regular = spec.active_windows.is_empty() && spec.exclusions.is_empty();
            regular && matches!(spec.cycle, Some(Cycle::Period(_)))
        }
        Some(Wire::Version(proto::ScheduleVersion { name, version })) => {
            let name = ScheduleName::try_new(name, (*version).into());
            let known = name.as_ref().ok().and_then(|name| catalog.get(name).ok());
            known.is_some_and(|schedule| schedule.is_plain())
        }
    }
}
