//! A producer of a named spread: keeps its groups until they are settled, and submits them again if
//! the server has lost them.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use offbeat_core::spread::named::content_digest;
use offbeat_proto::{
    DescribeSpreadRequest, GroupCommit, GroupPart, GroupState, GroupStatus, IndexRange,
    NamedSpreadSpec, OpenSpreadRequest, Receipt, SpreadDescription, SubmitGroupsRequest,
    SubmitGroupsResponse, SubmittedJob, WaitForGroupsRequest,
};
use offbeat_service::limits::SPREAD_INPUT_BYTES;

use super::calls::{Retry, is_unknown_spread, say};
use super::groups::Group;
use crate::Failure;
use crate::connect::{CallError, Client, Unary};
use crate::output::counted;

/// Limits of a part of a large group: small enough for the default limits of messages, large enough
/// to be quick.
const PART_BYTES: usize = 1 << 20;
const PART_JOBS: usize = 65_536;

/// Maximum number of groups that a call asks about, and how long it may wait.
const ASKED_GROUPS: usize = 4_096;
const WAIT: Duration = Duration::from_secs(1);

/// How often a call opens the spread: a restart may lose the spread between its opening and the
/// call.
const OPENINGS: u32 = 4;

/// How often a group is begun: a restart may lose its first parts before the last one has come.
const BEGINNINGS: u32 = 16;

/// Bytes that a group takes beside its ID, and a job beside its payload.
const GROUP_OVERHEAD: usize = 256;
const JOB_OVERHEAD: usize = 64;

/// A group that is not known to be settled.
struct UnsettledGroup {
    id: String,
    jobs: Vec<SubmittedJob>,
    sha256: Bytes,
    /// Its memory, in bytes.
    size: usize,
    /// The receipt of the spread when the commit was first sent.
    first_receipt: Option<Receipt>,
    /// The epoch that received it last.
    epoch: Option<i64>,
    settled_ranges: Vec<IndexRange>,
}

impl UnsettledGroup {
    fn new(mut group: Group) -> Self {
        let payloads: Vec<Bytes> = std::iter::from_fn(|| group.next_job())
            .map(|job| Bytes::from(job.text().into_owned()))
            .collect();
        let id = group.name.text().into_owned();
        let bytes: usize = payloads.iter().map(|job| job.len() + JOB_OVERHEAD).sum();
        Self {
            size: bytes + id.len() + GROUP_OVERHEAD,
            id,
            sha256: Bytes::copy_from_slice(&content_digest(&payloads)),
            jobs: payloads.into_iter().map(|payload| SubmittedJob { payload }).collect(),
            first_receipt: None,
            epoch: None,
            settled_ranges: Vec::new(),
        }
    }

    /// The group in parts; the last one has the commit.
    fn parts(&self) -> Vec<GroupPart> {
        let mut parts = Vec::new();
        let mut part = GroupPart { group_id: self.id.clone(), ..GroupPart::default() };
        let mut bytes = 0;
        for (index, job) in (0..).zip(&self.jobs) {
            let is_full = bytes + job.payload.len() > PART_BYTES || part.jobs.len() >= PART_JOBS;
            if is_full && !part.jobs.is_empty() {
                let next = GroupPart {
                    group_id: self.id.clone(),
                    first_job_index: index,
                    ..GroupPart::default()
                };
                parts.push(std::mem::replace(&mut part, next));
                bytes = 0;
            }
            bytes += job.payload.len();
            part.jobs.push(job.clone());
        }
        part.commit = Some(GroupCommit {
            job_count: i64::try_from(self.jobs.len()).unwrap_or(i64::MAX),
            sha256: self.sha256.clone(),
            ..GroupCommit::default()
        });
        parts.push(part);
        parts
    }
}

/// The progress of the groups.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) group_count: u64,
    pub(super) job_count: u64,
    /// Groups that had been settled under their ID before.
    pub(super) earlier_count: u64,
    pub(super) dead_letter_count: u64,
}

/// Submits groups.
pub(super) struct Producer {
    service: Service,
    unsettled: VecDeque<UnsettledGroup>,
    size: usize,
    totals: Totals,
}

