//! From options and settings to a server that runs actions: which one, with what proof, and what may be sent to it.

#![cfg_attr(not(feature = "net"), allow(dead_code))] // Without a network a server is only refused.

use crate::invocation::Invocation;
use crate::run_args::RemoteFlags;
use crate::settings_remote::Remote;
use purlin_host::bounded;
use purlin_host::named;
use purlin_remote::settings::{Address, Headers, HeadersFrom, Settings, USUAL_PATH, USUAL_QUEUE, header_lines};
use purlin_value::world::{Bounds, Command};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum size of a certificate or a key.
const MOST_PEM: u64 = 1 << 20;

/// What a helper that knows credentials may take.
const HELPER: Bounds = Bounds { bytes: 1 << 20, seconds: 60 };

/// Actions at once, if a server runs them.
const USUAL_JOBS: usize = 32;

/// A server that the user wants.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Everything but the headers.
    pub settings: Settings,
    headers_from: Option<HeadersFrom>,
    env: BTreeMap<String, String>,
    cwd: PathBuf,
    /// Whether a failure of the server is answered by running here.
    pub falls_back: bool,
    pub stay: Vec<String>,
    pub secrets: Vec<String>,
    jobs: Option<usize>,
}

/// The server that options and settings name, if any. `project` are the settings of a project that the user trusts.
pub(crate) fn wanted(
    invocation: &Invocation<'_>,
    flags: &RemoteFlags,
    project: Option<&Remote>,
    user: Option<&Remote>,
) -> Result<Option<Wanted>, String> {
    if flags.no_remote {
        return Ok(None);
    }
    let named = flags.remote.as_ref().or(flags.remote_cache.as_ref());
    let given = named.map(|text| Address::parse(text).map_err(|trouble| trouble.to_string())).transpose()?;
    let nothing = Remote::default();
    // What is wanted of a server is a matter of the project; the user's settings hold where it says nothing.
    let own = project.or(user).unwrap_or(&nothing);
    let Some(address) = given.clone().or_else(|| own.address.clone()).or_else(|| user?.address.clone()) else {
        let idle = [
            (flags.remote_only, "remote-only"),
            (flags.remote_upload, "remote-upload"),
            (!flags.remote_secrets.is_empty(), "remote-secrets"),
        ];
        return match idle.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, name)) => Err(format!("`--{name}` needs a server: add `--remote ADDRESS`")),
            None => Ok(None),
        };
    };
    // A proof is only sent to the server that it is for.
    let is_for = |remote: &&Remote| remote.address.as_ref().is_some_and(|other| is_same_server(other, &address));
    let proof = project.filter(is_for).filter(|remote| has_proof(remote)).or(user.filter(is_for)).unwrap_or(&nothing);
    let cwd = invocation.cwd.clone();
    let read = |path: &PathBuf| {
        let shown = path.display();
        named::read(path, MOST_PEM)
            .map_err(|error| format!("could not read `{shown}`, which `[remote]` names: {error}"))
    };
    let identity = match (&proof.certificate, &proof.key) {
        (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?)),
        _ => None,
    };
    let executes = match named {
        Some(_) => flags.remote.is_some(),
        None => !own.cache_only,
    };
    let settings = Settings {
        authority: proof.authority.as_ref().map(read).transpose()?,
        identity,
        server_name: proof.server_name.clone(),
        platform: own.platform.clone().into_iter().collect(),
        path: own.path.clone().unwrap_or_else(|| USUAL_PATH.to_owned()),
        executes,
        uploads: own.upload || flags.remote_upload,
        priority: own.priority,
        queue: own.queue.unwrap_or(USUAL_QUEUE),
        ..Settings::of(address)
    };
    if flags.remote_only && !executes {
        return Err(
            "`--remote-only` needs a server that runs actions: use `--remote` instead of `--remote-cache`".into()
        );
    }
    let secrets = own.secrets.iter().chain(&flags.remote_secrets).cloned().collect();
    Ok(Some(Wanted {
        settings,
        headers_from: proof.headers_from.clone(),
        env: invocation.env.clone(),
        cwd,
        falls_back: own.fallback.unwrap_or(true) && !flags.remote_only,
        stay: own.stay.clone(),
        secrets,
        jobs: own.jobs,
    }))
}

fn is_same_server(one: &Address, other: &Address) -> bool {
    (one.is_secure, one.host.as_str(), one.port) == (other.is_secure, other.host.as_str(), other.port)
}

