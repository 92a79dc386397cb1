//! A stock tonic server with the messages of `AssignSlot`, which decides nothing: it answers
//! every request with the first answer that an Offbeat server gave.
//!
//! `echo LISTEN OFFBEAT [THREADS]`; without threads, the one that starts serves.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tonic::{Request, Response, Status, Streaming};
use unary::proto::slot_service_client::SlotServiceClient;
use unary::proto::slot_service_server::{SlotService, SlotServiceServer};
use unary::proto::*;

struct Echo(AssignSlotResponse);

/// The methods that nobody calls.
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
    audit_ids: AuditIdsRequest => AuditIdsResponse;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let listen: SocketAddr = arguments.next().ok_or("LISTEN?")?.parse()?;
    let offbeat = arguments.next().ok_or("OFFBEAT?")?;
    let threads: Option<usize> = arguments.next().map(|text| text.parse()).transpose()?;
    let runtime = match threads {
        None => Builder::new_current_thread().enable_all().build()?,
        Some(threads) => {
            Builder::new_multi_thread().worker_threads(threads).enable_all().build()?
        }
    };
    runtime.block_on(async {
        let mut client = SlotServiceClient::connect(format!("http://{offbeat}")).await?;
        let request = unary::driver::request("HASH", 0);
        let answer = client.assign_slot(request).await?.into_inner();
        drop(client);
        let listener = TcpListener::bind(listen).await?;
        let serving = async {
            tonic::transport::Server::builder()
                .tcp_nodelay(true)
                .add_service(SlotServiceServer::new(Echo(answer)))
                .serve_with_incoming(
                    tonic::transport::server::TcpIncoming::from(listener).with_nodelay(Some(true)),
                )
                .await
        };
        // On a worker, where there are some: the thread that starts is not one of them.
        if threads.is_some() {
            tokio::spawn(serving).await??
        } else {
            serving.await?
        };
        Ok(())
    })
}
