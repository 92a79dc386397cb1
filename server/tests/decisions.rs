//! Golden decisions and the table of refusals, over gRPC, and over JSON on HTTP/1.1 and HTTP/2.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use prost_reflect::{DynamicMessage, ReflectMessage as _};
use serde::Deserialize;
use serde_json::{Value, json};
use support::{Server, config, grpc, http2, json_request, message, path_of, post1, post2};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

#[derive(Deserialize)]
struct Golden {
    method: String,
    request: Value,
    response: Value,
}

/// The cases of all files that have this field: `response` for answers, `reason` for refusals.
fn decisions<T: serde::de::DeserializeOwned>(field: &str) -> Vec<T> {
    let files = support::test_files("vectors/decisions");
    assert!(files.len() >= 4);
    let cases = files.iter().flat_map(|file| {
        let Value::Array(cases) = support::test_data(file) else { panic!("{file} is no list") };
        cases
    });
    cases
        .filter(|case| case.get(field).is_some())
        .map(|case| serde_json::from_value(case).unwrap())
        .collect()
}

#[tokio::test]
async fn golden_answers() {
    let cases: Vec<Golden> = decisions("response");
    assert!(cases.len() > 250);
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    for case in cases {
        let method = support::method_of(&case.method);
        let expected = without_estimates(message(method.output(), &case.response));
        let by_grpc = grpc(&mut channel, &case.method, &case.request).await.unwrap();
        assert_eq!(without_estimates(by_grpc), expected, "{}", case.request);
        let ask = || json_request(&path_of(&case.method), &case.request.to_string());
        for answer in [post1(server.tcp().await, ask()).await, post2(&mut channel, ask()).await] {
            assert_eq!(answer.status, 200);
            assert_eq!(answer.headers["content-type"], "application/json");
            let by_json = message(method.output(), &answer.json());
            assert_eq!(without_estimates(by_json), expected, "{}", case.request);
        }
    }
}

/// Estimates are floats, which are tested elsewhere, together with the sentences that contain
/// them.
fn without_estimates(mut message: DynamicMessage) -> Value {
    for field in ["bucket_share", "slot_load", "second_load"] {
        if message.descriptor().get_field_by_name(field).is_some() {
            message.clear_field_by_name(field);
        }
    }
    let mut answer = serde_json::to_value(message).unwrap();
    for pair in answer.get_mut("pairs").and_then(Value::as_array_mut).into_iter().flatten() {
        pair.as_object_mut().unwrap().remove("message");
    }
    answer
}

#[derive(Deserialize)]
struct Refusal {
    name: String,
    method: String,
    request: Value,
    reason: String,
    field: String,
    value: Option<String>,
    #[serde(default)]
    allowed: Vec<String>,
    #[serde(default)]
    json_only: bool,
    /// The body as text, for what a request message cannot express.
    raw: Option<String>,
    fill_text: Option<Fill>,
    fill_list: Option<Fill>,
}

#[derive(Deserialize)]
struct Fill {
    path: Vec<String>,
    length: usize,
    element: Option<String>,
}

impl Fill {
    fn apply(&self, request: &mut Value, value: Value) {
        let place = self.path.iter().fold(request, |inner, name| &mut inner[name]);
        *place = value;
    }
}

#[tokio::test]
async fn the_table_of_refusals() {
    let cases: Vec<Refusal> = decisions("reason");
    assert!(cases.len() > 130);
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    for mut case in cases {
        if let Some(fill) = &case.fill_text {
            fill.apply(&mut case.request, Value::from("x".repeat(fill.length)));
        }
        if let Some(fill) = &case.fill_list {
            let element = Value::from(fill.element.clone());
            fill.apply(&mut case.request, Value::from(vec![element; fill.length]));
        }
        if !case.json_only {
            let status = grpc(&mut channel, &case.method, &case.request).await.unwrap_err();
            check_status(&case, &status);
        }
        let body = case.raw.clone().unwrap_or_else(|| case.request.to_string());
        let ask = || json_request(&path_of(&case.method), &body);
        for answer in [post1(server.tcp().await, ask()).await, post2(&mut channel, ask()).await] {
            assert_eq!(answer.status, 400, "{}", case.name);
            check_json(&case, &answer.json());
        }
    }
}

