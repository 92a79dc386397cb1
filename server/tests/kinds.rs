//! Kinds, pages of due runs, and time zones per ID, through the API.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{Server, config, grpc, http2};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

async fn ask(server: &Server, method: &str, request: &Value) -> Result<Value, Status> {
    let mut channel = http2(server.tcp().await).await;
    let answer = grpc(&mut channel, method, request).await;
    answer.map(|answer| serde_json::to_value(&answer).unwrap())
}

async fn refused(server: &Server, method: &str, request: &Value) -> String {
    let status = ask(server, method, request).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    status.get_error_details().error_info().unwrap().metadata["field"].clone()
}

fn numbers(column: &Value) -> Vec<i64> {
    let number = |value: &Value| match value {
        Value::String(text) => text.parse().unwrap(),
        value => value.as_i64().unwrap(),
    };
    column.as_array().map_or_else(Vec::new, |column| column.iter().map(number).collect())
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("user-{number}")).collect()
}

#[tokio::test]
async fn every_question_about_runs_names_its_kind() {
    let server = Server::start(&config());
    let schedule = json!({"spec": {"period": "28800s", "kinds": [{"name": "a"}, {"name": "b"}]}});
    let column = json!({
        "dialect": "SQL_DIALECT_POSTGRESQL", "table": "users", "column": "id",
        "columnType": "SQL_COLUMN_TYPE_TEXT",
    });
    let at = "2026-01-01T00:00:00Z";
    let questions = [
        ("AssignSlot", json!({"id": {"text": "x"}, "fromTime": at})),
        ("AssignSlots", json!({"ids": {"texts": ["x"]}, "fromTime": at})),
        ("ListDueRuns", json!({"ids": {"texts": ["x"]}, "watermarkTime": at, "nowTime": at})),
        ("AuditIds", json!({"ids": {"texts": texts(300)}, "fromTime": at})),
        ("ListSlots", json!({"startTime": at, "sqlTarget": column})),
        (
            "GetWindowPredicate",
            json!({
                "startTime": at, "endTime": "2026-01-01T00:05:00Z", "sqlTarget": column,
            }),
        ),
    ];
    for (method, mut request) in questions {
        request["schedule"] = schedule.clone();
        assert_eq!(refused(&server, method, &request).await, "kind", "{method}");
        let mut answers = Vec::new();
        for kind in ["a", "b"] {
            request["kind"] = json!(kind);
            answers.push(ask(&server, method, &request).await.unwrap());
        }
        let [one, other] = answers.try_into().unwrap();
        if method == "AuditIds" {
            // The slots of kind b are half a cycle after those of kind a.
            let loads = |answer: &Value| answer["slotLoads"].as_array().unwrap().clone();
            let mut turned = loads(&one);
            turned.rotate_right(64);
            assert_eq!(loads(&other), turned);
        }
        // At this instant no ID runs, so neither kind has due runs.
        assert!(one != other || method == "ListDueRuns", "{method} does not know the kind");
        request["kind"] = json!("c");
        assert_eq!(refused(&server, method, &request).await, "kind", "{method}");
    }
    let migration = json!({
        "oldSchedule": {"spec": {"period": "28800s"}}, "newSchedule": schedule, "cutoverTime": at,
        "kind": "b", "ids": {"texts": ["x"]},
    });
    let planned = ask(&server, "PlanMigration", &migration).await.unwrap();
    // Half a cycle later than kind a, and than a schedule without kinds.
    assert_eq!(planned["path"], "MIGRATION_PATH_SAME_ORDER");
    let described = ask(&server, "DescribeSchedule", &json!({"schedule": schedule})).await.unwrap();
    assert_eq!(
        described["kinds"][1],
        json!({
            "name": "b", "offsetSlotCount": 64, "offset": "14400s", "gapSlotCount": 64,
            "runBudget": "14400s",
        })
    );
    assert_eq!(described["maxCycleDuration"], "28800s");
    assert_eq!(described["spec"]["catchUpSpan"], "3600s");
    // The spec in a description is valid in a request.
    let again = json!({"schedule": {"spec": described["spec"]}});
    let again = ask(&server, "DescribeSchedule", &again).await.unwrap();
    assert_eq!(again["identity"], described["identity"]);
}

/// A catch-up policy that runs all missed runs of a day, smeared.
fn catch_up(smear_span: &str) -> Value {
    json!({
        "missedRunPolicy": "MISSED_RUN_POLICY_RUN_ALL", "horizon": "86400s", "smearSpan": smear_span,
    })
}

