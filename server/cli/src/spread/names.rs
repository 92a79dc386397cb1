//! The names of groups that were read before.

use std::collections::{BTreeMap, VecDeque};

use offbeat_service::limits::REMEMBERED_NAMES;
use sha2::{Digest as _, Sha256};

/// Half a SHA-256: in practice, no two names have the same.
type Fingerprint = [u8; 16];

/// The line of each name, for the last [`REMEMBERED_NAMES`] names.
pub(super) struct SeenNames {
    lines: BTreeMap<Fingerprint, u64>,
    in_order: VecDeque<Fingerprint>,
    remembered: usize,
}

impl Default for SeenNames {
    fn default() -> Self {
        Self::remembering(REMEMBERED_NAMES.max_size())
    }
}

impl SeenNames {
    fn remembering(remembered: usize) -> Self {
        Self { lines: BTreeMap::new(), in_order: VecDeque::new(), remembered }
    }

    /// Remembers a name, or returns the line on which it was before.
    pub(super) fn insert(&mut self, name: &str, line: u64) -> Option<u64> {
        let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
        let (fingerprint, _) = digest.split_first_chunk()?;
        if let Some(earlier) = self.lines.get(fingerprint) {
            return Some(*earlier);
        }
        if self.in_order.len() == self.remembered
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.lines.remove(&oldest);
        }
        self.lines.insert(*fingerprint, line);
        self.in_order.push_back(*fingerprint);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_name_is_forgotten_first() {
        let mut names = SeenNames::remembering(2);
        assert_eq!(names.insert("a", 1), None);
        assert_eq!(names.insert("b", 2), None);
        assert_eq!(names.insert("a", 3), Some(1));
        assert_eq!(names.insert("c", 4), None);
        assert_eq!(names.insert("b", 5), Some(2));
        assert_eq!(names.insert("a", 6), None);
        assert_eq!(names.insert("b", 7), None);
        assert_eq!((names.lines.len(), names.in_order.len()), (2, 2));
    }
}
