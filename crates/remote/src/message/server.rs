//! Messages: what a server can do.

use crate::wire::{Fields, Malformed, Message, Writer};

/// A version of the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number.
    pub minor: u64,
    /// The third number.
    pub patch: u64,
    /// What follows it.
    pub prerelease: String,
}

impl Message for Version {
    fn encode(&self, to: &mut Writer) {
        to.number(1, self.major);
        to.number(2, self.minor);
        to.number(3, self.patch);
        to.text(4, &self.prerelease);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.major = field.number()?,
                (2, field) => read.minor = field.number()?,
                (3, field) => read.patch = field.number()?,
                (4, field) => read.prerelease = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// What can you do?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapabilitiesRequest {
    /// The instance of the server.
    pub instance: String,
}

impl Message for CapabilitiesRequest {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.instance);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.instance = field.text()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Whether results can be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateCapabilities {
    /// Whether they can.
    pub is_enabled: bool,
}

impl Message for UpdateCapabilities {
    fn encode(&self, to: &mut Writer) {
        to.truth(1, self.is_enabled);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.is_enabled = field.number()? != 0,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// What the store and the cache can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheCapabilities {
    /// Digest functions.
    pub functions: Vec<u64>,
    /// Whether results can be written.
    pub update: Option<UpdateCapabilities>,
    /// Maximum size of a batch; 0 if it is not said.
    pub largest_batch: i64,
    /// Whether absolute links are allowed.
    pub links: u64,
    /// Compression of streams.
    pub compressors: Vec<u64>,
    /// Compression in batches.
    pub batch_compressors: Vec<u64>,
    /// Maximum size of a content; 0 if it is not said.
    pub largest_blob: i64,
}

impl Message for CacheCapabilities {
    fn encode(&self, to: &mut Writer) {
        to.numbers(1, &self.functions);
        self.update.iter().for_each(|message| to.message(2, message));
        to.signed(4, self.largest_batch);
        to.number(5, self.links);
        to.numbers(6, &self.compressors);
        to.numbers(7, &self.batch_compressors);
        to.signed(8, self.largest_blob);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => field.push_numbers(&mut read.functions)?,
                (2, field) => read.update = Some(field.message()?),
                (4, field) => read.largest_batch = field.signed()?,
                (5, field) => read.links = field.number()?,
                (6, field) => field.push_numbers(&mut read.compressors)?,
                (7, field) => field.push_numbers(&mut read.batch_compressors)?,
                (8, field) => read.largest_blob = field.signed()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// What the executor can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionCapabilities {
    /// The digest function.
    pub function: u64,
    /// Whether actions can be run.
    pub is_enabled: bool,
    /// Digest functions.
    pub functions: Vec<u64>,
}

impl Message for ExecutionCapabilities {
    fn encode(&self, to: &mut Writer) {
        to.number(1, self.function);
        to.truth(2, self.is_enabled);
        to.numbers(5, &self.functions);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.function = field.number()?,
                (2, field) => read.is_enabled = field.number()? != 0,
                (5, field) => field.push_numbers(&mut read.functions)?,
                _ => {}
            }
        }
        Ok(read)
    }
}

/// What a server can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Its store and its cache.
    pub cache: Option<CacheCapabilities>,
    /// Its executor.
    pub execution: Option<ExecutionCapabilities>,
    /// The lowest version that is deprecated.
    pub deprecated: Option<Version>,
    /// The lowest supported version.
    pub low: Option<Version>,
    /// The highest supported version.
    pub high: Option<Version>,
}

impl Message for Capabilities {
    fn encode(&self, to: &mut Writer) {
        self.cache.iter().for_each(|message| to.message(1, message));
        self.execution.iter().for_each(|message| to.message(2, message));
        self.deprecated.iter().for_each(|message| to.message(3, message));
        self.low.iter().for_each(|message| to.message(4, message));
        self.high.iter().for_each(|message| to.message(5, message));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut read = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => read.cache = Some(field.message()?),
                (2, field) => read.execution = Some(field.message()?),
                (3, field) => read.deprecated = Some(field.message()?),
                (4, field) => read.low = Some(field.message()?),
                (5, field) => read.high = Some(field.message()?),
                _ => {}
            }
        }
        Ok(read)
    }
}
