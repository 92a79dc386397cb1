//! Schedules by name, as requests to the server's binary: loading, reloading, and what a name
//! changes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod schedule_file;
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use offbeat_core::runs::run_id;
use prost::Message as _;
use prost_reflect::DynamicMessage;
use schedule_file::{FILE, FINGERPRINT, folder};
use serde_json::{Value, json};
use support::sidecar::Sidecar;
use support::{
    Http2, frame, grpc, grpc_request, json_request, message, method_of, open_body, path_of, post2,
};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

fn start(schedules: Option<&Path>) -> Sidecar {
    let file = schedules.map(|file| ("OFFBEAT_SCHEDULES", file));
    Sidecar::start(&[], file.as_slice())
}

fn version(name: &str, version: i64) -> Value {
    json!({"reference": {"name": name, "version": version}})
}

/// The spec of bank-sync/2 in `FILE`, as it is written in a request.
fn second() -> Value {
    json!({"spec": {
        "period": "28800s", "slotCount": 96, "anchorTime": "2026-01-01T00:00:00Z", "salt": "two",
    }})
}

async fn ask(channel: &mut Http2, method: &str, request: &Value) -> Result<Value, Status> {
    grpc(channel, method, request).await.map(|answer| serde_json::to_value(&answer).unwrap())
}

fn field_of(status: &Status) -> (Code, String, String) {
    let details = status.get_error_details();
    let metadata = &details.error_info().unwrap().metadata;
    (status.code(), metadata["field"].clone(), metadata["allowed"].clone())
}

/// A request of every method that takes a schedule, without the schedule.
fn questions() -> Vec<(&'static str, Value)> {
    let from = "2026-03-01T00:00:00Z";
    let column = json!({
        "dialect": "SQL_DIALECT_POSTGRESQL", "table": "account", "column": "id",
        "columnType": "SQL_COLUMN_TYPE_TEXT",
    });
    vec![
        ("DescribeSchedule", json!({"atTime": from})),
        ("ListSlots", json!({"startTime": from, "sqlTarget": column})),
        (
            "GetWindowPredicate",
            json!({"startTime": from, "endTime": "2026-03-01T01:00:00Z", "sqlTarget": column}),
        ),
        ("AssignSlot", json!({"id": {"text": "acme"}, "fromTime": from, "kind": "poll"})),
        ("AssignSlots", json!({"ids": {"texts": ["acme", "b"]}, "fromTime": from})),
        ("GetReciprocalSlots", json!({"kindCount": 2})),
    ]
}

/// The same answer, with the schedule in its run keys replaced.
fn with_key(answer: &Value, old: &str, new: &str) -> Value {
    let text = answer.to_string();
    let fingerprint = answer["identity"]["fingerprint"].clone();
    let mut replaced: Value = serde_json::from_str(&text.replace(old, new)).unwrap();
    replaced["identity"]["fingerprint"] = fingerprint;
    replaced
}

/// Removes the IDs of runs, because each depends on its run key.
fn without_run_ids(answer: Value) -> Value {
    match answer {
        Value::Array(values) => values.into_iter().map(without_run_ids).collect(),
        Value::Object(mut fields) => {
            if let Some(id) = fields.remove("runId") {
                assert_eq!(id, run_id(fields["runKey"].as_str().unwrap()));
            }
            fields.into_iter().map(|(name, value)| (name, without_run_ids(value))).collect()
        }
        other => other,
    }
}

