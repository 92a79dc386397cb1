//! Hashes of many IDs.

use super::characters::GROUPS;
use super::digits::{Digits, Integers, Uuids};
use super::isa::{Baseline, Isa};
use super::messages::Texts;
use super::salt::Salt;
use super::{Kernel, Level};
use crate::ids::Id;
use crate::ids::hash;

/// The first 8 bytes, big-endian, of MD5(salt ‖ canonical text) of each ID, appended to `hashes`
/// in order: what [`hash`] says of each.
pub fn hashes<'a, 'b: 'a>(
    kernel: Kernel,
    salt: &str,
    ids: impl ExactSizeIterator<Item = &'a Id<'b>>,
    hashes: &mut Vec<u64>,
) {
    match (kernel.0, ids.len()) {
        (Level::Plain, _) | (_, ..2) => hashes.extend(ids.map(|id| hash(salt, id))),
        (Level::Baseline, _) => hash_rows::<_, 4, 2>(Baseline, salt, ids, hashes),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2(isa), _) => hash_rows::<_, 8, 3>(isa, salt, ids, hashes),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512(isa), _) => hash_rows::<_, 16, 5>(isa, salt, ids, hashes),
    }
}

fn hash_rows<'a, 'b: 'a, I: Isa<L>, const L: usize, const K: usize>(
    isa: I,
    salt: &str,
    ids: impl ExactSizeIterator<Item = &'a Id<'b>>,
    hashes: &mut Vec<u64>,
) {
    let first = hashes.len();
    hashes.resize(first + ids.len(), 0);
    let Some(hashes) = hashes.get_mut(first..) else { return };
    let start = Salt::new(salt);
    let mut texts = Texts::<L, K>::new(&start);
    let (mut uuids, mut integers) = (None, [const { None }; GROUPS]);
    for (place, id) in ids.enumerate() {
        if let Id::Integer(integer) = id
            && let Some(digits) = Digits::of(*integer)
            && let Some(row) = integers.get_mut(digits.row())
        {
            if row.is_none() {
                *row = Integers::<L, K>::new(&start, &digits);
            }
            if let Some(row) = row {
                if row.push(&digits, place) {
                    row.settle(isa, hashes);
                }
                continue;
            }
        }
        if let Id::Uuid(uuid) = id {
            let uuids = uuids.get_or_insert_with(|| Uuids::<L, K>::new(&start));
            if uuids.push(*uuid, place) {
                uuids.settle(isa, hashes);
            }
            continue;
        }
        match texts.push(id, place) {
            Some(false) => {}
            Some(true) => texts.settle(isa, hashes),
            // Longer than those that are hashed beside others.
            None => hashes.get_mut(place).into_iter().for_each(|to| *to = hash(salt, id)),
        }
    }
    texts.settle(isa, hashes);
    uuids.into_iter().for_each(|mut uuids| uuids.settle(isa, hashes));
    integers.into_iter().flatten().for_each(|mut row| row.settle(isa, hashes));
}