fn check_status(case: &Refusal, status: &Status) {
    let name = &case.name;
    assert_eq!(status.code(), Code::InvalidArgument, "{name}: {status:?}");
    let details = status.get_error_details();
    let info = details.error_info().unwrap();
    assert_eq!((info.domain.as_str(), &info.reason), ("offbeat", &full_reason(case)), "{name}");
    check_words(case, &info.metadata["field"], &info.metadata["value"], &info.metadata["allowed"]);
    let violation = &details.bad_request().unwrap().field_violations[0];
    assert_eq!(violation.field, case.field, "{name}");
    assert!(status.message().starts_with(&case.field), "{name}: {}", status.message());
}

fn check_json(case: &Refusal, body: &Value) {
    let name = &case.name;
    assert_eq!(body["code"], "invalid_argument", "{name}: {body}");
    let info = &body["details"][0];
    assert_eq!(info["type"], "google.rpc.ErrorInfo", "{name}");
    assert_eq!(info["debug"]["reason"], json!(full_reason(case)), "{name}: {body}");
    let word = |word: &str| info["debug"]["metadata"][word].as_str().unwrap().to_owned();
    check_words(case, &word("field"), &word("value"), &word("allowed"));
    let violation = &body["details"][1]["debug"]["fieldViolations"][0];
    assert_eq!(violation["field"], json!(case.field), "{name}");
    assert!(!info["value"].as_str().unwrap().is_empty(), "{name}: the detail's bytes");
}

fn check_words(case: &Refusal, field: &str, value: &str, allowed: &str) {
    let name = &case.name;
    assert_eq!(field, case.field, "{name}");
    if let Some(expected) = &case.value {
        assert_eq!(value, expected, "{name}");
    }
    assert!(!value.is_empty() && !allowed.is_empty(), "{name}");
    for words in &case.allowed {
        assert!(allowed.contains(words), "{name}: {allowed:?} should name {words:?}");
    }
}

fn full_reason(case: &Refusal) -> String {
    format!("ERROR_REASON_{}", case.reason)
}

/// A refused ID does not affect the others.
#[tokio::test]
async fn bad_ids_are_refused_one_by_one() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let max = "340282366920938463463374607431768211455";
    let columns = [
        (
            json!({"uuids": ["0190d7a211117abc8def0123456789ab", "", "g", "0190d7a211117abc8def0123456789ab"]}),
            "HASH",
            "uuids",
            vec![1, 2],
        ),
        (
            json!({"decimals": [max, "340282366920938463463374607431768211456", "1e3", "-0", "0"]}),
            "HASH",
            "decimals",
            vec![1, 2, 3],
        ),
        (json!({"texts": ["ok", "x".repeat(1_025), "x".repeat(1_024)]}), "HASH", "texts", vec![1]),
        (json!({"texts": ["a", "b"]}), "TWISTER", "texts", vec![0, 1]),
        (
            json!({"fractions": [0, "NaN", 1, 0.999_999, "Infinity", -0.1]}),
            "FRACTION",
            "fractions",
            vec![1, 2, 4, 5],
        ),
        (json!({"fractions": [0.5]}), "HASH", "fractions", vec![0]),
        (json!({"integers": ["1"]}), "FRACTION", "integers", vec![0]),
    ];
    for (ids, placement, column, bad) in columns {
        let request = json!({
            "schedule": {"spec": {"period": "28800s", "placement": format!("PLACEMENT_{placement}")}},
            "ids": ids,
        });
        let response = grpc(&mut channel, "AssignSlots", &request).await.unwrap();
        let response = serde_json::to_value(&response).unwrap();
        let rows = &response["assignments"];
        let slots: Vec<i64> = rows["slotIndexes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|slot| slot.as_i64().unwrap())
            .collect();
        let refused: Vec<usize> = (0..slots.len()).filter(|row| slots[*row] == -1).collect();
        assert_eq!(refused, bad, "{ids}");
        for (error, index) in rows["errors"].as_array().unwrap().iter().zip(&bad) {
            assert_eq!(error["field"], json!(format!("ids.{column}[{index}]")));
            let shown = error["idIndex"].as_str().unwrap_or("0"); // JSON omits 0
            assert_eq!(shown, index.to_string());
            assert!(
                !error["value"].as_str().unwrap().is_empty()
                    && !error["allowed"].as_str().unwrap().is_empty()
            );
        }
        assert_eq!(rows["errors"].as_array().unwrap().len(), bad.len());
        for column in ["slotOffsetTicks", "cycleOffsetTicks", "cycleIndexes", "nextRunUnixMillis"] {
            let cells = rows[column].as_array().unwrap();
            assert_eq!(cells.len(), slots.len());
            assert!(bad.iter().all(|row| cells[*row] == "-1"));
        }
    }
}