impl Producer {
    /// Opens the spread; without a spec, it must be open.
    pub(super) async fn open(
        client: Client,
        name: &str,
        spec: Option<NamedSpreadSpec>,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let must_be_open = spec.is_none();
        let name = name.to_owned();
        let mut service = Service { client, name, spec, receipt: None, patience };
        let mut retry = service.retry();
        while let Err(error) = service.open().await {
            if must_be_open && is_unknown_spread(&error) {
                let name = &service.name;
                return Err(Failure::Other(format!(
                    "there is no spread {name}: --feeders opens it"
                )));
            }
            if matches!(error.code.as_str(), "invalid_argument" | "failed_precondition") {
                return Err(Failure::Usage(error.to_string()));
            }
            retry.pause_after(error).await?;
        }
        Ok(Self { service, unsettled: VecDeque::new(), size: 0, totals: Totals::default() })
    }

    pub(super) const fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Submits a group, and keeps it.
    pub(super) async fn submit(&mut self, group: Group) -> Result<(), Failure> {
        let mut group = UnsettledGroup::new(group);
        if group.jobs.is_empty() {
            return Ok(());
        }
        let status = self.service.send(&mut group).await?;
        self.totals.group_count += 1;
        self.totals.job_count += group.jobs.len() as u64;
        // It was settled before this commit, unless an answer to the commit was lost.
        self.totals.earlier_count += u64::from(status.state() == GroupState::Settled);
        self.size += group.size;
        let is_new_epoch = self.unsettled.back().is_some_and(|last| last.epoch != group.epoch);
        self.unsettled.push_back(group);
        if is_new_epoch {
            self.submit_lost().await?;
        }
        while self.size > SPREAD_INPUT_BYTES.max_size() {
            self.ask().await?;
        }
        Ok(())
    }

    /// Waits until all groups are settled.
    pub(super) async fn wait(&mut self) -> Result<(), Failure> {
        while !self.unsettled.is_empty() {
            self.ask().await?;
        }
        Ok(())
    }

    /// Asks for the progress of the groups that were not asked about for longest.
    async fn ask(&mut self) -> Result<(), Failure> {
        let asked: Vec<_> =
            self.unsettled.iter().take(ASKED_GROUPS).map(|group| group.id.clone()).collect();
        let rounds = u32::try_from(self.unsettled.len().div_ceil(ASKED_GROUPS)).unwrap_or(u32::MAX);
        let wait =
            Duration::from_millis((WAIT / rounds).as_millis().try_into().unwrap_or_default());
        let request = WaitForGroupsRequest {
            spread_name: self.service.name.clone(),
            group_ids: asked,
            max_wait_duration: prost_types::Duration::try_from(wait).ok(),
        };
        let mut retry = self.service.retry();
        let response = loop {
            match self.service.call(&request, WAIT).await {
                Ok(response) => break response,
                Err(error) => retry.pause_after(error).await?,
            }
        };
        for status in response.groups {
            let group = self.unsettled.pop_front().filter(|group| group.id == status.group_id);
            let Some(group) = group else {
                let message = "the server answered about other groups than it was asked about";
                return Err(Failure::Other(message.to_owned()));
            };
            self.note(group, &status, response.epoch);
        }
        self.submit_lost().await
    }

    fn note(&mut self, mut group: UnsettledGroup, status: &GroupStatus, epoch: i64) {
        // Received in this epoch, and unknown: settled so long ago that it was forgotten.
        let is_forgotten = status.state() == GroupState::Unknown && group.epoch == Some(epoch);
        if is_forgotten || status.state() == GroupState::Settled {
            self.size -= group.size;
            self.totals.dead_letter_count += status.dead_letter_count.unsigned_abs();
            return;
        }
        if matches!(status.state(), GroupState::Received | GroupState::Stored) {
            group.settled_ranges.clone_from(&status.settled_ranges);
        } else {
            group.epoch = None;
        }
        self.unsettled.push_back(group); // behind those that were not asked about
    }

