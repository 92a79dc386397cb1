//! The column of last runs equals the answers for single IDs, for every schedule.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{Server, config, grpc, http2};

const FROM: &str = "2026-03-29T03:00:00Z";

fn numbers(column: &Value) -> Vec<i64> {
    let numbers = column.as_array().unwrap().iter();
    numbers.map(|number| number.as_str().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn a_batch_and_single_questions_have_the_same_last_runs() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let berlin = json!({"unit": "CALENDAR_UNIT_DAY", "timeZone": "Europe/Berlin"});
    let nightly = json!({
        "recurring": {"calendar": berlin, "window": {"startOffset": "3600s", "endOffset": "18000s"}},
        "policy": "EXCLUSION_POLICY_SKIP",
    });
    let ids: Vec<String> = (0..300).map(|number| format!("id-{number}")).collect();
    for (spec, time_zone) in [
        (json!({"period": "28800s"}), None),
        (json!({"period": "28800s", "anchorTime": "2026-03-01T00:00:01Z"}), None),
        (json!({"calendar": berlin}), None),
        (json!({"calendar": berlin}), Some("Asia/Tokyo")),
        (json!({"calendar": berlin, "exclusions": [nightly]}), None),
        (json!({"calendar": berlin, "exclusions": [nightly]}), Some("Asia/Tokyo")),
        (json!({"period": "28800s", "weightQuantum": "10"}), None),
    ] {
        let mut request = json!({
            "schedule": {"spec": spec}, "ids": {"texts": ids}, "fromTime": FROM,
            "readMask": "lastRunUnixMillis,slotIndexes",
        });
        if let Some(zone) = time_zone {
            request["ids"]["timeZones"] = json!([zone]);
            request["ids"]["timeZoneIndexes"] = json!(vec![0; ids.len()]);
        }
        let weighted = spec.get("weightQuantum").is_some();
        if weighted {
            request["weights"] = json!(vec!["25"; ids.len()]);
        }
        let answer = grpc(&mut channel, "AssignSlots", &request).await.unwrap();
        let rows = &serde_json::to_value(&answer).unwrap()["assignments"];
        let last = numbers(&rows["lastRunUnixMillis"]);
        assert!(rows.get("nextRunUnixMillis").is_none(), "it is not in the mask");
        let mut expected = Vec::new();
        for id in &ids {
            let mut one = json!({"schedule": {"spec": spec}, "id": {"text": id}, "fromTime": FROM});
            if let Some(zone) = time_zone {
                one["timeZone"] = json!(zone);
            }
            if weighted {
                one["weight"] = json!("25");
            }
            let one = grpc(&mut channel, "AssignSlot", &one).await.unwrap();
            let one = serde_json::to_value(&one).unwrap();
            for piece in one["pieces"].as_array().unwrap() {
                // In a batch, an ID that never runs is refused.
                let start = piece.get("lastRun").and_then(|run| run["startTime"].as_str());
                let start = start.map(|start| start.parse::<jiff::Timestamp>().unwrap());
                expected.push(start.map_or(-1, jiff::Timestamp::as_millisecond));
            }
        }
        assert_eq!(last, expected, "{spec} {time_zone:?}");
    }
}

#[tokio::test]
async fn the_column_comes_only_if_it_is_asked_for() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let request = json!({"schedule": {"spec": {"period": "60s"}}, "ids": {"integers": ["1", "2"]}});
    for mask in [None, Some("slotIndexes")] {
        let mut request = request.clone();
        if let Some(mask) = mask {
            request["readMask"] = json!(mask);
        }
        let answer = grpc(&mut channel, "AssignSlots", &request).await.unwrap();
        let answer = serde_json::to_value(&answer).unwrap();
        assert!(answer["assignments"].get("lastRunUnixMillis").is_none());
        assert!(answer["assignments"].get("slotIndexes").is_some());
    }
}
