//! One answer, whichever way it is requested: for one ID, for a batch and for a stream of batches,
//! with schedules that are more than a period.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use bytes::Bytes;
use jiff::Timestamp;
use prost::Message as _;
use prost_reflect::DynamicMessage;
use serde_json::{Value, json};
use support::{Http2, Server, config, frame, grpc, grpc_request, http2, message, method_of};
use support::{path_of, post2};

const IDS: usize = 45;

struct AssignmentCase {
    schedule: Value,
    /// The column of the IDs in a batch, and the field of a single ID.
    column: (&'static str, &'static str),
    ids: Vec<Value>,
    weights: Vec<String>,
    from: &'static str,
}

fn texts() -> Vec<Value> {
    (0..IDS).map(|number| json!(format!("user-{number}"))).collect()
}

fn schedules() -> Vec<AssignmentCase> {
    let day = |zone: &str| json!({"unit": "CALENDAR_UNIT_DAY", "timeZone": zone});
    let window = |from: &str, to: &str| json!({"startOffset": from, "endOffset": to});
    let recurring = |policy: &str, window: Value| {
        let times = json!({"calendar": day("Europe/Berlin"), "window": window});
        json!({"recurring": times, "policy": format!("EXCLUSION_POLICY_{policy}")})
    };
    let spec = |mut fields: Value| {
        fields["weightQuantum"] = json!("10");
        json!({"spec": fields})
    };
    let by_text = ("texts", "text");
    let weights = || (0..IDS).map(|number| (number * 3).max(1).to_string()).collect::<Vec<_>>();
    let case = |fields: Value, from| AssignmentCase {
        schedule: spec(fields),
        column: by_text,
        ids: texts(),
        weights: weights(),
        from,
    };
    // Nights with a clock change, and an hour into an exclusion.
    let (spring, autumn) = ("2026-03-29T00:30:00Z", "2026-10-24T23:30:00Z");
    let berlin = day("Europe/Berlin");
    let nights = json!([window("3600s", "18000s")]);
    let plain = json!({"calendar": berlin, "slotCount": 24});
    let windowed = json!({"calendar": berlin, "slotCount": 16, "activeWindows": nights});
    let excluded = json!({
        "calendar": berlin, "slotCount": 24, "exclusions": [
            recurring("DEFER", window("79200s", "82800s")),
            recurring("SKIP", window("10800s", "14400s")),
        ],
    });
    let month = json!({
        "calendar": {"unit": "CALENDAR_UNIT_MONTH", "timeZone": "Australia/Lord_Howe"}, "slotCount": 4,
    });
    let fine = json!({
        "calendar": {"unit": "CALENDAR_UNIT_WEEK", "timeZone": "Australia/Lord_Howe"},
        "resolution": "0.125s", "slotCount": 8,
        "activeWindows": [window("3600.250s", "7200.250s"), window("90000s", "93600s")],
        "exclusions": [recurring("DEFER", window("1800.125s", "3600.875s"))],
    });
    let twister = |profile: &str| {
        json!({
            "period": "28800s", "slotCount": 16, "placement": "PLACEMENT_TWISTER",
            "profile": format!("TWISTER_PROFILE_{profile}"),
            "activeWindows": [window("0s", "3600s"), window("7200s", "14400s")],
            "exclusions": [recurring("DEFER", window("79200s", "82800s"))],
        })
    };
    let fraction = json!({
        "calendar": berlin, "slotCount": 24, "placement": "PLACEMENT_FRACTION", "activeWindows": nights,
    });
    let mut all = vec![
        case(plain, spring),
        case(windowed, autumn),
        case(excluded.clone(), "2026-06-01T20:30:00Z"),
        case(excluded, spring),
        case(month, "2026-04-04T12:00:00Z"),
        case(fine, "2026-04-01T00:00:00.050Z"),
    ];
    for profile in ["RUBY", "PYTHON", "PHP"] {
        let ids = (0..IDS).map(|number| json!((number * 7_919).to_string())).collect();
        let column = ("integers", "integer");
        all.push(AssignmentCase { ids, column, ..case(twister(profile), "2026-06-01T20:30:00Z") });
    }
    #[expect(clippy::cast_precision_loss, reason = "small")]
    let ids = (0..IDS).map(|number| json!(number as f64 / IDS as f64)).collect();
    all.push(AssignmentCase { ids, column: ("fractions", "fraction"), ..case(fraction, autumn) });
    all
}

