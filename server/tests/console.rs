//! The console on the admin port: its files, and the calls that its page may make.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use offbeat::config::ListenAddress;
use serde_json::{Value, json};
use support::{Answer, Server, any_schedule, config_with, path_of, post1};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

const PAGE: [(&str, &str); 2] = [("offbeat-console", "1"), ("sec-fetch-site", "same-origin")];

fn started(flags: &[&str]) -> Server {
    Server::start(&config_with(&[&["--admin-listen", "127.0.0.1:0"], flags].concat()))
}

async fn ask(
    server: &Server,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Answer {
    let Some(ListenAddress::Tcp(address)) = &server.admin else { panic!("there is no admin port") };
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if method == "GET" { String::new() } else { body.to_string() };
    let request = request.header("content-type", "application/json");
    let request = request.body(Full::from(Bytes::from(body)).boxed()).unwrap();
    post1(TcpStream::connect(address).await.unwrap(), request).await
}

async fn get(server: &Server, path: &str) -> Answer {
    ask(server, "GET", path, &[], &Value::Null).await
}

async fn call(server: &Server, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    ask(server, "POST", path, headers, body).await
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.to_vec()).unwrap()
}

#[tokio::test]
async fn the_page_needs_nothing_but_its_own_origin() {
    let server = started(&[]);
    let page = get(&server, "/").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let html = text(&page);
    for file in ["console.js", "console.css", "icon.svg"] {
        assert!(html.contains(file), "{file}");
        let answer = get(&server, &format!("/{file}")).await;
        assert_eq!(answer.status, 200, "{file}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    }
    assert!(!html.contains("://"), "a page without a network");
    let report = get(&server, "/report.html").await;
    assert_eq!(report.headers["content-security-policy"], policy);
    let html = text(&report);
    assert!(!html.contains("<style") && !html.contains("unsafe-inline"), "nothing is inline");
    for file in ["report.js", "report.css"] {
        assert!(html.contains(file), "{file}");
        assert_eq!(get(&server, &format!("/{file}")).await.status, 200, "{file}");
    }
    assert_eq!(get(&server, "/console.ts").await.status, 404);
}

#[tokio::test]
async fn a_page_of_this_server_may_read() {
    let server = started(&[]);
    let question = json!({"schedule": any_schedule(), "id": {"text": "acme"}});
    let answer = call(&server, &path_of("AssignSlot"), &PAGE, &question).await;
    assert_eq!(answer.status, 200, "{}", text(&answer));
    let direct = support::json_request(&path_of("AssignSlot"), &question.to_string());
    assert_eq!(answer.body, post1(server.tcp().await, direct).await.body);

    let unmarked = call(&server, &path_of("AssignSlot"), &PAGE[1..], &question).await;
    assert_eq!(unmarked.status, 403, "{}", text(&unmarked));
    let elsewhere = [PAGE[0], ("sec-fetch-site", "cross-site")];
    assert_eq!(call(&server, &path_of("AssignSlot"), &elsewhere, &question).await.status, 403);
    let origin = [PAGE[0], ("origin", "http://attacker.example")];
    assert_eq!(call(&server, &path_of("AssignSlot"), &origin, &question).await.status, 403);
}

#[tokio::test]
async fn writes_and_job_payloads_need_the_flag() {
    let spread = json!({"spreadName": "imports"});
    let letters = "/offbeat.v1.NamedSpreadService/ListDeadLetters";
    let reading = started(&[]);
    let refused = call(&reading, letters, &PAGE, &spread).await;
    assert_eq!(refused.status, 403);
    assert!(text(&refused).contains("--console-write"), "{}", text(&refused));
    for never in ["OpenSpread", "SubmitGroups", "PullJobs", "SettleJobs", "CloseSpread"] {
        let path = format!("/offbeat.v1.NamedSpreadService/{never}");
        assert_eq!(call(&reading, &path, &PAGE, &spread).await.status, 404, "{never}");
    }
    let settings: Value =
        serde_json::from_str(&text(&get(&reading, "/console/settings").await)).unwrap();
    assert_eq!(settings["writes"], false);

    let writing = started(&["--console-write"]);
    // The call reaches the store, which has no such spread.
    let unknown = call(&writing, letters, &PAGE, &spread).await;
    assert_eq!(unknown.status, 404, "{}", text(&unknown));
    assert!(text(&unknown).contains("not_found"), "{}", text(&unknown));
    let tool = call(&writing, letters, &PAGE[..1], &spread).await;
    assert_eq!(tool.status, 403, "not a page: {}", text(&tool));
    for never in ["OpenSpread", "SubmitGroups", "PullJobs", "SettleJobs", "CloseSpread"] {
        let path = format!("/offbeat.v1.NamedSpreadService/{never}");
        assert_eq!(call(&writing, &path, &PAGE, &spread).await.status, 404, "{never}");
    }
}

#[tokio::test]
async fn a_server_that_asks_for_tokens_asks_here_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "a-token-0123456789abcdef\n").unwrap();
    let server = started(&["--token-file", tokens.to_str().unwrap()]);
    let question = json!({"schedule": any_schedule(), "id": {"text": "acme"}});
    assert_eq!(get(&server, "/").await.status, 200);
    let refused = call(&server, &path_of("AssignSlot"), &PAGE, &question).await;
    assert_eq!(refused.status, 401, "{}", text(&refused));
    let token = [PAGE[0], PAGE[1], ("authorization", "Bearer a-token-0123456789abcdef")];
    assert_eq!(call(&server, &path_of("AssignSlot"), &token, &question).await.status, 200);
}

