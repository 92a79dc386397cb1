//! Operations on named spreads over the wire: changed limits, redriven dead letters, the reason
//! for an empty pull, the end of an extended lease; and the description of the server.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use support::{Http2, Server, config, grpc, http2};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

async fn ask(channel: &mut Http2, method: &str, request: Value) -> Result<Value, Status> {
    let answer = grpc(channel, method, &request).await?;
    Ok(serde_json::to_value(&answer).unwrap())
}

fn field_of(status: &Status) -> (Code, String) {
    let violations = status.get_details_bad_request().unwrap().field_violations;
    (status.code(), violations[0].field.clone())
}

fn group(id: &str, payloads: &[&str]) -> Value {
    let mut hash = Sha256::new();
    for payload in payloads {
        hash.update((payload.len() as u64).to_be_bytes());
        hash.update(payload);
    }
    let job = |payload: &&str| json!({"payload": STANDARD.encode(payload)});
    let jobs: Vec<Value> = payloads.iter().map(job).collect();
    json!({
        "groupId": id, "jobs": jobs,
        "commit": {"jobCount": payloads.len().to_string(), "sha256": STANDARD.encode(hash.finalize())},
    })
}

/// Opens a spread "s" with some limits, and submits a group "g" of two jobs.
async fn opened(channel: &mut Http2, limits: Value) {
    let spec = json!({"order": {"feederCount": 1}, "limits": limits});
    ask(channel, "OpenSpread", json!({"spreadName": "s", "spec": spec})).await.unwrap();
    let groups = json!({"spreadName": "s", "groups": [group("g", &["one", "two"])]});
    ask(channel, "SubmitGroups", groups).await.unwrap();
}

async fn pull(channel: &mut Http2, count: i32) -> Value {
    let request = json!({"spreadName": "s", "consumerId": "c", "maxPulledJobCount": count});
    ask(channel, "PullJobs", request).await.unwrap()
}

async fn settle(channel: &mut Http2, pulled: &Value, action: &str) -> Value {
    let jobs = pulled["leased"]["jobs"].as_array().unwrap().iter();
    let settlements: Vec<Value> = jobs
        .map(|job| {
            let sequence = job.get("sequence").cloned().unwrap_or(json!("0"));
            json!({"sequence": sequence, "attempt": job["attempt"], "action": action})
        })
        .collect();
    let epoch = &pulled["leased"]["epoch"];
    let request = json!({"spreadName": "s", "epoch": epoch, "settlements": settlements});
    ask(channel, "SettleJobs", request).await.unwrap()
}

#[tokio::test]
async fn dead_letters_are_put_back_and_leased_again() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    opened(&mut channel, json!({})).await;
    let pulled = pull(&mut channel, 2).await;
    let settled = settle(&mut channel, &pulled, "SETTLE_ACTION_DEAD_LETTER").await;
    assert_eq!(settled["results"][0]["outcome"], "SETTLE_OUTCOME_DEAD_LETTERED");
    let epoch = &pulled["leased"]["epoch"];
    let put_back = json!({"spreadName": "s", "epoch": epoch, "numbers": ["1", "7"]});
    let redriven = ask(&mut channel, "RedriveDeadLetters", put_back).await.unwrap();
    assert_eq!(redriven, json!({"redrivenCount": "1"}));
    let letters = ask(&mut channel, "ListDeadLetters", json!({"spreadName": "s"})).await.unwrap();
    assert_eq!(letters["deadLetters"].as_array().unwrap().len(), 1);
    let again = pull(&mut channel, 9).await;
    let job = &again["leased"]["jobs"][0];
    assert_eq!((&job["groupId"], &job["jobIndex"]), (&json!("g"), &json!("1")));
    assert_eq!(job["payload"], STANDARD.encode("two"));
    assert_eq!((&job["attempt"], &job["redelivered"]), (&json!(1), &json!(true)));
    for (epoch, numbers, field) in [
        (epoch.clone(), json!([]), "numbers"),
        (epoch.clone(), json!(["-1"]), "numbers[0]"),
        (json!("0"), json!(["0"]), "epoch"),
        (json!("-5"), json!(["0"]), "epoch"),
    ] {
        let request = json!({"spreadName": "s", "epoch": epoch, "numbers": numbers});
        for method in ["RedriveDeadLetters", "DeleteDeadLetters"] {
            let refused = ask(&mut channel, method, request.clone()).await.unwrap_err();
            assert_eq!(field_of(&refused), (Code::InvalidArgument, field.to_owned()), "{method}");
        }
    }
}

