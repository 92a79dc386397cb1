//! Reciprocal slots over the wire and on the command line: conflicts, schedules of today, delays.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::process::Command;

use serde_json::{Value, json};
use support::{Server, config, config_with, grpc, http2};
use tonic::Status;
use tonic_types::StatusExt as _;

const BINARY: &str = env!("CARGO_BIN_EXE_offbeat");

fn schedule(more: &Value) -> Value {
    let mut spec = json!({"period": "28800s", "slotCount": 96});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"spec": spec})
}

async fn ask(server: &Server, request: &Value) -> Result<Value, Status> {
    let mut channel = http2(server.tcp().await).await;
    let answer = grpc(&mut channel, "GetReciprocalSlots", request).await;
    answer.map(|answer| serde_json::to_value(&answer).unwrap())
}

fn field_of(status: &Status) -> [String; 3] {
    let metadata = &status.get_error_details().error_info().unwrap().metadata.clone();
    ["field", "value", "allowed"].map(|word| metadata[word].clone())
}

#[tokio::test]
async fn delays_shorten_every_budget_and_never_below_nothing() {
    let server = Server::start(&config());
    let request = |polling: &str, slot_job: &str| {
        json!({
            "schedule": schedule(&json!({})), "kindCount": 3, "spacing": "KIND_SPACING_STABLE",
            "pollingDelay": polling, "slotJobDelay": slot_job,
        })
    };
    // 0, 48, 24: gaps of 24, 48 and 24 slots of 300 s.
    let answer = ask(&server, &request("60s", "30.5s")).await.unwrap();
    assert_eq!(answer["gap"], "7200s");
    assert_eq!(answer["runBudget"], "7109.500s");
    assert_eq!(answer["independentRunBudget"], "6809.500s");
    let budgets: Vec<_> =
        answer["kinds"].as_array().unwrap().iter().map(|kind| &kind["runBudget"]).collect();
    assert_eq!(budgets, ["7109.500s", "14309.500s", "7109.500s"]);
    let answer = ask(&server, &request("7200s", "1s")).await.unwrap();
    assert_eq!(
        (&answer["runBudget"], &answer["independentRunBudget"]),
        (&json!("0s"), &json!("0s"))
    );
    assert_eq!(answer["kinds"][1]["runBudget"], "7199s");
    for (polling, slot_job, field) in
        [("-1s", "0s", "polling_delay"), ("0s", "28801s", "slot_job_delay")]
    {
        let refused = field_of(&ask(&server, &request(polling, slot_job)).await.unwrap_err());
        assert_eq!(refused[0], field);
        assert_eq!(refused[2], "must be 0s to 28800s, one period");
    }
}

#[tokio::test]
async fn schedules_of_kinds_must_share_what_makes_a_slot() {
    let server = Server::start(&config());
    let request = |schedule: Value, kinds: Vec<Value>| json!({"schedule": schedule, "kindCount": kinds.len(), "kindSchedules": kinds});
    let ours = || schedule(&json!({}));
    let later = |time: &str| schedule(&json!({"anchorTime": time}));
    // Anchors may differ by whole slots of 300 s, before and after.
    for good in ["1970-01-01T00:00:00Z", "2026-01-01T00:05:00Z", "1969-12-31T23:55:00Z"] {
        ask(&server, &request(ours(), vec![ours(), later(good)])).await.unwrap();
    }
    for (other, field, value) in [
        (json!({"period": "57600s"}), "spec.period", "57600s"),
        (json!({"resolution": "0.500s"}), "spec.resolution", "0.500s"),
        (json!({"slotCount": 48}), "spec.slot_count", "48"),
        (json!({"placement": "PLACEMENT_FRACTION"}), "spec.placement", "FRACTION"),
        (json!({"salt": "x"}), "spec.salt", "\"x\""),
        (json!({"anchorTime": "2026-01-01T00:00:01Z"}), "spec.anchor_time", "2026-01-01T00:00:01Z"),
    ] {
        let kinds = vec![ours(), schedule(&other)];
        let refused = field_of(&ask(&server, &request(ours(), kinds)).await.unwrap_err());
        assert_eq!(refused[..2], [format!("kind_schedules[1].{field}"), value.to_owned()]);
    }
    let twister = |more: &Value| {
        let mut spec = json!({"placement": "PLACEMENT_TWISTER"});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schedule(&spec)
    };
    for (other, field) in [
        (json!({"profile": "TWISTER_PROFILE_PHP"}), "spec.profile"),
        (json!({"bucketCount": 65_536}), "spec.bucket_count"),
    ] {
        let kinds = vec![twister(&json!({})), twister(&other)];
        let refused = ask(&server, &request(twister(&json!({})), kinds)).await.unwrap_err();
        assert_eq!(field_of(&refused)[0], format!("kind_schedules[1].{field}"));
    }
    let short = json!({"schedule": ours(), "kindCount": 3, "kindSchedules": [ours(), ours()]});
    let refused = field_of(&ask(&server, &short).await.unwrap_err());
    assert_eq!(refused[..2], ["kind_schedules", "2 schedules for 3 kinds"].map(str::to_owned));
}

