//! Plans of lanes. Each is simulated, so there are few executions, and each of them is slow.

use offbeat::api::lanes::plan;
use offbeat::proto::LaneSet;
use offbeat::proto::v1beta1::PlanLanesRequest;
use prost::Message as _;

use super::refusal;

/// The bytes of a `PlanLanesRequest`. Many workers take long and test nothing new.
pub fn plans(data: &[u8]) {
    let Ok(request) = PlanLanesRequest::decode(data) else { return };
    if request.worker_count > 64 {
        return;
    }
    let answer = match plan(request.clone()) {
        Ok(answer) => answer,
        Err(refused) => return refusal::check(&refused),
    };
    let count = |set: &LaneSet| set.lanes.iter().map(|lane| lane.worker_count).sum::<i32>();
    if let Some(lanes) = answer.lane_set.as_ref().filter(|set| !set.lanes.is_empty()) {
        assert_eq!(count(lanes), request.worker_count, "{answer:?}");
    }
    assert_eq!(plan(request).as_ref(), Ok(&answer), "the same question, another answer");
}