/// In a new epoch the numbers start again from 0 and belong to other jobs.
#[tokio::test]
async fn dead_letters_of_another_epoch_are_none_of_this_one() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let list = json!({"spreadName": "s", "pageSize": 1});
    let (mut epochs, mut tokens) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let discard = json!({"spreadName": "s", "mode": "CLOSE_MODE_DISCARD"});
        let _ = ask(&mut channel, "CloseSpread", discard).await; // the first time there is none
        opened(&mut channel, json!({})).await;
        let pulled = pull(&mut channel, 2).await;
        settle(&mut channel, &pulled, "SETTLE_ACTION_DEAD_LETTER").await;
        let page = ask(&mut channel, "ListDeadLetters", list.clone()).await.unwrap();
        assert_eq!(page["epoch"], pulled["leased"]["epoch"]);
        epochs.push(page["epoch"].clone());
        tokens.push(page["nextPageToken"].clone());
    }
    assert_ne!(epochs[0], epochs[1]);
    let of = |epoch: &Value| json!({"spreadName": "s", "epoch": epoch, "numbers": ["0", "1"]});
    for method in ["RedriveDeadLetters", "DeleteDeadLetters"] {
        assert_eq!(ask(&mut channel, method, of(&epochs[0])).await.unwrap(), json!({}));
    }
    let next = |token: &Value| json!({"spreadName": "s", "pageSize": 1, "pageToken": token});
    let refused = ask(&mut channel, "ListDeadLetters", next(&tokens[0])).await.unwrap_err();
    assert_eq!(field_of(&refused), (Code::InvalidArgument, "page_token".to_owned()));
    let rest = ask(&mut channel, "ListDeadLetters", next(&tokens[1])).await.unwrap();
    assert_eq!(rest["deadLetters"][0]["number"], "1");
    let deleted = ask(&mut channel, "DeleteDeadLetters", of(&epochs[1])).await.unwrap();
    assert_eq!(deleted["deletedCount"], "2");
}

#[tokio::test]
async fn a_spread_that_ends_with_a_redriven_job_ends_the_wait_for_it() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    opened(&mut channel, json!({})).await;
    let pulled = pull(&mut channel, 2).await;
    settle(&mut channel, &pulled, "SETTLE_ACTION_DEAD_LETTER").await;
    let epoch = &pulled["leased"]["epoch"];
    let both = json!({"spreadName": "s", "epoch": epoch, "numbers": ["0", "1"]});
    ask(&mut channel, "RedriveDeadLetters", both).await.unwrap();
    let again = pull(&mut channel, 9).await;
    let mut other = http2(server.tcp().await).await;
    let closed = tokio::spawn(async move {
        let close = json!({"spreadName": "s", "maxWaitDuration": "15s"});
        ask(&mut other, "CloseSpread", close).await.unwrap()
    });
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let begun = tokio::time::Instant::now();
    settle(&mut channel, &again, "SETTLE_ACTION_ACK").await;
    assert_eq!(closed.await.unwrap()["description"]["state"], "SPREAD_STATE_CLOSED");
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// A consumer that found the name unknown may be late: by now the spread has been opened and
/// closed.
#[tokio::test]
async fn leave_closed_keeps_a_closed_spread_closed_and_opens_an_unknown_one() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let open = json!({
        "spreadName": "s", "spec": {"order": {"feederCount": 1}}, "leaveClosed": true,
    });
    let opened = ask(&mut channel, "OpenSpread", open.clone()).await.unwrap();
    assert_eq!(opened["created"], true);
    ask(&mut channel, "CloseSpread", json!({"spreadName": "s"})).await.unwrap();
    let found = ask(&mut channel, "OpenSpread", open.clone()).await.unwrap();
    assert_eq!(found.get("created"), None);
    assert_eq!(found["description"]["state"], "SPREAD_STATE_CLOSED");
    assert_eq!(found["description"]["epoch"], opened["description"]["epoch"]);
    assert_eq!(pull(&mut channel, 1).await["emptyReason"], "EMPTY_REASON_SPREAD_CLOSED");
    let again = json!({"spreadName": "s", "spec": open["spec"]});
    let again = ask(&mut channel, "OpenSpread", again).await.unwrap();
    assert_eq!(again["created"], true);
}

