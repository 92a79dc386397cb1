//! The process, under the names that all Prometheus clients use, and its limit of memory.

use std::fs;
use std::path::Path;

use offbeat_core::Moment;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::registry::Registry;
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::series::set;

/// Where control groups (version 2) are mounted.
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// Standard metrics of a process; `start` is its start time.
pub(super) fn registry(start: Moment) -> Registry {
    let mut registry = Registry::with_prefix("process");
    let (seconds, nanos) = start.parts();
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are below 2^53")]
    let start = seconds as f64 + f64::from(nanos) / 1e9;
    set(&mut registry, "start_time_seconds", "When the server started, since 1970", start);
    let used = clock_gettime(ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "a time in seconds is below 2^53")]
    let used = used.tv_sec as f64 + used.tv_nsec as f64 / 1e9;
    let help = "CPU time, user and system, in seconds";
    registry.register("cpu_seconds", help, ConstCounter::new(used));
    if let Some(bytes) = resident_bytes() {
        set(&mut registry, "resident_memory_bytes", "Resident memory", bytes);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        let count = open.count().saturating_sub(1) as u64; // one of them reads the folder
        set(&mut registry, "open_fds", "Open file descriptors", count);
    }
    if let Some(most) = getrlimit(Resource::Nofile).current {
        set(&mut registry, "max_fds", "File descriptors that the system allows", most);
    }
    registry
}

/// Resident memory, where `/proc` says it.
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1_024)
}

/// The least memory that the control groups of this process allow, if one of them has a limit.
pub(super) fn memory_limit_bytes() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    limit_of(Path::new(CONTROL_GROUPS), &groups)
}

/// `groups` names the process's group, a folder below `root`. In a container, `root` is the folder
/// of the container, and the group is either its own or, with `..`, a path on the host.
fn limit_of(root: &Path, groups: &str) -> Option<u64> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let is_hidden = group.split('/').any(|part| part == "..");
    let own = if is_hidden { root.to_owned() } else { root.join(group) };
    let folders = own.ancestors().take_while(|folder| folder.starts_with(root));
    let limits = folders.filter_map(|folder| {
        let text = fs::read_to_string(folder.join("memory.max")).ok()?;
        text.trim().parse().ok() // "max" is no limit
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_the_groups_above_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |group: &str, text: &str| {
            fs::create_dir_all(root.path().join(group)).unwrap();
            fs::write(root.path().join(group).join("memory.max"), text).unwrap();
        };
        write("system.slice/offbeat.service", "max\n");
        write("system.slice", "536870912\n");
        write("tight.slice/a.scope", "1048576\n");
        write("tight.slice", "2097152\n");
        for (groups, limit) in [
            ("0::/system.slice/offbeat.service\n", Some(536_870_912)),
            ("4:memory:/x\n0::/tight.slice/a.scope\n", Some(1_048_576)),
            ("0::/tight.slice/elsewhere\n", Some(2_097_152)),
            ("0::/\n", None),
            ("4:memory:/tight.slice\n", None),
            ("", None),
        ] {
            assert_eq!(limit_of(root.path(), groups), limit, "{groups:?}");
        }
        write(".", "65536\n");
        assert_eq!(limit_of(root.path(), "0::/\n"), Some(65_536), "a container's view");
        assert_eq!(limit_of(root.path(), "0::/../../x\n"), Some(65_536), "the host's path");
    }
}
