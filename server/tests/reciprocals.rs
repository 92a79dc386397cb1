//! Reciprocal slots over the wire and on the command line: conflicts, existing schedules, delays.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::process::Command;

use serde_json::{Value, json};
use support::{Server, config, grpc, http2};
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
            "schedule": schedule(&json!({})), "kindCount": 3, "kindSpacing": "KIND_SPACING_STABLE",
            "pollingDelay": polling, "slotJobDelay": slot_job,
        })
    };
    // Positions 0, 48 and 24: gaps of 24, 48 and 24 slots of 300 s.
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

async fn compare(server: &Server, jobs: &[Value]) -> Result<Value, Status> {
    let mut channel = http2(server.tcp().await).await;
    let answer = grpc(&mut channel, "CompareSchedules", &json!({"jobs": jobs})).await;
    answer.map(|answer| serde_json::to_value(&answer).unwrap())
}

/// The verdict on two jobs, and their distances.
async fn verdict(server: &Server, one: Value, other: Value) -> [String; 3] {
    let answer = compare(server, &[one, other]).await.unwrap();
    let pair = &answer["pairs"][0];
    assert_eq!(answer["separation"], pair["separation"]);
    assert!(pair["message"].as_str().unwrap().contains(' '), "{pair}");
    let text = |field: &str| pair[field].as_str().unwrap_or_default().to_owned();
    ["separation", "firstToSecond", "secondToFirst"].map(text)
}

fn job(spec: &Value, more: &Value) -> Value {
    let mut job = json!({"schedule": schedule(spec)});
    job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    job
}

#[tokio::test]
async fn jobs_are_apart_only_where_that_is_known() {
    let server = Server::start(&config());
    let (plain, none) = (json!({}), json!({}));
    let is = |separation: &str, forward: &str, backward: &str| {
        [format!("SEPARATION_{separation}"), forward.to_owned(), backward.to_owned()]
    };
    // Two names for one job on the same schedule are not apart.
    let same =
        verdict(&server, job(&plain, &json!({"kind": "a"})), job(&plain, &json!({"kind": "b"})));
    assert_eq!(same.await, is("MEET", "0s", "0s"));
    let later = json!({"anchorTime": "2026-01-01T00:07:00Z"});
    let apart = verdict(&server, job(&plain, &none), job(&later, &none)).await;
    assert_eq!(apart, is("APART", "420s", "28380s"));
    let long = json!({"runTime": "421s"});
    let meet = verdict(&server, job(&plain, &long), job(&later, &none)).await;
    assert_eq!(meet, is("MEET", "420s", "28380s"));
    for other in [
        json!({"period": "57600s"}),
        json!({"resolution": "0.500s"}),
        json!({"placement": "PLACEMENT_FRACTION"}),
        json!({"salt": "x"}),
        json!({"weightQuantum": "5"}),
        json!({"exclusions": [{"dated": {
            "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-02T00:00:00Z",
        }}]}),
    ] {
        let mut other = other;
        other["anchorTime"] = json!("2026-01-01T00:07:00Z");
        let found = verdict(&server, job(&plain, &none), job(&other, &none)).await;
        assert_eq!(found, is("UNKNOWN", "", ""), "{other}");
    }
    // Under TWISTER, slots of another length draw other offsets; under HASH, they change nothing.
    let slots = json!({"slotCount": 48, "anchorTime": "2026-01-01T00:07:00Z"});
    assert_eq!(
        verdict(&server, job(&plain, &none), job(&slots, &none)).await[0],
        "SEPARATION_APART"
    );
    let twister = |slots: i32| json!({"placement": "PLACEMENT_TWISTER", "slotCount": slots});
    let found = verdict(&server, job(&twister(96), &none), job(&twister(48), &none)).await;
    assert_eq!(found[0], "SEPARATION_UNKNOWN");
    // Declared kinds, and the worst clock change of their zone.
    let kinds = json!([{"name": "a", "runTime": "60s"}, {"name": "b", "runTime": "60s"}]);
    let declared = json!({"kinds": kinds});
    let [a, b] = ["a", "b"].map(|kind| json!({"kind": kind}));
    let found = verdict(&server, job(&declared, &a), job(&declared, &b)).await;
    assert_eq!(found, is("APART", "14400s", "14400s"));
    let berlin = json!({"schedule": {"spec": {
        "calendar": {"unit": "CALENDAR_UNIT_DAY", "timeZone": "Europe/Berlin"}, "kinds": kinds,
    }}});
    let of = |kind: &str, run_time: &str| {
        let mut job = berlin.clone();
        job["kind"] = json!(kind);
        job["runTime"] = json!(run_time);
        job
    };
    let found = verdict(&server, of("a", "39600s"), of("b", "60s")).await;
    assert_eq!(found, is("APART", "39600s", "39600s"));
    let found = verdict(&server, of("a", "39601s"), of("b", "60s")).await;
    assert_eq!(found[0], "SEPARATION_MEET");
    // The worst of several pairs decides.
    let answer =
        compare(&server, &[job(&plain, &none), job(&later, &none), job(&plain, &none)]).await;
    let answer = answer.unwrap();
    assert_eq!(answer["separation"], "SEPARATION_MEET");
    assert_eq!(answer["pairs"].as_array().unwrap().len(), 3);
    for (jobs, field) in [
        (vec![job(&plain, &none)], "jobs"),
        (vec![job(&plain, &none), job(&declared, &none)], "jobs[1].kind"),
        (vec![job(&plain, &json!({"runTime": "-1s"})), job(&plain, &none)], "jobs[0].run_time"),
    ] {
        assert_eq!(field_of(&compare(&server, &jobs).await.unwrap_err())[0], field);
    }
}