#[tokio::test]
async fn a_server_that_knows_its_callers_by_their_socket_has_no_console() {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix:{}", folder.path().join("offbeat.sock").display());
    let config = ["--listen", &socket, "--admin-listen", "127.0.0.1:0"];
    let server = Server::start(&offbeat::config::Config::from_flags(config).unwrap());
    let page = get(&server, "/").await;
    assert_eq!(page.status, 404);
    assert!(text(&page).contains("--token-file"), "{}", text(&page));
    let question = json!({"schedule": any_schedule(), "id": {"text": "acme"}});
    assert_eq!(call(&server, &path_of("AssignSlot"), &PAGE, &question).await.status, 404);
    assert_eq!(get(&server, "/readyz").await.status, 200);
}

#[tokio::test]
async fn calls_leave_the_admin_port_to_probes() {
    let server = started(&[]);
    let Some(ListenAddress::Tcp(address)) = server.admin.clone() else { panic!("no admin port") };
    // Each connection holds a place while its message is incomplete.
    let mut held = Vec::new();
    for _ in 0..64 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let path = path_of("AssignSlot");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\noffbeat-console: 1\r\n\
             content-type: application/json\r\ncontent-length: 100\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        held.push(stream);
    }
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let question = json!({"schedule": any_schedule(), "id": {"text": "acme"}});
    let refused = call(&server, &path_of("AssignSlot"), &PAGE, &question).await;
    assert_eq!(refused.status, 503, "{}", text(&refused));
    assert_eq!(get(&server, "/readyz").await.status, 200);
    drop(held);
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert_eq!(call(&server, &path_of("AssignSlot"), &PAGE, &question).await.status, 200);
}

#[tokio::test]
async fn a_simulation_is_answered_line_by_line() {
    let server = started(&[]);
    let scenario = "name = \"two days\"\nduration = \"2d\"\nworkers = 4\n\
                    [users]\ncount = 500\ncycle = \"8h\"\n\
                    [[kinds]]\nname = \"sync\"\nrun_time = { p50 = \"6s\", p90 = \"15s\" }\n\
                    [[strategies]]\nkind = \"slots\"\n";
    let simulate = async |headers: &[(&str, &str)], scenario: &str| {
        let Some(ListenAddress::Tcp(address)) = &server.admin else { panic!("no admin port") };
        let mut request = Request::post("/console/simulate").header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::from(Bytes::from(scenario.to_owned())).boxed();
        post1(TcpStream::connect(address).await.unwrap(), request.body(body).unwrap()).await
    };
    let answer = simulate(&PAGE, scenario).await;
    assert_eq!(answer.status, 200, "{}", text(&answer));
    let lines: Vec<Value> =
        text(&answer).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (results, progress) = lines.split_last().unwrap();
    assert!(progress.iter().all(|line| line["progress"]["totalDuration"] == "172800s"));
    // 500 users, three times a day for two days.
    assert_eq!(results["results"]["strategies"][0]["name"], "slots");
    assert_eq!(results["results"]["strategies"][0]["enqueuedJobCount"], 3_000.0);

    let refused = simulate(&PAGE, "name = 1").await;
    let last: Value = serde_json::from_str(text(&refused).lines().last().unwrap()).unwrap();
    let error = last.get("error").unwrap_or(&last);
    assert_eq!(error["code"], "invalid_argument", "{}", text(&refused));
    assert_eq!(simulate(&PAGE[1..], scenario).await.status, 403);
    assert_eq!(simulate(&PAGE, &"x".repeat(1 << 20)).await.status, 413);
}
