//! `offbeat lanes plan` as a process: its report in words.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod command;

use command::{USAGE, offbeat_with};

fn plan(run_times: &str, flags: &[&str]) -> String {
    let arguments = [&["lanes", "plan", "--workers", "4"], flags].concat();
    let output = offbeat_with(&arguments, run_times.as_bytes(), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Nine jobs of half a second and one of 20 s, repeated.
fn one_in_ten_is_long(times: usize) -> String {
    format!("{}20\n", "0.5\n".repeat(9)).repeat(times)
}

#[test]
fn a_plan_names_slower_jobs_and_caveats() {
    let said = plan(&one_in_ten_is_long(10), &["--arrival-rate", "1.2"]);
    for words in [
        "LANES. The mean slowdown falls from ",
        "\nJobs longer than 0.55 s (10 %) take longer: ",
        "\nOf the 100 run times, only 10 exceeded 0.55 s: measure more jobs",
        "\nA job that reaches a timeout starts again from the beginning, as 10 % of all jobs may",
        "does not keep up",
        "\nMedians of 16 streams of 100000 jobs",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(said, plan(&one_in_ten_is_long(10), &["--arrival-rate", "1.2"]), "the same bytes");
    let suspended =
        plan(&one_in_ten_is_long(100), &["--arrival-rate", "1.2", "--on-timeout", "suspend"]);
    assert!(!suspended.contains("starts again"), "{suspended}");
    assert!(!suspended.contains("measure more jobs"), "{suspended}");
}

#[test]
fn no_run_times_are_refused_in_the_words_of_the_command_line() {
    let arguments = ["lanes", "plan", "--workers", "2", "--arrival-rate", "1"];
    let output = offbeat_with(&arguments, b"", &[]);
    assert_eq!(output.status.code(), Some(USAGE));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("standard input: must hold 1 to 400000 samples"), "{said}");
}

#[test]
fn no_lanes_has_its_reason() {
    let said = plan(&"1\n".repeat(20), &["--arrival-rate", "3"]);
    assert!(said.starts_with("NO LANES. "), "{said}");
    let said = plan(&one_in_ten_is_long(10), &["--arrival-rate", "0.1"]);
    assert!(
        said.starts_with("NO LANES. One queue for all workers is as good, or better"),
        "{said}"
    );
}
