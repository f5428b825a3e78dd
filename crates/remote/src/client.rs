//! A server: what it can do, and calls that are tried again where that may help.

use crate::call::Call;
use crate::connection::{Connection, Patience};
use crate::digest::{Digest, Function};
use crate::message::{Capabilities, CapabilitiesRequest, RequestMetadata, ToolDetails};
use crate::settings::Settings;
use crate::trouble::{Code, Tried, Trouble, What};
use crate::wire::Message;
use http::HeaderValue;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a call is tried.
const TRIES: u32 = 6;

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Largest batch if the server does not say one; some cut off at 4 MiB with everything around the contents.
const USUAL_BATCH: u64 = 2 << 20;

/// Largest batch whatever the server says: a failed one is sent again as a whole.
const LARGEST_BATCH: u64 = (4 << 20) - (64 << 10);

/// Digests that are remembered as stored.
const MOST_REMEMBERED: usize = 1 << 20;

/// Whether the run has to stop.
pub type Stop<'s> = &'s (dyn Fn() -> bool + Sync);

/// What a server can do, as far as it matters here.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The digest function that is used.
    pub function: Function,
    /// Whether it runs actions.
    pub executes: bool,
    /// Whether results can be written.
    pub keeps_results: bool,
    /// Maximum size of a batch.
    pub batch: u64,
    /// Whether the server said it.
    pub says_batch: bool,
    /// Whether contents can be compressed with zstd.
    pub zstd: bool,
    /// Maximum size of a content, if it says one.
    pub largest: Option<u64>,
    /// The highest version of the protocol: major and minor.
    pub version: (u64, u64),
}

/// A server.
pub struct Client {
    pub(crate) settings: Settings,
    offer: Offer,
    headers: Vec<(String, HeaderValue)>,
    connection: Mutex<Option<Arc<Connection>>>,
    /// Contents that are stored there.
    pub(crate) stored: Mutex<HashSet<Digest>>,
    random: RandomState,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("address", &self.settings.address).field("offer", &self.offer).finish()
    }
}

impl Client {
    /// Connects to a server and asks what it can do.
    pub fn connect(settings: Settings, stop: Stop<'_>) -> Tried<Client> {
        let headers = headers(&settings)?;
        let offer = Offer {
            function: Function::Sha256,
            executes: false,
            keeps_results: false,
            batch: USUAL_BATCH,
            says_batch: false,
            zstd: false,
            largest: None,
            version: (2, 0),
        };
        let mut client = Client {
            settings,
            offer,
            headers,
            connection: Mutex::default(),
            stored: Mutex::default(),
            random: RandomState::new(),
        };
        let instance = client.instance().to_owned();
        let asked = client.ask::<_, Capabilities>(
            "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities",
            &CapabilitiesRequest { instance },
            stop,
        );
        let capabilities = match asked {
            // Stores without this service keep contents and results with SHA-256.
            Err(trouble) if trouble.is(Code::Unimplemented) => None,
            Err(trouble) => return Err(client.first(trouble)),
            Ok(capabilities) => Some(capabilities),
        };
        client.offer = match capabilities {
            Some(capabilities) => offer_of(&capabilities)?,
            None => Offer { keeps_results: true, ..client.offer },
        };
        if client.settings.executes && !client.offer.executes {
            let why = "it stores results but does not run actions; use `--remote-cache` instead of `--remote`";
            return Err(What::Lacks(why.to_owned()).into());
        }
        Ok(client)
    }

    /// Why the first call failed. A server that expects encryption only closes the connection.
    fn first(&self, trouble: Trouble) -> Trouble {
        match trouble.what {
            What::Lost(why) if !self.settings.address.is_secure => {
                What::Connect(format!("{why}; if the server uses encryption, its address begins with `grpcs://`"))
                    .into()
            }
            what => Trouble { what, ..trouble },
        }
    }

