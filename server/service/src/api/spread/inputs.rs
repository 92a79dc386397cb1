//! Groups that a client has sent, and the next request for more.

use std::collections::{BTreeMap, VecDeque};

use offbeat_core::spread::{Pull, Source};
use offbeat_core::{Reason, Rejection};

use crate::api::convert::{required, wide};
use offbeat_proto as proto;

/// The groups of one stream: a few numbers for each open group, and no jobs.
#[derive(Debug)]
pub(super) struct Inputs {
    sizes_needed: bool,
    job_window: u64,
    group_window: u64,
    groups: Vec<Group>,
    /// Unused places of `groups`.
    free: Vec<usize>,
    places: BTreeMap<i64, usize>,
    /// Groups that have arrived and that no feeder has taken.
    waiting: VecDeque<usize>,
    next_index: i64,
    no_more_groups: bool,
    /// Groups that were requested and have not arrived.
    awaited_groups: u64,
    /// Whether a feeder waits for a group.
    wants_group: bool,
    /// Groups that need more jobs.
    low: Vec<usize>,
}

#[derive(Debug, Default)]
struct Group {
    index: i64,
    size: Option<u64>,
    received: u64,
    /// Jobs that have arrived and were not dealt.
    ready: u64,
    /// Jobs that were requested and have not arrived; at most the rest of `size`.
    awaited: u64,
    ended: bool,
    /// Whether it is in `low`.
    is_low: bool,
}

impl Inputs {
    pub(super) const fn new(sizes_needed: bool, job_window: u64, group_window: u64) -> Self {
        Self {
            sizes_needed,
            job_window,
            group_window,
            groups: Vec::new(),
            free: Vec::new(),
            places: BTreeMap::new(),
            waiting: VecDeque::new(),
            next_index: 0,
            no_more_groups: false,
            awaited_groups: 0,
            wants_group: false,
            low: Vec::new(),
        }
    }

    /// Number of groups that take memory, unused places included.
    pub(super) fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The next request for groups and jobs, if one is due; `vacancies` is the number of groups
    /// that would be taken at once.
    pub(super) fn demand(&mut self, vacancies: usize) -> Option<proto::SpreadDemand> {
        let group_count = self.groups_to_ask_for(vacancies as u64);
        self.awaited_groups += group_count;
        self.wants_group = false;
        let mut groups = Vec::new();
        for place in std::mem::take(&mut self.low) {
            let Some(group) = self.groups.get_mut(place) else { continue };
            group.is_low = false;
            let left = group.size.map_or(u64::MAX, |size| size - group.received - group.awaited);
            let job_count = (self.job_window - group.ready - group.awaited).min(left);
            if !group.ended && job_count > 0 {
                group.awaited += job_count;
                let (group_index, job_count) = (group.index, wide(job_count));
                groups.push(proto::GroupDemand { group_index, job_count });
            }
        }
        let jobs_per_group = wide(self.job_window);
        let is_empty = group_count == 0 && groups.is_empty();
        (!is_empty).then(|| proto::SpreadDemand {
            group_count: wide(group_count),
            jobs_per_group,
            groups,
        })
    }

    fn groups_to_ask_for(&self, vacancies: u64) -> u64 {
        let ahead = self.waiting.len() as u64 + self.awaited_groups;
        let wanted = if self.wants_group { vacancies.max(1) } else { 0 } + self.group_window;
        // Half a window at a time: otherwise each group that is taken would cost a message.
        let is_due = self.wants_group || ahead <= wanted / 2;
        if self.no_more_groups || !is_due { 0 } else { wanted.saturating_sub(ahead) }
    }

    /// Takes an input message.
    pub(super) fn take(&mut self, input: proto::SpreadInput) -> Result<(), Rejection> {
        let proto::SpreadInput { groups, no_more_groups, whole_group_sizes } = input;
        for (number, size) in whole_group_sizes.into_iter().enumerate() {
            self.take_whole_group(size)
                .map_err(|refused| refused.under(&format!("input.whole_group_sizes[{number}]")))?;
        }
        for (number, group) in groups.into_iter().enumerate() {
            self.take_group(group)
                .map_err(|rejection| rejection.under(&format!("input.groups[{number}]")))?;
        }
        self.no_more_groups |= no_more_groups;
        Ok(())
    }

    fn take_whole_group(&mut self, size: i64) -> Result<(), Rejection> {
        let count = u64::try_from(size).ok().filter(|count| *count <= self.job_window);
        let count = count.ok_or_else(|| {
            let allowed = format!("must be 0 to {} jobs, as were asked for", self.job_window);
            Rejection::new(Reason::OutOfRange, "", size, allowed)
        })?;
        let place = self.open(self.next_index, Some(size)).map_err(
            |Rejection { reason, allowed, .. }| Rejection::new(reason, "", size, allowed),
        )?;
        if let Some(group) = self.groups.get_mut(place) {
            (group.awaited, group.ready, group.received, group.ended) = (0, count, count, true);
        }
        Ok(())
    }

