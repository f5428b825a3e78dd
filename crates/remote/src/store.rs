//! The store of contents: which are missing, sending and fetching. Every content that arrives is checked by its digest.

use crate::client::{Client, Stop};
use crate::connection::Patience;
use crate::digest::{Digest, Function, Hasher};
use crate::message::{
    BatchRead, BatchReadAnswer, BatchUpdate, BatchUpdateAnswer, BlobData, Directory, FindMissing, FindMissingAnswer,
    ReadAnswer, ReadRequest, WriteAnswer, WriteRequest, WriteState, WriteStateAnswer,
};
use crate::source::{Source, Sources};
use crate::tree::Folder;
use crate::trouble::{Code, Tried, Trouble, What};
use crate::wire::Message;
use std::collections::HashMap;
use std::io::{Seek, SeekFrom, Write};

const CAS: &str = "/build.bazel.remote.execution.v2.ContentAddressableStorage";
const BYTES: &str = "/google.bytestream.ByteStream";

/// What a digest costs in a list, and a content in a batch, besides its bytes.
const OVERHEAD: u64 = 160;

/// Digests in one question.
const MOST_ASKED: usize = 10_000;

/// Size of the pieces of a stream.
const PIECE: usize = 256 << 10;

/// How often a stream that stops is continued without progress.
const TRIES: u32 = 6;

/// Largest content that is read into memory.
const LARGEST_IN_MEMORY: u64 = 256 << 20;

impl Client {
    /// The contents of a list that are not stored. Those remembered as stored are not asked for.
    pub fn missing(&self, digests: &[Digest], stop: Stop<'_>) -> Tried<Vec<Digest>> {
        let mut unknown: Vec<Digest> = {
            let stored = self.remembered();
            digests.iter().copied().filter(|digest| !stored.contains(digest)).collect()
        };
        unknown.sort_unstable();
        unknown.dedup();
        let mut missing = Vec::new();
        for part in unknown.chunks(MOST_ASKED) {
            let (instance, function) = (self.instance().to_owned(), self.function_number());
            let question = FindMissing { instance, digests: part.to_vec(), function };
            let answer: FindMissingAnswer = self.ask(&format!("{CAS}/FindMissingBlobs"), &question, stop)?;
            // An answer about something else would make us send what nobody asked for.
            let mut lacking: Vec<Digest> =
                answer.missing.into_iter().filter(|digest| part.binary_search(digest).is_ok()).collect();
            lacking.sort_unstable();
            lacking.dedup();
            let there = part.iter().copied().filter(|digest| lacking.binary_search(digest).is_err());
            self.remember(there);
            missing.append(&mut lacking);
        }
        Ok(missing)
    }

    /// Sends the contents that the server lacks. `told` gets the number of bytes before anything is sent. Contents
    /// without a source must be there: those that are not are returned.
    pub fn upload(
        &self,
        wanted: &[Digest],
        sources: &Sources,
        stop: Stop<'_>,
        told: &mut dyn FnMut(u64),
    ) -> Tried<Vec<Digest>> {
        let missing = self.missing(wanted, stop)?;
        let (ours, lost): (Vec<Digest>, Vec<Digest>) =
            missing.into_iter().partition(|digest| sources.contains_key(digest));
        if ours.is_empty() || !lost.is_empty() {
            return Ok(lost);
        }
        told(ours.iter().map(|digest| digest.size).sum());
        let (small, large): (Vec<Digest>, Vec<Digest>) =
            ours.into_iter().partition(|digest| digest.size + OVERHEAD <= self.offer().batch);
        for batch in batches(&small, self.offer().batch) {
            self.send_batch(batch, sources, stop)?;
        }
        for digest in large {
            if let Some(most) = self.offer().largest.filter(|most| *most < digest.size) {
                let why = format!("a file has {} bytes, but the server takes {most} at most", digest.size);
                return Err(What::Lacks(why).into());
            }
            if let Some(source) = sources.get(&digest) {
                self.write(digest, source, stop)?;
            }
        }
        Ok(lost)
    }

