//! The start of the server's binary: what it refuses, reports and falls back to.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod command;
mod schedule_file;
mod support;

use std::fs;
use std::path::Path;
use std::time::Duration;

use command::{USAGE, offbeat_with};
use schedule_file::{FILE, FINGERPRINT, folder};
use support::sidecar::Sidecar;

/// The exit code for a refused configuration file (sysexits.h).
const CONFIG: i32 = 78;

const NOWHERE: [&str; 5] = ["serve", "--listen", "127.0.0.1:0", "--admin-listen", "off"];

/// The exit status, standard output and standard error of `offbeat serve`, which must not start.
fn refused(flags: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let output = offbeat_with(&[&NOWHERE, flags].concat(), b"", variables);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn broken() -> String {
    FILE.replace("slot_count = 96", "slot_count = 7")
}

const STALE: &str = "offbeat_reload_stale{what=\"schedules\"}";
const SUCCESS: &str = "offbeat_reload_last_success_timestamp_seconds{what=\"schedules\"}";

#[test]
fn the_refusal_of_a_file_names_the_line_the_reason_and_a_remedy() {
    let (_folder, file) = folder(&broken());
    let path = file.to_str().unwrap();
    let (status, _, said) = refused(&["--schedules", path], &[]);
    assert_eq!(status, CONFIG, "{said}");
    let line = 1 + FILE.lines().position(|line| line == "slot_count = 96").unwrap();
    for part in [
        &format!("--schedules: {path}:{line}: schedule bank-sync/2: slot_count: 7 is refused"),
        "must divide",
        &format!("`offbeat schedules check {path}`"),
        "--last-good-schedules FILE",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (status, _, said) = refused(&["--schedules", "/nowhere/s.toml"], &[]);
    assert!(status == CONFIG && said.contains("/nowhere/s.toml: No such file"), "{said}");
    let (status, _, said) = refused(&["--token-file", "/nowhere/tokens"], &[]);
    assert!(status == CONFIG && said.contains("--token-file: /nowhere/tokens"), "{said}");
}

#[tokio::test]
async fn a_start_with_a_refused_file_uses_the_last_good_one_until_it_is_mended() {
    let (folder, file) = folder(FILE);
    let copy = folder.path().join("last-good.toml");
    let variables = [("OFFBEAT_SCHEDULES", &*file), ("OFFBEAT_LAST_GOOD_SCHEDULES", &*copy)];
    let first = Sidecar::start(&[], &variables);
    assert_eq!(fs::read_to_string(&copy).unwrap(), FILE);
    assert_eq!(first.metric(STALE).await, Some(0.0));
    let started = first.metric(SUCCESS).await.unwrap();
    assert!(started > 1.7e9, "{started}");
    // A file that is accepted later is copied as well; a refused one is not.
    let more = FILE.replace("\"mail\"", "\"post\"");
    fs::write(&file, &more).unwrap();
    assert_eq!(first.reload()["message"], "read again");
    assert_eq!(fs::read_to_string(&copy).unwrap(), more);
    fs::write(&file, broken()).unwrap();
    assert_eq!(first.reload()["level"], "ERROR");
    assert_eq!(first.metric(STALE).await, Some(1.0));
    let accepted = first.metric(SUCCESS).await.unwrap();
    assert!(accepted >= started, "{accepted}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), more);
    drop(first);

    let second = Sidecar::start(&[], &variables);
    let said = second.until("what");
    assert_eq!((&said["level"], &said["what"]), (&"ERROR".into(), &"schedules".into()));
    assert!(said["why"].as_str().unwrap().contains("bank-sync/2: slot_count: 7"), "{said}");
    let info = "offbeat_schedule_info{name=\"post\",version=\"1\",fingerprint=\"";
    assert!(second.metrics().await.contains(info));
    assert_eq!(second.metric(STALE).await, Some(1.0));
    assert_eq!(second.metric(SUCCESS).await, None, "not by this process");
    // Neither time nor a signal fixes the file.
    assert_eq!(second.reload()["level"], "ERROR");
    assert_eq!(second.metric(STALE).await, Some(1.0));
    fs::write(&file, FILE).unwrap();
    assert_eq!(second.until("what")["message"], "read again", "within 5 s, without a signal");
    assert_eq!(second.metric(STALE).await, Some(0.0));
    assert!(second.metric(SUCCESS).await.unwrap() >= accepted);
    assert_eq!(fs::read_to_string(&copy).unwrap(), FILE);
}

#[tokio::test]
async fn a_copy_preserves_the_meaning_of_versions() {
    let (folder, file) = folder(FILE);
    let copy = folder.path().join("last-good.toml");
    let variables = [("OFFBEAT_SCHEDULES", &*file), ("OFFBEAT_LAST_GOOD_SCHEDULES", &*copy)];
    drop(Sidecar::start(&[], &variables));
    fs::write(&file, FILE.replacen("\"8h\"", "\"12h\"", 1)).unwrap();
    let restarted = Sidecar::start(&[], &variables);
    let said = restarted.until("what");
    assert!(said["why"].as_str().unwrap().contains(FINGERPRINT), "{said}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), FILE);
    drop(restarted);
    // Removing the copy confirms that the change is intended.
    fs::remove_file(&copy).unwrap();
    let meant = Sidecar::start(&[], &variables);
    assert_eq!(meant.metric(STALE).await, Some(0.0));
}

#[test]
fn a_copy_that_is_no_file_or_no_good_is_refused() {
    let (folder, file) = folder(FILE);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let with = |copy: &str| {
        refused(&["--schedules", file.to_str().unwrap(), "--last-good-schedules", copy], &[])
    };
    let folder_itself = folder.path().to_str().unwrap();
    for (copy, said) in [
        (folder_itself, "must be a regular file"),
        ("/dev/null", "must be a regular file"),
        (&path("missing/copy.toml"), "cannot be written"),
    ] {
        let (status, _, errors) = with(copy);
        assert!(status == CONFIG && errors.contains("--last-good-schedules: "), "{errors}");
        assert!(errors.contains(said), "{errors}");
    }
    fs::write(&file, broken()).unwrap();
    fs::write(path("copy.toml"), "[[schedule]]\nname = 7\n").unwrap();
    let (status, _, errors) = with(&path("copy.toml"));
    assert_eq!(status, CONFIG);
    assert!(errors.contains("slot_count: 7") && errors.contains("copy.toml:2: "), "{errors}");
    let (status, _, errors) = with(&path("none.toml"));
    assert!(status == CONFIG && errors.contains("--schedules: "), "{errors}");
}

#[tokio::test]
async fn a_file_that_comes_back_as_it_was_is_no_longer_stale() {
    let (folder, file) = folder(FILE);
    let sidecar = Sidecar::start(&[], &[("OFFBEAT_SCHEDULES", &file)]);
    let aside = folder.path().join("aside.toml");
    fs::rename(&file, &aside).unwrap();
    assert_eq!(sidecar.reload()["level"], "ERROR");
    assert_eq!(sidecar.metric(STALE).await, Some(1.0));
    fs::rename(&aside, &file).unwrap();
    assert_eq!(sidecar.until("what")["message"], "read again", "without a signal");
    assert_eq!(sidecar.metric(STALE).await, Some(0.0));
}

#[test]
fn the_startup_log_lists_version_schedules_and_settings() {
    let (_folder, file) = folder(FILE);
    let sidecar = Sidecar::start(
        &["--max-requests", "64"],
        &[
            ("OFFBEAT_SCHEDULES", &file),
            ("OFFBEAT_GRACE_PERIOD", Path::new("7")),
            ("OFFBEAT_LISTENN", Path::new("0.0.0.0:1")),
            ("OFFBEAT_PORT", Path::new("tcp://10.0.0.1:2328")),
        ],
    );
    let said = sidecar.until("version");
    assert_eq!(said["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(said["schedules"], 3);
    let settings = said["settings"].as_str().unwrap();
    for part in ["--max-requests=64 (flag)", "--grace-period=7 (OFFBEAT_GRACE_PERIOD)"] {
        assert!(settings.contains(part), "{settings}");
    }
    assert!(!settings.contains("max-connections"), "only what is not the default: {settings}");
    let loaded = sidecar.until("fingerprint");
    assert_eq!(
        (&loaded["schedule"], &loaded["fingerprint"]),
        (&"bank-sync/1".into(), &FINGERPRINT.into())
    );
    let warned = sidecar.until("variables");
    assert_eq!(warned["level"], "WARN");
    let variables = warned["variables"].as_str().unwrap();
    assert!(variables.contains("OFFBEAT_LISTENN (did you mean OFFBEAT_LISTEN?)"), "{variables}");
    assert!(!variables.contains("OFFBEAT_PORT"), "Kubernetes made it: {variables}");
}

#[test]
fn a_thousand_schedules_are_some_lines() {
    let many: String = (1..=30)
        .map(|n| format!("[[schedule]]\nname = \"s\"\nversion = {n}\nperiod = \"8h\"\n"))
        .collect();
    let (_folder, file) = folder(&many);
    let sidecar = Sidecar::start(&[], &[("OFFBEAT_SCHEDULES", &file)]);
    for _ in 0..20 {
        sidecar.until("fingerprint");
    }
    assert_eq!(sidecar.until("more")["more"], 10);
}

#[test]
fn a_configuration_is_checked_and_nothing_is_bound_or_written() {
    let (folder, file) = folder(FILE);
    let copy = folder.path().join("copy.toml");
    let socket = folder.path().join("offbeat.sock");
    let listen = format!("unix:{}", socket.display());
    let check = |file: &Path, variables: &[(&str, &str)]| {
        let clean = ["OFFBEAT_BIN", "OFFBEAT_PYTHON", "OFFBEAT_SALT", "OFFBEAT_VECTORS"];
        let mut command = std::process::Command::new(command::BINARY);
        for name in clean {
            command.env_remove(name);
        }
        command.args(["serve", "--check-config", "--listen", &listen, "--schedules"]).arg(file);
        command.arg("--last-good-schedules").arg(&copy).envs(variables.iter().copied());
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let (status, printed, errors) = check(&file, &[("OFFBEAT_MAX_REQUESTS", "64")]);
    assert_eq!((status, errors.as_str()), (0, ""), "{printed}");
    let setting = |flag: &str| {
        let line = printed.lines().find(|line| line.split(' ').next() == Some(flag)).unwrap();
        line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(setting("--max-requests"), ["OFFBEAT_MAX_REQUESTS", "64"]);
    assert_eq!(setting("--max-connections"), ["default", "1024"]);
    assert_eq!(setting("--listen"), ["flag", &listen]);
    assert_eq!(setting("--token-file"), ["default", "none"]);
    assert_eq!(setting("--admin-listen").join(" "), "default 127.0.0.1:2329, if it is free");
    assert!(printed.ends_with("accepted: 3 schedules are loaded\n"), "{printed}");
    assert!(!socket.exists() && !copy.exists());

    for (variable, value, status, part) in [
        ("OFFBEAT_LISTENN", "127.0.0.1:1", USAGE, "did you mean OFFBEAT_LISTEN?"),
        ("OFFBEAT_MAX_REQUESTS", "0", USAGE, "'--max-requests <COUNT>': must be"),
        ("OFFBEAT_LOG", "loud", USAGE, "--log"),
        ("OFFBEAT_OTLP_ENDPOINT", "ftp://x", USAGE, "--otlp-endpoint"),
        ("OFFBEAT_TOKEN_FILE", "/nowhere/tokens", CONFIG, "--token-file: /nowhere/tokens"),
    ] {
        let (found, _, errors) = check(&file, &[(variable, value)]);
        assert!(found == status && errors.contains(part), "{variable}: {found} {errors}");
    }
    // Even where a start would use the copy.
    fs::write(&copy, FILE).unwrap();
    fs::write(&file, broken()).unwrap();
    let (status, _, errors) = check(&file, &[]);
    assert!(status == CONFIG && errors.contains("slot_count: 7"), "{errors}");
    assert!(errors.contains("a start would use --last-good-schedules"), "{errors}");
}

#[tokio::test]
async fn the_server_tells_of_its_process_and_limits() {
    let (_folder, file) = folder(FILE);
    let flags = ["--max-requests", "64", "--drain-delay", "3", "--max-connection-age", "100"];
    let sidecar = Sidecar::start(&flags, &[("OFFBEAT_SCHEDULES", &file)]);
    for (limit, value) in [
        ("connections", 1024.0),
        ("requests", 64.0),
        ("bytes_in_flight", f64::from(20 << 20)),
        ("named_spread_bytes", f64::from(256 << 20)),
        ("named_spreads", 1024.0),
        ("unary_seconds", 30.0),
        ("drain_delay_seconds", 3.0),
        ("grace_seconds", 10.0),
        ("connection_age_seconds", 100.0),
    ] {
        let series = format!("offbeat_limit{{limit=\"{limit}\"}}");
        assert_eq!(sidecar.metric(&series).await, Some(value), "{limit}");
    }
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    let start = sidecar.metric("process_start_time_seconds").await.unwrap();
    assert!((now - 60.0..=now).contains(&start), "{start} at {now}");
    assert_eq!(sidecar.metric("process_start_time_seconds").await, Some(start), "it stays");
    let before = sidecar.metric("process_cpu_seconds_total").await.unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let after = sidecar.metric("process_cpu_seconds_total").await.unwrap();
    assert!(before > 0.0 && after > before && after < 60.0, "{before}, {after}");
    let most = sidecar.metric("process_max_fds").await.unwrap();
    assert!(sidecar.metric("process_open_fds").await.unwrap() < most);
    let open = format!("offbeat_connections{{listener=\"{}\"}}", sidecar.address);
    assert_eq!(sidecar.metric(&open).await, Some(0.0));
    let _channel = sidecar.channel().await;
    // The kernel completes a connection before the server accepts it.
    let accepted = async {
        while sidecar.metric(&open).await != Some(1.0) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), accepted).await.expect("it is counted");
    assert_eq!(sidecar.metric("offbeat_schedules").await, Some(3.0));
    let version = "offbeat_schedule_info{name=\"bank-sync\",version=\"1\"";
    let series = format!("{version},fingerprint=\"{FINGERPRINT}\"}}");
    assert_eq!(sidecar.metric(&series).await, Some(1.0));
}
