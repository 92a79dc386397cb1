//! Measures the messages of a request as its bytes pass: their sizes, refused at their length
//! prefix: before a byte of the message is buffered, and as `RESOURCE_EXHAUSTED` (stock tonic says
//! `OUT_OF_RANGE`); their flags (of which stock tonic says `INTERNAL`); and their number, where there
//! may be one alone (stock tonic answers the first, and reads on for ever).

use offbeat_core::limits::Limit;
use tonic::Status;

use crate::rpc::codec::PREFIX;
use crate::rpc::status;

/// Finds the length prefixes in a stream of bytes, cut anywhere.
pub(super) struct Meter {
    limit: Limit,
    /// Whether there may be more than one message.
    many: bool,
    prefix: [u8; PREFIX],
    prefix_read: usize,
    /// The length of the last message that has begun.
    message: Option<usize>,
    message_left: usize,
}

impl Meter {
    pub(super) const fn new(limit: Limit, many: bool) -> Self {
        let (prefix, prefix_read) = ([0; PREFIX], 0);
        Self { limit, many, prefix, prefix_read, message: None, message_left: 0 }
    }

    /// The length of the longest message that has ended in these bytes.
    pub(super) fn pass(&mut self, mut bytes: &[u8]) -> Result<Option<usize>, Status> {
        let mut longest = None;
        while !bytes.is_empty() {
            if self.message_left == 0 {
                bytes = self.read_prefix(bytes)?;
            }
            let skipped = self.message_left.min(bytes.len());
            self.message_left -= skipped;
            bytes = bytes.get(skipped..).unwrap_or_default();
            if !self.is_within_a_message() {
                longest = longest.max(self.message);
            }
        }
        Ok(longest)
    }

    pub(super) const fn takes_many(&self) -> bool {
        self.many
    }

    pub(super) const fn is_within_a_message(&self) -> bool {
        self.message_left > 0 || self.prefix_read > 0
    }

    fn read_prefix<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Status> {
        if self.message.is_some() && !self.many {
            return Err(status::more_than_one_message());
        }
        let missing = self.prefix.get_mut(self.prefix_read..).unwrap_or_default();
        let taken = missing.len().min(bytes.len());
        let (now, later) = bytes.split_at(taken);
        for (slot, byte) in missing.iter_mut().zip(now) {
            *slot = *byte;
        }
        self.prefix_read += taken;
        let [flag, length @ ..] = self.prefix;
        if flag != 0 {
            return Err(status::flagged(flag));
        }
        if self.prefix_read == PREFIX {
            self.prefix_read = 0;
            let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
            if length > self.limit.max_size() {
                return Err(status::message_too_large(length, self.limit));
            }
            self.message = Some(length);
            self.message_left = length;
        }
        Ok(later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MESSAGE_BYTES;

    fn meter() -> Meter {
        Meter::new(MESSAGE_BYTES, true)
    }

    fn message(length: usize) -> Vec<u8> {
        let mut bytes = vec![0];
        bytes.extend(u32::try_from(length).unwrap().to_be_bytes());
        bytes.extend(vec![0xff; length]);
        bytes
    }

    #[test]
    fn prefixes_are_found_however_the_bytes_are_cut() {
        let largest = MESSAGE_BYTES.max_size();
        let bytes: Vec<u8> = [0, 1, 7, largest, 0, 3].map(message).concat();
        for cut in [1, 2, 3, 4, 5, 6, 1_000, bytes.len()] {
            let mut meter = meter();
            assert!(bytes.chunks(cut).all(|chunk| meter.pass(chunk).is_ok()), "cut at {cut}");
            let too_large = &message(largest + 1)[..PREFIX];
            assert!(meter.pass(&too_large[..4]).is_ok());
            let status = meter.pass(&too_large[4..]).unwrap_err();
            assert_eq!(status.code(), tonic::Code::ResourceExhausted);
        }
    }

    #[test]
    fn the_longest_message_that_ends_is_told_and_none_while_none_ends() {
        let mut meter = meter();
        let bytes = [3, 0, 700, 20].map(message).concat();
        let [first, begun, rest, nothing] = [0..4, 4..8 + PREFIX, 8 + PREFIX..bytes.len(), 0..0];
        assert_eq!(meter.pass(&bytes[first]).unwrap(), None);
        assert_eq!(meter.pass(&bytes[begun]).unwrap(), Some(3));
        assert_eq!(meter.pass(&bytes[rest]).unwrap(), Some(700));
        assert_eq!(meter.pass(&bytes[nothing]).unwrap(), None);
        assert_eq!(meter.pass(&message(0)).unwrap(), Some(0));
    }

    #[test]
    fn flags_are_refused_before_anything_that_follows() {
        for (flag, code) in [
            // https://grpc.github.io/grpc/core/md_doc_compression.html
            (1, tonic::Code::Internal),
            (2, tonic::Code::InvalidArgument),
            (u8::MAX, tonic::Code::InvalidArgument),
        ] {
            for behind in [0, 1, PREFIX + 3] {
                let mut meter = Meter::new(MESSAGE_BYTES, false);
                let bytes = [&[flag], &message(9)[1..=behind]].concat();
                let status = meter.pass(&bytes).unwrap_err();
                assert_eq!(status.code(), code, "{flag}, {behind} bytes behind it");
                assert!(status.message().contains(&format!("{flag} is refused")), "{status:?}");
            }
        }
    }

    #[test]
    fn not_a_byte_may_follow_the_only_message() {
        for length in [0, 7] {
            let mut meter = Meter::new(MESSAGE_BYTES, false);
            assert_eq!(meter.pass(&message(length)).unwrap(), Some(length));
            assert_eq!(meter.pass(&[]).unwrap(), None);
            assert_eq!(meter.pass(&[0]).unwrap_err().code(), tonic::Code::InvalidArgument);
        }
    }
}