#[tokio::test]
async fn pages_of_due_runs_add_up_to_a_single_page() {
    let server = Server::start(&config());
    let request = json!({
        "schedule": {"spec": {"period": "3600s"}}, "ids": {"texts": texts(50)},
        "watermarkTime": "2026-01-01T00:00:00Z", "nowTime": "2026-01-01T08:00:00Z",
        "catchUpPolicy": catch_up("600s"),
    });
    let whole = ask(&server, "ListDueRuns", &request).await.unwrap();
    let columns = ["idIndexes", "cycleIndexes", "scheduledUnixMillis", "startUnixMillis"];
    let rows = |answer: &Value| columns.map(|column| numbers(&answer["runs"][column]));
    assert_eq!(rows(&whole)[0].len(), 400);
    let mut paged = request.clone();
    paged["pageSize"] = json!(70);
    let mut found: [Vec<i64>; 4] = Default::default();
    let last = loop {
        let answer = ask(&server, "ListDueRuns", &paged).await.unwrap();
        for (all, page) in found.iter_mut().zip(rows(&answer)) {
            assert!(page.len() <= 70);
            all.extend(page);
        }
        if answer["nextPageToken"].is_null() {
            break answer;
        }
        assert!(answer["nextWatermarkTime"].is_null(), "a watermark would lose what follows");
        paged["pageToken"] = answer["nextPageToken"].clone();
        // The page token carries the time of the first page.
        paged.as_object_mut().unwrap().remove("nowTime");
    };
    assert_eq!(found, rows(&whole));
    for field in ["nextWatermarkTime", "lateRunCount", "nextDueTime"] {
        assert_eq!(last[field], whole[field], "{field}");
    }
    for (field, value, named) in [
        ("nowTime", json!("2026-01-01T08:00:01Z"), "now_time"),
        ("kind", json!("other"), "page_token"),
        ("catchUpPolicy", catch_up("601s"), "page_token"),
        ("ids", json!({"texts": texts(51)}), "page_token"),
        ("pageToken", json!("AAAA"), "page_token"),
        ("pageSize", json!(-1), "page_size"),
        ("pageSize", json!(65_537), "page_size"),
    ] {
        let mut other = paged.clone();
        other[field] = value;
        assert_eq!(refused(&server, "ListDueRuns", &other).await, named, "{field}");
    }
}

#[tokio::test]
async fn a_page_token_goes_with_as_many_weights_and_watermarks() {
    let server = Server::start(&config());
    let mut request = json!({
        "schedule": {"spec": {"period": "3600s", "weightQuantum": "10"}},
        "ids": {"texts": texts(50)}, "weights": vec!["15"; 50],
        "watermarkUnixMillis": vec!["1767225600000"; 50],
        "nowTime": "2026-01-01T04:00:00Z", "catchUpPolicy": catch_up("600s"), "pageSize": 300,
    });
    let first = ask(&server, "ListDueRuns", &request).await.unwrap();
    request["pageToken"] = first["nextPageToken"].clone();
    // 50 IDs of two pieces that are four hours apart.
    let second = ask(&server, "ListDueRuns", &request).await.unwrap();
    assert_eq!(numbers(&second["runs"]["idIndexes"]).len(), 100);
    for column in ["weights", "watermarkUnixMillis"] {
        let mut other = request.clone();
        other.as_object_mut().unwrap().remove(column);
        assert_eq!(refused(&server, "ListDueRuns", &other).await, "page_token", "{column}");
    }
}

#[tokio::test]
async fn look_ahead_lists_each_future_run_once() {
    let server = Server::start(&config());
    let mut request = json!({
        "schedule": {"spec": {"period": "3600s"}}, "ids": {"texts": texts(200)},
        "watermarkTime": "2026-01-01T00:00:00Z", "lookAhead": "300s",
        "catchUpPolicy": {"onTimeTolerance": "300s"},
    });
    let mut seen = std::collections::BTreeSet::new();
    for minute in (0..60).step_by(5) {
        request["nowTime"] = json!(format!("2026-01-01T00:{minute:02}:00Z"));
        let answer = ask(&server, "ListDueRuns", &request).await.unwrap();
        for (id, start) in numbers(&answer["runs"]["idIndexes"])
            .iter()
            .zip(numbers(&answer["runs"]["startUnixMillis"]))
        {
            let ahead = start / 1_000 - 1_767_225_600 - minute * 60;
            assert!((0..300).contains(&ahead), "{ahead}");
            assert!(seen.insert(*id), "{id} is listed twice");
        }
        assert!(answer["lateRunCount"].is_null());
        request["watermarkTime"] = answer["nextWatermarkTime"].clone();
    }
    assert_eq!(seen.len(), 200);
    assert_eq!(request["watermarkTime"], "2026-01-01T01:00:00Z");
}

