//! A server of the Remote Execution API v2 for tests: a store, a cache of results, and an executor that runs commands in
//! folders of its own. Everything that real servers were seen to do wrong can be switched on ([`Nature`], [`Fault`]).
//!
//! Messages are those of the client. That their numbers are the protocol's is checked against real servers.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod call;
mod execution;
mod faults;
mod http;
mod results;
mod store;
pub mod trial;
mod work;

pub use faults::{Fault, MissingAs, Nature};

use call::{Broken, Call};
use purlin_remote::digest::{Digest, Function};
use purlin_remote::message::{
    ActionResult, CacheCapabilities, Capabilities, CapabilitiesRequest, ExecutionCapabilities, UpdateCapabilities,
    Version,
};
use purlin_remote::settings::{Address, Settings};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The certificate and the key of a server, and the authority that its clients must have, in PEM.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The certificate.
    pub certificate: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
    /// The authority of clients, if they must have certificates.
    pub clients: Option<Vec<u8>>,
}

/// A running server. It ends when this is dropped.
pub struct Server {
    port: u16,
    state: Arc<State>,
}

/// Everything that the calls of a server share.
pub(crate) struct State {
    pub nature: Mutex<Nature>,
    pub blobs: Mutex<HashMap<Digest, Arc<[u8]>>>,
    pub results: Mutex<HashMap<Digest, ActionResult>>,
    pub partial: Mutex<HashMap<String, Vec<u8>>>,
    pub executions: Mutex<BTreeMap<String, Arc<execution::Execution>>>,
    /// Methods that were called, with their number.
    pub calls: Mutex<BTreeMap<String, usize>>,
    /// Commands that were begun, by action.
    pub runs: Mutex<HashMap<Digest, usize>>,
    /// Contents that were read.
    pub reads: Mutex<HashSet<Digest>>,
    /// Headers of all calls, as lines.
    pub headers: Mutex<Vec<String>>,
    pub scratch: PathBuf,
    pub count: AtomicU64,
    pub is_closed: AtomicBool,
    /// Raised to make every connection end.
    pub epoch: AtomicU64,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Starts a server on a free port of this machine.
    pub fn start(nature: Nature) -> io::Result<Server> {
        Self::start_with(nature, None, 0)
    }