    fn take_group(&mut self, message: proto::GroupInput) -> Result<(), Rejection> {
        let proto::GroupInput { group_index, size, job_count, last } = message;
        let index = required("group_index", group_index, "must be an open group, or the next")?;
        let place = match self.places.get(&index) {
            Some(place) => {
                refuse_if(size.is_some(), "size", || "must be set when the group is new alone")?;
                *place
            }
            None => self.open(index, size)?,
        };
        let Some(group) = self.groups.get_mut(place) else { return Ok(()) };
        refuse_if(group.ended, "group_index", || "must be a group that has not ended")?;
        let left = group.size.map_or(u64::MAX, |size| size - group.received);
        let count = u64::try_from(job_count)
            .ok()
            .filter(|count| *count <= group.awaited)
            .ok_or_else(|| {
                let allowed = match left == group.awaited {
                    true => format!("must be 0 to {left} jobs, which are left of its size"),
                    false => format!("must be 0 to {} jobs, as were asked for", group.awaited),
                };
                Rejection::new(Reason::OutOfRange, "job_count", job_count, allowed)
            })?;
        group.awaited -= count;
        group.ready += count;
        group.received += count;
        group.ended = last || group.size == Some(group.received);
        let missing = group.size.unwrap_or(group.received) - group.received;
        refuse_if(
            last && missing > 0,
            "last",
            || "must not be set before all jobs of the group's size have come",
        )
    }

    /// Opens a group; returns its place in `groups`.
    fn open(&mut self, index: i64, size: Option<i64>) -> Result<usize, Rejection> {
        if index != self.next_index {
            let allowed = format!("must be an open group, or the next number, {}", self.next_index);
            return Err(Rejection::new(Reason::OutOfRange, "group_index", index, allowed));
        }
        refuse_if(
            self.no_more_groups,
            "group_index",
            || "must be an open group: there were to be no more groups",
        )?;
        refuse_if(
            self.awaited_groups == 0,
            "group_index",
            || "must be an open group: no further group was asked for",
        )?;
        let size = match size {
            None if self.sizes_needed => {
                let allowed = "must be set with SPREAD_POLICY_COOLDOWN: 0 jobs or more";
                return Err(Rejection::new(Reason::FieldMissing, "size", "nothing", allowed));
            }
            None => None,
            Some(size) => Some(u64::try_from(size).map_err(|_| {
                Rejection::new(Reason::OutOfRange, "size", size, "must be 0 jobs or more")
            })?),
        };
        self.awaited_groups -= 1;
        self.next_index += 1;
        let awaited = size.map_or(self.job_window, |size| size.min(self.job_window));
        let group = Group { index, size, awaited, ..Group::default() };
        let place = self.free.pop().unwrap_or(self.groups.len());
        match self.groups.get_mut(place) {
            Some(old) => *old = group,
            None => self.groups.push(group),
        }
        self.places.insert(index, place);
        self.waiting.push_back(place);
        Ok(place)
    }

    /// The refusal of a stream that ended too early; names what the client did not send.
    pub(super) fn what_is_missing(&self) -> Rejection {
        let missing = |field: &str, allowed: String| {
            Rejection::new(Reason::FieldMissing, field, "nothing", allowed)
        };
        let open = self.places.values().filter_map(|place| self.groups.get(*place));
        match open.filter(|group| !group.ended).map(|group| group.index).min() {
            Some(index) => missing(
                "input.groups",
                format!("the stream ended, and group {index} had not: it may have more jobs"),
            ),
            None => missing(
                "input.no_more_groups",
                "the stream ended, and there may have been more groups".to_owned(),
            ),
        }
    }

    fn ask_for_jobs(&mut self, place: usize) {
        if let Some(group) = self.groups.get_mut(place)
            && !group.is_low
        {
            group.is_low = true;
            self.low.push(place);
        }
    }
}

impl Source for Inputs {
    type Group = usize;
    type Job = ();

    fn next_group(&mut self) -> Pull<usize> {
        match self.waiting.pop_front() {
            Some(place) => Pull::Ready(place),
            None if self.no_more_groups => Pull::End,
            None => {
                self.wants_group = true;
                Pull::Pending
            }
        }
    }

    #[inline]
    fn next_job(&mut self, place: &mut usize) -> Pull<()> {
        let Some(group) = self.groups.get_mut(*place) else { return Pull::End };
        let dealt = group.ready > 0;
        if dealt {
            group.ready -= 1;
        }
        let ended = group.ended;
        if !ended && group.ready + group.awaited <= self.job_window / 2 {
            self.ask_for_jobs(*place);
        }
        match (dealt, ended) {
            (true, _) => Pull::Ready(()),
            (false, true) => Pull::End,
            (false, false) => Pull::Pending,
        }
    }

    fn size(&self, place: &usize) -> u64 {
        self.groups.get(*place).and_then(|group| group.size).unwrap_or(0)
    }

    fn close(&mut self, place: usize) {
        if let Some(group) = self.groups.get(place) {
            self.places.remove(&group.index);
            self.free.push(place);
        }
    }
}

fn refuse_if(
    refused: bool,
    field: &str,
    allowed: impl Fn() -> &'static str,
) -> Result<(), Rejection> {
    if refused {
        return Err(Rejection::new(Reason::Contradictory, field, "what was sent", allowed()));
    }
    Ok(())
}