#[test]
fn the_command_line_compares_schedules_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schedules.toml");
    let table = |name: &str, more: &str| {
        format!("[[schedule]]\nname = \"{name}\"\nversion = 1\nperiod = \"8h\"\n{more}\n")
    };
    let kinds = "kinds = [\"import\", { name = \"export\" }]\ncatch_up_span = \"30m\"";
    let later = "anchor_time = 2026-01-01T01:00:00Z";
    std::fs::write(&file, [table("pull", ""), table("push", later), table("sync", kinds)].concat())
        .unwrap();
    let path = file.display().to_string();
    let run = |jobs: &[&str]| {
        let mut flags = vec!["slots", "compare", "--schedules", &path, "--format", "json"];
        jobs.iter().for_each(|job| flags.extend(["--job", job]));
        let output = Command::new(BINARY).args(flags).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, printed, _) = run(&["pull/1=10m", "push/1"]);
    assert_eq!(code, Some(0));
    assert!(
        printed.contains("\"separation\":\"APART\",\"first_to_second\":\"3600s\""),
        "{printed}"
    );
    let (code, printed, _) = run(&["pull/1", "pull/1"]);
    assert_eq!(code, Some(1));
    assert!(printed.contains("MEET"), "{printed}");
    assert_eq!(run(&["sync/1:import", "sync/1:export"]).0, Some(0));
    for (jobs, words) in [
        (vec!["pull/1", "post/1"], "--job"),
        (vec!["pull/1", "sync/1"], "kind"),
        (vec!["pull/1"], "2 to 32 jobs"),
        (vec!["pull/1", "pull"], "NAME/VERSION"),
    ] {
        let (code, _, errors) = run(&jobs);
        assert_eq!(code, Some(64), "{jobs:?}");
        assert!(errors.contains(words), "{jobs:?}: {errors}");
    }
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
    let (code, printed, _) = run(&format!("--slots 20 --kind-count 5 {ring} --format json"));
    let answer: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &answer["gap_slot_count"]), (Some(0), &json!(8)));
    let offsets: Vec<_> = answer["kinds"].as_array().unwrap().iter().collect();
    let offsets: Vec<_> = offsets.iter().map(|kind| &kind["offset_slot_count"]).collect();
    assert_eq!(offsets, [0, 8, 16, 4, 12]);
    let none = "--cycle 8h --slots 8 --kind-count 2 --polling-delay 4h --slot-job-delay 1s";
    let (code, printed, _) = run(none);
    assert_eq!(code, Some(0));
    assert!(printed.contains("leave a job no time"), "{printed}");
    for (flags, words) in [
        ("--slots 8 --kind-count 2 --polling-delay 1s", "--cycle or --schedule"),
        ("--slots 8 --run-time 1s", "--cycle or --schedule"),
        ("--slots 8 --kind-count 2 --conflict 0", "0-1"),
        ("--slots 8 --kind-count 2 --conflict 0-2", "second_kind_index"),
        ("--slots 8 --kind-count 2 --conflict 0-1 --spacing stable", "--conflict"),
        ("--cycle 8h --run-time 1s --conflict 0-1", "--conflict"),
        ("--cycle 8h --kind-count 2 --polling-delay 9h", "--polling-delay"),
    ] {
        let (code, _, errors) = run(flags);
        assert_eq!(code, Some(64), "{flags}");
        assert!(errors.contains(words), "{flags}: {errors}");
    }
}