#[tokio::test]
async fn a_kind_may_name_its_schedule() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schedules.toml");
    let table = |name: &str, slots| {
        format!(
            "[[schedule]]\nname = \"{name}\"\nversion = 1\nperiod = \"8h\"\nslot_count = {slots}\n"
        )
    };
    std::fs::write(&file, [table("pull", 96), table("push", 96), table("mail", 48)].concat())
        .unwrap();
    let path = file.display().to_string();
    let server = Server::start(&config_with(&["--schedules", &path]));
    let named = |name: &str| json!({"version": {"name": name, "version": 1}});
    let request = |other: &str| {
        json!({
            "schedule": named("pull"), "kindCount": 2, "kindSchedules": [named("pull"), named(other)],
        })
    };
    let answer = ask(&server, &request("push")).await.unwrap();
    assert_eq!(answer["identity"]["runKeySchedule"], "pull/1");
    let refused = field_of(&ask(&server, &request("mail")).await.unwrap_err());
    assert_eq!(refused[0], "kind_schedules[1].version");
    assert_eq!(refused[1], "48 of mail/1");
    assert!(refused[2].starts_with("slot_count: must be 96"), "{refused:?}");
    let refused = field_of(&ask(&server, &request("post")).await.unwrap_err());
    assert_eq!(refused[..2], ["kind_schedules[1].version", "post/1"].map(str::to_owned));

    let reciprocal = |more: &[&str]| {
        let flags = ["slots", "reciprocal", "--schedules", &path, "--schedule", "pull/1"];
        let output = Command::new(BINARY).args([&flags[..], more].concat()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let kinds = ["--kinds", "2", "--kind-schedule", "pull/1", "--kind-schedule"];
    assert_eq!(reciprocal(&[&kinds[..], &["push/1"]].concat()).0, Some(0));
    let (code, _, errors) = reciprocal(&[&kinds[..], &["mail/1"]].concat());
    assert_eq!(code, Some(64));
    assert!(errors.contains("--kind-schedule mail/1.slot_count: 48"), "{errors}");
}

#[test]
fn the_command_line_knows_conflicts_and_delays() {
    let run = |more: &str| {
        let flags = ["slots", "reciprocal"].into_iter().chain(more.split(' '));
        let output = Command::new(BINARY).args(flags).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let ring = "--conflict 0-1 --conflict 1-2 --conflict 2-3 --conflict 3-4 --conflict 4-0";
    let (code, printed, _) = run(&format!("--slots 20 --kinds 5 {ring} --format json"));
    let answer: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &answer["gap_slot_count"]), (Some(0), &json!(8)));
    let offsets: Vec<_> = answer["kinds"].as_array().unwrap().iter().collect();
    let offsets: Vec<_> = offsets.iter().map(|kind| &kind["offset_slot_count"]).collect();
    assert_eq!(offsets, [0, 8, 16, 4, 12]);
    let none = "--cycle 8h --slots 8 --kinds 2 --polling-delay 4h --slot-job-delay 1s";
    let (code, printed, _) = run(none);
    assert_eq!(code, Some(0));
    assert!(printed.contains("leave a job no time"), "{printed}");
    for (flags, words) in [
        ("--slots 8 --kinds 2 --polling-delay 1s", "--cycle or --schedule"),
        ("--slots 8 --run-time 1s", "--cycle or --schedule"),
        ("--slots 8 --kinds 2 --conflict 0", "0-1"),
        ("--slots 8 --kinds 2 --conflict 0-2", "second_kind_index"),
        ("--slots 8 --kinds 2 --conflict 0-1 --spacing stable", "--conflict"),
        ("--cycle 8h --run-time 1s --conflict 0-1", "--conflict"),
        ("--cycle 8h --kinds 2 --polling-delay 9h", "--polling-delay"),
    ] {
        let (code, _, errors) = run(flags);
        assert_eq!(code, Some(64), "{flags}");
        assert!(errors.contains(words), "{flags}: {errors}");
    }
}