#[tokio::test]
async fn an_id_runs_by_the_clock_of_its_own_zone() {
    let server = Server::start(&config());
    let spec = |zone: &str| {
        json!({"spec": {
            "calendar": {"unit": "CALENDAR_UNIT_DAY", "timeZone": zone},
            "kinds": [{"name": "a"}, {"name": "b"}],
        }})
    };
    let zones = ["America/New_York", "Asia/Tokyo", "Australia/Lord_Howe"];
    let ids = texts(40);
    let indexes: Vec<i64> = (0..40).map(|row| row % 4 - 1).collect();
    let common = json!({"fromTime": "2026-03-07T12:00:00Z", "kind": "b"});
    let assign = |schedule: Value, ids: Value| {
        let mut request = common.clone();
        request["schedule"] = schedule;
        request["ids"] = ids;
        request
    };
    let column = json!({"texts": ids, "timeZones": zones, "timeZoneIndexes": indexes});
    let answer = ask(&server, "AssignSlots", &assign(spec("Europe/Berlin"), column)).await.unwrap();
    assert_eq!(answer["identity"]["timeZoneDatabase"].as_str().unwrap().len(), 5);
    let runs = numbers(&answer["assignments"]["nextRunUnixMillis"]);
    for (row, index) in indexes.iter().enumerate() {
        let zone = usize::try_from(*index).map_or("Europe/Berlin", |index| zones[index]);
        let alone = assign(spec(zone), json!({"texts": [ids[row]]}));
        let alone = ask(&server, "AssignSlots", &alone).await.unwrap();
        assert_eq!([runs[row]][..], numbers(&alone["assignments"]["nextRunUnixMillis"]), "{zone}");
        let one = json!({
            "schedule": spec("Europe/Berlin"), "id": {"text": ids[row]}, "kind": "b", "timeZone": zone,
            "fromTime": common["fromTime"],
        });
        let one = ask(&server, "AssignSlot", &one).await.unwrap();
        let start = one["pieces"][0]["nextRuns"][0]["startTime"].as_str().unwrap();
        let start: jiff::Timestamp = start.parse().unwrap();
        assert_eq!(start.as_millisecond(), runs[row], "{zone}");
        // A run key does not contain the zone.
        let prefix = answer["assignments"]["runKeyPrefix"].as_str().unwrap();
        assert!(one["pieces"][0]["nextRuns"][0]["runKey"].as_str().unwrap().starts_with(prefix));
        let due = json!({
            "schedule": spec("Europe/Berlin"), "kind": "b",
            "ids": {"texts": [ids[row]], "timeZones": [zone], "timeZoneIndexes": [0]},
            "watermarkTime": common["fromTime"], "nowTime": "2026-03-09T12:00:00Z",
            "catchUpPolicy": {
                "missedRunPolicy": "MISSED_RUN_POLICY_RUN_ALL", "horizon": "172800s",
            },
        });
        let due = ask(&server, "ListDueRuns", &due).await.unwrap();
        assert_eq!(numbers(&due["runs"]["scheduledUnixMillis"])[0], runs[row], "{zone}");
    }
    let zoned = |names: Value, indexes: Value| {
        let column = json!({"texts": ["x"], "timeZones": names, "timeZoneIndexes": indexes});
        assign(spec("UTC"), column)
    };
    for (request, field) in [
        (zoned(json!(["Nowhere"]), json!([0])), "ids.time_zones[0]"),
        (zoned(json!(["UTC", "UTC"]), json!([0])), "ids.time_zones[1]"),
        (zoned(json!(["UTC"]), json!([1])), "ids.time_zone_indexes[0]"),
        (zoned(json!(["UTC"]), json!([-2])), "ids.time_zone_indexes[0]"),
        (zoned(json!(["UTC"]), json!([0, 0])), "ids.time_zone_indexes"),
        (zoned(json!(["UTC"]), json!([])), "ids.time_zone_indexes"),
    ] {
        assert_eq!(refused(&server, "AssignSlots", &request).await, field);
    }
    // Kinds that are an hour apart meet where a clock skips an hour, but never in UTC.
    let kinds: Vec<_> = (0..24).map(|number| json!({"name": format!("k{number}")})).collect();
    let hourly = json!({"spec": {
        "calendar": {"unit": "CALENDAR_UNIT_DAY", "timeZone": "UTC"}, "kinds": kinds,
        "slotCount": 24,
    }});
    for (zone, fits) in [("Asia/Tokyo", true), ("Europe/Berlin", false)] {
        let ids = json!({"texts": ["x"], "timeZones": ["UTC", zone], "timeZoneIndexes": [0]});
        let request = json!({"schedule": hourly, "kind": "k1", "ids": ids});
        let answer = ask(&server, "AssignSlots", &request).await;
        assert_eq!(answer.is_ok(), fits, "{zone}");
        if !fits {
            assert_eq!(refused(&server, "AssignSlots", &request).await, "ids.time_zones[1]");
        }
    }
    // Time zones are refused where they would be ignored.
    let ids = json!({"texts": ["x"], "timeZones": ["UTC"], "timeZoneIndexes": [0]});
    let audit = json!({"schedule": spec("UTC"), "ids": ids});
    assert_eq!(refused(&server, "AuditIds", &audit).await, "ids.time_zones");
    let migration =
        json!({"oldSchedule": spec("UTC"), "newSchedule": spec("UTC"), "kind": "a", "ids": ids});
    assert_eq!(refused(&server, "PlanMigration", &migration).await, "ids.time_zones");
    let mut plain = zoned(json!(["UTC"]), json!([0]));
    plain["schedule"] = json!({"spec": {"period": "3600s"}});
    assert_eq!(refused(&server, "AssignSlots", &plain).await, "ids.time_zones[0]");
}

