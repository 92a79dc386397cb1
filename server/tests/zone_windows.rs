//! Predicates of windows for IDs that live in time zones of their own, asked of a database:
//! `tests/vectors/zone_windows.json` says which rows they select.
#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};
use support::{Server, config, grpc, http2};

#[derive(Deserialize)]
struct Golden {
    rows: Vec<Row>,
    schedules: Vec<Value>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    time_zone: String,
    hash: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    schedule: usize,
    start_time: String,
    end_time: String,
    selected: Vec<i64>,
}

#[tokio::test]
async fn a_window_selects_the_rows_of_each_zone_that_run_in_it() {
    let golden: Golden =
        serde_json::from_value(support::test_data("vectors/zone_windows.json")).unwrap();
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch("CREATE TABLE account (number INTEGER, zone TEXT, hash TEXT)").unwrap();
    for (number, row) in (0_i64..).zip(&golden.rows) {
        let row = (number, &row.time_zone, &row.hash);
        database.execute("INSERT INTO account VALUES (?1, ?2, ?3)", row).unwrap();
    }
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let mut found = 0;
    for case in golden.cases {
        let mut request = golden.schedules.get(case.schedule).unwrap().clone();
        request["startTime"] = json!(case.start_time);
        request["endTime"] = json!(case.end_time);
        request["sqlTarget"] = json!({
            "dialect": "SQL_DIALECT_SQLITE", "table": "account", "column": "hash",
            "columnType": "SQL_COLUMN_TYPE_HASH_DIGITS", "timeZoneColumn": "zone",
        });
        let answer = grpc(&mut channel, "GetWindowPredicate", &request).await.unwrap();
        let answer = serde_json::to_value(&answer).unwrap();
        let predicate = answer["predicate"]["sql"].as_str().unwrap();
        let query = format!("SELECT number FROM account WHERE {predicate} ORDER BY number");
        let mut statement = database.prepare(&query).unwrap();
        let numbers = statement.query_map((), |row| row.get(0)).unwrap();
        let selected: Vec<i64> = numbers.collect::<Result<_, _>>().unwrap();
        assert_eq!(selected, case.selected, "{request}");
        found += selected.len();
    }
    assert!(found > 10_000, "{found} rows in all windows");
}
