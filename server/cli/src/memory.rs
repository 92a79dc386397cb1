//! Memory that is kept between calls, and what is let go after the start.

use std::hint::black_box;
use std::ops::Range;

/// The largest block that is taken from the heap, in bytes; what is kept of it is twice as much.
const BLOCK: usize = 1 << 20;

/// Keeps up to 2 MiB of a heap that is free, where the allocator is glibc's.
///
/// It begins by giving everything back that is more than 128 KiB, and what a batch of 20,000 IDs
/// takes would be had from the kernel, page by page, in each call: a tenth of the time of a caller.
/// Both thresholds follow the largest block that has been given back (mallopt(3), `M_MMAP_THRESHOLD`),
/// so here is one. Nobody writes into it, so that it takes no memory. (`docs/decisions/0019`)
pub(super) fn keep_what_batches_take() {
    drop(black_box(Vec::<u8>::with_capacity(BLOCK)));
}

/// Lets go of the pages of the program and of libraries that were needed to start, much of what an
/// idle process has in memory. Linux has them in its cache, and maps again what is asked for.
/// (`docs/decisions/0020`)
pub(super) fn let_go_of_the_start() {
    let Ok(mappings) = std::fs::read_to_string("/proc/self/smaps") else { return };
    unchanged_files(&mappings).into_iter().for_each(let_go);
}

/// Of `smaps` (proc_pid_smaps(5)), the private mappings of files that nobody may write to, with pages
/// in memory, and none that differs from the file, there or swapped out.
fn unchanged_files(mappings: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut candidate, mut resident, mut own) = (None, None, None);
    for line in mappings.lines() {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some("Rss:"), kilobytes) => resident = kilobytes,
            (Some("Anonymous:"), kilobytes) => own = kilobytes,
            // The last of the three. Where not all are told nothing is known of the pages, nor where
            // none are there: QEMU says so of each mapping.
            (Some("Swap:"), swapped) => {
                let is_in_memory = resident.is_some_and(|kilobytes| kilobytes != "0");
                let is_as_the_file = own == Some("0") && swapped == Some("0");
                found.extend(candidate.take().filter(|_| is_in_memory && is_as_the_file));
            }
            (Some(field), _) if field.ends_with(':') => {}
            // A new mapping: where, for what, from which place of which device's file.
            (Some(range), permissions) => {
                let is_constant = matches!(permissions, Some("r-xp" | "r--p"));
                let is_file = words.nth(3).is_some_and(|path| path.starts_with('/'));
                candidate = addresses(range).filter(|_| is_constant && is_file);
                (resident, own) = (None, None);
            }
            _ => {}
        }
    }
    found
}

fn addresses(range: &str) -> Option<Range<usize>> {
    let (start, end) = range.split_once('-')?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no library knows which mappings can be let go")]
fn let_go(range: Range<usize>) {
    use rustix::mm::{Advice, madvise};

    let start = std::ptr::without_provenance_mut(range.start);
    // SAFETY: the mapping is private and of a file, nobody may write to it, and no page of it differs
    // from the file: whoever reads there next reads the file, which is what was there. It is still
    // mapped: the loader maps files for as long as the process lives, and none of our threads does.
    let _ = unsafe { madvise(start, range.len(), Advice::LinuxDontNeed) };
}

#[cfg(not(target_os = "linux"))]
fn let_go(_: Range<usize>) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// One mapping, and what is told of it.
    fn mapping(head: &str, told: [u32; 3]) -> String {
        let [rss, anonymous, swap] = told;
        format!(
            "{head}\nSize: 8 kB\nRss: {rss} kB\nAnonymous: {anonymous} kB\nAnonHugePages: 0 kB\n\
             Swap: {swap} kB\nSwapPss: 0 kB\nVmFlags: rd mr mw me sd\n"
        )
    }

    #[test]
    fn what_is_let_go_is_the_same_in_a_file() {
        let range = 0x7f00_0000_4000..0x7f00_0000_6000;
        let told = |head: &str, told| unchanged_files(&mapping(head, told));
        for head in [
            "7f0000004000-7f0000006000 r--p 00000000 fe:00 1 /bin/offbeat",
            "7f0000004000-7f0000006000 r-xp 00200000 fe:00 1 /bin/an older one (deleted)",
        ] {
            assert_eq!(told(head, [8, 0, 0]), std::slice::from_ref(&range), "{head}");
            assert!(told(head, [8, 4, 0]).is_empty(), "relocated");
            assert!(told(head, [4, 0, 4]).is_empty(), "relocated, and swapped out");
            assert!(told(head, [0, 0, 0]).is_empty(), "nothing is known");
        }
        for head in [
            "7f0000004000-7f0000006000 rw-p 00000000 fe:00 1 /bin/offbeat",
            "7f0000004000-7f0000006000 r--s 00000000 fe:00 2 /run/shared",
            "7f0000004000-7f0000006000 r--p 00000000 00:00 0",
            "7f0000004000-7f0000006000 r-xp 00000000 00:00 0 [vdso]",
            "7f0000004000 r--p 00000000 fe:00 1 /bin/offbeat",
            "- r--p 00000000 fe:00 1 /bin/offbeat",
        ] {
            assert!(told(head, [8, 0, 0]).is_empty(), "{head}");
        }
    }

    #[test]
    fn each_mapping_is_judged_by_what_is_told_of_it() {
        let [relocated, constant] = ["7f0000004000-7f0000006000", "7f0000008000-7f000000a000"]
            .map(|range| format!("{range} r--p 00000000 fe:00 1 /bin/offbeat"));
        let both = mapping(&relocated, [8, 8, 0]) + &mapping(&constant, [8, 0, 0]);
        let range = 0x7f00_0000_8000..0x7f00_0000_a000;
        assert_eq!(unchanged_files(&both), std::slice::from_ref(&range));
        // An older kernel, or another, that does not tell everything.
        for field in ["Rss:", "Anonymous:", "Swap:"] {
            let told = mapping(&constant, [8, 0, 0]);
            let less: Vec<&str> = told.lines().filter(|line| !line.starts_with(field)).collect();
            let less = less.join("\n");
            assert!(unchanged_files(&less).is_empty(), "{field}");
            assert_eq!(unchanged_files(&(told + &less)).len(), 1, "{field}");
        }
    }

    /// What of files is in memory, in kB.
    #[cfg(target_os = "linux")]
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("RssFile:")).unwrap();
        line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_goes_on_without_the_pages_of_its_start() {
        let before = resident();
        let_go_of_the_start();
        let after = resident();
        assert!(after < before, "{before} kB, then {after} kB");
        assert_eq!(addresses("a-1f"), Some(10..31)); // text and code are there
    }
}
