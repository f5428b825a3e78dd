//! Communicates with one cluster: retries where that helps, and turns answers into values or errors.

use crate::error::ApiError;
use crate::foreign;
use crate::kubeconfig::Access;
use crate::path::{is_dry, unsafe_part};
use crate::stream::Line;
use crate::wire::{Answer, Ask, Broken, Method, Wire, open};
use serde_json::Value as Json;
use std::time::Duration;

/// An ordinary answer.
pub const JSON: &str = "application/json";

/// Requests an object without its content: less to send, less to read, nothing secret.
pub const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/// The content type of server-side apply; JSON is YAML.
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

/// Maximum number of attempts for a request.
const TRIES: u32 = 5;

/// Maximum pause that a server may request before a retry.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Returns whether to continue; called while waiting.
pub type GoOn<'g> = &'g (dyn Fn() -> bool + Sync);

/// A connected cluster.
pub struct Client {
    wire: Box<dyn Wire>,
    server: String,
    user: String,
    context: String,
    namespace: String,
}

impl Client {
    /// A client for a cluster.
    pub fn new(access: &Access) -> Result<Self, ApiError> {
        let wire = open(access).map_err(ApiError::Other)?;
        Ok(Client::over(wire, access))
    }

    /// A client over a wire of the caller's.
    pub fn over(wire: Box<dyn Wire>, access: &Access) -> Self {
        Client {
            wire,
            server: foreign::address(&access.server),
            user: foreign::line(&access.user),
            context: foreign::line(&access.context),
            namespace: access.namespace.clone().unwrap_or_else(|| "default".to_owned()),
        }
    }

    /// The namespace of the context.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Reads an object. `object` is its name in messages.
    pub fn get(&self, path: &str, object: &str, go_on: GoOn<'_>) -> Result<Json, ApiError> {
        self.json(&Ask { method: Method::Get, path, accept: JSON, body: None }, object, go_on)
    }

    /// The same; `None` if it does not exist.
    pub fn find(&self, path: &str, accept: &str, object: &str, go_on: GoOn<'_>) -> Result<Option<Json>, ApiError> {
        match self.json(&Ask { method: Method::Get, path, accept, body: None }, object, go_on) {
            Ok(found) => Ok(Some(found)),
            Err(ApiError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a request and reads its answer as JSON.
    pub fn json(&self, ask: &Ask<'_>, object: &str, go_on: GoOn<'_>) -> Result<Json, ApiError> {
        let answer = self.ask(ask, object, go_on)?;
        let malformed =
            |why: &str| ApiError::Malformed(format!("the answer to {} {} {why}", ask.method.name(), bare(ask.path)));
        if has_too_many_values(&answer.body) {
            return Err(malformed(&format!("has more than {MOST_VALUES} values")));
        }
        serde_json::from_slice(&answer.body).map_err(|_| malformed("is not JSON"))
    }

    /// Makes a change as a dry run. A request without `dryRun` is never sent.
    pub(crate) fn try_out(&self, ask: &Ask<'_>, object: &str, go_on: GoOn<'_>) -> Result<Json, ApiError> {
        match is_dry(ask.path) {
            true => self.json(ask, object, go_on),
            false => Err(ApiError::Other(format!("{object}: a request that only tries a change would have made it"))),
        }
    }

    /// Sends a request, with retries where that may help. All requests are safe to repeat.
    pub fn ask(&self, ask: &Ask<'_>, object: &str, go_on: GoOn<'_>) -> Result<Answer, ApiError> {
        if let Some(why) = unsafe_part(ask.path) {
            return Err(ApiError::Other(format!("{}: it cannot be asked for: {why}", foreign::line(object))));
        }
        let mut pause = Duration::from_millis(200);
        let mut tries = 0;
        loop {
            tries += 1;
            let is_last = tries >= TRIES;
            let wanted_pause = match self.wire.send(ask) {
                Ok(answer) if (200..300).contains(&answer.status) => return Ok(answer),
                Ok(answer) if is_last || !may_succeed_later(&answer) => {
                    return Err(ApiError::of(answer.status, &answer.body, object, (&self.user, &self.context)));
                }
                Ok(answer) => answer.retry_after,
                Err(Broken::Lost(_)) if !is_last => None,
                // A restarting server comes back; a missing one does not.
                Err(Broken::Connect(_)) if tries < 2 => None,
                Err(broken) => return Err(self.broken(broken, ask)),
            };
            wait(wanted_pause.unwrap_or(pause).min(LONGEST_PAUSE), go_on)?;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
    }

    /// A connection of its own, for a request whose answer has no end.
    pub(crate) fn line(&self, path: &str) -> Result<Line, ApiError> {
        let ask = Ask { method: Method::Get, path, accept: JSON, body: None };
        self.wire.line().map_err(|broken| self.broken(broken, &ask))
    }

    /// The error of a connection that broke.
    pub(crate) fn lost(&self, error: &std::io::Error) -> ApiError {
        let text = error.to_string();
        let why = text.split(" (os error").next().unwrap_or(&text).to_lowercase();
        ApiError::Unreachable { server: self.server.clone(), why }
    }

    /// The error of an answer that did not come.
    pub(crate) fn late(&self, path: &str) -> ApiError {
        ApiError::TimedOut { server: self.server.clone(), what: format!("GET {}", bare(path)) }
    }

    /// The error in an answer that refuses.
    pub(crate) fn refusal(&self, status: u16, body: &[u8], object: &str) -> ApiError {
        ApiError::of(status, body, object, (&self.user, &self.context))
    }

    fn broken(&self, broken: Broken, ask: &Ask<'_>) -> ApiError {
        let server = self.server.clone();
        match broken {
            Broken::Connect(why) | Broken::Lost(why) | Broken::Unusable(why) => ApiError::Unreachable { server, why },
            Broken::TooLarge => {
                let most = crate::wire::LARGEST >> 20;
                ApiError::Malformed(format!(
                    "the answer to {} {} is larger than {most} MiB",
                    ask.method.name(),
                    bare(ask.path)
                ))
            }
            Broken::Time => ApiError::TimedOut { server, what: format!("{} {}", ask.method.name(), bare(ask.path)) },
        }
    }
}

/// Maximum number of values in an answer: each takes much more memory than its text.
const MOST_VALUES: usize = 1_000_000;

/// Whether an answer exceeds that number, by counting separators.
fn has_too_many_values(body: &[u8]) -> bool {
    let (mut is_text, mut is_escaped, mut count) = (false, false, 0usize);
    for byte in body {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count > MOST_VALUES
}

/// Whether the server is only busy or starting.
fn may_succeed_later(answer: &Answer) -> bool {
    match answer.status {
        429 | 502 | 503 | 504 => true,
        500 => answer.retry_after.is_some(),
        _ => false,
    }
}

fn bare(path: &str) -> &str {
    path.split('?').next().unwrap_or(path)
}

/// Sleeps, unless the run is stopped.
pub fn wait(time: Duration, go_on: GoOn<'_>) -> Result<(), ApiError> {
    let step = Duration::from_millis(50);
    let mut left = time;
    loop {
        if !go_on() {
            return Err(ApiError::Stopped);
        }
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(step));
        left = left.saturating_sub(step);
    }
}