    fn send_batch(&self, batch: &[Digest], sources: &Sources, stop: Stop<'_>) -> Tried<()> {
        let mut left: Vec<Digest> = batch.to_vec();
        let mut tries = 0;
        while !left.is_empty() {
            let mut blobs = Vec::with_capacity(left.len());
            for digest in &left {
                let Some(source) = sources.get(digest) else { continue };
                let data = source.read(*digest, self.function())?;
                blobs.push(BlobData { digest: Some(*digest), data, compressor: 0 });
            }
            let (instance, function) = (self.instance().to_owned(), self.function_number());
            let question = BatchUpdate { instance, blobs, function };
            let answer: BatchUpdateAnswer = self.ask(&format!("{CAS}/BatchUpdateBlobs"), &question, stop)?;
            let mut failed = None;
            for kept in answer.blobs {
                let Some(digest) = kept.digest else { continue };
                match kept.status.filter(|status| status.code != 0) {
                    None => left.retain(|other| *other != digest),
                    Some(status) => failed = Some(Trouble::of(&status)),
                }
            }
            let stored = batch.iter().copied().filter(|digest| !left.contains(digest));
            self.remember(stored);
            if left.is_empty() {
                return Ok(());
            }
            tries += 1;
            match failed.unwrap_or_else(|| What::Malformed("it does not say whether contents were kept").into()) {
                trouble if tries >= TRIES || !trouble.is_passing() => return Err(trouble),
                trouble => self.pause(tries, &trouble, stop)?,
            }
        }
        Ok(())
    }

    /// Sends one content as a stream, and continues where it was cut.
    fn write(&self, digest: Digest, source: &Source, stop: Stop<'_>) -> Tried<()> {
        let id = purlin_value::encoding::uuid(self.drawn_bytes(), 4);
        let resource = format!("{}uploads/{id}/blobs/{}", self.prefix(), self.name(digest));
        let mut tries = 0;
        let mut before = 0;
        loop {
            let from = if tries == 0 { 0 } else { self.written(&resource, digest, stop).unwrap_or(0) };
            if tries > 0 && from >= digest.size {
                break;
            }
            let trouble = match self.write_from(&resource, digest, source, from, stop) {
                Ok(()) => break,
                Err(trouble) => trouble,
            };
            if from > before {
                (before, tries) = (from, 0);
            }
            tries += 1;
            if !trouble.is_passing() || tries >= TRIES {
                return Err(trouble);
            }
            self.pause(tries, &trouble, stop)?;
        }
        self.remember([digest]);
        Ok(())
    }

    fn write_from(&self, resource: &str, digest: Digest, source: &Source, from: u64, stop: Stop<'_>) -> Tried<()> {
        let patience = Patience { silence: self.settings().silence, until: None, stop };
        self.once(&format!("{BYTES}/Write"), patience, |mut call| {
            let mut reader = source.open(digest)?;
            reader.seek(SeekFrom::Start(from)).map_err(|error| source.failed(&error))?;
            let mut at = from;
            let mut piece = vec![0; PIECE];
            loop {
                let count = reader.read(&mut piece).map_err(|error| source.failed(&error))?;
                let next = at + count as u64;
                if next > digest.size || (count == 0 && next < digest.size) {
                    return Err(source.different());
                }
                let is_end = next == digest.size;
                let data = piece.get(..count).unwrap_or_default().to_vec();
                let name = if at == from { resource.to_owned() } else { String::new() };
                let offset = i64::try_from(at).unwrap_or(i64::MAX);
                call.send(&WriteRequest { resource: name, offset, is_end, data }, is_end)?;
                at = next;
                if is_end {
                    break;
                }
            }
            let answer: WriteAnswer = call.only()?;
            // A server that has the content already answers with its whole size, or with -1 for a compressed stream.
            match u64::try_from(answer.size) {
                Ok(size) if size < digest.size => Err(What::Lost("it kept only a part".to_owned()).into()),
                _ => Ok(()),
            }
        })
    }

    /// How much of a stream was kept.
    fn written(&self, resource: &str, digest: Digest, stop: Stop<'_>) -> Tried<u64> {
        let question = WriteState { resource: resource.to_owned() };
        let answer: WriteStateAnswer = self.ask(&format!("{BYTES}/QueryWriteStatus"), &question, stop)?;
        let size = u64::try_from(answer.size).unwrap_or(0).min(digest.size);
        Ok(if answer.is_complete { digest.size } else { size.min(digest.size.saturating_sub(1)) })
    }