#[tokio::test]
async fn a_name_and_its_spec_have_the_same_answers_but_for_the_run_keys() {
    let (_folder, file) = folder(FILE);
    let sidecar = start(Some(&file));
    let mut channel = sidecar.channel().await;
    let specs =
        [("bank-sync", 1, json!({"spec": {"period": "28800s"}})), ("bank-sync", 2, second())];
    for (name, number, spec) in specs {
        for (method, mut request) in questions() {
            request["schedule"] = spec.clone();
            let by_spec = without_run_ids(ask(&mut channel, method, &request).await.unwrap());
            request["schedule"] = version(name, number);
            let by_name = without_run_ids(ask(&mut channel, method, &request).await.unwrap());
            let fingerprint = by_spec["identity"]["fingerprint"].as_str().unwrap();
            assert_eq!(by_spec["identity"]["runKeyRoot"], fingerprint);
            let key = format!("{name}/{number}");
            assert_eq!(by_name["identity"]["runKeyRoot"], json!(key));
            assert_eq!(by_name, with_key(&by_spec, fingerprint, &key), "{method}");
            if (method, number) == ("AssignSlot", 1) {
                assert_eq!(fingerprint, FINGERPRINT);
                let run_key = by_name["pieces"][0]["nextRuns"][0]["runKey"].as_str().unwrap();
                assert!(run_key.starts_with("bank-sync/1/poll/"), "{run_key}");
                assert!(run_key.ends_with("/0/acme"), "{run_key}");
            }
            if method == "AssignSlots" {
                let prefix = &by_name["assignments"]["runKeyPrefix"];
                assert_eq!(*prefix, json!(format!("{key}/default")));
            }
            // The same request as JSON.
            let json = json_request(&path_of(method), &request.to_string());
            let by_json = post2(&mut channel, json).await;
            let mut identity = by_json.json()["identity"].clone();
            // JSON includes empty strings.
            assert_eq!(
                identity.as_object_mut().unwrap().remove("timeZoneDatabase"),
                Some(json!(""))
            );
            assert_eq!(identity, by_name["identity"], "{method}");
        }
    }
    let request = json!({"schedule": version("mail", 1)});
    let described = ask(&mut channel, "DescribeSchedule", &request).await.unwrap();
    let mail = json!({
        "period": "86400s", "resolution": "0.001s", "anchorTime": "1970-01-01T00:00:00Z",
        "slotCount": 144, "placement": "PLACEMENT_TWISTER", "bucketCount": 65_536,
        "profile": "TWISTER_PROFILE_RUBY_3_0_TO_3_1",
    });
    assert_eq!(described["spec"], mail);
}

#[tokio::test]
async fn unknown_names_are_not_found_and_the_known_ones_listed() {
    let (_folder, file) = folder(FILE);
    let (with, without) = (start(Some(&file)), start(None));
    let (mut known, mut empty) = (with.channel().await, without.channel().await);
    for (method, mut request) in questions() {
        request["schedule"] = version("bank-sync", 3);
        let status = ask(&mut known, method, &request).await.unwrap_err();
        let (code, field, allowed) = field_of(&status);
        assert_eq!((code, field.as_str()), (Code::NotFound, "schedule.reference"), "{method}");
        assert!(allowed.ends_with("bank-sync/1, bank-sync/2"), "{allowed}");
        let reason = &status.get_error_details().error_info().unwrap().reason.clone();
        assert_eq!(reason, "ERROR_REASON_UNKNOWN_SCHEDULE");
        let json = json_request(&path_of(method), &request.to_string());
        let by_json = post2(&mut known, json).await;
        assert_eq!((by_json.status.as_u16(), &by_json.json()["code"]), (404, &json!("not_found")));
        let status = ask(&mut empty, method, &request).await.unwrap_err();
        assert!(field_of(&status).2.contains("--schedules"), "{status}");
    }
    for (schedule, field) in [
        (version("bank-sync", 0), "schedule.reference.version"),
        (version("bank-sync", -1), "schedule.reference.version"),
        (version("bank-sync", 1_000_001), "schedule.reference.version"),
        (version("", 1), "schedule.reference.name"),
        (version("bank/sync", 1), "schedule.reference.name"),
        (json!({}), "schedule"),
    ] {
        let request = json!({"schedule": schedule, "id": {"text": "a"}});
        let status = ask(&mut known, "AssignSlot", &request).await.unwrap_err();
        let (code, named, _) = field_of(&status);
        assert_eq!((code, named.as_str()), (Code::InvalidArgument, field), "{request}");
    }
}

