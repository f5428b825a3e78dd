//! The messages of the Remote Execution API v2 that a client needs, written from its public definition: names and
//! numbers of fields. Fields that are not used are skipped when reading.

#![allow(clippy::single_match)] // A message with one field is read like all others.

use crate::wire::{Malformed, Message};

mod action;
mod execution;
mod server;
mod store;
mod tree;

pub use action::{
    Action, ActionResult, Command, Metadata, OutputFile, OutputFolder, OutputLink, Platform, Property, Span, Variable,
};
pub use execution::{
    Any, Cancel, ExecuteRequest, ExecuteResponse, Operation, OperationMetadata, Policy, PreconditionFailure,
    RequestMetadata, Stage, Status, ToolDetails, Violation, WaitRequest,
};
pub use server::{
    CacheCapabilities, Capabilities, CapabilitiesRequest, ExecutionCapabilities, UpdateCapabilities, Version,
};
pub use store::{
    BatchRead, BatchReadAnswer, BatchUpdate, BatchUpdateAnswer, BlobAnswer, BlobData, FindMissing, FindMissingAnswer,
    GetResult, GetTree, GetTreeAnswer, Kept, ReadAnswer, ReadRequest, UpdateResult, WriteAnswer, WriteRequest,
    WriteState, WriteStateAnswer,
};
pub use tree::{Directory, DirectoryNode, FileNode, LinkNode, Tree};

/// Reads a message and writes it again.
pub type Again = fn(&[u8]) -> Result<Vec<u8>, Malformed>;

fn again<M: Message>(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    M::decode(bytes).map(|message| message.to_bytes())
}

/// All messages by name, for tests of hostile input.
pub const MESSAGES: &[(&str, Again)] = &[
    ("Action", again::<Action>),
    ("ActionResult", again::<ActionResult>),
    ("Command", again::<Command>),
    ("Metadata", again::<Metadata>),
    ("OutputFile", again::<OutputFile>),
    ("OutputFolder", again::<OutputFolder>),
    ("OutputLink", again::<OutputLink>),
    ("Platform", again::<Platform>),
    ("Property", again::<Property>),
    ("Span", again::<Span>),
    ("Variable", again::<Variable>),
    ("Any", again::<Any>),
    ("Cancel", again::<Cancel>),
    ("ExecuteRequest", again::<ExecuteRequest>),
    ("ExecuteResponse", again::<ExecuteResponse>),
    ("Operation", again::<Operation>),
    ("OperationMetadata", again::<OperationMetadata>),
    ("Policy", again::<Policy>),
    ("PreconditionFailure", again::<PreconditionFailure>),
    ("RequestMetadata", again::<RequestMetadata>),
    ("Status", again::<Status>),
    ("ToolDetails", again::<ToolDetails>),
    ("Violation", again::<Violation>),
    ("WaitRequest", again::<WaitRequest>),
    ("CacheCapabilities", again::<CacheCapabilities>),
    ("Capabilities", again::<Capabilities>),
    ("CapabilitiesRequest", again::<CapabilitiesRequest>),
    ("ExecutionCapabilities", again::<ExecutionCapabilities>),
    ("UpdateCapabilities", again::<UpdateCapabilities>),
    ("Version", again::<Version>),
    ("BatchRead", again::<BatchRead>),
    ("BatchReadAnswer", again::<BatchReadAnswer>),
    ("BatchUpdate", again::<BatchUpdate>),
    ("BatchUpdateAnswer", again::<BatchUpdateAnswer>),
    ("BlobAnswer", again::<BlobAnswer>),
    ("BlobData", again::<BlobData>),
    ("FindMissing", again::<FindMissing>),
    ("FindMissingAnswer", again::<FindMissingAnswer>),
    ("GetResult", again::<GetResult>),
    ("GetTree", again::<GetTree>),
    ("GetTreeAnswer", again::<GetTreeAnswer>),
    ("Kept", again::<Kept>),
    ("ReadAnswer", again::<ReadAnswer>),
    ("ReadRequest", again::<ReadRequest>),
    ("UpdateResult", again::<UpdateResult>),
    ("WriteAnswer", again::<WriteAnswer>),
    ("WriteRequest", again::<WriteRequest>),
    ("WriteState", again::<WriteState>),
    ("WriteStateAnswer", again::<WriteStateAnswer>),
    ("Directory", again::<Directory>),
    ("DirectoryNode", again::<DirectoryNode>),
    ("FileNode", again::<FileNode>),
    ("LinkNode", again::<LinkNode>),
    ("Tree", again::<Tree>),
];