/// A row of a response: ID, piece, slot, offset in the slot, offset in the cycle (both in
/// milliseconds), cycle, start (milliseconds). A refused ID has −1 in all but the first two.
type Row = [i64; 7];

fn number(cell: &Value) -> i64 {
    cell.as_i64().unwrap_or_else(|| cell.as_str().unwrap().parse().unwrap())
}

/// The milliseconds of a duration; an absent duration is zero.
fn millis(span: Option<&Value>) -> i64 {
    let Some(text) = span.and_then(Value::as_str) else { return 0 };
    let (seconds, fraction) = text.trim_end_matches('s').split_once('.').unwrap_or((text, ""));
    let fraction: i64 = format!("{fraction:0<3}")[..3].parse().unwrap();
    seconds.trim_end_matches('s').parse::<i64>().unwrap() * 1_000 + fraction
}

fn rows_of(assignments: &Value, first_id: i64, weighted: bool) -> Vec<Row> {
    let tick = millis(assignments.get("resolution"));
    let column = |name: &str| -> Vec<i64> {
        assignments[name].as_array().unwrap().iter().map(number).collect()
    };
    let slots = column("slotIndexes");
    let (ids, pieces) = if weighted {
        (column("idIndexes"), column("pieceIndexes"))
    } else {
        ((0..).take(slots.len()).collect(), vec![0; slots.len()])
    };
    let (in_slot, in_cycle) = (column("slotOffsetTicks"), column("cycleOffsetTicks"));
    let (cycles, starts) = (column("cycleIndexes"), column("nextRunUnixMillis"));
    let row = |at: usize| match slots[at] {
        -1 => [first_id + ids[at], pieces[at], -1, -1, -1, -1, -1],
        slot => [
            first_id + ids[at],
            pieces[at],
            slot,
            in_slot[at] * tick,
            in_cycle[at] * tick,
            cycles[at],
            starts[at],
        ],
    };
    (0..slots.len()).map(row).collect()
}

async fn batch(channel: &mut Http2, case: &AssignmentCase, weighted: bool) -> Vec<Row> {
    let mut request = json!({
        "schedule": case.schedule, "fromTime": case.from, "ids": {case.column.0: case.ids},
    });
    if weighted {
        request["weights"] = json!(case.weights);
    }
    let answer = grpc(channel, "AssignSlots", &request).await.unwrap();
    let answer = serde_json::to_value(&answer).unwrap();
    rows_of(&answer["assignments"], 0, weighted)
}

/// The same IDs in three messages of different lengths, after a message with only the schedule.
async fn stream(channel: &mut Http2, case: &AssignmentCase, weighted: bool) -> Vec<Row> {
    let method = method_of("StreamSlotAssignments");
    let mut requests = vec![json!({"schedule": case.schedule, "fromTime": case.from})];
    for part in [0..1, 1..20, 20..IDS] {
        let mut request = json!({"ids": {case.column.0: case.ids[part.clone()]}});
        if weighted {
            request["weights"] = json!(case.weights[part]);
        }
        requests.push(request);
    }
    let frames = requests
        .iter()
        .flat_map(|request| frame(&message(method.input(), request).encode_to_vec()));
    let body: Bytes = frames.collect::<Vec<u8>>().into();
    let answer = post2(channel, grpc_request(&path_of("StreamSlotAssignments"), body)).await;
    assert_eq!(answer.grpc_status().code(), tonic::Code::Ok);
    let mut rest = &answer.body[..];
    let mut rows = Vec::new();
    while let [_, a, b, c, d, behind @ ..] = rest {
        let length = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).unwrap();
        let part = DynamicMessage::decode(method.output(), &behind[..length]).unwrap();
        let part = serde_json::to_value(&part).unwrap();
        let first = part.get("firstIdIndex").map_or(0, number);
        rows.extend(rows_of(&part["assignments"], first, weighted));
        rest = &behind[length..];
    }
    rows
}