#[tokio::test]
async fn all_that_are_loaded_are_listed_page_by_page() {
    let (_folder, file) = folder(FILE);
    let (with, without) = (start(Some(&file)), start(None));
    let (mut known, mut empty) = (with.channel().await, without.channel().await);
    let all = ask(&mut known, "ListSchedules", &json!({})).await.unwrap();
    assert_eq!(all.get("nextPageToken"), None);
    let all = all["schedules"].as_array().unwrap().clone();
    let keys: Vec<String> = all
        .iter()
        .map(|listed| {
            format!(
                "{}/{}",
                listed["reference"]["name"].as_str().unwrap(),
                listed["reference"]["version"]
            )
        })
        .collect();
    // Sorted by name and version, as the names in the file sort.
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(keys, sorted);
    assert_eq!(keys.len(), FILE.matches("[[schedule]]").count());
    // The command line exports the same list, byte for byte the same each time.
    let export = || {
        let path = file.display().to_string();
        let mut export = std::process::Command::new(env!("CARGO_BIN_EXE_offbeat"));
        export.args(["schedules", "export", &path]).output().unwrap()
    };
    let exported = export();
    assert!(exported.status.success());
    assert_eq!(exported.stdout, export().stdout);
    let exported: Value = serde_json::from_slice(&exported.stdout).unwrap();
    assert_eq!(exported, json!({ "schedules": all }));
    // Each listed schedule equals its description.
    for listed in &all {
        let request = json!({"schedule": {"reference": listed["reference"]}});
        let described = ask(&mut known, "DescribeSchedule", &request).await.unwrap();
        assert_eq!(
            (&listed["identity"], &listed["spec"]),
            (&described["identity"], &described["spec"])
        );
    }
    // Pages of one schedule add up to a single large page.
    let (mut paged, mut token) = (Vec::new(), json!(""));
    while paged.len() <= all.len() {
        let page = json!({"pageSize": 1, "pageToken": token});
        let answer = ask(&mut known, "ListSchedules", &page).await.unwrap();
        paged.extend(answer["schedules"].as_array().unwrap().clone());
        match answer.get("nextPageToken") {
            Some(next) => token = next.clone(),
            None => break,
        }
    }
    assert_eq!(paged, all);
    let of_name = ask(&mut known, "ListSchedules", &json!({"name": "bank-sync"})).await.unwrap();
    assert_eq!(of_name["schedules"].as_array().unwrap().len(), 2);
    let nothing = ask(&mut known, "ListSchedules", &json!({"name": "none"})).await.unwrap();
    assert_eq!(nothing, json!({}));
    assert_eq!(ask(&mut empty, "ListSchedules", &json!({})).await.unwrap(), json!({}));
    let token =
        ask(&mut known, "ListSchedules", &json!({"name": "bank-sync", "pageSize": 1})).await;
    let token = token.unwrap()["nextPageToken"].clone();
    for (request, field) in [
        (json!({"pageSize": -1}), "page_size"),
        (json!({"pageSize": 1_001}), "page_size"),
        (json!({"name": "a/b"}), "name"),
        (json!({"pageToken": "AQ=="}), "page_token"),
        (json!({"pageToken": "Am5hbWUvMQ=="}), "page_token"),
        (json!({"pageToken": token, "name": "other"}), "page_token"),
    ] {
        let status = ask(&mut known, "ListSchedules", &request).await.unwrap_err();
        let (code, named, _) = field_of(&status);
        assert_eq!((code, named.as_str()), (Code::InvalidArgument, field), "{request}");
    }
}

#[tokio::test]
async fn a_reload_is_all_or_nothing_and_no_version_changes_its_meaning() {
    let (_folder, file) = folder(FILE);
    let sidecar = start(Some(&file));
    let mut channel = sidecar.channel().await;
    let known = async |channel: &mut Http2, name: &str, number| {
        let request = json!({"schedule": version(name, number), "id": {"integer": 7}});
        match ask(channel, "AssignSlot", &request).await {
            Ok(answer) => Some(answer["identity"]["fingerprint"].as_str().unwrap().to_owned()),
            Err(status) => {
                assert_eq!(status.code(), Code::NotFound);
                None
            }
        }
    };
    let first = known(&mut channel, "bank-sync", 1).await;

    // A new version is added, and bank-sync/2 is removed.
    let without_second = FILE.replace("version = 2", "version = 3");
    fs::write(&file, &without_second).unwrap();
    let said = sidecar.until("names");
    assert_eq!(said["names"], "bank-sync/2", "it says what is gone");
    assert_eq!(sidecar.until("what")["message"], "read again", "without SIGHUP, within 5 s");
    assert!(known(&mut channel, "bank-sync", 3).await.is_some());
    assert_eq!(known(&mut channel, "bank-sync", 2).await, None);

    // bank-sync/1 gets another meaning, and another version is new: neither is loaded.
    let changed = without_second.replacen("\"8h\"", "\"12h\"", 1).replace("\"mail\"", "\"post\"");
    fs::write(&file, changed).unwrap();
    let refused = sidecar.reload();
    let why = refused["why"].as_str().unwrap();
    assert_eq!(refused["level"], "ERROR");
    assert!(why.contains("schedules.toml: schedule bank-sync/1: fingerprint"), "{why}");
    assert!(why.contains(FINGERPRINT), "{why}");
    assert_eq!(known(&mut channel, "bank-sync", 1).await, first);
    assert_eq!(known(&mut channel, "post", 1).await, None);
    assert!(known(&mut channel, "mail", 1).await.is_some());
    // Another reload reports the refusal again.
    assert_eq!(sidecar.reload()["why"], refused["why"]);

    // bank-sync/2 may come back as it was, but not with another meaning.
    fs::write(&file, FILE.replace("slot_count = 96", "slot_count = 48")).unwrap();
    assert!(sidecar.reload()["why"].as_str().unwrap().contains("bank-sync/2"));
    assert_eq!(known(&mut channel, "bank-sync", 2).await, None);
    let stale = |is: u8| format!("offbeat_reload_stale{{what=\"schedules\"}} {is}\n");
    assert!(sidecar.metrics().await.contains(&stale(1)), "until the file is mended");
    fs::write(&file, FILE).unwrap();
    assert_eq!(sidecar.reload()["message"], "read again");
    assert!(sidecar.metrics().await.contains(&stale(0)));
    assert!(known(&mut channel, "bank-sync", 2).await.is_some());

    // A broken or missing file changes nothing.
    for broken in ["[[schedule]]\nname = \"bank-sync\"\n", "", "[[schedule"] {
        fs::write(&file, broken).unwrap();
        assert!(sidecar.reload()["why"].as_str().unwrap().contains("schedules.toml:"));
    }
    fs::remove_file(&file).unwrap();
    assert!(sidecar.reload()["why"].as_str().unwrap().contains("schedules.toml"));
    assert_eq!(known(&mut channel, "bank-sync", 1).await, first);
    let metrics = sidecar.metrics().await;
    assert!(metrics.contains("offbeat_reloads_total{what=\"schedules\",result=\"ok\"} 2\n"));
    let refused = "offbeat_reloads_total{what=\"schedules\",result=\"refused\"} ";
    let count = metrics.lines().find_map(|line| line.strip_prefix(refused)).unwrap();
    assert!(count.parse::<u32>().unwrap() >= 6, "{count}");
}

