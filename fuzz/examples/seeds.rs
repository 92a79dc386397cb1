//! Writes the fuzzer's seed inputs, one folder per target, from the golden decisions and from the
//! cases below: `cargo run --release --example seeds -- FOLDER`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use offbeat::proto;
use offbeat_fuzz::choices::piece;
use offbeat_fuzz::methods::{MESSAGES, Message, NAMED, STATELESS, descriptor, streams};
use prost::Message as _;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Longer texts are skipped: a mutation of a long input changes little.
const LONGEST: usize = 3_000;

struct Seeds {
    folder: PathBuf,
    counts: BTreeMap<String, usize>,
}

impl Seeds {
    fn add(&mut self, target: &str, input: impl AsRef<[u8]>) {
        let count = self.counts.entry(target.to_owned()).or_default();
        *count += 1;
        let folder = self.folder.join(target);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("seed-{count:04}")), input).unwrap();
    }

    /// Adds a call as JSON and, if the text reads as the request message, as protobuf bytes.
    fn call(&mut self, method: &str, text: &str) {
        let input = descriptor(method).input();
        let number = MESSAGES.iter().position(|message| message.name == input.full_name()).unwrap();
        if text.len() > LONGEST {
            return;
        }
        self.add("json", [&[number as u8], text.as_bytes()].concat());
        let Some(place) = STATELESS.iter().position(|known| *known == method) else { return };
        let json = [&[0, place as u8, 0, 1, 0], text.as_bytes()].concat();
        self.add("headers", json);
        let Ok(message) = (Message::named(input.full_name()).read)(text.as_bytes()) else { return };
        let body = if streams(method) { piece(&message) } else { message.clone() };
        self.add("wire", [&[place as u8, 0], &body[..]].concat());
        self.add("wire", [&[place as u8, 255], &body[..]].concat());
        for form in [0, 1] {
            let length = u32::try_from(message.len()).unwrap().to_be_bytes();
            let frame = [&[place as u8, form, 6, 0], &length[..], &message].concat();
            self.add("frames", frame);
        }
    }

    fn golden(&mut self, root: &Path) {
        for file in fs::read_dir(root.join("tests/vectors/decisions")).unwrap() {
            let text = fs::read(file.unwrap().path()).unwrap();
            let cases: Vec<Value> = serde_json::from_slice(&text).unwrap();
            for case in cases {
                let name = case["method"].as_str().unwrap();
                let mut known =
                    STATELESS.iter().copied().chain(["v1beta1.LanePlanningService/PlanLanes"]);
                let Some(method) = known.find(|method| method.ends_with(&format!("/{name}")))
                else {
                    continue;
                };
                let raw = case.get("raw").and_then(Value::as_str);
                let request = raw.map_or_else(|| case["request"].to_string(), str::to_owned);
                self.call(method, &request);
            }
        }
    }

    fn conversations(&mut self) {
        use proto::spread_request::Message as Asked;
        let place = STATELESS.iter().position(|known| known.ends_with("/Spread")).unwrap();
        for policy in [1, 2] {
            let spec = proto::SpreadSpec {
                order: Some(proto::SpreadOrder {
                    policy,
                    feeder_count: Some(3),
                    max_open_group_count: None,
                }),
                job_window: Some(4),
                group_window: 2,
                ..Default::default()
            };
            let group = |index, size, job_count, is_last| proto::GroupInput {
                group_index: Some(index),
                size: (policy == 2 && size > 0).then_some(size),
                job_count,
                is_last,
            };
            let inputs = [
                proto::SpreadInput {
                    groups: vec![group(0, 6, 4, false), group(1, 2, 2, true)],
                    ..Default::default()
                },
                proto::SpreadInput { groups: vec![group(0, 0, 2, true)], ..Default::default() },
                proto::SpreadInput {
                    whole_group_sizes: vec![3, 0, 1],
                    no_more_groups: true,
                    ..Default::default()
                },
            ];
            let asked = inputs.into_iter().map(Asked::Input);
            let messages = std::iter::once(Asked::Spec(spec))
                .chain(asked)
                .map(|message| proto::SpreadRequest { message: Some(message) }.encode_to_vec());
            let messages: Vec<Vec<u8>> = messages.collect();
            let pieces: Vec<u8> = messages.iter().flat_map(|message| piece(message)).collect();
            self.add("wire", [&[place as u8, 0], &pieces[..]].concat());
            let frames = messages.iter().flat_map(|message| {
                let length = u32::try_from(message.len()).unwrap().to_be_bytes();
                [&[0], &length[..], message].concat()
            });
            let frames: Vec<u8> = frames.collect();
            self.add("frames", [&[place as u8, 0, 2], &frames[..]].concat());
        }
    }

    fn named_spreads(&mut self) {
        let call = |name: &str, message: Vec<u8>| {
            let number = NAMED.iter().position(|known| known.ends_with(name)).unwrap();
            [&[number as u8], &piece(&message)[..]].concat()
        };
        let pass = |time: u8| vec![NAMED.len() as u8, time];
        let jobs: Vec<Bytes> = ["one", "two", "three"].map(Bytes::from).into();
        let mut hash = Sha256::new();
        for job in &jobs {
            hash.update((job.len() as u64).to_be_bytes());
            hash.update(job);
        }
        let commit = proto::GroupCommit {
            job_count: 3,
            sha256: hash.finalize().to_vec().into(),
            ..Default::default()
        };
        let spread = || "s".to_owned();
        let open = |policy| {
            let spec = proto::NamedSpreadSpec {
                order: Some(proto::SpreadOrder {
                    policy,
                    feeder_count: Some(2),
                    max_open_group_count: None,
                }),
                lease_duration: Some(prost_types::Duration { seconds: 1, nanos: 0 }),
                limits: Some(proto::SpreadLimits {
                    max_attempt_count: Some(2),
                    ..Default::default()
                }),
            };
            let open = proto::OpenSpreadRequest {
                spread_name: spread(),
                spec: Some(spec),
                leave_closed: true,
            };
            call("/OpenSpread", open.encode_to_vec())
        };
        let submit = |first: usize, last: usize, commits: bool| {
            let group = proto::GroupPart {
                group_id: "g".to_owned(),
                first_job_index: first as i64,
                jobs: jobs[first..last]
                    .iter()
                    .map(|payload| proto::SubmittedJob { payload: payload.clone() })
                    .collect(),
                commit: commits.then(|| commit.clone()),
            };
            let submit = proto::SubmitGroupsRequest { spread_name: spread(), groups: vec![group] };
            call("/SubmitGroups", submit.encode_to_vec())
        };
        let pull = |seconds: i64| {
            let wait = Some(prost_types::Duration { seconds, nanos: 0 });
            let pull = proto::PullJobsRequest {
                spread_name: spread(),
                consumer_id: "c".to_owned(),
                max_pulled_job_count: Some(2),
                max_wait_duration: wait,
            };
            call("/PullJobs", pull.encode_to_vec())
        };
        let epoch = 1_767_225_600_000_000_000_i64;
        let settlements =
            |attempt: i32| {
                let actions = [proto::SettleAction::Ack, proto::SettleAction::Nack];
                let settlements = (0..).zip(actions).map(|(sequence, action)| {
                    proto::JobSettlement { sequence, attempt, action: action.into(), delay: None }
                });
                settlements.collect::<Vec<_>>()
            };
        let settle = |attempt| {
            let settlements = settlements(attempt);
            let settle = proto::SettleJobsRequest { spread_name: spread(), epoch, settlements };
            call("/SettleJobs", settle.encode_to_vec())
        };
        let wait = proto::WaitForGroupsRequest {
            spread_name: spread(),
            group_ids: vec!["g".to_owned()],
            max_wait_duration: Some(prost_types::Duration { seconds: 1, nanos: 0 }),
        };
        let wait = call("/WaitForGroups", wait.encode_to_vec());
        let describe = proto::DescribeSpreadRequest { spread_name: spread() };
        let describe = call("/DescribeSpread", describe.encode_to_vec());
        let close = proto::CloseSpreadRequest { spread_name: spread(), ..Default::default() };
        let close = call("/CloseSpread", close.encode_to_vec());
        let letters = proto::ListDeadLettersRequest { spread_name: spread(), ..Default::default() };
        let letters = call("/ListDeadLetters", letters.encode_to_vec());
        let deleted =
            proto::DeleteDeadLettersRequest { spread_name: spread(), epoch, numbers: vec![0] };
        let deleted = call("/DeleteDeadLetters", deleted.encode_to_vec());
        let stream = {
            use proto::stream_jobs_request::Message as Asked;
            let start = proto::StreamJobsStart {
                spread_name: spread(),
                consumer_id: "c".to_owned(),
                credit: Some(proto::JobCredit { job_count: 3 }),
            };
            let asked = [
                Asked::Start(start),
                Asked::Credit(proto::JobCredit { job_count: 2 }),
                Asked::Settlements(proto::JobSettlements { epoch, settlements: settlements(1) }),
            ];
            let number = NAMED.iter().position(|known| known.ends_with("/StreamJobs")).unwrap();
            let pieces = asked.into_iter().flat_map(|message| {
                piece(&proto::StreamJobsRequest { message: Some(message) }.encode_to_vec())
            });
            std::iter::once(number as u8).chain(pieces).chain([0]).collect::<Vec<u8>>()
        };
        for policy in [1, 2] {
            let simple = [open(policy), submit(0, 3, true), pull(0), settle(1), describe.clone()];
            self.add("store", [&simple.concat()[..], &wait, &letters, &deleted, &close].concat());
            let parts = [open(policy), submit(0, 2, false), submit(2, 3, true), stream.clone()];
            self.add("store", [&parts.concat()[..], &pass(3), &pull(1), &settle(2)].concat());
        }
    }
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = PathBuf::from(std::env::args().nth(1).unwrap());
    let mut seeds = Seeds { folder, counts: BTreeMap::new() };
    seeds.golden(&root);
    seeds.conversations();
    seeds.named_spreads();

    for file in fs::read_dir(root.join("examples/simulations")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = fs::read_to_string(path).unwrap();
            seeds.add("scenarios", &text);
            // Small enough for the target to simulate it.
            let small: Vec<_> = text
                .lines()
                .map(|line| match line.split_once(" = ") {
                    Some(("count", _)) => "count = 40".to_owned(),
                    Some(("duration", _)) => "duration = \"5m\"".to_owned(),
                    Some(("cycle", _)) => "cycle = \"2m\"".to_owned(),
                    _ => line.to_owned(),
                })
                .collect();
            seeds.add("scenarios", small.join("\n"));
        }
    }
    for text in [
        "{\"group\": \"a\", \"jobs\": [\"a1\", {\"n\": 1.50}, null]}\n\n{\"group\":2,\"jobs\":[]}\n",
        "{\"group\": [1], \"jobs\": [1,2,3,4,5,6]}\r\n{\"group\": {}, \"jobs\": [7,8]}",
    ] {
        for policy in [0, 1] {
            seeds.add("groups", [&[policy, 2, 1], text.as_bytes()].concat());
            seeds.add("groups", [&[policy, 2], text.as_bytes()].concat());
        }
    }
    for (kind, text) in [
        (0, "name,backlog_count,mean_run_time,done\nA,3,1s,false\n\"B \"\"x\"\"\",10,,true\n"),
        (0, "[{\"name\": \"A\", \"backlog_count\": \"3\", \"runTimes\": [\"1s\", \"0.5s\"]}]"),
        (2, "0.25\n1e-3\n\n 31622400 \r\n"),
        (3, "acme\n-42\n0190D7A2-1111-7abc-8def-0123456789ab\n\n"),
        (4, "1h 30m"),
        (4, "2026-01-01T00:00:00.5+01:00"),
    ] {
        let input = match kind {
            0 => [&[0, 0, 7], text.as_bytes()].concat(),
            3 => [&[3, 0], text.as_bytes()].concat(),
            kind => [&[kind], text.as_bytes()].concat(),
        };
        seeds.add("tables", input);
    }
    for (kind, text) in [
        (0, "--listen\n127.0.0.1:0,unix:/tmp/a\n--max-requests\n7\n--socket-mode\n0600"),
        (0, "--listen\n0.0.0.0:1\n--insecure\n--socket-uids\n1,2"),
        (1, "[::1]:2328"),
        (1, "unix:///run/a"),
        (2, "info,offbeat::request=debug"),
        (3, "a-token-of-the-server\n\nanother+token/0123=="),
    ] {
        seeds.add("settings", [&[kind], text.as_bytes()].concat());
    }
    for choices in [&[4, 1, 3, 0, 1, 40, 4][..], &[4, 2, 4, 0, 9, 1, 5, 0, 64, 1, 6, 0, 9, 2]] {
        seeds.add("settings", choices);
    }
    // Pings beyond the credit, pings after a pause, frames of every kind, and bytes that are not
    // HTTP/2.
    for steps in [
        &[2, 0, 3, 255, 255, 2, 0, 3, 255, 255][..],
        &[2, 0, 3, 22, 0, 2, 0, 3, 22, 0, 0, 5, 2, 0, 3, 22, 0, 2, 3, 3, 22, 0],
        &[2, 2, 1, 1, 0, 2, 1, 5, 1, 2, 5, 0, 40, 2, 7, 4, 3, 1, 4, 0, 0, 8, 6],
        &[1, 4, 71, 69, 84, 32, 2, 0, 3, 22, 0],
    ] {
        for start in [[7, 0], [0, 0], [31, 0], [8, 1]] {
            seeds.add("control_frames", [&start[..], steps].concat());
        }
    }
    let pem =
        |name: &str, body: &str| format!("-----BEGIN {name}-----\n{body}\n-----END {name}-----\n");
    let (certificate, key) = (pem("CERTIFICATE", "MAA="), pem("PRIVATE KEY", "MAA="));
    seeds.add("certificates", [piece(certificate.as_bytes()), piece(key.as_bytes())].concat());
    let all = [&certificate, &key, &certificate].map(|text| piece(text.as_bytes()));
    seeds.add("certificates", all.concat());
    for place in 0..3_u8 {
        for profile in 0..4_u8 {
            let mut input = vec![0, place, profile, 0, 0, 0, 0, 40];
            for kind in 0..24_u8 {
                input.push(kind % 8);
                match kind % 8 {
                    0 => input.extend(piece(&[kind; 16])),
                    1 => input.extend(0.25_f64.to_le_bytes()),
                    2 => input.extend([kind; 4]),
                    3 => input.extend([6, kind, 1, 40]),
                    4 => input.extend([kind; 16]),
                    5 => input.extend(piece(b"0190d7a2-1111-7abc-8def-0123456789ab")),
                    6 => input.extend(piece(b"-340282366920938463463374607431768211455")),
                    _ => input.extend(piece("größe/42".as_bytes())),
                }
            }
            seeds.add("ids", input);
        }
    }
    for start in 0..8_u8 {
        let bytes: Vec<u8> = (0..200_u8).map(|n| n.wrapping_mul(37).wrapping_add(start)).collect();
        for target in ["leases", "named", "orders", "schedules"] {
            seeds.add(target, &bytes);
        }
        seeds.add("schedules", [&[0, 0, 6, 14, 1, 40], &bytes[..]].concat());
    }
    for (mean, p90) in [(None, Some(30)), (Some(5), None)] {
        let seconds = |seconds| prost_types::Duration { seconds, nanos: 0 };
        let percentiles = proto::v1beta1::RunTimePercentiles {
            p50: Some(seconds(1)),
            p90: p90.map(seconds),
            mean: mean.map(seconds),
        };
        let plan = proto::v1beta1::PlanLanesRequest {
            run_times: Some(proto::v1beta1::plan_lanes_request::RunTimes::Percentiles(percentiles)),
            arrival_rate: 0.5,
            worker_count: 8,
            ..Default::default()
        };
        seeds.add("plans", plan.encode_to_vec());
    }
    let samples = proto::v1beta1::RunTimeSamples {
        run_time_micros: vec![1_000, 1_000, 2_000, 900_000, 60_000_000],
    };
    let plan = proto::v1beta1::PlanLanesRequest {
        run_times: Some(proto::v1beta1::plan_lanes_request::RunTimes::Samples(samples)),
        arrival_rate: 0.1,
        worker_count: 3,
        ..Default::default()
    };
    seeds.add("plans", plan.encode_to_vec());
    for (target, count) in &seeds.counts {
        println!("{target}\t{count}");
    }
}