    fn drawn_bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let halves = [self.draw(1).to_be_bytes(), self.draw(2).to_be_bytes()];
        bytes.iter_mut().zip(halves.as_flattened()).for_each(|(to, from)| *to = *from);
        bytes
    }

    fn prefix(&self) -> String {
        let instance = self.instance();
        if instance.is_empty() { String::new() } else { format!("{instance}/") }
    }

    fn name(&self, digest: Digest) -> String {
        match self.function() {
            Function::Sha256 => digest.to_string(),
            Function::Blake3 => format!("blake3/{digest}"),
        }
    }

    /// Fetches small contents into memory; large ones come as streams.
    pub fn read_all(&self, digests: &[Digest], stop: Stop<'_>) -> Tried<HashMap<Digest, Vec<u8>>> {
        let mut found = HashMap::new();
        let mut wanted: Vec<Digest> = digests.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let empty = self.function().digest(b"");
        if wanted.contains(&empty) {
            wanted.retain(|digest| *digest != empty);
            found.insert(empty, Vec::new());
        }
        let (small, large): (Vec<Digest>, Vec<Digest>) =
            wanted.into_iter().partition(|digest| digest.size + OVERHEAD <= self.offer().batch);
        for batch in batches(&small, self.offer().batch) {
            match batch {
                // A stream costs no more than a batch of one.
                [only] if only.size > PIECE as u64 => {
                    found.insert(*only, self.read(*only, stop)?);
                }
                batch => self.read_batch(batch, &mut found, stop)?,
            }
        }
        for digest in large {
            found.insert(digest, self.read(digest, stop)?);
        }
        Ok(found)
    }

    fn read_batch(&self, batch: &[Digest], found: &mut HashMap<Digest, Vec<u8>>, stop: Stop<'_>) -> Tried<()> {
        let mut tries = 0;
        loop {
            let left: Vec<Digest> = batch.iter().copied().filter(|digest| !found.contains_key(digest)).collect();
            if left.is_empty() {
                return Ok(());
            }
            let (instance, function) = (self.instance().to_owned(), self.function_number());
            let question = BatchRead { instance, digests: left.clone(), compressors: Vec::new(), function };
            let answer: BatchReadAnswer = self.ask(&format!("{CAS}/BatchReadBlobs"), &question, stop)?;
            let mut failed: Option<Trouble> = None;
            for blob in answer.blobs {
                let Some(digest) = blob.digest.filter(|digest| left.contains(digest)) else { continue };
                match blob.status.filter(|status| status.code != 0) {
                    Some(status) if Code::of(status.code) == Code::NotFound => return Err(self.gone(digest)),
                    Some(status) => failed = Some(Trouble::of(&status)),
                    None if blob.compressor != 0 => {
                        return Err(What::Malformed("a content is compressed, which was not offered").into());
                    }
                    None if self.function().digest(&blob.data) != digest => failed = Some(What::Wrong(digest).into()),
                    None => {
                        found.insert(digest, blob.data);
                    }
                }
            }
            tries += 1;
            let is_whole = left.iter().all(|digest| found.contains_key(digest));
            match failed {
                None if is_whole => return Ok(()),
                None => return Err(What::Malformed("it left out contents that were asked for").into()),
                Some(trouble) if tries >= TRIES || !is_worth_reading_again(&trouble) => return Err(trouble),
                Some(trouble) => self.pause(tries, &trouble, stop)?,
            }
        }
    }

    fn gone(&self, digest: Digest) -> Trouble {
        self.forget();
        What::Gone(digest).into()
    }

    /// Fetches one content into memory.
    pub fn read(&self, digest: Digest, stop: Stop<'_>) -> Tried<Vec<u8>> {
        if digest.size > LARGEST_IN_MEMORY {
            return Err(What::TooLarge.into());
        }
        let mut bytes = Vec::new();
        self.fetch(digest, &mut Memory(&mut bytes), stop)?;
        Ok(bytes)
    }

    /// Fetches one content as a stream, continues where it was cut, and checks it at the end: what was written before a
    /// failure must be thrown away. A content that is wrong is fetched once more.
    pub fn fetch(&self, digest: Digest, to: &mut dyn Sink, stop: Stop<'_>) -> Tried<()> {
        let mut again = true;
        loop {
            to.restart().map_err(|error| unwritten(&error))?;
            match self.fetch_once(digest, to, stop) {
                Err(trouble) if again && matches!(trouble.what, What::Wrong(_)) => again = false,
                Err(trouble) if trouble.is(Code::NotFound) => return Err(self.gone(digest)),
                done => return done,
            }
        }
    }

    fn fetch_once(&self, digest: Digest, to: &mut dyn Sink, stop: Stop<'_>) -> Tried<()> {
        let mut arrived = Arrived { hasher: self.function().hasher(), at: 0 };
        let mut tries = 0;
        while arrived.at < digest.size {
            let before = arrived.at;
            let trouble = match self.read_from(digest, &mut arrived, to, stop) {
                Ok(()) if arrived.at == digest.size => break,
                Ok(()) => Trouble::from(What::Lost("it ended early".to_owned())),
                Err(trouble) => trouble,
            };
            tries = if arrived.at > before { 1 } else { tries + 1 };
            if !trouble.is_passing() || tries >= TRIES {
                return Err(trouble);
            }
            self.pause(tries, &trouble, stop)?;
        }
        if arrived.hasher.finish() == digest { Ok(()) } else { Err(What::Wrong(digest).into()) }
    }

    fn read_from(&self, digest: Digest, arrived: &mut Arrived, to: &mut dyn Sink, stop: Stop<'_>) -> Tried<()> {
        let resource = format!("{}blobs/{}", self.prefix(), self.name(digest));
        let offset = i64::try_from(arrived.at).map_err(|_| What::TooLarge)?;
        let patience = Patience { silence: self.settings().silence, until: None, stop };
        self.once(&format!("{BYTES}/Read"), patience, |mut call| {
            call.send(&ReadRequest { resource, offset, limit: 0 }, true)?;
            while let Some(piece) = call.next::<ReadAnswer>()? {
                arrived.at += piece.data.len() as u64;
                if arrived.at > digest.size {
                    return Err(What::Wrong(digest).into());
                }
                arrived.hasher.update(&piece.data);
                to.write_all(&piece.data).map_err(|error| unwritten(&error))?;
            }
            Ok(())
        })
    }

    /// The tree of a folder whose message has this digest.
    pub fn folder(&self, root: Digest, stop: Stop<'_>) -> Tried<Folder> {
        let mut known: HashMap<Digest, Directory> = HashMap::new();
        known.insert(self.function().digest(b""), Directory::default());
        let mut open = vec![root];
        while !open.is_empty() {
            open.retain(|digest| !known.contains_key(digest));
            let read = self.read_all(&open, stop)?;
            let mut next = Vec::new();
            for (digest, bytes) in read {
                let directory = Directory::decode(&bytes).map_err(|_| What::Malformed("a folder cannot be read"))?;
                next.extend(directory.directories.iter().filter_map(|node| node.digest));
                known.insert(digest, directory);
            }
            if known.len() > crate::tree::MOST {
                return Err(What::TooLarge.into());
            }
            open = next;
        }
        let top = known.get(&root).cloned().unwrap_or_default();
        Folder::decode(&top, &known).map_err(|why| What::Tree(why.to_string()).into())
    }

    /// The tree of a tree message.
    pub fn tree(&self, digest: Digest, stop: Stop<'_>) -> Tried<Folder> {
        let mut read = self.read_all(&[digest], stop)?;
        let bytes = read.remove(&digest).ok_or(What::Gone(digest))?;
        Folder::of_tree(&bytes, self.function()).map_err(|why| What::Tree(why.to_string()).into())
    }
}