    /// Starts one with encryption, or on a certain port.
    pub fn start_with(nature: Nature, identity: Option<Identity>, port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        let port = listener.local_addr()?.port();
        let scratch = std::env::temp_dir().join(format!("purlin-server-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&scratch)?;
        let state = Arc::new(State {
            nature: Mutex::new(nature),
            blobs: Mutex::default(),
            results: Mutex::default(),
            partial: Mutex::default(),
            executions: Mutex::default(),
            calls: Mutex::default(),
            runs: Mutex::default(),
            reads: Mutex::default(),
            headers: Mutex::default(),
            scratch,
            count: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            epoch: AtomicU64::new(0),
        });
        let shared = state.clone();
        let encryption = identity.as_ref().map(http::encryption).transpose()?;
        std::thread::Builder::new()
            .name("listen".into())
            .spawn(move || http::listen(&listener, &shared, encryption))?;
        Ok(Server { port, state })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address, without encryption.
    pub fn address(&self) -> String {
        format!("grpc://127.0.0.1:{}", self.port)
    }

    /// Settings of a client that is not patient.
    pub fn settings(&self) -> Settings {
        let address = Address { is_secure: false, host: "127.0.0.1".into(), port: self.port, instance: String::new() };
        Settings {
            silence: Duration::from_secs(5),
            queue: Duration::from_secs(20),
            pause: Duration::from_millis(10),
            ..Settings::of(address)
        }
    }

    /// What it does wrong from now on.
    pub fn nature(&self) -> MutexGuard<'_, Nature> {
        locked(&self.state.nature)
    }

    /// How often a method was called, by the end of its name.
    pub fn calls(&self, method: &str) -> usize {
        locked(&self.state.calls).iter().filter(|(name, _)| name.ends_with(method)).map(|(_, count)| count).sum()
    }

    /// Forgets how often methods were called.
    pub fn recount(&self) {
        locked(&self.state.calls).clear();
    }

    /// Commands that were begun.
    pub fn runs(&self) -> usize {
        locked(&self.state.runs).values().sum()
    }

    /// Executions that have not ended.
    pub fn under_way(&self) -> usize {
        locked(&self.state.executions).values().filter(|execution| !execution.is_over()).count()
    }

    /// All contents.
    pub fn contents(&self) -> Vec<Arc<[u8]>> {
        locked(&self.state.blobs).values().cloned().collect()
    }

    /// Whether a content was ever read.
    pub fn was_read(&self, bytes: &[u8]) -> bool {
        locked(&self.state.reads).contains(&self.state.function().digest(bytes))
    }

    /// Loses contents.
    pub fn lose(&self, is_lost: impl Fn(&[u8]) -> bool) {
        locked(&self.state.blobs).retain(|_, bytes| !is_lost(bytes));
    }

    /// Replaces contents by others under the same digest.
    pub fn spoil(&self, change: impl Fn(&[u8]) -> Option<Vec<u8>>) {
        for bytes in locked(&self.state.blobs).values_mut() {
            if let Some(other) = change(bytes) {
                *bytes = other.into();
            }
        }
    }

    /// Forgets all results.
    pub fn forget_results(&self) {
        locked(&self.state.results).clear();
    }

    /// Changes all results.
    pub fn change_results(&self, change: impl Fn(&mut ActionResult)) {
        locked(&self.state.results).values_mut().for_each(change);
    }

    /// The number of results.
    pub fn results(&self) -> usize {
        locked(&self.state.results).len()
    }

    /// Everything that was ever sent with calls, as lines `name: value`.
    pub fn headers(&self) -> Vec<String> {
        locked(&self.state.headers).clone()
    }

    /// Loses all connections.
    pub fn disconnect(&self) {
        self.state.epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// Forgets executions and ends their commands, as a restart does. Contents and results stay.
    pub fn restart(&self) {
        let executions = std::mem::take(&mut *locked(&self.state.executions));
        executions.values().for_each(|execution| execution.cancel());
        self.disconnect();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.is_closed.store(true, Ordering::Relaxed);
        self.restart();
        // Wakes the thread that listens.
        let _ = std::net::TcpStream::connect(("127.0.0.1", self.port));
        let _ = std::fs::remove_dir_all(&self.state.scratch);
    }
}

impl State {
    pub(crate) fn nature(&self) -> Nature {
        locked(&self.nature).clone()
    }

    pub(crate) fn function(&self) -> Function {
        locked(&self.nature).function
    }

    pub(crate) fn keep(&self, bytes: Vec<u8>) -> Digest {
        let digest = self.function().digest(&bytes);
        locked(&self.blobs).insert(digest, bytes.into());
        digest
    }

    pub(crate) fn blob(&self, digest: &Digest) -> Option<Arc<[u8]>> {
        if digest.size == 0 {
            return Some(Arc::from([]));
        }
        locked(&self.blobs).get(digest).cloned()
    }

    /// Answers one call.
    pub(crate) fn serve(self: &Arc<Self>, method: &str, call: &mut Call) -> Result<(), Broken> {
        match method.rsplit('/').next().unwrap_or_default() {
            "GetCapabilities" => self.capabilities(call),
            "FindMissingBlobs" => store::find_missing(self, call),
            "BatchUpdateBlobs" => store::batch_update(self, call),
            "BatchReadBlobs" => store::batch_read(self, call),
            "Read" => store::read(self, call),
            "Write" => store::write(self, call),
            "QueryWriteStatus" => store::write_state(self, call),
            "GetActionResult" => results::get(self, call),
            "UpdateActionResult" => results::update(self, call),
            "Execute" => execution::execute(self, call),
            "WaitExecution" => execution::wait(self, call),
            "CancelOperation" => execution::cancel(self, call),
            other => Err(Broken::status(12, &format!("unknown method {other}"))),
        }
    }

    fn capabilities(&self, call: &mut Call) -> Result<(), Broken> {
        let _: CapabilitiesRequest = call.ask()?;
        let nature = self.nature();
        if nature.has_no_capabilities {
            return Err(Broken::status(12, "no such service"));
        }
        let function = nature.function.number();
        let version = |(major, minor): (u64, u64)| Version { major, minor, ..Version::default() };
        let cache = CacheCapabilities {
            functions: vec![function],
            update: Some(UpdateCapabilities { is_enabled: nature.takes_results }),
            largest_batch: nature.batch,
            largest_blob: nature.largest_blob,
            ..CacheCapabilities::default()
        };
        let execution =
            ExecutionCapabilities { function, is_enabled: !nature.is_cache_only, functions: vec![function] };
        call.answer(&Capabilities {
            cache: Some(cache),
            execution: Some(execution),
            deprecated: None,
            low: Some(version((2, 0))),
            high: Some(version(nature.version)),
        })
    }
}