#[tokio::test]
async fn limits_that_are_set_change_and_the_others_stay() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    opened(&mut channel, json!({"maxAttemptCount": 3})).await;
    let update = json!({"spreadName": "s", "limits": {"maxConsumerLeaseCount": 1}});
    let updated = ask(&mut channel, "UpdateSpread", update).await.unwrap();
    let limits = &updated["description"]["spec"]["limits"];
    assert_eq!(
        (&limits["maxConsumerLeaseCount"], &limits["maxAttemptCount"]),
        (&json!(1), &json!(3))
    );
    assert_eq!(pull(&mut channel, 9).await["leased"]["jobs"].as_array().unwrap().len(), 1);
    let at_limit = pull(&mut channel, 9).await;
    assert_eq!(at_limit["emptyReason"], "EMPTY_REASON_CONSUMER_AT_LIMIT");
    // Opening the spread again with its original spec finds it open.
    let spec = json!({"order": {"feederCount": 1}, "limits": {"maxAttemptCount": 3}});
    let open = json!({"spreadName": "s", "spec": spec});
    assert!(ask(&mut channel, "OpenSpread", open).await.unwrap().get("created").is_none());
    for (request, field) in [
        (json!({"spreadName": "s"}), "limits"),
        (json!({"spreadName": "s", "limits": {"maxAttemptCount": 0}}), "limits.max_attempt_count"),
    ] {
        let refused = ask(&mut channel, "UpdateSpread", request).await.unwrap_err();
        assert_eq!(field_of(&refused), (Code::InvalidArgument, field.to_owned()));
    }
    let unknown = json!({"spreadName": "other", "limits": {}});
    let unknown = ask(&mut channel, "UpdateSpread", unknown).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
}

#[tokio::test]
async fn an_extended_lease_has_an_end_and_nothing_else_has() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    opened(&mut channel, json!({})).await;
    let pulled = pull(&mut channel, 9).await;
    let first: jiff::Timestamp =
        pulled["leased"]["leaseEndTime"].as_str().unwrap().parse().unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    let extended = settle(&mut channel, &pulled, "SETTLE_ACTION_EXTEND_LEASE").await;
    let result = &extended["results"][0];
    assert_eq!(result["outcome"], "SETTLE_OUTCOME_EXTENDED");
    let end: jiff::Timestamp = result["leaseEndTime"].as_str().unwrap().parse().unwrap();
    let later = end.as_millisecond() - first.as_millisecond();
    assert!((20..5_000).contains(&later), "{later} ms");
    let acked = settle(&mut channel, &pulled, "SETTLE_ACTION_ACK").await;
    assert_eq!(acked["results"][0], json!({"outcome": "SETTLE_OUTCOME_ACKED"}));
    assert_eq!(pull(&mut channel, 9).await["emptyReason"], "EMPTY_REASON_NO_READY_JOB");
}

#[tokio::test]
async fn server_info_reports_version_and_limits() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let info = ask(&mut channel, "GetServerInfo", json!({})).await.unwrap();
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert!(info["timeZoneDatabase"].as_str().unwrap().starts_with("20"), "{info}");
    let limits = info["limits"].as_array().unwrap();
    let batch = limits.iter().find(|limit| limit["id"] == "batch_ids").unwrap();
    assert_eq!((&batch["minValue"], &batch["maxValue"]), (&json!("1"), &json!("65536")));
    assert_eq!(batch["name"], "IDs in a batch");
    let ids: std::collections::BTreeSet<_> = limits.iter().map(|l| l["id"].as_str()).collect();
    assert_eq!(ids.len(), limits.len(), "each has an id of its own");
    assert_eq!(limits.len() + 2, offbeat::limits::markdown_table().lines().count());
}