/// Receives a content.
pub trait Sink: Write {
    /// Throws away what was received: it begins again.
    fn restart(&mut self) -> std::io::Result<()>;
}

struct Memory<'m>(&'m mut Vec<u8>);

impl Write for Memory<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Sink for Memory<'_> {
    fn restart(&mut self) -> std::io::Result<()> {
        self.0.clear();
        Ok(())
    }
}

impl Sink for std::fs::File {
    fn restart(&mut self) -> std::io::Result<()> {
        self.set_len(0)?;
        self.seek(SeekFrom::Start(0)).map(|_| ())
    }
}

fn unwritten(error: &std::io::Error) -> Trouble {
    What::Input("a result".to_owned(), format!("could not be written: {error}")).into()
}

/// What has arrived of a stream.
struct Arrived {
    hasher: Hasher,
    at: u64,
}

/// Wrong bytes may come from a broken connection, so they are asked for once more.
fn is_worth_reading_again(trouble: &Trouble) -> bool {
    trouble.is_passing() || matches!(trouble.what, What::Wrong(_))
}

/// Contents in groups that fit into one message.
fn batches(digests: &[Digest], most: u64) -> Vec<&[Digest]> {
    let mut found = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (at, digest) in digests.iter().enumerate() {
        let own = digest.size + OVERHEAD;
        if size + own > most && at > start {
            found.extend(digests.get(start..at));
            (start, size) = (at, 0);
        }
        size += own;
    }
    found.extend(digests.get(start..).filter(|rest| !rest.is_empty()));
    found
}
