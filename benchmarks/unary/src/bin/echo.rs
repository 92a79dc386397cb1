//! A stock tonic service with the messages of `AssignSlot` that decides nothing: it answers every
//! request with the same answer, which it gets from an Offbeat server at its start.
//!
//! `echo LISTEN OFFBEAT`. Runtime and server have the defaults of tokio and tonic.

use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};
use unary::proto::slot_service_client::SlotServiceClient;
use unary::proto::slot_service_server::{SlotService, SlotServiceServer};
use unary::proto::*;

struct Echo(AssignSlotResponse);

/// The methods that are not called.
macro_rules! unimplemented_methods {
    ($($name:ident: $request:ty => $response:ty;)*) => {
        #[tonic::async_trait]
        impl SlotService for Echo {
            async fn assign_slot(
                &self,
                request: Request<AssignSlotRequest>,
            ) -> Result<Response<AssignSlotResponse>, Status> {
                std::hint::black_box(request.into_inner());
                Ok(Response::new(self.0.clone()))
            }
            type StreamSlotAssignmentsStream =
                tokio_stream::Empty<Result<StreamSlotAssignmentsResponse, Status>>;
            $(async fn $name(&self, _: Request<$request>) -> Result<Response<$response>, Status> {
                Err(Status::unimplemented(""))
            })*
        }
    };
}

unimplemented_methods! {
    describe_schedule: DescribeScheduleRequest => DescribeScheduleResponse;
    list_slots: ListSlotsRequest => ListSlotsResponse;
    get_window_predicate: GetWindowPredicateRequest => GetWindowPredicateResponse;
    assign_slots: AssignSlotsRequest => AssignSlotsResponse;
    stream_slot_assignments:
        Streaming<StreamSlotAssignmentsRequest> => Self::StreamSlotAssignmentsStream;
    get_reciprocal_slots: GetReciprocalSlotsRequest => GetReciprocalSlotsResponse;
    list_due_runs: ListDueRunsRequest => ListDueRunsResponse;
    plan_migration: PlanMigrationRequest => PlanMigrationResponse;
    list_schedules: ListSchedulesRequest => ListSchedulesResponse;
    compare_schedules: CompareSchedulesRequest => CompareSchedulesResponse;
    audit_ids: AuditIdsRequest => AuditIdsResponse;
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let listen = arguments.next().ok_or("LISTEN?")?.parse()?;
    let offbeat = arguments.next().ok_or("OFFBEAT?")?;
    let mut client = SlotServiceClient::connect(format!("http://{offbeat}")).await?;
    let answer = client.assign_slot(unary::driver::request("HASH", 0)).await?.into_inner();
    drop(client);
    Server::builder().add_service(SlotServiceServer::new(Echo(answer))).serve(listen).await?;
    Ok(())
}