fn has_proof(remote: &Remote) -> bool {
    remote.headers_from.is_some() || remote.certificate.is_some() || remote.authority.is_some()
}

impl Wanted {
    /// How many actions run at once, and how many of them here.
    pub(crate) fn jobs(&self, given: Option<usize>, usual: usize) -> (usize, Option<usize>) {
        if !self.settings.executes {
            return (given.unwrap_or(usual), None);
        }
        let all = given.or(self.jobs).unwrap_or(USUAL_JOBS.max(usual));
        (all, Some(usual.min(all)))
    }

    /// The headers that prove who we are.
    pub(crate) fn headers(&self) -> Result<Headers, String> {
        match &self.headers_from {
            None => Ok(Headers::default()),
            Some(HeadersFrom::Env(name)) => {
                let text = self.env.get(name).ok_or_else(|| {
                    format!("the environment variable `{name}`, which `[remote] headers-from` names, is not set")
                })?;
                header_lines(text).map_err(|trouble| format!("`{name}`: {trouble}"))
            }
            Some(HeadersFrom::Command(words)) => helped(words, &self.settings.address, &self.env, &self.cwd),
        }
    }
}

/// Asks a helper for headers, in the way of Bazel's credential helpers. Nothing that it prints is shown.
fn helped(words: &[String], address: &Address, env: &BTreeMap<String, String>, cwd: &Path) -> Result<Headers, String> {
    let name = words.first().map(String::as_str).unwrap_or_default();
    let failed = |why: &str| format!("the command `{name}` of `[remote] headers-from` {why}");
    let scheme = if address.is_secure { "https" } else { "http" };
    let question = json!({ "uri": format!("{scheme}://{}:{}/", address.host, address.port) });
    let command = Command {
        argv: words.to_vec(),
        env: env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        folder: ".".to_owned(),
        stdin: question.to_string().into_bytes(),
    };
    let output = bounded::run(&command, cwd, HELPER).map_err(|error| failed(&format!("failed: {}", error.reason())))?;
    if output.code != 0 {
        return Err(failed(&format!("failed with exit code {}", output.code)));
    }
    let wrong = || failed("did not print `{\"headers\": {\"NAME\": [\"VALUE\"]}}`");
    let answer: Json = serde_json::from_slice(&output.stdout).map_err(|_| wrong())?;
    let headers = answer.get("headers").and_then(Json::as_object).ok_or_else(wrong)?;
    let mut lines = String::new();
    for (name, values) in headers {
        for value in values.as_array().ok_or_else(wrong)? {
            lines.push_str(&format!("{name}: {}\n", value.as_str().ok_or_else(wrong)?));
        }
    }
    header_lines(&lines).map_err(|trouble| failed(&format!("printed no headers: {trouble}")))
}

#[cfg(feature = "net")]
mod connected {
    use super::Wanted;
    use purlin_run::elsewhere::{Shared, Terms};
    use purlin_run::request::Execution;
    use purlin_run::store::Store;
    use purlin_value::glob::Glob;
    use std::path::Path;
    use std::sync::Arc;

    impl Wanted {
        /// The server as a place for actions of a project.
        #[allow(clippy::unnecessary_wraps)] // A build without a network has an error here.
        pub(crate) fn place(&self, store: &Arc<Store>, root: &Path) -> Result<Box<dyn Execution + Send>, String> {
            let globs = |patterns: &[String]| patterns.iter().map(|pattern| Glob::new(pattern)).collect();
            let own = self.clone();
            let terms = Terms {
                settings: self.settings.clone(),
                headers: Box::new(move || own.headers()),
                falls_back: self.falls_back,
                stay: globs(&self.stay),
                secrets: globs(&self.secrets),
            };
            Ok(Box::new(Shared::new(terms, store.clone(), root.to_owned())))
        }
    }
}

#[cfg(not(feature = "net"))]
mod connected {
    use super::Wanted;
    use purlin_run::request::Execution;
    use purlin_run::store::Store;
    use std::path::Path;
    use std::sync::Arc;

    impl Wanted {
        /// This build has no network.
        pub(crate) fn place(&self, _: &Arc<Store>, _: &Path) -> Result<Box<dyn Execution + Send>, String> {
            let address = &self.settings.address;
            Err(format!("this build of Purlin cannot connect to anything, so `{address}` cannot be used"))
        }
    }
}