    /// Submits the groups again that an earlier epoch has received.
    async fn submit_lost(&mut self) -> Result<(), Failure> {
        let current = |service: &Service| service.receipt.map(|receipt| receipt.epoch);
        let epoch = current(&self.service);
        let lost = self
            .unsettled
            .iter()
            .filter(|group| group.epoch.is_none() || group.epoch != epoch)
            .count();
        if lost > 0 {
            let lost = counted(lost as u64, "group");
            say(&format!("the server has lost {lost}, by a restart: submitting them again"));
        }
        for group in &mut self.unsettled {
            if group.epoch.is_none() || group.epoch != current(&self.service) {
                self.service.send(group).await?;
            }
        }
        Ok(())
    }
}

/// A named spread of a server.
struct Service {
    client: Client,
    name: String,
    /// The spec to open it with; `None` until it was found open.
    spec: Option<NamedSpreadSpec>,
    /// The receipt of the last opening or commit.
    receipt: Option<Receipt>,
    patience: Duration,
}

impl Service {
    fn retry(&self) -> Retry {
        Retry::new(&self.client, self.patience)
    }

    /// Opens the spread, or finds it open.
    async fn open(&mut self) -> Result<(), CallError> {
        let spread_name = self.name.clone();
        let description = match &self.spec {
            Some(_) => {
                let request =
                    OpenSpreadRequest { spread_name, spec: self.spec, leave_closed: false };
                self.client.call(&request, Duration::ZERO).await?.description
            }
            None => {
                let request =
                    DescribeSpreadRequest { spread_name, ..DescribeSpreadRequest::default() };
                self.client.call(&request, Duration::ZERO).await?.description
            }
        };
        let SpreadDescription { spec, epoch, .. } = description.unwrap_or_default();
        let lease_duration = spec.as_ref().and_then(|spec| spec.lease_duration);
        self.receipt = Some(Receipt { epoch, lease_duration });
        self.spec = self.spec.or(spec);
        Ok(())
    }

    /// Calls a method. If the spread is not known, opens it and calls again.
    async fn call<R: Unary>(
        &mut self,
        request: &R,
        wait: Duration,
    ) -> Result<R::Answer, CallError> {
        for _ in 0..OPENINGS {
            match self.client.call(request, wait).await {
                Err(error) if is_unknown_spread(&error) => self.open().await?,
                answered => return answered,
            }
        }
        self.client.call(request, wait).await
    }

    /// Submits a group until the server has received it.
    async fn send(&mut self, group: &mut UnsettledGroup) -> Result<GroupStatus, Failure> {
        let mut beginnings = 0;
        'group: loop {
            beginnings += 1;
            let mut response = SubmitGroupsResponse::default();
            for mut part in group.parts() {
                let mut retry = self.retry();
                response = loop {
                    match self.send_part(group, &mut part).await {
                        Ok(response) => break response,
                        // A restart between its parts has lost the first ones.
                        Err(error)
                            if error.field.ends_with("first_job_index")
                                && beginnings < BEGINNINGS =>
                        {
                            continue 'group;
                        }
                        Err(error) if error.is_transient() => retry.pause_after(error).await?,
                        Err(error) => {
                            let failure = retry.failure(&error);
                            return Err(Failure::Other(format!("group {}: {failure}", group.id)));
                        }
                    }
                };
            }
            group.epoch = response.receipt.map(|receipt| receipt.epoch);
            self.receipt = response.receipt;
            return Ok(response.groups.into_iter().next().unwrap_or_default());
        }
    }

    async fn send_part(
        &mut self,
        group: &mut UnsettledGroup,
        part: &mut GroupPart,
    ) -> Result<SubmitGroupsResponse, CallError> {
        let is_first = group.first_receipt.is_none();
        if let Some(commit) = &mut part.commit {
            if is_first {
                group.first_receipt = self.receipt;
            } else {
                commit.first_receipt = group.first_receipt;
                commit.settled_ranges.clone_from(&group.settled_ranges);
            }
        }
        let request =
            SubmitGroupsRequest { spread_name: self.name.clone(), groups: vec![part.clone()] };
        let answered = self.call(&request, Duration::ZERO).await;
        if is_first && matches!(&answered, Err(error) if error.code == "resource_exhausted") {
            group.first_receipt = None; // it was not received
        }
        answered
    }
}
