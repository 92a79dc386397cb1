//! Hashes of many IDs.

use fearless_simd::{Simd, dispatch};

use super::Kernel;
use super::characters::GROUPS;
use super::digits::{Digits, Integers, Uuids};
use super::messages::Texts;
use super::salt::Salt;
use crate::ids::Id;
use crate::ids::hash;

/// Up to this many IDs are hashed one after the other, which takes no longer than a row.
const FEW: usize = 16;

/// The first 8 bytes, big-endian, of MD5(salt ‖ canonical text) of each ID, appended to `hashes` in
/// order: the same as [`hash`] of each.
pub fn hashes<'a, 'b: 'a>(
    kernel: Kernel,
    salt: &str,
    ids: impl ExactSizeIterator<Item = &'a Id<'b>>,
    hashes: &mut Vec<u64>,
) {
    match (kernel.0, ids.len()) {
        (None, _) | (_, ..=FEW) => hashes.extend(ids.map(|id| hash(salt, id))),
        (Some(level), _) => dispatch!(level, simd => hash_rows(simd, salt, ids, hashes)),
    }
}

fn hash_rows<'a, 'b: 'a, S: Simd>(
    simd: S,
    salt: &str,
    ids: impl ExactSizeIterator<Item = &'a Id<'b>>,
    hashes: &mut Vec<u64>,
) {
    let first = hashes.len();
    hashes.resize(first + ids.len(), 0);
    let Some(hashes) = hashes.get_mut(first..) else { return };
    let start = Salt::new(simd, salt);
    let mut texts = Texts::new(&start);
    let (mut uuids, mut integers) = (None, [const { None }; GROUPS]);
    for (place, id) in ids.enumerate() {
        if let Id::Integer(integer) = id
            && let Some(digits) = Digits::of(*integer)
            && let Some(row) = integers.get_mut(digits.row())
        {
            if row.is_none() {
                *row = Integers::new(&start, &digits);
            }
            if let Some(row) = row {
                if row.push(&digits, place) {
                    row.settle(simd, hashes);
                }
                continue;
            }
        }
        if let Id::Uuid(uuid) = id {
            let uuids = uuids.get_or_insert_with(|| Uuids::new(&start));
            if uuids.push(*uuid, place) {
                uuids.settle(simd, hashes);
            }
            continue;
        }
        match texts.push(id, place) {
            Some(false) => {}
            Some(true) => texts.settle(simd, hashes),
            // Too long for a row.
            None => hashes.get_mut(place).into_iter().for_each(|to| *to = hash(salt, id)),
        }
    }
    texts.settle(simd, hashes);
    uuids.into_iter().for_each(|mut uuids| uuids.settle(simd, hashes));
    integers.into_iter().flatten().for_each(|mut row| row.settle(simd, hashes));
}
