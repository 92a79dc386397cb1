//! `AuditIds`: how evenly a sample of IDs fills the slots.

use std::sync::Arc;

use offbeat_core::population::{Audit, AuditReport, Finding, Warning};
use offbeat_core::{Catalog, Moment, Rejection};
use tonic::Status;

use super::columns::IdErrors;
use super::convert::{self, Column};
use super::weights::Pieces;
use crate::work::{Permit, offload};
use offbeat_proto as proto;
use offbeat_proto::status;

/// Bytes of a slot in an answer.
const SLOT_BYTES: usize = 8;

pub(super) async fn audit(
    mut request: proto::AuditIdsRequest,
    now: fn() -> Moment,
    catalog: Arc<Catalog>,
    permit: Option<Permit>,
) -> Result<proto::AuditIdsResponse, Status> {
    let refused = status::refused;
    let column = convert::column_of_one_zone(request.ids.take()).map_err(refused)?;
    let decided =
        offload(true, permit.clone(), move || decide(request, &column, now, &catalog)).await?;
    let answer = decided.map_err(refused)?;
    match permit {
        Some(permit) if !permit.take_answer(answer.slot_loads.len() * SLOT_BYTES) => {
            Err(status::no_room())
        }
        _ => Ok(answer),
    }
}

fn decide(
    request: proto::AuditIdsRequest,
    column: &Column,
    now: fn() -> Moment,
    catalog: &Catalog,
) -> Result<proto::AuditIdsResponse, Rejection> {
    let proto::AuditIdsRequest { schedule, ids: _, weights, from_time, kind } = request;
    let schedule = convert::schedule_of_kind(schedule, &kind, catalog)?;
    let from = convert::moment_or_now("from_time", from_time, now)?;
    Pieces::try_new(&schedule, &weights, column.len())?;
    let mut audit = Audit::try_new(&schedule, from)?;
    let mut errors = IdErrors::new(column);
    let mut row = 0;
    column.place_all(&schedule, &mut |place| {
        let added =
            place.and_then(|place| audit.add(&column.id(row)?, &place, weights.get(row).copied()));
        if let Err(rejection) = added {
            errors.push(row, rejection);
        }
        row += 1;
    });
    let report = audit.report()?;
    let expected = schedule.slot_load(report.id_count);
    let AuditReport {
        id_count,
        slot_loads,
        fullest_slot,
        fullest_load,
        fullest_to_mean_ratio,
        empty_slot_count,
        chi_square,
        p_value,
        warnings,
    } = report;
    Ok(proto::AuditIdsResponse {
        identity: Some(convert::identity(&schedule)),
        id_count: convert::wide(id_count),
        slot_loads,
        fullest_slot_index: convert::count(fullest_slot),
        fullest_load,
        fullest_to_mean_ratio,
        expected_load: Some(convert::expected_load(expected)),
        empty_slot_count: convert::count(empty_slot_count),
        chi_square,
        p_value,
        warnings: warnings.into_iter().map(warning).collect(),
        errors: errors.into_vec(),
    })
}

fn warning(warning: Warning) -> proto::AuditWarning {
    let Warning { finding, message } = warning;
    let finding = match finding {
        Finding::NeverRun => proto::AuditFinding::NeverRun,
        Finding::TimeBasedUuids => proto::AuditFinding::TimeBasedUuids,
        Finding::SparseIntegers => proto::AuditFinding::SparseIntegers,
        Finding::Uneven => proto::AuditFinding::Uneven,
        Finding::HeavyId => proto::AuditFinding::HeavyId,
        Finding::Duplicates => proto::AuditFinding::Duplicates,
    };
    proto::AuditWarning { finding: finding.into(), message }
}
