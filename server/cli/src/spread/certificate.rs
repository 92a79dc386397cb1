//! The certificate of a spread: as a sentence, and as a file.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use offbeat_core::limits::{DEFAULT_MAX_OPEN_GROUP_COUNT, MAX_OPEN_GROUP_COUNT};
use offbeat_core::spread::{Certificate, Policy, SpreadSpec};
use serde::Serialize;

use crate::Failure;
use crate::output::{counted, thousands, write_json_line};

#[derive(Serialize)]
struct CertificateLine {
    job_count: u64,
    group_count: u64,
    min_gap_turns: Option<u64>,
    best_min_gap_turns: Option<u64>,
    close_pair_count: u64,
    close_pair_lower_bound: u64,
    widest_span_turns: u64,
}

/// How a certificate begins as JSON.
const BEGINNING: &[u8] = br#"{"job_count":"#;

impl From<&Certificate> for CertificateLine {
    fn from(certificate: &Certificate) -> Self {
        let Certificate {
            job_count,
            group_count,
            min_gap_turns,
            best_min_gap_turns,
            close_pair_count,
            close_pair_lower_bound,
            widest_span_turns,
        } = *certificate;
        Self {
            job_count,
            group_count,
            min_gap_turns,
            best_min_gap_turns,
            close_pair_count,
            close_pair_lower_bound,
            widest_span_turns,
        }
    }
}

/// The certificate for people, and what would keep groups further apart.
pub(super) fn sentence(certificate: &Certificate, spec: &SpreadSpec) -> String {
    let Certificate { job_count, group_count, close_pair_count, close_pair_lower_bound, .. } =
        *certificate;
    let all = format!("{} of {}", counted(job_count, "job"), counted(group_count, "group"));
    let Some(gap) = certificate.min_gap_turns else {
        return format!("{all}: no group has two jobs");
    };
    let aim = counted(spec.feeder_count.unsigned_abs(), "turn");
    let closest = format!("{all}: closest pair {}", counted(gap, "turn"));
    if close_pair_count == 0 {
        return format!("{closest}; no pair is closer than {aim}");
    }
    let possible = certificate.best_min_gap_turns.filter(|best| *best > gap);
    let possible = possible.map(|best| format!(", {} possible", thousands(best)));
    let advice = if close_pair_count <= close_pair_lower_bound {
        ", as few as in any order".to_owned()
    } else {
        better(certificate, spec).map(|flags| format!(": try {flags}")).unwrap_or_default()
    };
    format!(
        "{closest}{}; {} of {} pairs too close, less than {aim}{advice}",
        possible.unwrap_or_default(),
        thousands(close_pair_count),
        thousands(job_count - group_count),
    )
}

/// The flags that would help.
fn better(certificate: &Certificate, spec: &SpreadSpec) -> Option<String> {
    if spec.policy == Policy::RoundRobin {
        return Some("--policy cooldown".to_owned());
    }
    let open =
        spec.max_open_group_count.unwrap_or(DEFAULT_MAX_OPEN_GROUP_COUNT.max(spec.feeder_count));
    let more = certificate.group_count.min(MAX_OPEN_GROUP_COUNT.maximum.unsigned_abs());
    (more > open.unsigned_abs()).then(|| format!("--max-open-groups {more}"))
}

/// The file of a certificate.
pub(super) struct CertificateFile {
    path: PathBuf,
    /// A pipe or a device: opening it loses nothing.
    is_special: bool,
}

impl CertificateFile {
    /// Checks that nothing but an earlier certificate would be lost.
    pub(super) fn try_new(path: &Path) -> Result<Self, Failure> {
        let checked = is_special(path).map_err(|error| failure(path, &error))?;
        let Some(is_special) = checked else {
            return Err(Failure::Usage(format!(
                "--certificate: {} is refused: must be a new file, or a certificate that was written before",
                path.display()
            )));
        };
        Ok(Self { path: path.to_owned(), is_special })
    }

    /// Writes the certificate: the whole of it, or nothing.
    pub(super) fn write(&self, certificate: &Certificate) -> Result<(), Failure> {
        let mut line = Vec::new();
        write_json_line(&mut line, &CertificateLine::from(certificate))?;
        let written = if self.is_special {
            OpenOptions::new()
                .write(true)
                .open(&self.path)
                .and_then(|mut file| file.write_all(&line))
        } else {
            replace(&self.path, &line)
        };
        written.map_err(|error| failure(&self.path, &error))
    }
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::Other(format!("--certificate: {}: {error}", path.display()))
}

