//! Pages of due runs. A token holds a digest of the request, the time of the first page, and where
//! the next page begins, so the server keeps no state between pages.

use offbeat_core::{Moment, Reason, Rejection};
use prost::Message;
use sha2::{Digest, Sha256};

use super::{convert, tokens};
use offbeat_proto as proto;

/// The form of a token: the digest of the request, the seconds and nanoseconds of its time, and the
/// first row; all big-endian.
const FORM: u8 = 1;
const DIGEST_BYTES: usize = 8;

/// The requested page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    digest: [u8; DIGEST_BYTES],
    /// The time of the first page; `None` on the first page itself, where it is not yet known.
    now: Option<Moment>,
    pub(super) first_row: u64,
}

impl Page {
    /// Takes the token out of a request.
    ///
    /// # Errors
    /// When the token is malformed or belongs to another request; names `page_token`.
    pub(super) fn of(
        request: &mut proto::ListDueRunsRequest,
        id_count: usize,
    ) -> Result<Self, Rejection> {
        let token = std::mem::take(&mut request.page_token);
        let digest = digest(request, id_count);
        let Some(content) = tokens::open_page(FORM, &token)? else {
            return Ok(Self { digest, now: None, first_row: 0 });
        };
        let malformed = || tokens::malformed_page(&token);
        let (of, rest) = content.split_first_chunk::<DIGEST_BYTES>().ok_or_else(malformed)?;
        let (seconds, rest) = rest.split_first_chunk::<8>().ok_or_else(malformed)?;
        let (nanos, rest) = rest.split_first_chunk::<4>().ok_or_else(malformed)?;
        let row = <[u8; 8]>::try_from(rest).map_err(|_| malformed())?;
        if *of != digest {
            return Err(tokens::of_another("the request"));
        }
        let now = Moment::try_new(i64::from_be_bytes(*seconds), i32::from_be_bytes(*nanos));
        let now = Some(now.map_err(|_| malformed())?);
        Ok(Self { digest, now, first_row: u64::from_be_bytes(row) })
    }

    /// The time that all pages share: that of the first page.
    ///
    /// # Errors
    /// When the request sets another time than the first page; names `now_time`.
    pub(super) fn now(
        &self,
        given: Option<prost_types::Timestamp>,
        clock: fn() -> Moment,
    ) -> Result<Moment, Rejection> {
        let given = given.map(|time| convert::moment("now_time", time)).transpose()?;
        match (self.now, given) {
            (None, given) => Ok(given.unwrap_or_else(clock)),
            (Some(first), Some(given)) if first != given => {
                let allowed = format!("must be {first}, as for the first page, or left out");
                Err(Rejection::new(Reason::Contradictory, "now_time", given, allowed))
            }
            (Some(first), _) => Ok(first),
        }
    }

    /// The token of the page that begins at `first_row`.
    pub(super) fn next(&self, now: Moment, first_row: u64) -> String {
        let (seconds, nanos) = now.parts();
        let mut content = self.digest.to_vec();
        content.extend(seconds.to_be_bytes());
        content.extend(nanos.to_be_bytes());
        content.extend(first_row.to_be_bytes());
        tokens::seal_page(FORM, &content)
    }
}

/// A digest of everything in a request that must stay the same between pages; its IDs were taken
/// out before. Columns count by their lengths only, so that a first page costs no more.
fn digest(request: &proto::ListDueRunsRequest, id_count: usize) -> [u8; DIGEST_BYTES] {
    let lengths = [id_count, request.weights.len(), request.watermark_unix_millis.len()];
    let same = proto::ListDueRunsRequest {
        schedule: request.schedule.clone(),
        kind: request.kind.clone(),
        ids: None,
        weights: Vec::new(),
        watermark_unix_millis: Vec::new(),
        page_size: 0,
        page_token: String::new(),
        now_time: None,
        ..*request
    };
    let mut digest = Sha256::new_with_prefix(same.encode_to_vec());
    lengths.iter().for_each(|length| digest.update((*length as u64).to_be_bytes()));
    digest.finalize().first_chunk().copied().unwrap_or_default()
}