#[tokio::test]
async fn a_window_is_selected_zone_by_zone() {
    let server = Server::start(&config());
    let request = json!({
        "schedule": {"spec": {"calendar": {"unit": "CALENDAR_UNIT_DAY", "timeZone": "UTC"}}},
        "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T06:00:00Z",
        "timeZones": ["UTC", "Asia/Tokyo"],
        "sqlTarget": {
            "dialect": "SQL_DIALECT_POSTGRESQL", "table": "users", "column": "digits",
            "columnType": "SQL_COLUMN_TYPE_HASH_DIGITS", "timeZoneColumn": "zone", "tableAlias": "u",
            "parameterStyle": "SQL_PARAMETER_STYLE_DOLLAR",
        },
    });
    let answer = ask(&server, "GetWindowPredicate", &request).await.unwrap();
    // A quarter of the day: from midnight in UTC, from nine in the morning in Tokyo.
    assert_eq!(
        answer["predicate"]["sql"],
        concat!(
            r#"(("u"."zone" = $1 AND ("u"."digits" COLLATE "C" >= $2 AND "u"."digits" COLLATE "C" < $3))"#,
            r#" OR ("u"."zone" = $4 AND ("u"."digits" COLLATE "C" >= $5 AND "u"."digits" COLLATE "C" < $6)))"#,
        )
    );
    let bound: Vec<&str> = answer["predicate"]["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|parameter| parameter["text"].as_str().unwrap())
        .collect();
    let wanted = [
        "UTC",
        "0000000000000000",
        "4000000000000000",
        "Asia/Tokyo",
        "6000000000000000",
        "a000000000000000",
    ];
    assert_eq!(bound, wanted);
    let mut unnamed = request.clone();
    unnamed["sqlTarget"]["timeZoneColumn"] = json!("");
    assert_eq!(
        refused(&server, "GetWindowPredicate", &unnamed).await,
        "sql_target.time_zone_column"
    );
    // Time zones are refused where they would be ignored.
    let mut zoneless = request.clone();
    zoneless.as_object_mut().unwrap().remove("timeZones");
    let listed = json!({"schedule": request["schedule"], "sqlTarget": request["sqlTarget"]});
    for (method, request) in [("GetWindowPredicate", &zoneless), ("ListSlots", &listed)] {
        assert_eq!(refused(&server, method, request).await, "sql_target.time_zone_column");
    }
    let mut many = request;
    many["timeZones"] = json!(vec!["UTC"; 65]);
    assert_eq!(refused(&server, "GetWindowPredicate", &many).await, "time_zones");
}