/// Whether `path` is a pipe or a device; `None` if it must not be overwritten.
fn is_special(path: &Path) -> io::Result<Option<bool>> {
    let there = match fs::metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return fs::metadata(folder_of(path)).map(|_| Some(false));
        }
        Err(error) => return Err(error),
    };
    if !there.is_file() {
        return Ok((!there.is_dir()).then_some(true));
    }
    if fs::symlink_metadata(path)?.is_symlink() {
        return Ok(None); // the link would be replaced
    }
    let mut beginning = Vec::new();
    File::open(path)?.take(BEGINNING.len() as u64).read_to_end(&mut beginning)?;
    Ok((beginning.is_empty() || beginning == BEGINNING).then_some(false))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or_else(|| ".".as_ref())
}

fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666)) // less the umask
        .tempfile_in(folder_of(path))?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(gap: Option<u64>, close: u64, bound: u64) -> Certificate {
        Certificate {
            job_count: 14_349,
            group_count: 1_000,
            min_gap_turns: gap,
            best_min_gap_turns: gap.map(|gap| gap.max(49)),
            close_pair_count: close,
            close_pair_lower_bound: bound,
            widest_span_turns: 9,
        }
    }

    fn cooldown(max_open_group_count: Option<i64>) -> SpreadSpec {
        SpreadSpec { policy: Policy::Cooldown, max_open_group_count, ..SpreadSpec::round_robin(8) }
    }

    #[test]
    fn the_sentence_suggests_a_remedy() {
        let all = "14,349 jobs of 1,000 groups:";
        for (certificate, spec, words) in [
            (
                certificate(Some(1), 837, 0),
                SpreadSpec::round_robin(8),
                "closest pair 1 turn, 49 possible; 837 of 13,349 pairs too close, less than 8 turns: \
                 try --policy cooldown",
            ),
            (
                certificate(Some(1), 837, 837),
                SpreadSpec::round_robin(8),
                "closest pair 1 turn, 49 possible; 837 of 13,349 pairs too close, less than 8 turns, \
                 as few as in any order",
            ),
            (
                certificate(Some(1), 837, 0),
                cooldown(Some(999)),
                "closest pair 1 turn, 49 possible; 837 of 13,349 pairs too close, less than 8 turns: \
                 try --max-open-groups 1000",
            ),
            (
                certificate(Some(7), 1, 0),
                cooldown(None),
                "closest pair 7 turns, 49 possible; 1 of 13,349 pairs too close, less than 8 turns",
            ),
            (
                certificate(Some(8), 0, 0),
                SpreadSpec::round_robin(8),
                "closest pair 8 turns; no pair is closer than 8 turns",
            ),
            (certificate(None, 0, 0), SpreadSpec::round_robin(8), "no group has two jobs"),
        ] {
            assert_eq!(sentence(&certificate, &spec), format!("{all} {words}"));
        }
    }

    #[test]
    fn only_certificates_are_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.json");
        let write = |gap| {
            CertificateFile::try_new(&path)?.write(&certificate(gap, 0, 0)).map(|()| {
                let text = fs::read_to_string(&path).unwrap();
                let json: serde_json::Value = serde_json::from_str(&text).unwrap();
                json["min_gap_turns"].as_u64()
            })
        };
        assert_eq!(write(Some(3)).unwrap(), Some(3));
        assert_eq!(write(None).unwrap(), None);
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 1, "nothing is left beside it");
        fs::write(&path, "").unwrap();
        assert_eq!(write(Some(4)).unwrap(), Some(4));
        fs::write(&path, "{\"job\": 1}").unwrap();
        assert!(matches!(write(Some(4)), Err(Failure::Usage(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"job\": 1}");
        assert!(CertificateFile::try_new(folder.path()).is_err());
        assert!(CertificateFile::try_new(&folder.path().join("missing/certificate")).is_err());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(CertificateFile::try_new(&link).is_err());
        assert!(CertificateFile::try_new(Path::new("/dev/null")).unwrap().is_special);
    }
}