/// The same IDs in one request each.
async fn singles(channel: &mut Http2, case: &AssignmentCase, weighted: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for (id, index) in case.ids.iter().zip(0i64..) {
        let mut request = json!({
            "schedule": case.schedule, "fromTime": case.from, "id": {case.column.1: id},
        });
        if weighted {
            request["weight"] = json!(case.weights[usize::try_from(index).unwrap()]);
        }
        let answer = grpc(channel, "AssignSlot", &request).await.unwrap();
        let answer = serde_json::to_value(&answer).unwrap();
        let pieces = answer["pieces"].as_array().unwrap();
        for (piece, number_of_piece) in pieces.iter().zip(0i64..) {
            let Some(run) = piece.get("nextRuns").map(|runs| &runs[0]) else {
                rows.push([index, number_of_piece, -1, -1, -1, -1, -1]);
                continue;
            };
            let start: Timestamp = run["startTime"].as_str().unwrap().parse().unwrap();
            rows.push([
                index,
                number_of_piece,
                piece.get("slotIndex").map_or(0, number),
                millis(piece.get("slotOffset")),
                millis(piece.get("cycleOffset")),
                run.get("cycleIndex").map_or(0, number),
                start.as_millisecond(),
            ]);
        }
    }
    rows
}

#[tokio::test]
async fn single_questions_batches_and_streams_agree() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let (mut off_second, mut refused) = (0, 0);
    for case in schedules() {
        for weighted in [false, true] {
            let expected = singles(&mut channel, &case, weighted).await;
            assert_eq!(expected.len() > IDS, weighted);
            let rows = batch(&mut channel, &case, weighted).await;
            assert_eq!(rows, expected, "{}", case.schedule);
            let rows = stream(&mut channel, &case, weighted).await;
            assert_eq!(rows, expected, "{}", case.schedule);
            off_second += expected.iter().filter(|row| row[6] % 1_000 != 0 && row[2] >= 0).count();
            refused += expected.iter().filter(|row| row[2] < 0).count();
        }
    }
    assert!(off_second > IDS && refused > 5, "{off_second} {refused}");
}

/// A batch that several threads decide, where there are several, compared with its parts.
#[tokio::test]
async fn batches_of_any_length_agree_with_their_parts() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    for spec in [
        json!({"placement": "PLACEMENT_TWISTER", "profile": "TWISTER_PROFILE_PYTHON"}),
        json!({"placement": "PLACEMENT_TWISTER", "profile": "TWISTER_PROFILE_PHP"}),
        json!({"placement": "PLACEMENT_HASH"}),
    ] {
        let mut spec = spec;
        (spec["period"], spec["slotCount"]) = (json!("86400s"), json!(3));
        for count in [8_191, 8_192, 20_001] {
            let ids: Vec<String> = (0..count).map(|id: i64| (id * 7_919).to_string()).collect();
            let (whole, mut parts) = (rows(&mut channel, &spec, &ids, 0).await, Vec::new());
            for (ids, first) in ids.chunks(2_000).zip((0..).step_by(2_000)) {
                parts.extend(rows(&mut channel, &spec, ids, first).await);
            }
            assert_eq!(whole.len(), ids.len());
            assert_eq!(whole, parts, "{spec} {count}");
        }
    }
}

async fn rows(channel: &mut Http2, spec: &Value, ids: &[String], first: i64) -> Vec<Row> {
    let schedule = json!({"spec": spec});
    let request = json!({
        "schedule": schedule, "ids": {"integers": ids}, "fromTime": "2026-01-01T00:00:00Z",
    });
    let answer = grpc(channel, "AssignSlots", &request).await.unwrap();
    rows_of(&serde_json::to_value(&answer).unwrap()["assignments"], first, false)
}
