//! What a server does wrong.

use purlin_remote::digest::Function;
use std::time::Duration;

/// How a server reports that an input is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingAs {
    /// As the protocol says: a failed precondition with the digests.
    Details,
    /// A failed precondition without digests.
    FailedPrecondition,
    /// An internal error, as the status of the call.
    Internal,
    /// An internal error, as the status of the execution.
    InternalResult,
    /// Something was not found.
    NotFound,
}

/// Something that goes wrong with one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is refused with this code and message.
    Refuse(i64, &'static str),
    /// Its stream is cut after this number of messages, counted in both directions.
    Cut(usize),
    /// It is never answered.
    Stall,
    /// It is answered after this time.
    Late(Duration),
    /// It is answered with these bytes.
    Raw(Vec<u8>),
    /// Its connection is lost.
    Disconnect,
    /// It is answered with this HTTP status.
    Http(u16),
    /// It ends well without a message.
    Silent,
}

/// How a server behaves.
#[derive(Clone, Debug)]
pub struct Nature {
    /// Faults of calls: the end of the method's name, what goes wrong, and how often.
    pub faults: Vec<(&'static str, Fault, u32)>,
    /// The digest function.
    pub function: Function,
    /// The highest version of the protocol that it names.
    pub version: (u64, u64),
    /// The largest batch that it names; 0 if none.
    pub batch: i64,
    /// The largest message that it takes, whatever it names.
    pub largest_message: Option<usize>,
    /// The largest content that it names; 0 if none.
    pub largest_blob: i64,
    /// It has no service of capabilities.
    pub has_no_capabilities: bool,
    /// It runs nothing.
    pub is_cache_only: bool,
    /// It takes results of clients.
    pub takes_results: bool,
    /// It reads with wrong bytes, this number of times.
    pub lies: u32,
    /// It always reads contents that begin with this text with wrong bytes.
    pub lies_about: Option<&'static str>,
    /// It says that contents are there which are not.
    pub claims_all: bool,
    /// It keeps whatever bytes it is sent.
    pub takes_lies: bool,
    /// It loses outputs as soon as an execution has ended, this number of times.
    pub forgets_outputs: u32,
    /// It returns results whose contents are gone.
    pub keeps_stale_results: bool,
    /// It does not look for earlier results before it runs something.
    pub ignores_results: bool,
    /// It runs every action twice.
    pub runs_twice: bool,
    /// It does not end actions at their time limit.
    pub ignores_timeouts: bool,
    /// It keeps failures.
    pub caches_failures: bool,
    /// It has no worker, ever.
    pub has_no_worker: bool,
    /// It does not name stages.
    pub names_no_stages: bool,
    /// It cannot cancel.
    pub cannot_cancel: bool,
    /// It drops all outputs if one is missing.
    pub drops_outputs: bool,
    /// It knows only the older lists of outputs.
    pub knows_old_outputs_only: bool,
    /// It sends the root of a folder instead of a tree.
    pub sends_roots: bool,
    /// It never sends output along.
    pub inlines_nothing: bool,
    /// How it reports missing inputs.
    pub missing_as: MissingAs,
    /// The value that the header `authorization` must have.
    pub token: Option<String>,
    /// The name of its worker.
    pub worker: String,
    /// How long an action waits before it runs.
    pub queue: Duration,
}

impl Default for Nature {
    fn default() -> Self {
        Nature {
            faults: Vec::new(),
            function: Function::Sha256,
            version: (2, 3),
            batch: 4 << 20,
            largest_message: None,
            largest_blob: 0,
            has_no_capabilities: false,
            is_cache_only: false,
            takes_results: true,
            lies: 0,
            lies_about: None,
            claims_all: false,
            takes_lies: false,
            forgets_outputs: 0,
            keeps_stale_results: false,
            ignores_results: false,
            runs_twice: false,
            ignores_timeouts: false,
            caches_failures: false,
            has_no_worker: false,
            names_no_stages: false,
            cannot_cancel: false,
            drops_outputs: false,
            knows_old_outputs_only: false,
            sends_roots: false,
            inlines_nothing: false,
            missing_as: MissingAs::Details,
            token: None,
            worker: "worker-1".to_owned(),
            queue: Duration::ZERO,
        }
    }
}

impl Nature {
    /// A server with one fault.
    pub fn with(method: &'static str, fault: Fault, times: u32) -> Self {
        Nature { faults: vec![(method, fault, times)], ..Nature::default() }
    }

    /// The next fault of a method.
    pub(crate) fn take(&mut self, method: &str) -> Option<Fault> {
        let found = self.faults.iter_mut().find(|(name, _, left)| *left > 0 && method.ends_with(name))?;
        found.2 -= 1;
        Some(found.1.clone())
    }

    /// The fault of a method that is sent with the next call.
    pub fn add(&mut self, method: &'static str, fault: Fault, times: u32) {
        self.faults.push((method, fault, times));
    }
}
