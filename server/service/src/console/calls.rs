//! The calls of the page: some methods of the services.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any_service;
use http::{HeaderMap, HeaderName, StatusCode};
use tokio::sync::Semaphore;

use super::{Console, simulations};
use crate::limits::CONSOLE_CALLS;

/// A header that forms of other sites cannot send, nor scripts without a preflight request.
const MARK: HeaderName = HeaderName::from_static("offbeat-console");

/// Methods that decide or describe, and change nothing.
const READS: [&str; 16] = [
    "/offbeat.v1.ServerInfoService/GetServerInfo",
    "/offbeat.v1.SlotService/DescribeSchedule",
    "/offbeat.v1.SlotService/ListSchedules",
    "/offbeat.v1.SlotService/ListSlots",
    "/offbeat.v1.SlotService/GetWindowPredicate",
    "/offbeat.v1.SlotService/AssignSlot",
    "/offbeat.v1.SlotService/AssignSlots",
    "/offbeat.v1.SlotService/GetReciprocalSlots",
    "/offbeat.v1.SlotService/CompareSchedules",
    "/offbeat.v1.SlotService/ListDueRuns",
    "/offbeat.v1.SlotService/PlanMigration",
    "/offbeat.v1.SlotService/AuditIds",
    "/offbeat.v1.NamedSpreadService/DescribeSpread",
    "/offbeat.v1.NamedSpreadService/ListSpreads",
    "/offbeat.v1.StageService/AllocateWorkers",
    "/offbeat.v1beta1.LanePlanningService/PlanLanes",
];

/// Methods that show what jobs carry, or change something.
const WRITES: [&str; 3] = [
    "/offbeat.v1.NamedSpreadService/ListDeadLetters",
    "/offbeat.v1.NamedSpreadService/RedriveDeadLetters",
    "/offbeat.v1.NamedSpreadService/DeleteDeadLetters",
];

pub(super) fn router(console: &Console) -> Router {
    let paths = READS.iter().chain(WRITES.iter());
    let places = Arc::new(Semaphore::new(CONSOLE_CALLS.max_size()));
    let state = Guard { writes: console.writes, places };
    let services = &console.services;
    let methods =
        paths.fold(Router::new(), |router, path| router.route(path, any_service(services.clone())));
    methods
        .merge(simulations::router(services.clone()))
        .route_layer(from_fn_with_state(state, guard))
}

/// State that the calls share.
#[derive(Clone)]
struct Guard {
    /// Whether they may write.
    writes: bool,
    places: Arc<Semaphore>,
}

async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let writes = WRITES.contains(&request.uri().path());
    if let Err(refused) = check(request.headers(), writes, guard.writes) {
        return (StatusCode::FORBIDDEN, refused).into_response();
    }
    // The answer of a unary call is complete when it is returned. Simulations have their own limit.
    let Ok(_place) = guard.places.try_acquire() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "the console has too many calls in flight\n")
            .into_response();
    };
    next.run(request).await
}

fn check(headers: &HeaderMap, writes: bool, allowed: bool) -> Result<(), &'static str> {
    if writes && !allowed {
        return Err("the console may only read: start the server with --console-write\n");
    }
    if !headers.contains_key(MARK) {
        return Err("offbeat-console: must be set: only the console may call on the admin port\n");
    }
    let site = headers.get("sec-fetch-site");
    if writes && site.is_none_or(|site| site != "same-origin") {
        return Err("sec-fetch-site: must be same-origin: only a page of this server may write\n");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Method;

    #[test]
    fn every_path_is_a_method() {
        for path in READS.into_iter().chain(WRITES) {
            let method = Method::at(path);
            assert!(method.is_known() && !method.streaming, "{path}");
        }
    }

    /// What an ID, a schedule or a population is asked can be asked on the page.
    #[test]
    fn every_unary_method_of_slots_is_a_read() {
        let service =
            offbeat_proto::descriptors::pool().get_service_by_name("offbeat.v1.SlotService");
        for method in service.unwrap().methods().filter(|method| !method.is_client_streaming()) {
            let path = format!("/offbeat.v1.SlotService/{}", method.name());
            assert!(READS.contains(&path.as_str()), "{path}");
        }
    }

    #[test]
    fn writes_need_the_flag_and_a_page_of_this_server() {
        let headers = |names: &[(&'static str, &'static str)]| {
            let of = |(name, value): &(&'static str, &'static str)| {
                (HeaderName::from_static(name), http::HeaderValue::from_static(value))
            };
            names.iter().map(of).collect::<HeaderMap>()
        };
        let mark = ("offbeat-console", "1");
        let page = headers(&[mark, ("sec-fetch-site", "same-origin")]);
        let (tool, typed) = (headers(&[mark]), headers(&[mark, ("sec-fetch-site", "none")]));
        assert!(check(&HeaderMap::new(), false, true).is_err());
        for reader in [&page, &tool, &typed] {
            assert_eq!(check(reader, false, false), Ok(()));
            assert!(check(reader, true, false).is_err());
        }
        assert_eq!(check(&page, true, true), Ok(()));
        for other in [&tool, &typed] {
            assert!(check(other, true, true).unwrap_err().starts_with("sec-fetch-site"));
        }
    }
}