    /// What it can do.
    pub fn offer(&self) -> &Offer {
        &self.offer
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The digest function.
    pub fn function(&self) -> Function {
        self.offer.function
    }

    pub(crate) fn instance(&self) -> &str {
        &self.settings.address.instance
    }

    /// The number of the digest function in requests; servers before 2.3 know only one and are not told.
    pub(crate) fn function_number(&self) -> u64 {
        match self.offer.function {
            Function::Sha256 => 0,
            Function::Blake3 => Function::Blake3.number(),
        }
    }

    /// The time of one empty call there and back.
    pub fn round_trip(&self, stop: Stop<'_>) -> Tried<Duration> {
        let began = Instant::now();
        let instance = self.instance().to_owned();
        let path = "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities";
        match self.ask::<_, Capabilities>(path, &CapabilitiesRequest { instance }, stop) {
            Ok(_) => Ok(began.elapsed()),
            Err(trouble) if trouble.is(Code::Unimplemented) => Ok(began.elapsed()),
            Err(trouble) => Err(trouble),
        }
    }

    /// The connection; opened again if it was lost.
    fn connection(&self) -> Tried<Arc<Connection>> {
        let mut kept = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = kept.as_ref().filter(|connection| !connection.is_dead()) {
            return Ok(connection.clone());
        }
        let opened = Arc::new(Connection::open(&self.settings)?);
        *kept = Some(opened.clone());
        Ok(opened)
    }

    /// Does something with a call, once.
    pub(crate) fn once<'p, T>(
        &self,
        method: &str,
        patience: Patience<'p>,
        work: impl FnOnce(Call<'p>) -> Tried<T>,
    ) -> Tried<T> {
        work(Call::open(self.connection()?, method, &self.headers, patience)?)
    }

    /// A call with one message each way, tried again where that may help.
    pub(crate) fn ask<Q: Message, A: Message>(&self, method: &str, question: &Q, stop: Stop<'_>) -> Tried<A> {
        let patience = Patience { silence: self.settings.silence, until: None, stop };
        self.again(stop, &mut || {
            self.once(method, patience, |mut call| {
                call.send(question, true)?;
                call.only()
            })
        })
    }

    /// Tries something again as long as its failure may pass, with pauses of random length.
    pub(crate) fn again<T>(&self, stop: Stop<'_>, work: &mut dyn FnMut() -> Tried<T>) -> Tried<T> {
        let mut tries = 0;
        loop {
            let trouble = match work() {
                Err(trouble) if trouble.is_passing() => trouble,
                done => return done,
            };
            tries += 1;
            if tries >= TRIES {
                return Err(trouble);
            }
            self.pause(tries, &trouble, stop)?;
        }
    }

    /// A pause of random length before the next try.
    pub(crate) fn pause(&self, tries: u32, trouble: &Trouble, stop: Stop<'_>) -> Tried<()> {
        // Each is twice as long as the one before.
        let most = self.settings.pause.saturating_mul(1 << tries.saturating_sub(1).min(10)).min(LONGEST_PAUSE);
        let share = self.draw(u64::from(tries)) % 1000;
        let drawn = most.mul_f64(share as f64 / 1000.0);
        let until = Instant::now() + trouble.after.map_or(drawn, |after| after + drawn);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if stop() {
                return Err(What::Stopped.into());
            }
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    /// A number that differs from call to call. It is not secret.
    pub(crate) fn draw(&self, salt: u64) -> u64 {
        static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let mut hasher = self.random.build_hasher();
        hasher.write_u64(salt);
        hasher.write_u64(COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        hasher.finish()
    }

    /// Contents known to be stored.
    pub(crate) fn remembered(&self) -> MutexGuard<'_, HashSet<Digest>> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that contents are stored.
    pub(crate) fn remember(&self, digests: impl IntoIterator<Item = Digest>) {
        let mut stored = self.remembered();
        if stored.len() > MOST_REMEMBERED {
            stored.clear();
        }
        stored.extend(digests);
    }

    /// Forgets what is stored: the server turned out to have lost something.
    pub(crate) fn forget(&self) {
        self.remembered().clear();
    }
}

/// The headers of every call.
fn headers(settings: &Settings) -> Tried<Vec<(String, HeaderValue)>> {
    let tool = ToolDetails { name: "purlin".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let metadata = RequestMetadata { tool: Some(tool), ..RequestMetadata::default() };
    let packed = purlin_value::encoding::base64(&metadata.to_bytes());
    let name = "build.bazel.remote.execution.v2.requestmetadata-bin".to_owned();
    let wrong = || Trouble::from(What::Settings("a header of `[remote] headers-from` is not valid".to_owned()));
    let mut headers = vec![(name, HeaderValue::from_str(&packed).map_err(|_| wrong())?)];
    for (name, value) in &settings.headers.0 {
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.push((name.clone(), value));
    }
    Ok(headers)
}

/// What capabilities come to.
fn offer_of(capabilities: &Capabilities) -> Tried<Offer> {
    let cache = capabilities.cache.clone().unwrap_or_default();
    let execution = capabilities.execution.clone().unwrap_or_default();
    let low = capabilities.low.as_ref().map_or((2, 0), |version| (version.major, version.minor));
    let high = capabilities.high.as_ref().map_or((2, 0), |version| (version.major, version.minor));
    if low.0 > 2 || high.0 < 2 {
        let why = format!("it speaks version {} to {} of the Remote Execution API, not 2", low.0, high.0);
        return Err(What::Lacks(why).into());
    }
    let mut functions = cache.functions.clone();
    if execution.is_enabled {
        let own: Vec<u64> =
            execution.functions.iter().copied().chain([execution.function]).filter(|n| *n > 0).collect();
        if !own.is_empty() {
            functions.retain(|function| own.contains(function));
        }
    }
    let known = [Function::Sha256, Function::Blake3].into_iter();
    let function = match known.into_iter().find(|function| functions.contains(&function.number())) {
        Some(function) => function,
        None if cache.functions.is_empty() => Function::Sha256,
        None => {
            let why = "it offers neither SHA-256 nor BLAKE3 as its digest function";
            return Err(What::Lacks(why.to_owned()).into());
        }
    };
    let said = u64::try_from(cache.largest_batch).unwrap_or(0);
    Ok(Offer {
        function,
        executes: execution.is_enabled,
        keeps_results: cache.update.is_some_and(|update| update.is_enabled),
        batch: if said == 0 { USUAL_BATCH } else { said.min(LARGEST_BATCH) },
        says_batch: said > 0,
        zstd: cache.compressors.contains(&1),
        largest: u64::try_from(cache.largest_blob).ok().filter(|size| *size > 0),
        version: high,
    })
}
