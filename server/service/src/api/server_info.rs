//! `ServerInfoService`: what this server is.

use offbeat_core::calendar::time_zone_database;
use offbeat_core::limits::Limit;
use tonic::{Request, Response, Status};

use crate::limits;
use offbeat_proto as proto;
use offbeat_proto::server_info_service_server::ServerInfoService;

/// Answers `ServerInfoService`; stateless.
#[derive(Debug, Clone, Copy)]
pub struct ServerInfoHandlers;

#[tonic::async_trait]
impl ServerInfoService for ServerInfoHandlers {
    async fn get_server_info(
        &self,
        _request: Request<proto::GetServerInfoRequest>,
    ) -> Result<Response<proto::GetServerInfoResponse>, Status> {
        Ok(Response::new(proto::GetServerInfoResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time_zone_database: time_zone_database().to_owned(),
            limits: limits::all().map(limit).collect(),
        }))
    }
}

fn limit(limit: &Limit) -> proto::ServerLimit {
    let Limit { id: _, name, minimum, maximum, unit, note } = *limit;
    proto::ServerLimit {
        id: limits::id(limit),
        name: name.to_owned(),
        min_value: minimum,
        max_value: maximum,
        unit: unit.to_owned(),
        note: note.to_owned(),
    }
}
