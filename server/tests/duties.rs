//! Migrations and audits over the wire, where exclusions leave some IDs without a run.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{Http2, Server, config, grpc, http2};

const DAY: i64 = 86_400;
/// The second of the day from which everything is excluded.
const EVENING: i64 = 57_600;

fn day(exclusions: &Value) -> Value {
    let calendar = json!({"unit": "CALENDAR_UNIT_DAY", "timeZone": "UTC"});
    json!({"spec": {
        "calendar": calendar, "slotCount": 24, "weightQuantum": "10", "exclusions": exclusions,
    }})
}

fn skipped_evenings() -> Value {
    let window = json!({"startOffset": format!("{EVENING}s"), "endOffset": format!("{DAY}s")});
    let calendar = json!({"unit": "CALENDAR_UNIT_DAY", "timeZone": "UTC"});
    let recurring = json!({"calendar": calendar, "window": window});
    json!([{"recurring": recurring, "policy": "EXCLUSION_POLICY_SKIP"}])
}

fn names() -> Vec<String> {
    (0..60).map(|number| format!("user-{number}")).collect()
}

async fn ask(channel: &mut Http2, method: &str, request: &Value) -> Value {
    serde_json::to_value(grpc(channel, method, request).await.unwrap()).unwrap()
}

fn integers(column: &Value) -> Vec<i64> {
    let cells = column.as_array().unwrap().iter();
    cells
        .map(|cell| cell.as_str().map_or_else(|| cell.as_i64(), |text| text.parse().ok()).unwrap())
        .collect()
}

/// Indexes of the IDs whose slots are in the evening, by a schedule without exclusions.
async fn in_the_evening(channel: &mut Http2) -> Vec<usize> {
    let request = json!({"schedule": day(&json!([])), "ids": {"texts": names()}});
    let offsets = ask(channel, "AssignSlots", &request).await;
    let offsets = integers(&offsets["assignments"]["cycleOffsetTicks"]);
    let found: Vec<usize> = (0..offsets.len()).filter(|row| offsets[*row] >= EVENING).collect();
    assert!(found.len() > 5 && found.len() < 50, "{found:?}");
    found
}

#[tokio::test]
async fn ids_without_a_run_are_named_and_the_others_go_over() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let never = in_the_evening(&mut channel).await;
    for (old, new, side) in [
        (skipped_evenings(), json!([]), "old_schedule"),
        (json!([]), skipped_evenings(), "new_schedule"),
    ] {
        let request = json!({
            "oldSchedule": day(&old), "newSchedule": day(&new), "ids": {"texts": names()},
            "cutoverTime": "2026-03-01T05:00:00Z", "minGap": "3600s",
        });
        let ids = ask(&mut channel, "PlanMigration", &request).await["ids"].take();
        let errors = ids["errors"].as_array().unwrap();
        assert_eq!(errors.len(), never.len());
        for (error, row) in errors.iter().zip(&never) {
            assert_eq!(error["reason"], "ERROR_REASON_NO_RUN");
            assert_eq!(error["field"], format!("ids.texts[{row}]"));
            assert_eq!(error["idIndex"].as_str().unwrap_or("0"), row.to_string());
            assert!(error["allowed"].as_str().unwrap().contains(side), "{error}");
        }
        for column in [
            "lastOldUnixMillis",
            "lastOldCycleIndexes",
            "firstNewUnixMillis",
            "firstNewCycleIndexes",
        ] {
            let cells = integers(&ids[column]);
            for (row, cell) in cells.iter().enumerate() {
                assert_eq!(*cell == -1, never.contains(&row), "{column} of row {row}");
            }
        }
        // IDs that run keep their times, so a day passes between their runs.
        assert_eq!(
            (&ids["observedMinGap"], &ids["observedMaxGap"]),
            (&json!("86400s"), &json!("86400s"))
        );
        assert_eq!(ids.get("movedIdCount"), None);
    }
}

#[tokio::test]
async fn an_audit_counts_the_ids_that_never_run() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let never = in_the_evening(&mut channel).await.len();
    let mut audit = async |exclusions: Value, from: &str, weights: Vec<&str>| {
        let request = json!({
            "schedule": day(&exclusions), "ids": {"texts": names()}, "fromTime": from, "weights": weights,
        });
        let warnings = ask(&mut channel, "AuditIds", &request).await["warnings"].take();
        let found = warnings.as_array().into_iter().flatten().find_map(|warning| {
            let is_it = warning["finding"] == "AUDIT_FINDING_NEVER_RUN";
            is_it.then(|| warning["message"].as_str().unwrap().to_owned())
        });
        found.map(|message| message.split(' ').next().unwrap().parse::<usize>().unwrap())
    };
    let at = "2026-03-01T05:00:00Z";
    assert_eq!(audit(json!([]), at, vec![]).await, None);
    assert_eq!(audit(skipped_evenings(), at, vec![]).await, Some(never));
    assert_eq!(audit(skipped_evenings(), at, vec!["10"; 60]).await, Some(never));
    // The four pieces of an ID are a quarter of a day apart, so one or two of them are in the
    // evening.
    assert_eq!(audit(skipped_evenings(), at, vec!["40"; 60]).await, Some(60));
    let mut deferred = skipped_evenings();
    deferred[0]["policy"] = json!("EXCLUSION_POLICY_DEFER");
    assert_eq!(audit(deferred, at, vec![]).await, None);
    // After three years without runs the IDs do run, but more than 1,000 cycles later.
    let years = json!([{
        "dated": {"startTime": "2026-01-01T00:00:00Z", "endTime": "2029-01-01T00:00:00Z"},
        "policy": "EXCLUSION_POLICY_SKIP",
    }]);
    assert_eq!(audit(years.clone(), "2026-01-01T00:00:00Z", vec![]).await, Some(60));
    assert_eq!(audit(years, "2028-01-01T00:00:00Z", vec![]).await, None);
}
