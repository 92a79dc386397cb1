//! The methods of each service, and their handlers.

use super::router::{Routed, Router};
use super::{
    LaneHandlers, LatenessHandlers, NamedSpreadHandlers, SimulationHandlers, SlotHandlers,
    SpreadHandlers, StageHandlers,
};
use crate::proto::lane_service_server::{self, LaneService as _};
use crate::proto::lateness_service_server::{self, LatenessService as _};
use crate::proto::named_spread_service_server::{self, NamedSpreadService as _};
use crate::proto::simulation_service_server::{self, SimulationService as _};
use crate::proto::slot_service_server::{self, SlotService as _};
use crate::proto::spread_service_server::{self, SpreadService as _};
use crate::proto::stage_service_server::{self, StageService as _};

impl Routed for SlotHandlers {
    fn route(self, router: &mut Router) {
        router
            .service(slot_service_server::SERVICE_NAME, self)
            .unary("DescribeSchedule", |slots, request| slots.describe_schedule(request))
            .unary("ListSlots", |slots, request| slots.list_slots(request))
            .unary("GetWindowPredicate", |slots, request| slots.get_window_predicate(request))
            .unary("AssignSlot", |slots, request| slots.assign_slot(request))
            .unary("AssignSlots", |slots, request| slots.assign_slots(request))
            .streaming("StreamSlotAssignments", |slots, request| {
                slots.stream_slot_assignments(request)
            })
            .unary("GetReciprocalSlots", |slots, request| slots.get_reciprocal_slots(request))
            .unary("ListDueRuns", |slots, request| slots.list_due_runs(request))
            .unary("PlanMigration", |slots, request| slots.plan_migration(request))
            .unary("AuditIds", |slots, request| slots.audit_ids(request));
    }
}

impl Routed for SpreadHandlers {
    fn route(self, router: &mut Router) {
        router
            .service(spread_service_server::SERVICE_NAME, self)
            .streaming("Spread", |spreads, request| spreads.spread(request));
    }
}

impl Routed for NamedSpreadHandlers {
    fn route(self, router: &mut Router) {
        router
            .service(named_spread_service_server::SERVICE_NAME, self)
            .unary("OpenSpread", |spreads, request| spreads.open_spread(request))
            .unary("SubmitGroups", |spreads, request| spreads.submit_groups(request))
            .unary("WaitForGroups", |spreads, request| spreads.wait_for_groups(request))
            .unary("PullJobs", |spreads, request| spreads.pull_jobs(request))
            .unary("SettleJobs", |spreads, request| spreads.settle_jobs(request))
            .streaming("StreamJobs", |spreads, request| spreads.stream_jobs(request))
            .unary("DescribeSpread", |spreads, request| spreads.describe_spread(request))
            .unary("ListSpreads", |spreads, request| spreads.list_spreads(request))
            .unary("ListDeadLetters", |spreads, request| spreads.list_dead_letters(request))
            .unary("DeleteDeadLetters", |spreads, request| spreads.delete_dead_letters(request))
            .unary("CloseSpread", |spreads, request| spreads.close_spread(request));
    }
}

impl Routed for StageHandlers {
    fn route(self, router: &mut Router) {
        router
            .service(stage_service_server::SERVICE_NAME, self)
            .unary("AllocateWorkers", |stages, request| stages.allocate_workers(request))
            .unary("NextStage", |stages, request| stages.next_stage(request));
    }
}

impl Routed for LaneHandlers {
    fn route(self, router: &mut Router) {
        router
            .service(lane_service_server::SERVICE_NAME, self)
            .unary("RouteJob", |lanes, request| lanes.route_job(request))
            .unary("DispatchJobs", |lanes, request| lanes.dispatch_jobs(request))
            .unary("SplitWorkers", |lanes, request| lanes.split_workers(request))
            .unary("PlanLanes", |lanes, request| lanes.plan_lanes(request));
    }
}

impl Routed for LatenessHandlers {
    fn route(self, router: &mut Router) {
        router
            .service(lateness_service_server::SERVICE_NAME, self)
            .unary("RecordLateness", |lateness, request| lateness.record_lateness(request));
    }
}

impl Routed for SimulationHandlers {
    fn route(self, router: &mut Router) {
        router
            .service(simulation_service_server::SERVICE_NAME, self)
            .server_streaming("Simulate", |simulations, request| simulations.simulate(request));
    }
}
