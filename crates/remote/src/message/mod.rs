//! The messages of the Remote Execution API v2 that a client needs, written from its public definition: names and
//! numbers of fields. Fields that are not used are skipped when reading.

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
