//! The store of contents.

use crate::call::{Broken, Call};
use crate::{State, locked};
use purlin_remote::digest::Digest;
use purlin_remote::message::{
    BatchRead, BatchReadAnswer, BatchUpdate, BatchUpdateAnswer, BlobAnswer, FindMissing, FindMissingAnswer, Kept,
    ReadAnswer, ReadRequest, Status, WriteAnswer, WriteRequest, WriteState, WriteStateAnswer,
};
use std::sync::Arc;

/// Size of the pieces of a stream.
const PIECE: usize = 64 << 10;

pub(crate) fn find_missing(state: &State, call: &mut Call) -> Result<(), Broken> {
    let question: FindMissing = call.ask()?;
    if state.nature().claims_all {
        return call.answer(&FindMissingAnswer::default());
    }
    let missing = question.digests.into_iter().filter(|digest| state.blob(digest).is_none()).collect();
    call.answer(&FindMissingAnswer { missing })
}

fn refused(code: i64, message: &str) -> Option<Status> {
    Some(Status { code, message: message.to_owned(), details: Vec::new() })
}

pub(crate) fn batch_update(state: &State, call: &mut Call) -> Result<(), Broken> {
    let question: BatchUpdate = call.ask()?;
    let nature = state.nature();
    let mut blobs = Vec::new();
    for blob in question.blobs {
        let digest = blob.digest.ok_or_else(|| Broken::status(3, "no digest"))?;
        let is_right = nature.takes_lies || state.function().digest(&blob.data) == digest;
        let status = if is_right {
            locked(&state.blobs).insert(digest, blob.data.into());
            None
        } else {
            refused(3, "the content does not match its digest")
        };
        blobs.push(Kept { digest: Some(digest), status });
    }
    call.answer(&BatchUpdateAnswer { blobs })
}

/// The bytes of a content as this server tells them.
fn told(state: &State, digest: &Digest) -> Option<Vec<u8>> {
    let mut bytes = state.blob(digest)?.to_vec();
    locked(&state.reads).insert(*digest);
    let mut nature = locked(&state.nature);
    if nature.lies_about.is_some_and(|text| bytes.starts_with(text.as_bytes())) {
        bytes.reverse();
    }
    if nature.lies > 0
        && let Some(first) = bytes.first_mut()
    {
        *first ^= 1;
        nature.lies -= 1;
    }
    Some(bytes)
}

pub(crate) fn batch_read(state: &State, call: &mut Call) -> Result<(), Broken> {
    let question: BatchRead = call.ask()?;
    let blob = |digest: Digest| match told(state, &digest) {
        Some(data) => BlobAnswer { digest: Some(digest), data, status: None, compressor: 0 },
        None => {
            BlobAnswer { digest: Some(digest), data: Vec::new(), status: refused(5, "no such content"), compressor: 0 }
        }
    };
    call.answer(&BatchReadAnswer { blobs: question.digests.into_iter().map(blob).collect() })
}

/// The digest at the end of the name of a content.
fn digest_of(resource: &str) -> Result<Digest, Broken> {
    let mut parts = resource.rsplit('/');
    let (size, hash) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    Digest::parse(&format!("{hash}/{size}")).ok_or_else(|| Broken::status(3, "no name of a content"))
}

pub(crate) fn read(state: &State, call: &mut Call) -> Result<(), Broken> {
    let question: ReadRequest = call.ask()?;
    let digest = digest_of(&question.resource)?;
    let bytes = told(state, &digest).ok_or_else(|| Broken::status(5, "no such content"))?;
    let from = usize::try_from(question.offset).unwrap_or(usize::MAX);
    let rest = bytes.get(from..).ok_or_else(|| Broken::status(11, "behind the end"))?;
    for piece in rest.chunks(PIECE) {
        call.answer(&ReadAnswer { data: piece.to_vec() })?;
    }
    Ok(())
}

pub(crate) fn write(state: &Arc<State>, call: &mut Call) -> Result<(), Broken> {
    let mut name = String::new();
    loop {
        let piece: WriteRequest = call.next()?.ok_or_else(|| Broken::status(3, "it ended early"))?;
        if name.is_empty() {
            name.clone_from(&piece.resource);
            let digest = digest_of(&name)?;
            if state.blob(&digest).is_some() {
                return call.answer(&WriteAnswer { size: i64::try_from(digest.size).unwrap_or(-1) });
            }
        }
        let (is_end, written) = {
            let mut partial = locked(&state.partial);
            let kept = partial.entry(name.clone()).or_default();
            let offset = usize::try_from(piece.offset).unwrap_or(usize::MAX);
            if offset > kept.len() {
                return Err(Broken::status(3, "a piece is missing"));
            }
            kept.truncate(offset);
            kept.extend_from_slice(&piece.data);
            (piece.is_end, kept.len())
        };
        if is_end {
            let bytes = locked(&state.partial).remove(&name).unwrap_or_default();
            let digest = digest_of(&name)?;
            if !state.nature().takes_lies && state.function().digest(&bytes) != digest {
                return Err(Broken::status(3, "the content does not match its digest"));
            }
            locked(&state.blobs).insert(digest, bytes.into());
            return call.answer(&WriteAnswer { size: i64::try_from(written).unwrap_or(-1) });
        }
    }
}

pub(crate) fn write_state(state: &State, call: &mut Call) -> Result<(), Broken> {
    let question: WriteState = call.ask()?;
    let digest = digest_of(&question.resource)?;
    let is_complete = state.blob(&digest).is_some();
    let size = locked(&state.partial).get(&question.resource).map_or(0, Vec::len);
    let size = if is_complete { digest.size as i64 } else { size as i64 };
    call.answer(&WriteStateAnswer { size, is_complete })
}