#[tokio::test]
async fn of_many_bad_ids_the_first_are_explained() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let request =
        json!({"schedule": support::any_schedule(), "ids": {"uuids": vec!["bad"; 1_002]}});
    let response = grpc(&mut channel, "AssignSlots", &request).await.unwrap();
    let response = serde_json::to_value(&response).unwrap();
    let errors = response["assignments"]["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1_002);
    assert_eq!(errors[999]["field"], "ids.uuids[999]");
    assert_eq!(errors[1_001], json!({"idIndex": "1001", "reason": "ERROR_REASON_MALFORMED"}));
}

#[tokio::test]
async fn the_largest_batches_are_answered() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    for placement in ["HASH", "TWISTER"] {
        let integers: Vec<String> = (0..65_536).map(|number| number.to_string()).collect();
        let request = json!({
            "schedule": {"spec": {"period": "28800s", "placement": format!("PLACEMENT_{placement}")}},
            "ids": {"integers": integers},
        });
        let response = grpc(&mut channel, "AssignSlots", &request).await.unwrap();
        let response = serde_json::to_value(&response).unwrap();
        assert_eq!(response["assignments"]["slotIndexes"].as_array().unwrap().len(), 65_536);
        assert!(response["assignments"].get("errors").is_none());
    }
}

const COLUMNS: [&str; 5] =
    ["slotIndexes", "slotOffsetTicks", "cycleOffsetTicks", "cycleIndexes", "nextRunUnixMillis"];

/// For packed IDs, for IDs that are decided one at a time, and for weighted ones.
#[tokio::test]
async fn a_read_mask_leaves_the_other_columns_out() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let weighted = json!({"spec": {"period": "28800s", "weightQuantum": "10"}});
    for (schedule, ids, weights) in [
        (support::any_schedule(), json!({"integers": ["7", "8", "9"]}), json!([])),
        (support::any_schedule(), json!({"texts": ["a", "", "c"]}), json!([])),
        (weighted, json!({"texts": ["a", "b", "c"]}), json!(["25", "3", "1"])),
    ] {
        let ask = |mask: &str| {
            let (schedule, ids, weights) = (schedule.clone(), ids.clone(), weights.clone());
            json!({"schedule": schedule, "ids": ids, "weights": weights, "readMask": mask,
                   "fromTime": "2026-01-01T00:00:00Z"})
        };
        let whole = grpc(&mut channel, "AssignSlots", &ask("")).await.unwrap();
        let whole = serde_json::to_value(&whole).unwrap();
        let mut masks = COLUMNS.map(str::to_owned).to_vec();
        masks.push("nextRunUnixMillis,slotIndexes,nextRunUnixMillis".into());
        masks.push(COLUMNS.join(","));
        for mask in masks {
            let mut expected = whole.clone();
            let rows = expected["assignments"].as_object_mut().unwrap();
            rows.retain(|name, _| {
                !COLUMNS.contains(&name.as_str()) || mask.split(',').any(|wanted| wanted == name)
            });
            let by_grpc = grpc(&mut channel, "AssignSlots", &ask(&mask)).await.unwrap();
            assert_eq!(serde_json::to_value(&by_grpc).unwrap(), expected, "{mask} {ids}");
            let request = json_request(&path_of("AssignSlots"), &ask(&mask).to_string());
            let by_json = post2(&mut channel, request).await.json();
            let by_json = message(support::method_of("AssignSlots").output(), &by_json);
            assert_eq!(serde_json::to_value(&by_json).unwrap(), expected, "{mask} {ids}");
        }
    }
}

#[tokio::test]
async fn a_read_mask_of_no_columns_is_refused() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let long = vec!["slotIndexes"; 17].join(",");
    for (mask, field) in [
        ("slotIndexes,errors", "read_mask.paths[1]"),
        ("assignments.slotIndexes", "read_mask.paths[0]"),
        (long.as_str(), "read_mask.paths"),
    ] {
        let request = json!({"schedule": support::any_schedule(), "ids": {"integers": ["1"]},
                             "readMask": mask});
        let refused = grpc(&mut channel, "AssignSlots", &request).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{mask}");
        let violations = refused.get_details_bad_request().unwrap().field_violations;
        assert_eq!(violations[0].field, field, "{mask}");
    }
}
