//! `offbeat lanes plan` as a process, with CSV input: columns, types, arrivals and the report.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod command;

use std::fmt::Write as _;

use command::{USAGE, offbeat_with};

const BASE: [&str; 6] = ["lanes", "plan", "--workers", "4", "--column", "duration_s"];

fn ask(input: &str, flags: &[&str]) -> (String, String, Option<i32>) {
    let output = offbeat_with(&[&BASE, flags].concat(), input.as_bytes(), &[]);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// 900 mails of half a second and 100 reports of 20 s, one job every second.
fn jobs(separator: char) -> String {
    let mut csv = format!("id{separator}type{separator}enqueued_at{separator}duration_s\n");
    for at in 0..1_000 {
        let (kind, time) = if at % 10 == 9 { ("report", 20.0) } else { ("mail", 0.5) };
        let row = [format!("j{at}"), kind.to_owned(), at.to_string(), time.to_string()];
        writeln!(csv, "{}", row.join(&separator.to_string())).unwrap();
    }
    csv
}

#[test]
fn columns_are_found_with_any_separator() {
    let plain: String = (0..1_000).map(|at| if at % 10 == 9 { "20\n" } else { "0.5\n" }).collect();
    let arguments = ["lanes", "plan", "--workers", "4", "--arrival-rate", "1.2"];
    let lines = String::from_utf8(offbeat_with(&arguments, plain.as_bytes(), &[]).stdout).unwrap();
    assert!(lines.starts_with("LANES. "), "{lines}");
    for separator in [',', ';', '\t'] {
        let (said, error, _) = ask(&jobs(separator), &["--arrival-rate", "1.2"]);
        assert_eq!((said.as_str(), error.as_str()), (lines.as_str(), ""), "{separator:?}");
    }
    // As a spreadsheet writes it: with a byte order mark, CRLF, quotes and spaces.
    let odd = jobs(',').replace('\n', "\r\n").replace("20", "\" 20s \"").replace("0.5", "500ms");
    let (said, ..) = ask(&format!("\u{feff}{odd}"), &["--arrival-rate", "1.2"]);
    assert_eq!(said, lines);
    let millis = jobs(',').replace(",20\n", ",20000\n").replace(",0.5\n", ",500\n");
    let (said, ..) = ask(&millis, &["--arrival-rate", "1.2", "--unit", "ms"]);
    assert_eq!(said, lines);
}

#[test]
fn types_are_compared_with_timeouts() {
    let (said, ..) = ask(&jobs(','), &["--arrival-rate", "1.2", "--by", "type"]);
    for words in [
        "LANES BY TYPE. Jobs of type \"report\" go to the slow lane, all others to the express lane",
        "\nNo job runs twice. ",
        "\nLANE        WORKERS JOBS OF TYPE",
        " report\n",
        "WITH TIMEOUTS                   BY TYPE                 ONE QUEUE\n",
        "\nTYPE                 JOBS  OF JOBS  OF WORK",
        "\nreport                100     10 %   81.6 %     20 s     20 s     20 s        100 %",
        "\nmail                  900     90 %   18.4 %    0.5 s    0.5 s    0.5 s          0 %",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("runs twice: ") && !said.contains("starts again"), "{said}");
    // If the type says nothing about run times, timeouts help, and jobs of both types run twice.
    let said_nothing = jobs(',').replace("report", "mail");
    let mut other = String::new();
    for (at, line) in said_nothing.lines().enumerate() {
        let is_odd = at % 20 > 9;
        writeln!(other, "{}", if is_odd { line.replace("mail", "post") } else { line.to_owned() })
            .unwrap();
    }
    let (said, ..) = ask(&other, &["--arrival-rate", "1.2", "--by", "type"]);
    assert!(said.starts_with("LANES. The mean slowdown falls from "), "{said}");
    let shares = "as 10 % of all jobs may (10 % of \"mail\", 10 % of \"post\"): it must be safe to run twice.";
    assert!(
        said.contains(shares) && said.contains("\nWithout timeouts, with jobs of type "),
        "{said}"
    );
}

#[test]
fn the_rate_of_arrivals_is_measured_and_said() {
    let (said, ..) = ask(&jobs(','), &["--time-column", "enqueued_at"]);
    assert!(
        said.contains("\nMeasured: 1000 jobs in 16.6 min, 1 jobs/s. 1 jobs/s, mean run time"),
        "{said}"
    );
    let (given, ..) = ask(&jobs(','), &["--arrival-rate", "1"]);
    assert_eq!(said.replace("Measured: 1000 jobs in 16.6 min, 1 jobs/s. ", ""), given);
    // A given rate takes precedence; the measured rate is printed beside it.
    let (said, ..) = ask(&jobs(','), &["--time-column", "enqueued_at", "--arrival-rate", "0.5"]);
    assert!(said.contains("1 jobs/s. 0.5 jobs/s, mean run time"), "{said}");
    let (_, error, _) = ask(&jobs(','), &["--time-column", "enqueued_at", "--format", "json"]);
    assert_eq!(error, "Measured: 1000 jobs in 16.6 min, 1 jobs/s.\n");
    let faster = jobs(',').replace(",20\n", ",100\n");
    let (_, error, code) = ask(&faster, &["--time-column", "enqueued_at"]);
    let field =
        "the rate of arrivals measured in column \"enqueued_at\": 1 is refused: must be below ";
    assert!(error.contains(field) && code == Some(USAGE), "{error}");
}

#[test]
fn a_busy_minute_is_said() {
    let mut csv = jobs(',');
    for at in 0..240 {
        writeln!(csv, "x{at},mail,{}.25,0.5", 300 + at % 60).unwrap();
    }
    let (said, ..) = ask(&csv, &["--time-column", "enqueued_at"]);
    let words =
        "\nIn the busiest minute, 5 jobs arrived per second, 4.03 times as many as planned for: ";
    assert!(said.contains(words), "{said}");
}

#[test]
fn invalid_csv_is_refused_by_line_and_column() {
    let many: String =
        (0..65).fold("type,duration_s\n".to_owned(), |csv, at| csv + &format!("t{at},1\n"));
    let long = format!("type,duration_s\n{},1\n", "x".repeat(129));
    for (input, flags, words) in [
        (
            "a,duration_s\nx,1\ny,\n",
            &[][..],
            "line 3: duration_s: \"\" is refused: must be a number of seconds",
        ),
        ("a,duration_s\nx,soon\n", &[], "line 2: duration_s: \"soon\" is refused"),
        (
            "a,duration_s\nx,0\n",
            &[],
            "line 2: duration_s: \"0\" is refused: must be a number of seconds, or a span such as 1m30s: 0.000001 to 31622400 s",
        ),
        ("a,duration_s\nx,31622401\n", &[], "line 2: duration_s: \"31622401\" is refused"),
        ("a,duration_s\nx,inf\n", &[], "line 2: duration_s: \"inf\" is refused"),
        ("a,duration_s\nx,1,2\n", &[], "line 2: 3 cells are refused: must be 2, as in the header"),
        ("a,duration_s\n\"x\ny\",1\nz,?\n", &[], "line 4: duration_s: \"?\" is refused"),
        (
            "a,b\nx,1\n",
            &[],
            "--column: \"duration_s\" is refused: must be a column of the header: a, b",
        ),
        (
            "duration_s,duration_s\n1,1\n",
            &[],
            "--column: \"duration_s\" is refused: two columns have this name",
        ),
        (
            "a,duration_s\nx,1\n",
            &["--by", "type"],
            "--by: \"type\" is refused: must be a column of the header: a, duration_s",
        ),
        ("a,duration_s\nx,1\n", &["--time-column", "t"], "--time-column: \"t\" is refused"),
        (
            "t,duration_s\nsoon,1\n",
            &["--time-column", "t"],
            "line 2: t: \"soon\" is refused: must be an instant as RFC 3339",
        ),
        (
            "t,duration_s\n5,1\n5,1\n",
            &["--time-column", "t"],
            "--time-column: \"t\" is refused: must have two different times",
        ),
        (
            "type,duration_s\n,1\n",
            &["--by", "type"],
            "line 2: type: \"\" is refused: must be 1 to 128 bytes of UTF-8",
        ),
        (&long, &["--by", "type"], "line 2: type: "),
        (
            &many,
            &["--by", "type"],
            "line 66: type: \"t64\" is refused: must be one of 1 to 64 types",
        ),
        (
            "a,duration_s\n",
            &[],
            "standard input: must hold 1 to 400000 samples, a run time on each line, in column \"duration_s\"",
        ),
        ("", &[], "--column: \"duration_s\" is refused: must be a column of the header"),
    ] {
        let (_, error, code) = ask(input, &[flags, &["--arrival-rate", "1"]].concat());
        assert!(error.contains(words), "{words}: {error}");
        assert_eq!(code, Some(USAGE), "{words}");
    }
    let (_, error, code) =
        ask(&format!("a,duration_s\n{}", "x,1\n".repeat(400_001)), &["--arrival-rate", "1"]);
    assert!(
        error.contains("line 400002: one more is refused: must be 1 to 400000 samples"),
        "{error}"
    );
    assert_eq!(code, Some(USAGE));
}

#[test]
fn flags_that_would_count_for_nothing_are_refused() {
    for flags in [
        &["--by", "type", "--arrival-rate", "1"][..],
        &["--unit", "ms", "--arrival-rate", "1"],
        &["--time-column", "t"],
        &["--arrival-rate", "1", "--force"],
        &["--column", "a"],
    ] {
        let arguments = [&["lanes", "plan", "--workers", "4"], flags].concat();
        assert_eq!(
            offbeat_with(&arguments, b"a\n1\n", &[]).status.code(),
            Some(USAGE),
            "{flags:?}"
        );
    }
}

#[test]
fn csv_without_a_column_is_known_as_such() {
    let arguments = ["lanes", "plan", "--workers", "4", "--arrival-rate", "1"];
    for (input, words) in [
        (
            jobs(','),
            "A CSV? Name the column of the run times with --column: id, type, enqueued_at, duration_s",
        ),
        (jobs('\t'), "with --column: id, type, enqueued_at, duration_s"),
        ("duration_s\n1\n".to_owned(), "with --column: duration_s"),
        ("\u{feff}a;b\n1;2\n".to_owned(), "with --column: a, b"),
        (
            "?\n1\n".to_owned(),
            "line 1 of the run times: \"?\" is refused: must be a run time in seconds",
        ),
    ] {
        let output = offbeat_with(&arguments, input.as_bytes(), &[]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(words), "{words}: {error}");
        assert!(error.lines().count() == 1 && output.status.code() == Some(USAGE), "{error}");
    }
}

#[test]
fn names_cannot_write_to_the_terminal() {
    let csv = jobs(',').replace("report", "\u{1b}[31mreport").replace("id,", "\u{1b}]0;x\u{7},");
    let (said, error, _) = ask(&csv, &["--arrival-rate", "1.2", "--by", "type"]);
    assert!(said.contains("report") && !said.contains('\u{1b}'), "{said}");
    assert_eq!(error, "");
    let (_, error, _) = ask(&csv, &["--arrival-rate", "1.2", "--by", "kind"]);
    assert!(error.contains("type, enqueued_at") && !error.contains('\u{1b}'), "{error}");
}

#[test]
fn a_report_is_one_page_that_overwrites_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.html");
    let file = path.to_str().unwrap();
    let csv = jobs(',').replace("mail", "<script>alert(1)</script>");
    let flags = ["--arrival-rate", "1.2", "--by", "type", "--report", file];
    let (said, ..) = ask(&csv, &flags);
    assert!(said.starts_with("LANES BY TYPE"), "{said}");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("default-src 'none'") && !page.contains("<script"), "{page}");
    assert!(page.contains("&lt;script&gt;") && page.matches("<svg").count() == 9, "{page}");
    let (again, ..) = ask(&csv, &flags);
    assert_eq!(said, again);
    assert_eq!(page, std::fs::read_to_string(&path).unwrap(), "the same bytes");
    std::fs::write(&path, "mine").unwrap();
    let (_, error, code) = ask(&csv, &flags);
    assert!(error.contains("--force overwrites any") && code == Some(USAGE), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let (.., code) = ask(&csv, &[&flags[..], &["--force"]].concat());
    assert_eq!(code, Some(0));
    assert_eq!(page, std::fs::read_to_string(&path).unwrap());
}