#[tokio::test]
async fn a_config_map_is_exchanged_through_its_symbolic_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, content) in
        [("..one", FILE.to_owned()), ("..two", FILE.replace("\"mail\"", "\"post\""))]
    {
        fs::create_dir(path(name)).unwrap();
        fs::write(path(name).join("schedules.toml"), content).unwrap();
    }
    symlink("..one", path("..data")).unwrap();
    symlink("..data/schedules.toml", path("schedules.toml")).unwrap();
    let sidecar = start(Some(&path("schedules.toml")));
    let mut channel = sidecar.channel().await;
    symlink("..two", path("..data_tmp")).unwrap();
    fs::rename(path("..data_tmp"), path("..data")).unwrap();
    assert_eq!(sidecar.reload()["message"], "read again");
    let request = |name| json!({"schedule": version(name, 1)});
    assert!(ask(&mut channel, "DescribeSchedule", &request("post")).await.is_ok());
    assert!(ask(&mut channel, "DescribeSchedule", &request("mail")).await.is_err());
}

#[tokio::test]
async fn a_stream_keeps_its_schedule_over_a_reload() {
    let (_folder, file) = folder(FILE);
    let sidecar = start(Some(&file));
    let mut channel = sidecar.channel().await;
    let method = method_of("StreamSlotAssignments");
    let encoded = |json: &Value| frame(&message(method.input(), json).encode_to_vec());
    let (sender, body) = open_body();
    let first = json!({
        "schedule": version("bank-sync", 2), "ids": {"texts": ["acme"]},
        "fromTime": "2026-03-01T00:00:00Z",
    });
    sender.send(encoded(&first)).unwrap();
    let call = grpc_request(&path_of("StreamSlotAssignments"), Bytes::new()).map(|_| body);
    channel.ready().await.unwrap();
    let mut answers = channel.send_request(call).await.unwrap().into_body();
    let mut next = async || {
        let frame = answers.frame().await.unwrap().unwrap().into_data().unwrap();
        let answer = DynamicMessage::decode(method.output(), &frame[5..]).unwrap();
        serde_json::to_value(&answer).unwrap()["assignments"].clone()
    };
    let before = next().await;
    fs::write(&file, FILE.replace("version = 2", "version = 3")).unwrap();
    assert_eq!(sidecar.reload()["message"], "read again");
    sender.send(encoded(&json!({"ids": {"texts": ["acme"]}}))).unwrap();
    assert_eq!(next().await, before, "the same rows, under the same keys");
    assert_eq!(before["runKeyPrefix"], "bank-sync/2/default");
    let request = json!({"schedule": version("bank-sync", 2)});
    let status = ask(&mut channel, "DescribeSchedule", &request);
    assert_eq!(status.await.unwrap_err().code(), Code::NotFound, "a new request sees the new file");
}
